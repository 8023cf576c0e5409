// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of latches: where a wait has to queue, one that is open gives way
// to another that is not.
//
// The event runs the full set over the core that the latch shares with it: here are the cases of
// grants against cancellations, of lifetimes and of time. So R1, R1a, R2, R6, R12, R13 and R16 to
// R18 are left to the tests in unit/signals, as are arrivals.

#include "support/test.hpp"

#include <asio_sync/async_latch.hpp>

namespace rules_latch_test {

struct subject {
  static constexpr bool carries = false;

  // The last of these latches is the one in use; the others are open.
  template <class Executor>
  class over {
   public:
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home) {
      latches_.emplace_back(home, 0);
    }

    asio_sync::basic_async_latch<Executor>& latch() { return latches_.back(); }
    asio_sync::basic_async_latch<Executor> const& latch() const { return latches_.back(); }

    void renew() { latches_.emplace_back(latch().get_executor(), 1); }

    std::size_t waiters() const { return latch().waiters(); }
    std::size_t cancel() { return latch().cancel(); }
    void close() { latch().close(); }

   private:
    std::deque<asio_sync::basic_async_latch<Executor>> latches_;
  };
  using primitive_type = over<boost::asio::any_io_executor>;

  // Nothing; or what opens the latch in the end.
  class grant {
   public:
    explicit grant(bool given = false) noexcept : given_(given) {}
    explicit grant(primitive_type& p) noexcept : given_(true), occupied_(&p) {}
    explicit operator bool() const noexcept { return given_; }

   private:
    struct opener {
      void operator()(primitive_type* p) const noexcept { serve(*p); }
    };
    bool given_;
    std::unique_ptr<primitive_type, opener> occupied_;
  };

  static bool occupy(auto& p) { return p.latch().try_wait() && (p.renew(), true); }
  static void serve(auto& p) {
    if (!p.latch().try_wait()) p.latch().count_down();
  }
  static grant hold(primitive_type& p) { return occupy(p) ? grant(p) : grant(); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.latch().async_wait(std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.latch().async_wait_for(time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.latch().async_wait_until(time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return p.latch().wait(), grant(true); }
  static grant block_for(primitive_type& p, auto time) { return grant(p.latch().wait_for(time)); }

  static bool idle(auto const& p) { return p.latch().try_wait() && p.waiters() == 0; }
};

}  // namespace rules_latch_test

#define ASIO_SYNC_RULES_SUITE rules_latch_test
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
