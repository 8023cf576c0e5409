// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_GUARDING_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_GUARDING_HPP

// The primitives at a server that async_guarded takes; `shared_side` is as locally.

#include <asio_sync/detail/locks/guarding.hpp>
#include <asio_sync/redis/fwd.hpp>

#include <utility>

namespace asio_sync::detail {

template <class Executor>
struct guarding<redis::basic_async_mutex<Executor>>
    : exclusive_guarding<redis::basic_async_mutex<Executor>> {
  using exclusive_guarding<redis::basic_async_mutex<Executor>>::exclusive_guarding;
};

template <class Executor>
struct guarding<redis::basic_async_shared_mutex<Executor>>
    : exclusive_guarding<redis::basic_async_shared_mutex<Executor>> {
  using exclusive_guarding<redis::basic_async_shared_mutex<Executor>>::exclusive_guarding;
};

template <class Executor>
struct guarding<redis::basic_async_semaphore<Executor>>
    : permit_guarding<redis::basic_async_semaphore<Executor>> {
  using permit_guarding<redis::basic_async_semaphore<Executor>>::permit_guarding;

  using held = decltype(std::declval<redis::basic_async_semaphore<Executor>&>().acquire());
};

}  // namespace asio_sync::detail

#endif
