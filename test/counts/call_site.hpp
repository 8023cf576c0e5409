// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_COUNTS_CALL_SITE_HPP
#define ASIO_SYNC_TEST_COUNTS_CALL_SITE_HPP

// What the calls of OPERATION_… include, which call_sites.bash compiles once for all of them.
// Asio's operations see nothing of asio_sync.

#if defined(OPERATION_async_lock) || defined(OPERATION_async_lock_for)
#include <asio_sync/async_mutex.hpp>
#elif defined(OPERATION_async_acquire)
#include <asio_sync/async_semaphore.hpp>
#elif defined(OPERATION_async_lock_shared) || defined(OPERATION_async_upgrade)
#include <asio_sync/async_shared_mutex.hpp>
#elif defined(OPERATION_event_wait)
#include <asio_sync/async_manual_reset_event.hpp>
#elif defined(OPERATION_auto_event_wait)
#include <asio_sync/async_auto_reset_event.hpp>
#elif defined(OPERATION_take_any)
#include <asio_sync/async_mailbox.hpp>
#elif defined(OPERATION_latch_arrive)
#include <asio_sync/async_latch.hpp>
#elif defined(OPERATION_barrier_arrive)
#include <asio_sync/async_barrier.hpp>
#elif defined(OPERATION_condition_wait) || defined(OPERATION_condition_look)
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>
#elif defined(OPERATION_steps_wait)
#include <asio_sync/async_enumerator.hpp>
#include <boost/asio/steady_timer.hpp>
#elif defined(OPERATION_track)
#include <asio_sync/async_group.hpp>
#include <boost/asio/steady_timer.hpp>
#elif defined(OPERATION_guarded)
#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_mutex.hpp>
#include <boost/asio/steady_timer.hpp>
#elif defined(OPERATION_enter) || defined(OPERATION_enter_when) || defined(OPERATION_invoke)
#include <asio_sync/async_monitor.hpp>
#elif defined(OPERATION_lock_all)
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>
#elif defined(OPERATION_lock_key)
#include <asio_sync/async_keyed_mutex.hpp>
#elif defined(OPERATION_async_receive)
#include <boost/asio/experimental/concurrent_channel.hpp>
#elif defined(OPERATION_async_wait)
#include <boost/asio/steady_timer.hpp>
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/preprocessor/repetition/repeat.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <exception>
#include <utility>

#endif
