// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The completion tokens of each of the mailbox's twelve initiating functions.

#include "support/coroutine.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mailbox.hpp>

namespace mailbox_tokens_test {

using namespace asio_sync::test;

constexpr mailbox_flags a = 1, b = 2;

// Calls f with each of the initiating functions, and with whether that takes flags. Their waits
// are for a and b, and an hour.
template <class Function>
void for_each_wait(async_mailbox& m, Function f) {
  auto const until = std::chrono::steady_clock::now() + 1h;
  f([&](auto... t) { return m.async_wait_any(a | b, std::move(t)...); }, false);
  f([&](auto... t) { return m.async_wait_any_for(a | b, 1h, std::move(t)...); }, false);
  f([&](auto... t) { return m.async_wait_any_until(a | b, until, std::move(t)...); }, false);
  f([&](auto... t) { return m.async_wait_all(a | b, std::move(t)...); }, false);
  f([&](auto... t) { return m.async_wait_all_for(a | b, 1h, std::move(t)...); }, false);
  f([&](auto... t) { return m.async_wait_all_until(a | b, until, std::move(t)...); }, false);
  f([&](auto... t) { return m.async_take_any(a | b, std::move(t)...); }, true);
  f([&](auto... t) { return m.async_take_any_for(a | b, 1h, std::move(t)...); }, true);
  f([&](auto... t) { return m.async_take_any_until(a | b, until, std::move(t)...); }, true);
  f([&](auto... t) { return m.async_take_all(a | b, std::move(t)...); }, true);
  f([&](auto... t) { return m.async_take_all_for(a | b, 1h, std::move(t)...); }, true);
  f([&](auto... t) { return m.async_take_all_until(a | b, until, std::move(t)...); }, true);
}

struct fixture {
  asio::io_context context;
  async_mailbox mailbox{context};

  void poll() { test::poll(context); }
  void raise_later() {
    asio::post(context, [&] { mailbox.raise(a | b); });
  }
};

}  // namespace mailbox_tokens_test

BOOST_FIXTURE_TEST_SUITE(mailbox_tokens_test, fixture)

BOOST_AUTO_TEST_CASE(R1_callbacks_and_futures_get_an_error_and_the_flags_from_each_function) {
  for_each_wait(mailbox, [&](auto wait, bool takes) {
    int calls = 0;
    auto const turn = [&](auto token) {
      wait(std::move(token));
      BOOST_TEST(mailbox.waiters() == 1u);
      mailbox.raise(a | b);
      poll();
      BOOST_TEST(mailbox.take(a | b) == (takes ? 0u : a | b));
    };
    turn([&](error_code e, mailbox_flags got) { calls += !e && got == (a | b); });
    turn(asio::as_tuple(
        [&](std::tuple<error_code, mailbox_flags> t) { calls += std::get<1>(t) == (a | b); }));
    turn(asio::any_completion_handler<void(error_code, mailbox_flags)>(
        [&](error_code, mailbox_flags got) { calls += got == (a | b); }));
    BOOST_TEST(calls == 3);
    std::future<mailbox_flags> future = wait(asio::use_future);
    mailbox.raise(a | b);
    poll();
    BOOST_TEST(future.get() == (a | b));
    mailbox.take(a | b);
    auto operation = wait(asio::deferred);
    BOOST_TEST(mailbox.waiters() == 0u);
    std::move(operation)([&](error_code e, mailbox_flags) { calls += e == aborted; });
    BOOST_TEST(mailbox.cancel() == 1u);
    poll();
    BOOST_TEST(calls == 4);
  });
}

BOOST_AUTO_TEST_CASE(R1_coroutines_get_the_flags_from_each_function) {
  for_each_wait(mailbox, [&](auto wait, bool takes) {
    static_assert(
        std::is_same_v<decltype(wait(asio::use_awaitable)), asio::awaitable<mailbox_flags>>);
    for (bool const up : {true, false})
      run(context, [&]() -> asio::awaitable<void> {
        auto const next = [&] {
          BOOST_TEST(mailbox.take(a | b) == 0u);
          up ? mailbox.raise(a | b) : raise_later();
        };
        auto const check = [&](mailbox_flags got) {
          BOOST_TEST(got == (a | b));
          BOOST_TEST(mailbox.take(a | b) == (takes ? 0u : a | b));
        };
        next();
        check(co_await wait());
        next();
        check(co_await wait(asio::use_awaitable));
        next();
        error_code error = aborted;
        check(co_await wait(asio::redirect_error(asio::deferred, error)));
        BOOST_TEST(!error);
      });
  });
}

BOOST_AUTO_TEST_CASE(R3_the_loser_of_two_takes_keeps_nothing) {
  using namespace asio::experimental::awaitable_operators;
  for (bool const both_at_once : {false, true}) {
    run(context, [&]() -> asio::awaitable<void> {
      asio::post(context, [&] {
        mailbox.raise(b);
        if (both_at_once) mailbox.raise(a);
      });
      auto const won = co_await (mailbox.async_take_any(a, asio::use_awaitable) ||
                                 mailbox.async_take_any(b, asio::use_awaitable));
      BOOST_TEST(won.index() == 1u);
    });
    BOOST_TEST(mailbox.waiters() == 0u);
    mailbox.raise(a);
    BOOST_TEST(mailbox.take(a | b) == a);
  }
}

BOOST_AUTO_TEST_SUITE_END()
