// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Operations on strands of a context that two threads run, which a third thread cancels.

#include "support/test.hpp"
#include "unit/group/strands.hpp"

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/udp.hpp>

namespace group_strand_test {

using namespace asio_sync::test;
using strand = asio_sync::test::group_of_strands::strand;

// Suspends again and again, so that a cancellation meets it also while it runs.
asio::awaitable<void> session() {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (;;) {
    timer.expires_after(10us);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

// Waits on a strand, again and again, in every way that a handler can be called.
template <class Wait>
void again(Wait wait) {
  wait([wait](error_code error) mutable {
    if (!error) again(std::move(wait));
  });
}

}  // namespace group_strand_test

BOOST_FIXTURE_TEST_SUITE(group_strand_test, asio_sync::test::group_of_strands)

BOOST_AUTO_TEST_CASE(W1_coroutines_spawned_on_strands) {
  for (bool const on_strand : {true, false})
    cancels(
        [&](strand const& own) { asio::co_spawn(own, session(), group->track(asio::detached)); },
        on_strand);
}

BOOST_AUTO_TEST_CASE(W1_coroutines_with_handlers_on_other_strands) {
  cancels([&](strand const& own) {
    auto const others = asio::make_strand(context);
    asio::co_spawn(own, session(), group->track(asio::bind_executor(others, asio::detached)));
  });
}

BOOST_AUTO_TEST_CASE(W1_coroutines_that_have_not_suspended_yet) {
  async_mutex mutex(context);
  auto const passes = [&]() -> asio::awaitable<void> {
    auto const lock = co_await mutex.async_lock(asio::deferred);
  };
  cancels(
      [&](strand const& own) { asio::co_spawn(own, passes(), group->track([](auto const&) {})); },
      false);
}

BOOST_AUTO_TEST_CASE(W2_operations_in_coroutines) {
  cancels([&](strand const& own) {
    auto const waits = [this]() -> asio::awaitable<void> {
      asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
      co_await timer.async_wait(group->track(asio::use_awaitable));
    };
    asio::co_spawn(own, waits, group->track(asio::detached));
  });
}

BOOST_AUTO_TEST_CASE(W3_timers) {
  cancels([&](strand const& own) {
    auto timer = std::make_shared<asio::steady_timer>(own);
    again([this, timer](auto next) {
      timer->expires_after(10us);
      timer->async_wait(group->track(std::move(next)));
    });
  });
}

// A timer has to live until its wait has completed, and a promise does not keep it.
BOOST_AUTO_TEST_CASE(W3_futures_and_deferred_operations) {
  std::deque<asio::steady_timer> timers;
  cancels(
      [&](strand const& own) {
        auto future = timers.emplace_back(own, 1h).async_wait(group->track(asio::use_future));
        timers.emplace_back(own, 1h).async_wait(group->track(asio::deferred))([](error_code) {});
      },
      false);
}

BOOST_AUTO_TEST_CASE(W3_sockets) {
  cancels([&](strand const& own) {
    using asio::ip::udp;
    auto socket = std::make_shared<udp::socket>(own, udp::endpoint(udp::v4(), 0));
    auto byte = std::make_shared<char>();
    socket->async_receive(asio::buffer(byte.get(), 1),
                          group->track([socket, byte](error_code, std::size_t) {}));
  });
}

BOOST_AUTO_TEST_CASE(W3_waits_for_mutexes_on_strands) {
  cancels([&](strand const& own) {
    auto mutex = std::make_shared<async_mutex>(own);
    mutex->async_lock([mutex](error_code, async_mutex::lock_type) {});
    mutex->async_lock(group->track([mutex](error_code, async_mutex::lock_type) {}));
  });
}

BOOST_AUTO_TEST_CASE(W3_composed_operations) {
  cancels([&](strand const& own) {
    auto timer = std::make_shared<asio::steady_timer>(own);
    auto token = group->track([](error_code) {});
    asio::async_compose<decltype(token), void(error_code)>(
        [timer](auto& self, error_code error = {}) {
          if (self.cancelled() != asio::cancellation_type::none)
            return self.complete(asio::error::operation_aborted);
          if (error) return self.complete(error);
          timer->expires_after(10us);
          timer->async_wait(std::move(self));
        },
        token, *timer);
  });
}

// They do not say where they are: the group has to be where they are.
BOOST_AUTO_TEST_CASE(W5_parallel_groups_on_the_strand_of_the_group) {
  auto const all = asio::make_strand(context);
  group.emplace(all);
  cancels([&](strand const&) {
    group->add();
    asio::post(all, [this, all] {
      auto one = std::make_shared<asio::steady_timer>(all, 1h);
      auto two = std::make_shared<asio::steady_timer>(all, 1h);
      asio::experimental::make_parallel_group(one->async_wait(asio::deferred),
                                              two->async_wait(asio::deferred))
          .async_wait(asio::experimental::wait_for_all(),
                      group->track([one, two](auto const&...) {}));
      group->done();
    });
  });
  group.reset();
}

BOOST_AUTO_TEST_SUITE_END()
