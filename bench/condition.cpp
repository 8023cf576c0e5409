// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/ping_pong.hpp>

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;

struct table {
  explicit table(asio::io_context& context) : mutex(context), turned{{context}, {context}} {}

  struct side_condition : async_condition {
    // NOLINTNEXTLINE(google-explicit-constructor): one for each side
    side_condition(asio::io_context& context) : async_condition(context) {}
  };

  async_mutex mutex;
  side_condition turned[2];
  std::size_t turn = 0;
};

// W8: two coroutines take turns; a hop is a notification, a wait that lets go of the mutex, and
// its hand-off.
template <class Token>
asio::awaitable<void> play(table& t, std::size_t side, std::type_identity<Token>, std::size_t n) {
  async_mutex::lock_type lock = co_await t.mutex.async_lock();
  for (; n != 0; --n) {
    while (t.turn != side) co_await t.turned[side].async_wait(lock, Token());
    t.turn = 1 - side;
    t.turned[1 - side].notify_one();
  }
}

template <class Token>
workload take_turns(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<table>>(r);
  return {[s, token](std::size_t n) {
    for (std::size_t const side : {0, 1})
      co_spawn(s->context.io(), play(s->lock, side, token, n / 2), asio::detached);
    s->context.run();
  }};
}

// W8: so many waits, and one notification for all.
struct ignore_lock {
  void operator()(boost::system::error_code, async_mutex::lock_type const&) const noexcept {}
};

void wait(table& t, std::size_t n) {
  for (; n != 0; --n) t.turned[0].async_wait(async_mutex::lock_type(t.mutex), ignore_lock());
}

workload notify_all(reactor r) {
  auto const s = std::make_shared<scene<table>>(r);
  return {[s](std::size_t) {
            s->lock.turned[0].notify_all();
            s->context.run();
          },
          [s](std::size_t n) { wait(s->lock, n); }};
}

workload wait_and_notify_all(reactor r) {
  auto const s = std::make_shared<scene<table>>(r);
  return {[s](std::size_t n) {
    wait(s->lock, n);
    s->lock.turned[0].notify_all();
    s->context.run();
  }};
}

}  // namespace

void add_condition_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W8/" + name + "/condition" + r] = {4096, [=] { return take_turns(r, token); }};
    });
    all["W8/notify_all/1000/condition" + r] = {1000, [=] { return notify_all(r); }};
    all["W8/waits and notify_all/1000/condition" + r] = {1000,
                                                         [=] { return wait_and_notify_all(r); }};
  }
}

}  // namespace asio_sync::bench
