// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows how processes take several things at once without a deadlock, and what they still do after
// one of them is killed. Philosophers sit round a table, with a fork between each two of them, and
// each needs both of its neighbours to eat. A philosopher is a process, a fork is a
// redis::async_semaphore with one permit, and everybody takes the forks in the order of their
// names. With --kill, one is killed with two forks in its hands: the server frees them when the
// session of the dead process has run out, and the others eat on.

#include "../command_line.hpp"
#include "processes.hpp"
#include "run_with_client.hpp"
#include "server.hpp"

#include <asio_sync/redis/async_semaphore.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

struct settings {
  int philosophers = 5;
  int rounds = 10;
  std::optional<int> kill;
  std::string redis;

  // Returns the number of the meal during which a philosopher is killed.
  int last_meal() const { return (rounds + 1) / 2; }
};

// Eats and thinks in a process of its own. Philosopher i has the fork i at its left.
class philosopher {
 public:
  philosopher(processes const& all, settings const& set, std::string const& table, int i)
      : all_(all), set_(set), table_(table), i_(i) {}

  asio::awaitable<void> dine(redis::client& client) {
    auto const executor = co_await asio::this_coro::executor;
    auto const [first, second] =
        std::minmax({name_of_fork(i_), name_of_fork((i_ + 1) % set_.philosophers)});
    redis::async_semaphore lower(executor, client, first, 1);
    redis::async_semaphore higher(executor, client, second, 1);
    for (int meal = 1; meal <= set_.rounds; ++meal) {
      auto one = co_await lower.async_acquire();
      auto other = co_await higher.async_acquire();
      co_await eat(meal);
      co_await other.async_release();  // throws if the permit was lost before
      co_await one.async_release();
    }
    co_await client.async_shutdown();
  }

 private:
  std::string name_of_fork(int i) const { return table_ + " fork " + std::to_string(i); }

  asio::awaitable<void> eat(int meal) {
    all_.report(std::to_string(i_) + " eats");
    bool const is_last = set_.kill == i_ && meal == set_.last_meal();
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(is_last ? std::chrono::hours(1) : std::chrono::milliseconds(1));
    co_await timer.async_wait(asio::deferred);
    all_.report(std::to_string(i_) + " thinks");
  }

  processes const& all_;
  settings const& set_;
  std::string table_;
  int i_;
};

// Watches the philosophers from their parent process, and counts the meals.
class table {
 public:
  explicit table(settings const& set)
      : set_(set), meals_(static_cast<std::size_t>(set.philosophers)), eating_(meals_.size()) {}

  void watch(processes& all) {
    while (auto const line = all.next_line()) {
      std::istringstream words(*line);
      std::size_t i = 0;
      std::string does;
      words >> i >> does;
      eating_[i] = does == "eats";
      if (!eating_[i]) {
        ++meals_[i];
      } else if (eating_[(i + 1) % meals_.size()] ||
                 eating_[(i + meals_.size() - 1) % meals_.size()]) {
        fork_in_two_hands_ = true;
      } else if (is_killed(i) && meals_[i] + 1 == set_.last_meal()) {
        all.kill(i);
        eating_[i] = false;
      }
    }
  }

  bool print() const {
    bool all_eaten = true;
    for (std::size_t i = 0; i != meals_.size(); ++i) {
      std::cout << "philosopher " << i << ": " << meals_[i] << " meals"
                << (is_killed(i) ? ", killed while it ate the next one\n" : "\n");
      all_eaten = all_eaten && meals_[i] == (is_killed(i) ? set_.last_meal() - 1 : set_.rounds);
    }
    return all_eaten && !fork_in_two_hands_;
  }

 private:
  bool is_killed(std::size_t i) const {
    return set_.kill && i == static_cast<std::size_t>(*set_.kill);
  }

  settings const& set_;
  std::vector<int> meals_;
  std::vector<bool> eating_;
  bool fork_in_two_hands_ = false;
};

bool show(settings const& set) {
  if (set.kill >= set.philosophers)
    throw command_line::usage_error("--kill takes one of the philosophers, which count from 0");
  signals interruptions;
  server const redis(set.redis);
  processes all(interruptions);
  std::string const name =
      "table " + std::to_string(std::random_device()());  // no other run has it
  for (int i = 0; i != set.philosophers; ++i)
    all.start([&] {
      philosopher one(all, set, name, i);
      run_with_client(redis.config_for("philosopher-" + std::to_string(i)),
                      [&](redis::client& client) { return one.dine(client); });
    });
  table t(set);
  t.watch(all);
  return t.print();
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("philosophers", number_option("philosophers", set.philosophers, 2, 64),
       "number of philosophers: 2 to 64")
      ("rounds", number_option("rounds", set.rounds, 1, 1000),
       "how often each of them eats: 1 to 1000")
      ("kill", number_option("kill", set.kill, 0, 63), "kill this philosopher while it eats")
      ("redis", options::value(&set.redis)->value_name("SERVER"),
       "host:port or socket of the server; without it the program starts its own");
  // clang-format on
  return run(argc, argv, "dining_philosophers",
             "Processes share forks at a Redis server, each of which two of them need to eat.",
             description, [&] { return show(set); });
}
