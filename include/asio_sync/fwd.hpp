// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_FWD_HPP
#define ASIO_SYNC_FWD_HPP

#include <asio_sync/detail/core/config.hpp>

namespace asio_sync {

// The aliases `async_mutex` and so on need Asio's default executor and are in the header of
// each primitive; nothing of Asio's is declared here.

template <class Executor>
class basic_async_auto_reset_event;

template <class Executor>
class basic_async_barrier;

template <class Executor>
class basic_async_condition;

template <class Executor>
class basic_async_enumerator;

template <class Executor>
class basic_async_group;

template <class Key, class Executor, class Hash, class Equal>
class basic_async_keyed_mutex;

template <class Executor>
class basic_async_latch;

template <class Executor>
class basic_async_mailbox;

template <class Executor>
class basic_async_manual_reset_event;

template <class T, class Executor>
class basic_async_monitor;

template <class Executor>
class basic_async_mutex;

template <class Executor>
class basic_async_semaphore;

template <class Executor>
class basic_async_shared_mutex;

class async_steps;

class semaphore_permit;

}  // namespace asio_sync

#endif
