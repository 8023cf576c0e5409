// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_REDIS_MANY_HPP
#define ASIO_SYNC_BENCH_REDIS_MANY_HPP

#include <asio_sync/redis.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// One client that waits many times: what the waits cost while nothing is granted, how fast they
// hand on, and how often the client loses its session.
namespace many {

namespace asio = boost::asio;
namespace redis = asio_sync::redis;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct figures {
  double queued_after = 0;  // seconds, from the first wait until the server has queued them all
  double share = 0;         // of a core that the client's thread uses while all of them wait
  double grants = 0;        // a second
  int losses = 0;           // of the session
};

inline double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

// Returns the seconds of a processor that this thread has used.
inline double processor_seconds() {
  ::rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  auto const seconds = [](::timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// A client on a thread of its own.
class lone_client {
 public:
  explicit lone_client(redis::config c) : client(thread_.get_executor(), std::move(c)) {
    client.on_event([this](redis::event const& e) {
      if (e.what == redis::event::kind::session_lost) ++losses;
    });
    client.async_run(asio::detached);
  }
  lone_client(lone_client const&) = delete;
  lone_client& operator=(lone_client const&) = delete;

  double processor_seconds() {
    return asio::post(thread_, asio::use_future(many::processor_seconds)).get();
  }

 private:
  asio::thread_pool thread_{1};

 public:
  redis::client client;
  std::atomic<int> losses = 0;
};

// Waits until a condition holds, for a minute at most.
template <class Condition>
void poll(Condition holds) {
  for (auto const begin = clock_type::now(); !holds(); std::this_thread::sleep_for(5ms))
    if (seconds_since(begin) > 60) throw std::runtime_error("many waits: a minute has passed");
}

// One client waits for mutexes that another one holds, and hands each on when it is granted.
// `count_queued` returns the number of waits that a server has queued for a mutex.
template <class CountQueued>
figures measure(redis::config settings, std::size_t waits, std::size_t mutexes,
                CountQueued count_queued) {
  asio::thread_pool users(1);
  lone_client waiting(settings);
  settings.session_ttl = settings.max_session_ttl;
  lone_client holding(settings);
  std::vector<std::unique_ptr<redis::async_mutex>> all;
  std::vector<redis::async_mutex::lock_type> held;
  for (std::size_t i = 0; i != mutexes; ++i) {
    std::string const name = "many " + std::to_string(i);
    held.push_back(redis::async_mutex(users, holding.client, name).lock());
    all.push_back(std::make_unique<redis::async_mutex>(users, waiting.client, name));
  }

  figures f;
  std::atomic<std::size_t> granted = 0;
  auto begin = clock_type::now();
  for (std::size_t i = 0; i != waits; ++i)
    all[i % mutexes]->async_lock([&](auto error, auto) { granted += !error; });
  poll([&] {
    std::size_t queued = 0;
    for (std::size_t i = 0; i != mutexes; ++i) queued += count_queued("many " + std::to_string(i));
    return queued == waits;
  });
  f.queued_after = seconds_since(begin);

  begin = clock_type::now();
  double const used = waiting.processor_seconds();
  std::this_thread::sleep_for(6s);
  f.share = (waiting.processor_seconds() - used) / seconds_since(begin);

  held.clear();
  begin = clock_type::now();
  std::this_thread::sleep_for(2s);
  f.grants = static_cast<double>(granted) / seconds_since(begin);
  f.losses = waiting.losses;

  waiting.client.stop();
  all.clear();  // ends the waits
  users.join();
  return f;
}

}  // namespace many

#endif
