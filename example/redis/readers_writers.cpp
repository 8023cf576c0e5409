// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows a monitor for processes. Readers may look at a page at the same time, writers change it
// alone. The rules are a redis::async_monitor with two counters, and a condition for each, which
// is notified when somebody leaves the counter. A visitor owns its place in a counter: if it is
// killed, the server gives the place back when the session of the dead process has run out. With
// --kill, a reader and a writer are killed in the middle of a visit, and the others go on. A log
// with the begin, the end and the fence of each visit proves that no reader overlaps a writer.

#include "../command_line.hpp"
#include "processes.hpp"
#include "run_with_client.hpp"
#include "server.hpp"

#include <asio_sync/error.hpp>
#include <asio_sync/redis/async_monitor.hpp>
#include <asio_sync/redis/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

struct settings {
  int readers = 4;
  int writers = 2;
  int rounds = 10;
  bool kill = false;
  std::string redis;

  // The visitors are the readers, and after them the writers. The first of each may be killed.
  int visitors() const { return readers + writers; }
  bool is_reader(int i) const { return i < readers; }
  bool is_killed(int i) const { return kill && (i == 0 || i == readers); }

  // Returns the number of the visit during which a visitor is killed.
  int last_visit() const { return (rounds + 1) / 2; }
};

// A place in one of the counters, and the fence of the entry that has counted it.
struct place {
  std::uint64_t fence;
  redis::owned counted;  // until the end of the scope, or of the session
};

// Takes a place when nobody writes or is about to write.
asio::awaitable<place> take_place(redis::async_monitor& rules, std::string counter,
                                  std::string condition) {
  auto inside = co_await rules.async_enter();
  while (inside.number("writers") > 0) co_await inside.async_wait("writer_left");
  place taken{inside.fence(), inside.add_owned(counter, 1, condition)};
  co_await inside.async_leave();
  co_return taken;
}

asio::awaitable<place> begin_to_read(redis::async_monitor& rules) {
  return take_place(rules, "readers", "reader_left");
}

// The place keeps new readers out, so that a writer does not wait for ever. It is lost with the
// session, but the waits go on in the next one.
asio::awaitable<place> begin_to_write(redis::async_monitor& rules) {
  for (;;) {
    auto taken = co_await take_place(rules, "writers", "writer_left");
    auto inside = co_await rules.async_enter();
    while (taken.counted.owns() && inside.number("readers") > 0)
      co_await inside.async_wait("reader_left");
    co_await inside.async_leave();
    if (taken.counted.owns()) co_return taken;
  }
}

// Reads or writes in a process of its own.
class visitor {
 public:
  visitor(processes const& all, settings const& set, int i) : all_(all), set_(set), i_(i) {}

  asio::awaitable<void> run(redis::client& client) {
    // All runs use one name: the variables of a monitor stay at the server.
    redis::async_monitor rules(co_await asio::this_coro::executor, client, "page");
    for (int visit = 1; visit <= set_.rounds; ++visit) {
      auto const taken = co_await begin(rules);
      report("begins", taken.fence);
      co_await stay(set_.is_killed(i_) && visit == set_.last_visit());
      report("ends", taken.fence);
    }
    co_await client.async_shutdown();
  }

 private:
  // Begins again if the session is lost meanwhile, and with it the entry.
  asio::awaitable<place> begin(redis::async_monitor& rules) const {
    for (;;) {
      try {
        co_return co_await try_to_begin(rules);
      } catch (boost::system::system_error const& failure) {
        bool const is_lost = failure.code() == asio_sync::error::lease_lost ||
                             failure.code() == redis::error::outcome_unknown;
        if (!is_lost) throw;
      }
    }
  }

  asio::awaitable<place> try_to_begin(redis::async_monitor& rules) const {
    return set_.is_reader(i_) ? begin_to_read(rules) : begin_to_write(rules);
  }

  asio::awaitable<void> stay(bool is_last) const {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(is_last ? std::chrono::hours(1) : std::chrono::milliseconds(5));
    co_await timer.async_wait(asio::deferred);
  }

  void report(std::string const& does, std::uint64_t fence) const {
    all_.report(std::to_string(i_) + ' ' + does + ' ' + std::to_string(fence));
  }

  processes const& all_;
  settings const& set_;
  int i_;
};

// Keeps the log in the parent process, line by line in the order of the events.
class fenced_log {
 public:
  explicit fenced_log(settings const& set) : set_(set) {}

  void watch(processes& all) {
    while (auto const line = all.next_line()) {
      std::istringstream words(*line);
      int i = 0;
      std::string does;
      std::uint64_t fence = 0;
      words >> i >> does >> fence;
      check(i, fence);
      if (does == "ends") {
        ++visits_[i];
        reading_.erase(i);
      } else if (set_.is_killed(i) && visits_[i] + 1 == set_.last_visit()) {
        all.kill(static_cast<std::size_t>(i));
      } else if (set_.is_reader(i)) {
        reading_.insert(i);
        most_readers_ = std::max(most_readers_, reading_.size());
      }
    }
  }

  bool print() {
    bool all_done = true;
    for (int i = 0; i != set_.visitors(); ++i) {
      bool const reads = set_.is_reader(i);
      std::cout << (reads ? "reader " : "writer ") << (reads ? i : i - set_.readers) << ": "
                << visits_[i] << " visits"
                << (set_.is_killed(i) ? ", killed in the next one\n" : "\n");
      all_done =
          all_done && visits_[i] == (set_.is_killed(i) ? set_.last_visit() - 1 : set_.rounds);
    }
    std::cout << "readers at once: up to " << most_readers_
              << (overlapped_ ? "; a writer was not alone\n" : "; no overlap with a writer\n");
    return all_done && !overlapped_;
  }

 private:
  // No writer with a larger fence may have a line before that of a reader, and nobody with a
  // larger fence before that of a writer. A killed visitor has no end in the log, and needs none:
  // whoever is let in afterwards has a larger fence.
  void check(int i, std::uint64_t fence) {
    auto const least = set_.is_reader(i) ? last_writer_ : last_;
    if (fence == 0 || fence < least) overlapped_ = true;
    last_ = std::max(last_, fence);
    if (!set_.is_reader(i)) last_writer_ = std::max(last_writer_, fence);
  }

  settings const& set_;
  std::map<int, int> visits_;
  std::set<int> reading_;
  std::size_t most_readers_ = 0;
  std::uint64_t last_ = 0, last_writer_ = 0;
  bool overlapped_ = false;
};

bool show(settings const& set) {
  signals interruptions;
  server const redis(set.redis);
  processes all(interruptions);
  for (int i = 0; i != set.visitors(); ++i)
    all.start([&] {
      visitor one(all, set, i);
      run_with_client(redis.config_for("visitor-" + std::to_string(i)),
                      [&](redis::client& client) { return one.run(client); });
    });
  fenced_log log(set);
  log.watch(all);
  return log.print();
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("readers", number_option("readers", set.readers, 1, 64), "number of readers: 1 to 64")
      ("writers", number_option("writers", set.writers, 1, 64), "number of writers: 1 to 64")
      ("rounds", number_option("rounds", set.rounds, 1, 1000),
       "how often each of them reads or writes: 1 to 1000")
      ("kill", options::bool_switch(&set.kill),
       "kill a reader while it reads, and a writer while it writes")
      ("redis", options::value(&set.redis)->value_name("SERVER"),
       "host:port or socket of the server; without it the program starts its own");
  // clang-format on
  return run(argc, argv, "readers_writers",
             "Processes share a page: readers together, writers alone.", description,
             [&] { return show(set); });
}
