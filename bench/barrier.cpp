// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_barrier.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace asio_sync::bench {

namespace {

struct barrier_of_one : async_barrier {
  explicit barrier_of_one(boost::asio::io_context& context) : async_barrier(context, 1) {}
};

template <class Token>
boost::asio::awaitable<void> arrive_repeatedly(async_barrier& barrier, std::type_identity<Token>,
                                               std::size_t n) {
  for (; n != 0; --n) co_await barrier.async_arrive_and_wait(Token());
}

// As W3: a coroutine is the last of each phase, as it is the only one.
template <class Token>
workload meet_alone(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<barrier_of_one>>(r);
  return {[s, token](std::size_t n) {
    co_spawn(s->context.io(), arrive_repeatedly(s->lock, token, n), boost::asio::detached);
    s->context.run();
  }};
}

}  // namespace

void add_barrier_workloads(catalogue& all) {
  for (reactor const r : reactors)
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/barrier" + r] = {4096, [=] { return meet_alone(r, token); }};
    });
}

}  // namespace asio_sync::bench
