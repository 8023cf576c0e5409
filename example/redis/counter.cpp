// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows a mutex for processes, and its fence. Each process increments a number in a file, again
// and again: it locks a redis::async_mutex, reads the number, and writes it back with one added.
// With --pause, the first writer is stopped while it owns the lock, for longer than its session
// lives. The second one gets the lock. When the first one wakes up, owns_lock() is false. A
// writer that asks first, and is stopped before it writes, cannot know. So the file keeps the
// largest fence that has written, and refuses a smaller one.

#include "../command_line.hpp"
#include "fenced_number.hpp"
#include "processes.hpp"
#include "run_with_client.hpp"
#include "server.hpp"

#include <asio_sync/redis/async_mutex.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

struct settings {
  int processes = 5;
  int increments = 100;
  bool pause = false;
  std::string redis;
};

asio::awaitable<void> increment(redis::client& client, std::string const& name,
                                fenced_number& store, int times) {
  redis::async_mutex mutex(co_await asio::this_coro::executor, client, name);
  while (times-- > 0) {
    auto const lock = co_await mutex.async_lock();
    auto const number = store.read();
    if (!store.write(lock.fence(), number + 1)) throw std::runtime_error("the lock was lost");
  }
  co_await client.async_shutdown();
}

asio::awaitable<void> write_late(redis::client& client, std::string const& name,
                                 fenced_number& store, processes const& all) {
  redis::async_mutex mutex(co_await asio::this_coro::executor, client, name);
  auto lock = co_await mutex.async_lock();
  auto const fence = lock.fence();
  auto const number = store.read();
  all.report("writer 0 owns the lock, and is stopped for longer than its session lives");
  std::raise(SIGSTOP);
  if (lock.owns_lock()) throw std::runtime_error("writer 0 believes to own the lock");
  all.report("writer 0 wakes up, and does not own the lock any more");
  if (store.write(fence, number + 1)) throw std::runtime_error("a smaller fence has written");
  all.report("writer 0 writes nevertheless: refused, because a larger fence has written");
  auto const [error] = co_await lock.async_unlock(asio::as_tuple(asio::deferred));
  all.report("writer 0 unlocks: " + error.message());
  co_await client.async_shutdown();
}

asio::awaitable<void> take_over(redis::client& client, std::string const& name,
                                fenced_number& store, processes const& all) {
  co_await increment(client, name, store, 1);
  all.report("writer 1 has got the lock, and has incremented the number");
}

class program {
 public:
  explicit program(settings const& set) : set_(set), redis_(set.redis) {}

  bool count() {
    for (int i = 0; i != set_.processes; ++i)
      start([=, this](auto&... with) { return increment(with..., set_.increments); });
    while (all_.next_line()) {
    }
    auto const number = fenced_number(file_).read();
    std::cout << set_.processes << " processes, " << set_.increments
              << " increments each: " << number << '\n';
    return number == std::int64_t{set_.processes} * set_.increments;
  }

  bool pause() {
    start([this](auto&... with) { return write_late(with..., all_); });
    print_line();  // writer 0 is about to stop
    start([this](auto&... with) { return take_over(with..., all_); });
    print_line();  // writer 1 has written
    all_.send(0, SIGCONT);
    while (print_line()) {
    }
    auto const number = fenced_number(file_).read();
    std::cout << "the number is " << number << '\n';
    return number == 1;
  }

 private:
  // Starts a process that runs a coroutine with a client, the name of the mutex, and the store.
  template <class Writer>
  void start(Writer writer) {
    auto config = redis_.config_for("writer");
    if (set_.pause) config.session_ttl = std::chrono::seconds(1);
    all_.start([=, this] {
      fenced_number store(file_);
      run_with_client(config, [&](redis::client& client) { return writer(client, name_, store); });
    });
  }

  bool print_line() {
    auto const line = all_.next_line();
    if (line) std::cout << *line << std::endl;
    return line.has_value();
  }

  settings const& set_;
  signals signals_;
  server redis_;
  temporary_folder folder_;
  std::filesystem::path file_ = folder_.path() / "number";
  std::string name_ = "number " + std::to_string(std::random_device()());  // no other run has it
  processes all_{signals_};
};

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("processes", number_option("processes", set.processes, 1, 64),
       "number of processes: 1 to 64")
      ("increments", number_option("increments", set.increments, 1, 10000),
       "how often each of them increments the number: 1 to 10000")
      ("pause", options::bool_switch(&set.pause), "stop a writer until its lock is lost")
      ("redis", options::value(&set.redis)->value_name("SERVER"),
       "host:port or socket of the server; without it the program starts its own");
  // clang-format on
  return run(argc, argv, "counter",
             "Processes increment a number in a file, under a lock at a Redis server.",
             description, [&] {
               program p(set);
               return set.pause ? p.pause() : p.count();
             });
}
