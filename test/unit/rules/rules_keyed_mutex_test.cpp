// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of one key of a keyed mutex, while another key is held all along.
//
// There is no blocking form, so it does without the cases of rules/blocking.hpp. Where the others
// want a thread to block, it runs a context of its own.

#include "support/test.hpp"

#include <asio_sync/async_keyed_mutex.hpp>

namespace rules_keyed_mutex_test {

struct subject {
  static constexpr bool carries = true;
  static constexpr bool has_entries = true;
  static constexpr int key = 7;
  static constexpr int other = 8;

  // What members hold goes after the mutex.
  template <class Executor>
  struct members_hold {
    typename asio_sync::basic_async_keyed_mutex<int, Executor>::keyed_lock held, other;
  };
  template <class Executor>
  struct over : members_hold<Executor>, asio_sync::basic_async_keyed_mutex<int, Executor> {
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home) : asio_sync::basic_async_keyed_mutex<int, Executor>(home) {
      members_hold<Executor>::other = this->try_lock(subject::other);
    }
  };
  using primitive_type = over<boost::asio::any_io_executor>;
  using grant = primitive_type::keyed_lock;

  static bool occupy(auto& p) {
    p.held = p.try_lock(key);
    return p.held.owns_lock();
  }
  static void serve(auto& p) {
    auto held = std::move(p.held);  // whoever is served may destroy the primitive
    held.unlock();
  }
  static grant hold(primitive_type& p) { return p.try_lock(key); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_lock(key, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_lock_for(key, time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_lock_until(key, time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) {
    return in_context([&](auto token) { wait(p, std::move(token)); });
  }
  static grant block_for(primitive_type& p, auto time) {
    // Without a completion, which this thread may be keeping back.
    if (time <= time.zero() && !p.is_closed()) return p.try_lock(key);
    return in_context([&](auto token) { wait_for(p, time, std::move(token)); });
  }

  static bool idle(auto const& p) { return p.size() == 1 && p.waiters() == 0; }

 private:
  // Of a wait that completes in a context which this thread runs meanwhile.
  template <class Start>
  static grant in_context(Start start) {
    boost::asio::io_context own;
    boost::system::error_code error;
    grant got;
    start(boost::asio::bind_executor(own, [&](boost::system::error_code e, grant g) {
      error = e;
      got = std::move(g);
    }));
    own.run();
    if (error && error != boost::asio::error::timed_out) throw boost::system::system_error(error);
    return got;
  }
};

}  // namespace rules_keyed_mutex_test

#define ASIO_SYNC_RULES_SUITE rules_keyed_mutex_test
#include "rules/carried.hpp"
#include "rules/completions.hpp"
#include "rules/coroutines.hpp"
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/one_by_one.hpp"
#include "rules/order.hpp"
#include "rules/threads.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
