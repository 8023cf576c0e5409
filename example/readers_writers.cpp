// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows a monitor. Readers may look at a page at the same time, writers change it alone. The rules
// of that are a monitor with two counters, and two conditions: ok_to_read and ok_to_write. Then
// the same is done with an async_shared_mutex, which is such rules ready-made. The page sees for
// itself that no reader overlaps a writer.

#include "command_line.hpp"

#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;

struct settings {
  int readers = 5;
  int writers = 2;
  int rounds = 10;
  int threads = 1;
};

// Two halves, which are the same unless somebody is writing. To read or to write takes two turns
// of the event loop, between which others have theirs.
class page {
 public:
  asio::awaitable<void> read() {
    int const together = ++readers_;
    if (writers_ != 0) overlapped_ = true;
    for (int most = most_readers_; most < together;)
      if (most_readers_.compare_exchange_weak(most, together)) break;
    int const seen = first_;
    co_await asio::post(asio::deferred);
    if (second_ != seen) overlapped_ = true;
    ++reads_;
    --readers_;
  }

  asio::awaitable<void> write() {
    if (++writers_ != 1 || readers_ != 0) overlapped_ = true;
    int const next = first_ + 1;
    first_ = next;
    co_await asio::post(asio::deferred);
    second_ = next;
    --writers_;
  }

  // Below: when everybody is done.

  bool overlapped() const { return overlapped_; }
  int reads() const { return reads_; }
  int writes() const { return second_; }
  int most_readers() const { return most_readers_; }

 private:
  int first_ = 0, second_ = 0;  // no atomics: that is what the rules are for
  std::atomic<int> reads_ = 0, readers_ = 0, writers_ = 0, most_readers_ = 0;
  std::atomic<bool> overlapped_ = false;
};

// A reader lets writers go first that wait already; and a writer that has done, the readers.
class with_monitor {
 public:
  explicit with_monitor(asio::io_context& context)
      : counters_(context), ok_to_read_(counters_), ok_to_write_(counters_) {}

  asio::awaitable<void> read(page& p) {
    {
      auto inside = co_await counters_.async_enter();
      if (ok_to_write_.waiters() != 0) co_await ok_to_read_.async_wait(inside);
      co_await ok_to_read_.async_wait(inside, nobody_writes);
      ++inside->readers;
    }
    co_await p.read();
    auto inside = co_await counters_.async_enter();
    if (--inside->readers == 0) ok_to_write_.notify_one();
  }

  asio::awaitable<void> write(page& p) {
    {
      auto inside = co_await counters_.async_enter();
      co_await ok_to_write_.async_wait(inside, nobody_uses);
      ++inside->writers;
    }
    co_await p.write();
    auto inside = co_await counters_.async_enter();
    --inside->writers;
    ok_to_read_.notify_all();
    ok_to_write_.notify_one();
  }

 private:
  struct counters {
    int readers = 0;
    int writers = 0;
  };

  static bool nobody_writes(counters const& c) { return c.writers == 0; }
  static bool nobody_uses(counters const& c) { return c.readers == 0 && c.writers == 0; }

  asio_sync::async_monitor<counters> counters_;
  asio_sync::async_monitor<counters>::condition ok_to_read_, ok_to_write_;
};

class with_shared_mutex {
 public:
  explicit with_shared_mutex(asio::io_context& context) : mutex_(context) {}

  asio::awaitable<void> read(page& p) {
    auto lock = co_await mutex_.async_lock_shared();
    co_await p.read();
  }

  asio::awaitable<void> write(page& p) {
    auto lock = co_await mutex_.async_lock();
    co_await p.write();
  }

 private:
  asio_sync::async_shared_mutex mutex_;
};

template <class Rules>
asio::awaitable<void> be_reader(Rules& rules, page& p, int rounds) {
  while (rounds-- > 0) co_await rules.read(p);
}

template <class Rules>
asio::awaitable<void> be_writer(Rules& rules, page& p, int rounds) {
  while (rounds-- > 0) co_await rules.write(p);
}

void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(error);
}

// Runs the event loop on this number of threads until it is out of work.
void run_loop(asio::io_context& context, int threads) {
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i)
    others.push_back(std::async(std::launch::async, [&] { context.run(); }));
  context.run();
  for (auto& other : others) other.get();
}

// Whether what the rules are for did hold. One thread begins to read with all of the readers
// before it goes on with any.
template <class Rules>
bool show(std::string const& name, settings const& set) {
  asio::io_context context;
  Rules rules(context);
  page p;
  for (int i = 0; i != set.readers; ++i)
    asio::co_spawn(context, be_reader(rules, p, set.rounds), rethrow);
  for (int i = 0; i != set.writers; ++i)
    asio::co_spawn(context, be_writer(rules, p, set.rounds), rethrow);
  run_loop(context, set.threads);
  std::cout << name << ": reads " << p.reads() << ", up to " << p.most_readers()
            << " at once, writes " << p.writes()
            << (p.overlapped() ? ", a writer was not alone" : ", no overlap") << '\n';
  bool const in_parallel = set.threads > 1 || p.most_readers() >= std::min(set.readers, 2);
  return !p.overlapped() && in_parallel && p.reads() == set.readers * set.rounds &&
         p.writes() == set.writers * set.rounds;
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("readers", number_option("readers", set.readers, 1, 1000), "number of readers: 1 to 1000")
      ("writers", number_option("writers", set.writers, 1, 1000), "number of writers: 1 to 1000")
      ("rounds", number_option("rounds", set.rounds, 1, 1000),
       "how often each of them reads or writes: 1 to 1000")
      ("threads", number_option("threads", set.threads, 1, 64),
       "number of threads that run them: 1 to 64");
  // clang-format on
  return run(argc, argv, "readers_writers",
             "Readers share a page, which writers have for themselves.", description, [&] {
               bool const monitor = show<with_monitor>("monitor", set);
               return show<with_shared_mutex>("shared mutex", set) && monitor;
             });
}
