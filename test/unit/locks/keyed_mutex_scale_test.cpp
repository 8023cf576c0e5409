// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Very many keys, and very many waits for them, on a small stack.

#include "support/coroutine.hpp"
#include "support/event_result.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_keyed_mutex.hpp>

namespace keyed_mutex_scale_test {

using namespace asio_sync::test;
using mutex_type = asio_sync::async_keyed_mutex<std::size_t>;
using keyed_lock = mutex_type::keyed_lock;

constexpr std::size_t many = most_waits / 10;

struct fixture {
  outcomes o;
  asio::io_context context;
  mutex_type mutex{context};

  std::vector<keyed_lock> hold(std::size_t keys) {
    std::vector<keyed_lock> held;
    held.reserve(keys);
    for (std::size_t key = 0; key < keys; ++key) held.push_back(mutex.try_lock(key));
    return held;
  }

  // In turn for each of these keys.
  template <class Executor>
  void queue(std::size_t waits, std::size_t keys, Executor const& ex) {
    for (std::size_t i = 0; i < waits; ++i)
      mutex.async_lock(i % keys, asio::bind_executor(ex, counted_handler(o)));
  }

  bool idle() const { return mutex.size() == 0 && mutex.waiters() == 0; }
};

}  // namespace keyed_mutex_scale_test

BOOST_FIXTURE_TEST_SUITE(keyed_mutex_scale_test, fixture)

BOOST_AUTO_TEST_CASE(R12_keys_that_were_used_all_at_once_give_their_memory_back) {
  heap_counter const heap(heap_counter::scope::all_threads);
  {
    auto held = hold(most_waits);
    BOOST_TEST(mutex.size() == most_waits);
    std::size_t refused = 0;
    for (std::size_t key = 0; key < most_waits; key += 7) refused += !mutex.try_lock(key);
    BOOST_TEST(refused == (most_waits + 6) / 7);
    for (std::size_t key = 0; key < most_waits; key += 2) held[key].unlock();
    BOOST_TEST(mutex.size() == most_waits / 2);
  }
  BOOST_TEST(mutex.size() == 0u);
  BOOST_TEST(heap.kept() < 10'000);  // what the pool keeps
}

BOOST_AUTO_TEST_CASE(R6_chains_of_hand_offs_of_very_many_keys) {
  auto const check = [&](std::size_t waits, std::size_t keys, auto const& ex) {
    std::size_t const before = o.all();
    std::size_t at_once = 0;
    run_on_stack(small_stack, [&] {
      auto held = hold(keys);
      queue(waits, keys, ex);
      held.clear();
      at_once = o.all() - before;
      context.restart();
      context.run();
    });
    BOOST_TEST(o.all() == before + waits);
    BOOST_TEST(idle());
    return at_once;
  };
  BOOST_TEST(check(most_waits, 1000, context.get_executor()) == 0u);
  BOOST_TEST(check(many, 5, inline_executor(context)) == many);
  BOOST_TEST(o.granted == most_waits + many);
  BOOST_TEST(check(many, 5, dropping_executor(context)) == many);
}

BOOST_AUTO_TEST_CASE(R4_a_million_waits_for_as_many_keys_are_cancelled_at_once) {
  std::size_t cancelled = 0;
  auto held = hold(most_waits / 2);
  run_on_stack(small_stack, [&] {
    queue(most_waits / 2, most_waits / 2, context.get_executor());
    cancelled = mutex.cancel();
    context.run();
  });
  BOOST_TEST(cancelled == most_waits / 2);
  BOOST_TEST(o.refused == most_waits / 2);
  BOOST_TEST(mutex.size() == most_waits / 2);
  held.clear();
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R10_a_context_ends_with_the_keys_that_are_on_their_way_to_it) {
  run_on_stack(small_stack, [&] {
    asio::io_context dying;
    queue(most_waits, most_waits / 2, dying.get_executor());  // half of them wait
  });
  BOOST_TEST(o.dropped == most_waits);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_SUITE_END()
