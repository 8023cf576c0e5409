// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_LOCK_WORKLOADS_HPP
#define ASIO_SYNC_BENCH_LOCK_WORKLOADS_HPP

#include <bench/workload.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

namespace asio_sync::bench {

// The workloads that differ only in what they lock. A Lock is made of a context, and has
//   held                what a completion carries
//   try_lock, unlock    at once
//   async_lock(token)   completes with (error_code, held)
//   release(held&)      unlocks what a completion brought

template <class Held>
Held& held_in(Held& held) {
  return held;
}
template <class Held>
Held& held_in(std::tuple<boost::system::error_code, Held>& result) {
  return std::get<1>(result);
}

// A context and a lock in it.
template <class Lock>
struct scene {
  explicit scene(reactor r) : context(r), lock(context.io()) {}

  bench_context context;
  Lock lock;
};

// W1: locks and unlocks what is free.
template <class Lock>
workload try_lock_loop() {
  auto const s = std::make_shared<scene<Lock>>(reactor::absent);
  return {[s](std::size_t n) {
    for (; n != 0; --n) {
      static_cast<void>(s->lock.try_lock());
      s->lock.unlock();
    }
  }};
}

// W2: each handler unlocks, and locks for the next.
template <class Lock>
struct chain_link {
  void operator()(boost::system::error_code, typename Lock::held held) {
    lock->release(held);
    if (--*left != 0) lock->async_lock(chain_link(*this));
  }

  Lock* lock;
  std::size_t* left;
};

template <class Lock>
workload handler_chain(reactor r) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[s](std::size_t n) {
    s->lock.async_lock(chain_link<Lock>{&s->lock, &n});
    s->context.run();
  }};
}

// W3: a coroutine locks and unlocks what is free.
template <class Lock, class Token>
boost::asio::awaitable<void> lock_repeatedly(Lock& lock, std::type_identity<Token>,
                                             std::size_t n) {
  for (; n != 0; --n) {
    auto result = co_await lock.async_lock(Token());
    lock.release(held_in(result));
  }
}

template <class Lock, class Token>
workload free_lock(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[s, token](std::size_t n) {
    co_spawn(s->context.io(), lock_repeatedly(s->lock, token, n), boost::asio::detached);
    s->context.run();
  }};
}

// W4: coroutines compete; whoever holds the lock goes through the executor once.
template <class Lock, class Token>
boost::asio::awaitable<void> hold_repeatedly(Lock& lock, std::type_identity<Token>,
                                             std::size_t n) {
  for (; n != 0; --n) {
    auto result = co_await lock.async_lock(Token());
    co_await boost::asio::post(Token());
    lock.release(held_in(result));
  }
}

template <class Lock, class Token>
void spawn_sections(scene<Lock>& s, std::type_identity<Token> token, std::size_t coroutines,
                    std::size_t n) {
  for (std::size_t i = 0; i != coroutines; ++i)
    co_spawn(s.context.io(), hold_repeatedly(s.lock, token, n / coroutines),
             boost::asio::detached);
}

template <class Lock, class Token>
workload sections(reactor r, std::type_identity<Token> token, std::size_t coroutines) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[=](std::size_t n) {
    spawn_sections(*s, token, coroutines, n);
    s->context.run();
  }};
}

// W5: the same with two threads that run the context.
template <class Lock, class Token>
workload sections_of_two_threads(reactor r, std::type_identity<Token> token,
                                 std::size_t coroutines) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[=](std::size_t n) {
    spawn_sections(*s, token, coroutines, n);
    s->context.run_in_two_threads();
  }};
}

// W5b: two contexts, each with its thread and one coroutine.
template <class Lock, class Token>
workload sections_of_two_contexts(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<Lock>>(r);
  auto const other = std::make_shared<bench_context>(r);
  return {[=](std::size_t n) {
    co_spawn(s->context.io(), hold_repeatedly(s->lock, token, n / 2), boost::asio::detached);
    co_spawn(other->io(), hold_repeatedly(s->lock, token, n / 2), boost::asio::detached);
    std::thread thread([other] { other->run(); });
    s->context.run();
    thread.join();
  }};
}

// W6: waits of 24 bytes queue, and are drained by hand-off.
template <class Lock>
struct queued_handler {
  void operator()(boost::system::error_code, typename Lock::held held) {
    lock->release(held);
    *completed += bytes;
  }

  Lock* lock;
  std::size_t* completed;
  std::size_t bytes = 1;
};

template <class Lock>
workload queue_and_drain(reactor r) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[s](std::size_t n) {
    std::size_t completed = 0;
    static_cast<void>(s->lock.try_lock());
    for (std::size_t i = 0; i != n; ++i)
      s->lock.async_lock(queued_handler<Lock>{&s->lock, &completed});
    s->lock.unlock();
    s->context.run();
  }};
}

// W11: queued waits are cancelled through their slots.
struct ignore_completion {
  template <class Held>
  void operator()(boost::system::error_code, Held const&) const noexcept {}
};

enum class cancel_order { queue, random };

template <class Lock>
workload cancel_queued(cancel_order order) {
  struct state : scene<Lock> {
    using scene<Lock>::scene;
    std::vector<boost::asio::cancellation_signal> signals;
    std::vector<std::uint32_t> order;
  };
  auto const s = std::make_shared<state>(reactor::absent);
  static_cast<void>(s->lock.try_lock());
  auto const prepare = [=](std::size_t n) {
    if (s->signals.size() != n) {
      s->signals = std::vector<boost::asio::cancellation_signal>(n);
      s->order.resize(n);
      std::iota(s->order.begin(), s->order.end(), 0);
      if (order == cancel_order::random)
        std::shuffle(s->order.begin(), s->order.end(), std::minstd_rand(7));
    }
    for (auto& signal : s->signals)
      s->lock.async_lock(boost::asio::bind_cancellation_slot(signal.slot(), ignore_completion()));
  };
  auto const run = [s](std::size_t) {
    for (auto const i : s->order) s->signals[i].emit(boost::asio::cancellation_type::terminal);
    s->context.run();
  };
  return {run, prepare};
}

// Calls f(name, token) for the tokens of coroutines. By their types: in older Asio as_tuple_t can
// be copied from what is neither const nor an lvalue only.
template <class Function>
void for_plain_tokens(Function f) {
  f("deferred", std::type_identity<boost::asio::deferred_t>());
  f("use_awaitable", std::type_identity<boost::asio::use_awaitable_t<>>());
}

template <class Function>
void for_all_tokens(Function f) {
  for_plain_tokens(f);
  f("as_tuple(deferred)", std::type_identity<boost::asio::as_tuple_t<boost::asio::deferred_t>>());
  f("as_tuple(use_awaitable)",
    std::type_identity<boost::asio::as_tuple_t<boost::asio::use_awaitable_t<>>>());
}

// How many coroutines compete in W4, and how many sections make a run.
inline constexpr std::size_t competitors[] = {2, 8, 64, 1024};
constexpr std::size_t section_count(std::size_t coroutines) {
  return std::max<std::size_t>(4096, coroutines * 32);
}
inline constexpr std::size_t threaded_sections = 1 << 15;

}  // namespace asio_sync::bench

#endif
