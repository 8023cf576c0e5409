// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows how to take several things at once without a deadlock. Philosophers sit round a table,
// with a fork between each two of them, and each needs both of its neighbours to eat. By default a
// fork is an async_semaphore with one permit, and everybody takes the fork with the lower number
// first. With --all, forks are mutexes, and async_lock_all takes both, in whatever order they are
// named. With --naive, everybody takes the left fork, waits until all the others have done so, and
// then waits for the right one: nobody ever gets it. A time-out tells.

#include "command_line.hpp"

#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::deferred;
using asio_sync::async_mutex;
using asio_sync::async_semaphore;

struct settings {
  bool all = false;
  bool naive = false;
  int philosophers = 5;
  int rounds = 10;
};

class table {
 public:
  explicit table(asio::io_context& context, settings const& set)
      : meals(static_cast<std::size_t>(set.philosophers)),
        eating(meals.size()),
        all_sit(context, set.philosophers) {
    for (std::size_t i = 0; i != meals.size(); ++i) {
      forks.emplace_back(context, 1, 1);
      locked_forks.emplace_back(context);
    }
  }

  std::size_t right_of(std::size_t philosopher) const { return (philosopher + 1) % meals.size(); }

  // Eats for one turn of the event loop, with both forks in the hands.
  asio::awaitable<void> eat(std::size_t philosopher) {
    std::size_t const left = (philosopher + meals.size() - 1) % meals.size();
    if (eating[left] || eating[right_of(philosopher)]) fork_in_two_hands = true;
    std::cout << "philosopher " << philosopher << " eats\n";
    eating[philosopher] = true;
    co_await asio::post(deferred);
    eating[philosopher] = false;
    ++meals[philosopher];
  }

  std::deque<async_semaphore> forks;
  std::deque<async_mutex> locked_forks;
  std::vector<int> meals;
  std::vector<bool> eating;
  bool fork_in_two_hands = false;
  asio_sync::async_barrier all_sit;
};

// Number i has the fork i at its left.
asio::awaitable<void> dine_in_order(table& t, std::size_t i, int rounds) {
  auto const [first, second] = std::minmax({i, t.right_of(i)});
  while (rounds-- > 0) {
    auto lower = co_await t.forks[first].async_acquire();
    auto higher = co_await t.forks[second].async_acquire();
    co_await t.eat(i);
  }
}

asio::awaitable<void> dine_with_all(table& t, std::size_t i, int rounds) {
  while (rounds-- > 0) {
    auto both =
        co_await async_lock_all(std::tie(t.locked_forks[i], t.locked_forks[t.right_of(i)]));
    co_await t.eat(i);
  }
}

asio::awaitable<void> dine_naively(table& t, std::size_t i, int rounds) {
  while (rounds-- > 0) {
    auto left = co_await t.forks[i].async_acquire();
    co_await t.all_sit.async_arrive_and_wait();
    auto [error, right] = co_await t.forks[t.right_of(i)].async_acquire_for(
        std::chrono::milliseconds(200), asio::as_tuple(deferred));
    if (error == asio::error::timed_out)
      throw std::runtime_error("deadlock: each has the left fork and waits for the right one");
    co_await t.eat(i);
  }
}

bool show(settings const& set) {
  if (set.all && set.naive) throw command_line::usage_error("--all does not go with --naive");
  auto const dine = set.naive ? dine_naively : set.all ? dine_with_all : dine_in_order;
  asio::io_context context;
  table t(context, set);
  for (std::size_t i = 0; i != t.meals.size(); ++i)
    asio::co_spawn(context, dine(t, i, set.rounds), [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    });
  context.run();
  for (std::size_t i = 0; i != t.meals.size(); ++i)
    std::cout << "philosopher " << i << ": " << t.meals[i] << " meals\n";
  return !t.fork_in_two_hands &&
         std::ranges::all_of(t.meals, [&](int meals) { return meals == set.rounds; });
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("all", options::bool_switch(&set.all), "take both forks at once, with async_lock_all")
      ("naive", options::bool_switch(&set.naive), "take left, then right: runs into the deadlock")
      ("philosophers", number_option("philosophers", set.philosophers, 2, 1000),
       "number of philosophers: 2 to 1000")
      ("rounds", number_option("rounds", set.rounds, 1, 1000),
       "how often each of them eats: 1 to 1000");
  // clang-format on
  return run(argc, argv, "dining_philosophers",
             "Philosophers share forks, each of which two of them need to eat.", description,
             [&] { return show(set); });
}
