// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_latch.hpp>

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

struct open_latch : async_latch {
  explicit open_latch(boost::asio::io_context& context) : async_latch(context, 0) {}
};

template <class Token>
boost::asio::awaitable<void> wait_repeatedly(async_latch& latch, std::type_identity<Token>,
                                             std::size_t n) {
  for (; n != 0; --n) co_await latch.async_wait(Token());
}

// As W3: a coroutine waits for what is open.
template <class Token>
workload wait_for_open_latch(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<open_latch>>(r);
  return {[s, token](std::size_t n) {
    co_spawn(s->context.io(), wait_repeatedly(s->lock, token, n), boost::asio::detached);
    s->context.run();
  }};
}

}  // namespace

void add_latch_workloads(catalogue& all) {
  for (reactor const r : reactors)
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/latch" + r] = {4096, [=] { return wait_for_open_latch(r, token); }};
    });
}

}  // namespace asio_sync::bench
