// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows an election: of several processes one leads, and the others stand by. The leader is the
// process that owns a redis::async_mutex. It leads until it is told to end by SIGTERM, which hands
// the mutex over at once, or until async_wait_lost tells it that it leads no more. With --kill,
// the first leader is killed. With --freeze, it is stopped for longer than its session lives, and
// learns when it wakes up that another process leads. Both times another one takes over as soon as
// the session of the first has run out. The fence of the lock is the number of the leader's term.

#include "../command_line.hpp"
#include "processes.hpp"
#include "run_with_client.hpp"
#include "server.hpp"

#include <asio_sync/redis/async_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

struct settings {
  int processes = 3;
  bool kill = false;
  bool freeze = false;
  std::string redis;
};

// Stands for election in a process of its own.
class candidate {
 public:
  candidate(signals& s, processes const& all, std::string const& office, int i)
      : signals_(s), all_(all), office_(office), i_(i) {}

  // Ends by SIGTERM, in order: the next leader need not wait for the end of a session.
  asio::awaitable<void> run(redis::client& client) {
    using namespace asio::experimental::awaitable_operators;
    auto const executor = co_await asio::this_coro::executor;
    auto const token = asio::as_tuple(asio::use_awaitable);
    asio::signal_set told_to_end(executor, SIGTERM);
    signals_.let_in();
    redis::async_mutex office(executor, client, office_);
    auto const first = co_await (asio::co_spawn(executor, stand(office), token) ||  //
                                 told_to_end.async_wait(token));
    if (first.index() == 0) std::rethrow_exception(std::get<0>(std::get<0>(first)));
    co_await client.async_shutdown();
  }

 private:
  asio::awaitable<void> stand(redis::async_mutex& office) {
    for (;;) {
      auto lock = co_await office.async_lock();
      all_.report(std::to_string(i_) + " leads " + std::to_string(lock.fence()));
      co_await lock.async_wait_lost();  // here a leader would do its work
      all_.report(std::to_string(i_) + " stands");
    }
  }

  signals& signals_;
  processes const& all_;
  std::string office_;
  int i_;
};

// Watches the candidates from their parent process, and ends one leader after the other.
class election {
 public:
  election(settings const& set, signals& s) : set_(set), redis_(set.redis), all_(s) {
    std::string const office = "office " + std::to_string(std::random_device()());  // new
    for (int i = 0; i != set_.processes; ++i)
      all_.start([&, i] {
        candidate one(s, all_, office, i);
        run_with_client(redis_.config_for("candidate-" + std::to_string(i)),
                        [&](redis::client& client) { return one.run(client); });
      });
  }

  void hold() {
    auto leader = next_leader();
    if (set_.kill) {
      say("the leader is killed");
      all_.kill(*leader);
      leader = next_leader();
    } else if (set_.freeze) {
      auto const first = *leader;
      say("the leader is frozen");
      all_.send(first, SIGSTOP);
      leader = next_leader();
      all_.send(first, SIGCONT);
      if (next_leader()) throw std::runtime_error("the first leader believes to lead");
      say("the first leader wakes up, and stands by");
    }
    for (; leader; leader = next_leader()) {
      say("the leader is told to end");
      all_.send(*leader, SIGTERM);
    }
    say("all have ended");
  }

 private:
  // Returns nothing if a process stands by that has led before, or if all have ended.
  std::optional<std::size_t> next_leader() {
    auto const line = all_.next_line();
    if (!line) return {};
    std::istringstream words(*line);
    std::size_t i = 0;
    std::string does;
    std::uint64_t fence = 0;
    words >> i >> does >> fence;
    if (does == "stands") return {};
    if (fence <= last_fence_) throw std::runtime_error("a term has begun before the last one");
    last_fence_ = fence;
    say("term " + std::to_string(++terms_) + ": a process leads");
    return i;
  }

  static void say(std::string const& line) { std::cout << line << std::endl; }

  settings const& set_;
  server redis_;
  processes all_;
  std::uint64_t last_fence_ = 0;
  int terms_ = 0;
};

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("processes", number_option("processes", set.processes, 2, 64),
       "number of processes: 2 to 64")
      ("kill", options::bool_switch(&set.kill), "kill the first leader")
      ("freeze", options::bool_switch(&set.freeze), "stop the first leader for a while")
      ("redis", options::value(&set.redis)->value_name("SERVER"),
       "host:port or socket of the server; without it the program starts its own");
  // clang-format on
  return run(argc, argv, "leader", "One of several processes leads, and another one takes over.",
             description, [&] {
               if (set.kill && set.freeze)
                 throw usage_error("--kill and --freeze do not go together");
               signals interruptions;
               election(set, interruptions).hold();
               return true;
             });
}
