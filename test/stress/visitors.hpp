// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_STRESS_VISITORS_HPP
#define ASIO_SYNC_TEST_STRESS_VISITORS_HPP

// Those who go to a place again and again until the round is over: a coroutine, callbacks that are
// cancelled through their slots, and a thread.

#include "places.hpp"
#include "world.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <memory>
#include <tuple>
#include <utility>

namespace asio_sync::test {

namespace asio = boost::asio;
using boost::system::error_code;

// What a wait has brought: what it delivers, or whether it has succeeded.
template <class Got>
Got got(error_code, Got g) {
  return g;
}
inline bool got(error_code error) { return !error; }

inline asio::cancellation_type any_cancellation(random_choice& random) {
  using enum asio::cancellation_type;
  return std::array{total, partial, terminal}[random.below(3)];
}

template <class Place>
asio::awaitable<void> coroutine_at(world& w, Place place, unsigned seed) {
  random_choice random(seed);
  for (auto const running = w.keep_running(place.needs()); !w.over();) {
    unsigned const pick = random.below(64);
    unsigned const way = random.below(w.calm() ? 2 : 4);
    operation_ticket ticket(w.operations);
    auto const finish = [&](auto what) -> asio::awaitable<void> {
      ticket.complete();
      place.use(pick, what);
      if (pick % 4 == 0) co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
      place.leave(pick, what);
    };
    auto const to_got = [](auto&&... r) { return got(std::move(r)...); };
    if (way == 0) {
      auto result = co_await place.wait(pick, asio::as_tuple(asio::deferred));
      co_await finish(std::apply(to_got, std::move(result)));
    } else if (way == 1) {
      auto result = co_await place.wait(pick, asio::as_tuple(asio::use_awaitable));
      co_await finish(std::apply(to_got, std::move(result)));
    } else {
      auto result =
          co_await place.wait(pick, some_time(random), asio::as_tuple(asio::use_awaitable));
      co_await finish(std::apply(to_got, std::move(result)));
    }
    // Whoever never suspends would keep its thread from others.
    if (random.one_in(8)) co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
  }
}

template <class Place>
class caller_at : public std::enable_shared_from_this<caller_at<Place>> {
 public:
  caller_at(world& w, Place place, unsigned seed)
      : world_(w), place_(place), random_(seed), executor_(w.any_serial_executor(random_)) {}

  void start() {
    asio::post(executor_, [self = this->shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    auto const running = world_.keep_running(place_.needs());  // until the wait has begun
    if (world_.over()) return;
    unsigned const pick = random_.below(64);
    auto handler = asio::bind_cancellation_slot(
        signal_.slot(),
        asio::bind_executor(executor_, [self = this->shared_from_this(), pick,
                                        ticket = operation_ticket(world_.operations)](
                                           error_code error, auto... results) mutable {
          ticket.complete();
          auto what = got(error, std::move(results)...);
          self->place_.use(pick, what);
          self->place_.leave(pick, what);
          self->step();
        }));
    if (world_.calm() || random_.one_in(2))
      place_.wait(pick, std::move(handler));
    else
      place_.wait(pick, some_time(random_), std::move(handler));
    if (!world_.calm() && random_.one_in(2))
      asio::post(executor_, [self = this->shared_from_this()] {
        self->signal_.emit(any_cancellation(self->random_));
      });
  }

  world& world_;
  Place place_;
  random_choice random_;
  asio::any_io_executor executor_;
  asio::cancellation_signal signal_;
};

template <class Place>
void thread_at(world& w, Place place, unsigned seed) {
  random_choice random(seed);
  while (!w.over()) {
    unsigned const pick = random.below(64);
    try {
      auto what =
          w.calm() || random.one_in(2) ? place.block(pick) : place.block(pick, some_time(random));
      place.use(pick, what);
      place.leave(pick, what);
    } catch (boost::system::system_error const&) {  // cancelled or closed
    }
  }
}

}  // namespace asio_sync::test

#endif
