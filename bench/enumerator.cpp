// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_enumerator.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;

// An operation that completes inside of its initiating function.
template <class Token>
auto complete_inline(Token&& token) {
  return asio::async_initiate<Token, void(std::size_t)>(
      [](auto handler) { std::move(handler)(std::size_t(1)); }, token);
}

async_steps count_inline(async_enumerator& e, std::size_t n) {
  std::size_t result = 0;
  for (; n != 0; --n) {
    complete_inline(e.callback(result));
    co_yield 1;
  }
}

async_steps count_posted(async_enumerator& e, std::size_t n) {
  for (; n != 0; --n) {
    asio::post(e.get_executor(), e.callback());
    co_yield 1;
  }
}

template <class Steps>
description steps_with_one_completion(reactor r, Steps steps) {
  return {8192, [=]() -> workload {
            auto const s = std::make_shared<scene<async_enumerator>>(r);
            return {[s, steps](std::size_t n) {
              s->lock.async_run(steps(s->lock, n), asio::detached);
              s->context.run();
            }};
          }};
}

}  // namespace

void add_enumerator_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    all["steps/inline/enumerator" + r] = steps_with_one_completion(r, count_inline);
    all["steps/post/enumerator" + r] = steps_with_one_completion(r, count_posted);
  }
}

}  // namespace asio_sync::bench
