// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_keyed_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace asio_sync::bench {

namespace {

using keyed_mutex = async_keyed_mutex<std::size_t>;

// So many keys are held by others.
struct busy_table : keyed_mutex {
  explicit busy_table(boost::asio::io_context& context) : keyed_mutex(context) {}

  void hold(std::size_t keys) {
    while (held.size() < keys) held.push_back(try_lock(held.size()));
  }

  std::vector<keyed_lock> held;
};

template <class Token>
boost::asio::awaitable<void> lock_repeatedly(keyed_mutex& mutex, std::type_identity<Token>,
                                             std::size_t key, std::size_t n) {
  for (; n != 0; --n) static_cast<void>(co_await mutex.async_lock(key + n % 8, Token()));
}

// As W3: a coroutine locks one free key after the other.
template <class Token>
workload lock_free_keys(reactor r, std::type_identity<Token> token, std::size_t held) {
  auto const s = std::make_shared<scene<busy_table>>(r);
  s->lock.hold(held);
  return {[s, token, held](std::size_t n) {
    co_spawn(s->context.io(), lock_repeatedly(s->lock, token, held, n), boost::asio::detached);
    s->context.run();
  }};
}

}  // namespace

void add_keyed_mutex_workloads(catalogue& all) {
  for (reactor const r : reactors)
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/keyed mutex" + r] = {4096, [=] { return lock_free_keys(r, token, 0); }};
      all["W3/" + name + "/keyed mutex, 1000 in use" + r] = {
          4096, [=] { return lock_free_keys(r, token, 1000); }};
    });
}

}  // namespace asio_sync::bench
