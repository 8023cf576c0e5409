// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_group.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;

// So many operations are begun, which are posts, and a coroutine waits for the last of them.
constexpr std::size_t branches = 100;

asio::awaitable<void> fork_with_group(async_group& group, std::size_t n) {
  auto const io = co_await asio::this_coro::executor;
  for (; n != 0; n -= branches) {
    for (std::size_t i = 0; i != branches; ++i) asio::post(io, group.track([] {}));
    co_await group.async_join(asio::deferred);
  }
}

// By hand: a number, and a timer that stands in for an event.
asio::awaitable<void> fork_with_counter(async_group&, std::size_t n) {
  auto const io = co_await asio::this_coro::executor;
  asio::steady_timer joined(io, asio::steady_timer::time_point::max());
  for (; n != 0; n -= branches) {
    std::size_t pending = branches;
    for (std::size_t i = 0; i != branches; ++i)
      asio::post(io, [&] {
        if (--pending == 0) joined.cancel_one();
      });
    co_await joined.async_wait(asio::as_tuple(asio::deferred));
  }
}

asio::awaitable<void> fork_with_parallel_group(async_group&, std::size_t n) {
  auto const io = co_await asio::this_coro::executor;
  auto const branch = [&] { return asio::post(io, asio::deferred); };
  for (; n != 0; n -= branches) {
    std::vector<decltype(branch())> all;
    for (std::size_t i = 0; i != branches; ++i) all.push_back(branch());
    co_await asio::experimental::make_parallel_group(std::move(all))
        .async_wait(asio::experimental::wait_for_all(), asio::deferred);
  }
}

template <class Fork>
description fork_and_join(reactor r, Fork fork) {
  return {branches * 40, [=]() -> workload {
            auto const s = std::make_shared<scene<async_group>>(r);
            return {[s, fork](std::size_t n) {
              co_spawn(s->context.io(), fork(s->lock, n), asio::detached);
              s->context.run();
            }};
          }};
}

}  // namespace

void add_group_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    all["fork/group" + r] = fork_and_join(r, fork_with_group);
    all["fork/counter" + r] = fork_and_join(r, fork_with_counter);
    all["fork/parallel_group" + r] = fork_and_join(r, fork_with_parallel_group);
  }
}

}  // namespace asio_sync::bench
