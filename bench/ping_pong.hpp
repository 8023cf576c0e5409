// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_PING_PONG_HPP
#define ASIO_SYNC_BENCH_PING_PONG_HPP

#include <bench/lock_workloads.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace asio_sync::bench {

// Two coroutines that wake each other, one hop a unit. A Ball is made of a context, and has
//   send(side)                   at once; what is sent to a side already is lost
//   async_receive(side, token)   completes when something has been sent to that side

template <class Ball, class Token>
boost::asio::awaitable<void> play(Ball& ball, std::size_t side, std::type_identity<Token>,
                                  std::size_t n) {
  for (; n != 0; --n) {
    co_await ball.async_receive(side, Token());
    ball.send(1 - side);
  }
}

template <class Ball, class Token>
workload ping_pong(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<Ball>>(r);
  return {[s, token](std::size_t n) {
    for (std::size_t const side : {0, 1})
      co_spawn(s->context.io(), play(s->lock, side, token, n / 2), boost::asio::detached);
    s->lock.send(0);
    s->context.run();
  }};
}

}  // namespace asio_sync::bench

#endif
