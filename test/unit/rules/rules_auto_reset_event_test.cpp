// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of an event that is set, and taken by whoever waits.
//
// Its completions carry nothing that a handler could let go: who is granted a wait keeps its
// signal. So it does without the cases of rules/carried.hpp (seven of R3, three of R9, two of R10)
// and of rules/one_by_one.hpp, where one wait is served as the one before lets go (two of R7, one
// each of R4, R10, R14 and R19). What holds in their place is in unit/signals.

#include "support/test.hpp"

#include <asio_sync/async_auto_reset_event.hpp>

namespace rules_auto_reset_event_test {

struct subject {
  static constexpr bool carries = false;
  static constexpr bool takes = true;
  template <class Executor>
  struct over : asio_sync::basic_async_auto_reset_event<Executor> {
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home) : asio_sync::basic_async_auto_reset_event<Executor>(home, true) {}
  };
  using primitive_type = over<boost::asio::any_io_executor>;

  // Nothing; or what sets an event again that somebody holds.
  class grant {
   public:
    explicit grant(bool given = false) noexcept : given_(given) {}
    explicit grant(primitive_type& held) noexcept : given_(true), held_(&held) {}
    explicit operator bool() const noexcept { return given_; }

   private:
    struct setter {
      void operator()(primitive_type* p) const noexcept { serve(*p); }
    };
    bool given_;
    std::unique_ptr<primitive_type, setter> held_;
  };

  static bool occupy(auto& p) { return p.reset(), true; }
  static void serve(auto& p) {
    do {
      p.set();
    } while (!p.is_set());
  }
  static void serve_one(auto& p) { p.set(); }
  static grant hold(primitive_type& p) {
    return p.wait_for(std::chrono::seconds()) ? grant(p) : grant();
  }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_wait(std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_wait_for(time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_wait_until(time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return p.wait(), grant(true); }
  static grant block_for(primitive_type& p, auto time) { return grant(p.wait_for(time)); }

  static bool idle(auto const& p) { return p.is_set() && p.waiters() == 0; }
};

}  // namespace rules_auto_reset_event_test

#define ASIO_SYNC_RULES_SUITE rules_auto_reset_event_test
#include "rules/blocking.hpp"
#include "rules/completions.hpp"
#include "rules/coroutines.hpp"
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/order.hpp"
#include "rules/threads.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
