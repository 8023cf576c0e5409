// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_HPP
#define ASIO_SYNC_HPP

/// Everything in the library; each primitive has a header of its own as well.

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_latch.hpp>
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mailbox.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/async_shared_mutex.hpp>
#include <asio_sync/error.hpp>
#include <asio_sync/fwd.hpp>
#include <asio_sync/version.hpp>

#endif
