// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of a condition that is open, when nobody has to wait, or closed
// until all are notified. Its waits carry their lock, and the handlers get it let go.
//
// A coroutine is not spared anything with a lock that is carried, and a wait can only begin while
// the mutex is free. So rules/coroutines.hpp and rules/threads.hpp are left to
// condition_tokens_test.cpp, condition_memory_test.cpp and condition_test.cpp.

#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/associator.hpp>

namespace rules_condition_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

// A mutex that lives for as long as a wait has to do with it, and is free when the last has gone.
inline std::shared_ptr<async_mutex> new_mutex(boost::asio::any_io_executor const& ex) {
  return {new async_mutex(ex), [](async_mutex* mutex) {
            if (mutex->is_locked()) BOOST_ERROR("a lock is lost");
            delete mutex;
          }};
}

// A handler that lets go of the lock before it calls another one.
template <class Handler>
struct letting_go {
  void operator()(boost::system::error_code error, lock_type lock) {
    lock = lock_type();
    mutex.reset();  // whoever sees that it is called may end the contexts
    std::move(handler)(error);
  }

  Handler handler;
  std::shared_ptr<async_mutex> mutex;
};

struct subject {
  static constexpr bool carries = false;
  static constexpr bool withdraws = true;

  template <class Executor>
  class over : public asio_sync::basic_async_condition<Executor> {
   public:
    template <class Home>
    // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
    explicit over(Home&& home) : asio_sync::basic_async_condition<Executor>(home) {}

    // The mutex of those who are queued; where nobody is, and that is on its way, another one.
    std::shared_ptr<async_mutex> mutex() {
      if (this->waiters() == 0 && mutex_->is_locked()) mutex_ = new_mutex(this->get_executor());
      return mutex_;
    }

    std::atomic<bool> open = true;

   private:
    std::shared_ptr<async_mutex> mutex_ = new_mutex(this->get_executor());
  };
  using primitive_type = over<boost::asio::any_io_executor>;

  // Nothing; or what opens a condition again that somebody has closed.
  class grant {
   public:
    explicit grant(bool given = false) noexcept : given_(given) {}
    explicit grant(primitive_type& p) noexcept : given_(true), closed_(&p) {}
    explicit operator bool() const noexcept { return given_; }

   private:
    struct opener {
      void operator()(primitive_type* p) const noexcept { serve(*p); }
    };
    bool given_;
    std::unique_ptr<primitive_type, opener> closed_;
  };

  static bool occupy(auto& p) { return p.open.exchange(false); }
  static void serve(auto& p) {
    p.open = true;
    p.notify_all();
  }
  static grant hold(primitive_type& p) { return occupy(p) ? grant(p) : grant(); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return begin(
        p, [&p](auto&&... with) { p.async_wait(std::forward<decltype(with)>(with)...); },
        std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return begin(
        p,
        [&p, time](lock_type&& lock, auto&&... with) {
          p.async_wait_for(std::move(lock), time, std::forward<decltype(with)>(with)...);
        },
        std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return begin(
        p,
        [&p, time](lock_type&& lock, auto&&... with) {
          p.async_wait_until(std::move(lock), time, std::forward<decltype(with)>(with)...);
        },
        std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) {
    auto const mutex = p.mutex();
    lock_type lock(*mutex, std::try_to_lock);
    if (!p.open) p.wait(lock);
    return grant(true);
  }
  static grant block_for(primitive_type& p, auto time) {
    auto const mutex = p.mutex();
    lock_type lock(*mutex, std::try_to_lock);
    return grant(p.open || p.wait_for(lock, time) == std::cv_status::no_timeout);
  }

  static bool idle(auto const& p) { return p.open && p.waiters() == 0; }

 private:
  // What is open is a predicate that is true.
  template <class Primitive, class Initiate,
            class Token = asio_sync::detail::default_token<typename Primitive::executor_type>>
  static auto begin(Primitive& p, Initiate initiate, Token&& token = Token()) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
        [&p, initiate](auto handler) {
          auto const mutex = p.mutex();
          lock_type lock(*mutex, std::try_to_lock);
          letting_go<decltype(handler)> lets_go{std::move(handler), mutex};
          if (p.open)
            initiate(
                std::move(lock), [] { return true; }, std::move(lets_go));
          else
            initiate(std::move(lock), std::move(lets_go));
        },
        token);
  }
};

}  // namespace rules_condition_test

namespace boost::asio {

template <template <class, class> class Associator, class Handler, class Default>
struct associator<Associator, rules_condition_test::letting_go<Handler>, Default>
    : Associator<Handler, Default> {
  using handler_type = rules_condition_test::letting_go<Handler>;
  static auto get(handler_type const& h) noexcept {
    return Associator<Handler, Default>::get(h.handler);
  }
  static auto get(handler_type const& h, Default const& d) noexcept {
    return Associator<Handler, Default>::get(h.handler, d);
  }
};

}  // namespace boost::asio

#define ASIO_SYNC_RULES_SUITE rules_condition_test
#include "rules/blocking.hpp"
#include "rules/completions.hpp"
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/order.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
