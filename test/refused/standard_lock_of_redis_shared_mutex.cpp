// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// expected: a mutex at a server is locked by its own guard: auto lock = mutex.lock();

#include <asio_sync/redis/async_shared_mutex.hpp>

#include <shared_mutex>

void refused(asio_sync::redis::async_shared_mutex& mutex) {
#ifdef ASIO_SYNC_TEST_REFUSED
  std::shared_lock const lock(mutex);
#else
  auto const lock = mutex.lock_shared();
#endif
}
