// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of a mailbox with one flag up, which is taken by whoever waits.
//
// A handler cannot let go what its completion brings, and the mailbox has no blocking form. So it
// does without the cases of rules/carried.hpp, rules/one_by_one.hpp and rules/blocking.hpp; what
// holds in place of the first two is in unit/signals. Where the others want a thread to block,
// it waits for a future.

#include "support/test.hpp"

#include <asio_sync/async_mailbox.hpp>

namespace rules_mailbox_test {

struct subject {
  static constexpr bool carries = true;
  static constexpr bool takes = true;
  static constexpr asio_sync::mailbox_flags flag = 0x8000'0000;
  template <class Executor>
  struct over : asio_sync::basic_async_mailbox<Executor> {
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home) : asio_sync::basic_async_mailbox<Executor>(home) {
      this->raise(flag);
    }
  };
  using primitive_type = over<boost::asio::any_io_executor>;

  // The flag that a completion brings; or what raises it again that somebody holds.
  class grant {
   public:
    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the flags of a completion
    grant(asio_sync::mailbox_flags brought = 0) noexcept : given_(brought == flag) {}
    explicit grant(primitive_type& held) noexcept : given_(true), held_(&held) {}
    explicit operator bool() const noexcept { return given_; }

   private:
    struct raiser {
      void operator()(primitive_type* p) const noexcept { serve(*p); }
    };
    bool given_;
    std::unique_ptr<primitive_type, raiser> held_;
  };

  static bool occupy(auto& p) { return p.take(flag), true; }
  static void serve(auto& p) {
    do {
      p.raise(flag);
    } while (p.peek() == 0);
  }
  static void serve_one(auto& p) { p.raise(flag); }
  static grant hold(primitive_type& p) { return p.take(flag) == flag ? grant(p) : grant(); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_take_any(flag, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_take_any_for(flag, time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_take_any_until(flag, time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return block_for(p, std::chrono::hours(1)); }
  static grant block_for(primitive_type& p, auto time) {
    using boost::system::error_code, boost::system::system_error;
    if (p.is_closed()) throw system_error(asio_sync::error::closed);
    // Without a completion, which this thread may be keeping back.
    if (time <= time.zero()) return p.take(flag);
    std::promise<std::pair<error_code, asio_sync::mailbox_flags>> promise;
    wait_for(p, time,
             boost::asio::bind_executor(boost::asio::system_executor(),
                                        [&](error_code e, asio_sync::mailbox_flags got) {
                                          promise.set_value({e, got});
                                        }));
    auto const [error, got] = promise.get_future().get();
    if (error && error != boost::asio::error::timed_out) throw system_error(error);
    return got;
  }

  static bool idle(auto const& p) { return p.peek() == flag && p.waiters() == 0; }
};

}  // namespace rules_mailbox_test

#define ASIO_SYNC_RULES_SUITE rules_mailbox_test
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
