// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_MUTEX_SUBJECT_HPP
#define ASIO_SYNC_TEST_RULES_MUTEX_SUBJECT_HPP

#include "support/test.hpp"

namespace asio_sync::test {

// Of `rules/common.hpp`: what is locked as a whole. Mutex: a template over the executor.
template <template <class> class Mutex>
struct mutex_subject {
  static constexpr bool carries = true;
  template <class Executor>
  using over = Mutex<Executor>;
  using primitive_type = over<boost::asio::any_io_executor>;
  using grant = typename primitive_type::lock_type;

  static bool occupy(auto& p) { return p.try_lock(); }
  static void serve(auto& p) { p.unlock(); }
  static grant hold(primitive_type& p) { return grant(p, std::try_to_lock); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_lock(std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_lock_for(time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_lock_until(time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return grant(p); }
  static grant block_for(primitive_type& p, auto time) { return grant(p, time); }

  static bool idle(auto const& p) { return !p.is_locked() && p.waiters() == 0; }
};

}  // namespace asio_sync::test

#endif
