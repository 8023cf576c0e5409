// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_LOCK_WORKLOADS_HPP
#define ASIO_SYNC_BENCH_LOCK_WORKLOADS_HPP

#include <bench/workload.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

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

// W5b to and fro: whoever holds the lock makes a trip through its context, queues once more, and
// only then unlocks, so that the other context is always the next.
template <class Lock>
struct hand_over {
  using held_type = typename Lock::held;

  struct release_after_trip {
    void operator()() {
      hand_over const& here = next;
      if (--*here.left >= 2) here.queue();
      here.lock->release(held);
    }

    hand_over next;
    held_type held;
  };

  void operator()(boost::system::error_code, held_type held) {
    boost::asio::post(*context, release_after_trip{*this, std::move(held)});
  }

  void queue() const {
    lock->async_lock(boost::asio::bind_executor(context->get_executor(), *this));
  }

  Lock* lock;
  boost::asio::io_context* context;
  std::size_t* left;  // under the lock
};

template <class Lock>
workload to_and_fro(reactor r) {
  auto const s = std::make_shared<scene<Lock>>(r);
  auto const other = std::make_shared<bench_context>(r);
  return {[=](std::size_t n) {
    static_cast<void>(s->lock.try_lock());
    for (auto* const context : {&s->context.io(), &other->io()})
      hand_over<Lock>{&s->lock, context, &n}.queue();
    s->lock.unlock();
    std::thread thread([other] { other->run(); });
    s->context.run();
    thread.join();
  }};
}

// W6: waits of 24 bytes queue, so many at once, and are drained by hand-off.
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
workload queue_and_drain(reactor r, std::size_t at_once) {
  auto const s = std::make_shared<scene<Lock>>(r);
  return {[s, at_once](std::size_t n) {
    std::size_t completed = 0;
    while (completed < n) {
      static_cast<void>(s->lock.try_lock());
      for (std::size_t i = 0; i != at_once; ++i)
        s->lock.async_lock(queued_handler<Lock>{&s->lock, &completed});
      s->lock.unlock();
      s->context.run();
    }
  }};
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
