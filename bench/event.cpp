// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_manual_reset_event.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace asio_sync::bench {

namespace {

using event_scene = scene<async_manual_reset_event>;

template <class Token>
boost::asio::awaitable<void> wait_repeatedly(async_manual_reset_event& event,
                                             std::type_identity<Token>, std::size_t n) {
  for (; n != 0; --n) co_await event.async_wait(Token());
}

// As W3: a coroutine waits for what is set.
template <class Token>
workload wait_for_set_event(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<event_scene>(r);
  return {[s, token](std::size_t n) {
    s->lock.set();
    co_spawn(s->context.io(), wait_repeatedly(s->lock, token, n), boost::asio::detached);
    s->context.run();
  }};
}

// As W6: so many handlers wait, and one set() releases them.
struct released_handler {
  void operator()(boost::system::error_code) { *completed += bytes; }

  async_manual_reset_event* event;
  std::size_t* completed;
  std::size_t bytes = 1;
};

workload wait_and_release(reactor r, std::size_t at_once) {
  auto const s = std::make_shared<event_scene>(r);
  return {[s, at_once](std::size_t n) {
    std::size_t completed = 0;
    while (completed < n) {
      s->lock.reset();
      for (std::size_t i = 0; i != at_once; ++i)
        s->lock.async_wait(released_handler{&s->lock, &completed});
      s->lock.set();
      s->context.run();
    }
  }};
}

}  // namespace

void add_event_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    all["W6/1000/event" + r] = {1000, [=] { return wait_and_release(r, 1000); }};
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/event" + r] = {4096, [=] { return wait_for_set_event(r, token); }};
    });
  }
  all["W6/1000000/event"] = {1'000'000,
                             [] { return wait_and_release(reactor::absent, 1'000'000); }};
}

}  // namespace asio_sync::bench
