// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows four things for which logical threads use the flags of an async_mailbox: to say that one
// has finished, that there is something in a queue, that both parts of a computation are ready,
// and which of one's own operations has completed.

#include "command_line.hpp"

#include <asio_sync/async_mailbox.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio_sync::async_mailbox;
using asio_sync::mailbox_flags;
using std::chrono::milliseconds;

// counter: somebody counts to ten, and raises the flag for which the main thread waits.
namespace counter {

constexpr mailbox_flags finished = 1;

asio::awaitable<void> count(async_mailbox& mailbox, milliseconds tick, int& counted) {
  asio::steady_timer timer(mailbox.get_executor());
  while (counted < 10) {
    timer.expires_after(tick);
    co_await timer.async_wait(use_awaitable);
    ++counted;
  }
  mailbox.raise(finished);
}

bool show(milliseconds tick) {
  asio::thread_pool pool(1);
  async_mailbox mailbox(pool);
  int counted = 0;
  asio::co_spawn(pool, count(mailbox, tick, counted), asio::detached);
  mailbox.async_wait_any(finished, asio::use_future).get();
  std::cout << "counter: " << counted << " ticks\n";  // whatever came before raise() is seen
  return counted == 10;
}

}  // namespace counter

// producer_consumer: four threads fill a queue. The flag says that there is something in it; the
// consumer empties it whenever it wakes up, so it wakes up once for many items.
namespace producer_consumer {

constexpr mailbox_flags ready = 1;
constexpr int producers = 4;
constexpr int items_of_each = 250'000;

struct item {
  int producer;
  int number;
};

class queue {
 public:
  explicit queue(asio::thread_pool& pool) : mailbox_(pool) {}

  void put(item i) {
    {
      std::lock_guard const lock(mutex_);
      items_.push_back(i);
    }
    mailbox_.raise(ready);
  }

  asio::awaitable<std::vector<item>> take_all() {
    co_await mailbox_.async_take_any(ready);
    std::lock_guard const lock(mutex_);
    co_return std::exchange(items_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<item> items_;
  async_mailbox mailbox_;
};

// Counts the items, each of which has to be the next of its producer.
asio::awaitable<void> consume(queue& q, std::array<int, producers>& seen) {
  for (int left = producers * items_of_each; left > 0;)
    for (item const i : co_await q.take_all()) {
      if (seen[static_cast<std::size_t>(i.producer)]++ != i.number) co_return;
      --left;
    }
}

bool show(milliseconds) {
  asio::thread_pool pool(1);
  queue q(pool);
  std::array<int, producers> seen{};
  auto const consumed = asio::co_spawn(pool, consume(q, seen), asio::use_future);
  std::vector<std::thread> threads;
  threads.reserve(producers);
  for (int producer = 0; producer < producers; ++producer)
    threads.emplace_back([&q, producer] {
      for (int number = 0; number < items_of_each; ++number) q.put({producer, number});
    });
  for (std::thread& each : threads) each.join();
  consumed.wait();
  int sum = 0;
  for (int const each : seen) sum += each;
  std::cout << "producer_consumer: " << sum << " items from " << producers << " producers\n";
  return sum == producers * items_of_each;
}

}  // namespace producer_consumer

// fork_join: each of two computations raises its flag; one wait is for both.
namespace fork_join {

constexpr mailbox_flags left = 1, right = 2;

bool show(milliseconds) {
  asio::thread_pool pool(2);
  async_mailbox mailbox(pool);
  int sums[2] = {};
  auto const add_up = [&](int& sum, int from, int to, mailbox_flags flag) {
    asio::post(pool, [&mailbox, &sum, from, to, flag] {
      for (int i = from; i <= to; ++i) sum += i;
      mailbox.raise(flag);
    });
  };
  add_up(sums[0], 1, 50, left);
  add_up(sums[1], 51, 100, right);
  mailbox.async_wait_all(left | right, asio::use_future).get();
  std::cout << "fork_join: " << sums[0] << " + " << sums[1] << " = " << sums[0] + sums[1] << '\n';
  return sums[0] + sums[1] == 5050;
}

}  // namespace fork_join

// reactor: a state machine to which the completions of its own operations tell what has happened.
// When it is to stop, it cancels what is in flight, and leaves once all of that has completed.
namespace reactor {

constexpr mailbox_flags received = 1, idle_too_long = 2, stop = 4, cancelled = 8;

class connection {
 public:
  connection(asio::io_context& context, milliseconds tick)
      : mailbox_(context), socket_(context), idle_(context), tick_(tick) {}

  asio::awaitable<void> run() {
    start(socket_, tick_, received);
    start(idle_, std::chrono::hours(1), idle_too_long);
    for (bool stopping = false; !stopping || in_flight_ != 0;) {
      mailbox_flags const news =
          co_await mailbox_.async_take_any(received | idle_too_long | stop | cancelled);
      if (news & received) {
        std::cout << "reactor: message " << ++messages_ << '\n';
        if (messages_ < 3)
          start(socket_, tick_, received);
        else
          mailbox_.raise(stop);
      }
      if (news & (stop | idle_too_long)) {
        std::cout << "reactor: stops with " << in_flight_ << " operation in flight\n";
        stopping = true;
        socket_.cancel();
        idle_.cancel();
      }
    }
    std::cout << "reactor: leaves with " << in_flight_ << " in flight\n";
  }

  bool has_left_cleanly() const { return messages_ == 3 && in_flight_ == 0; }

 private:
  // A timer stands for a socket that is read, too.
  void start(asio::steady_timer& operation, std::chrono::nanoseconds time, mailbox_flags news) {
    ++in_flight_;
    operation.expires_after(time);
    operation.async_wait([this, news](boost::system::error_code error) {
      --in_flight_;
      mailbox_.raise(error ? cancelled : news);
    });
  }

  async_mailbox mailbox_;
  asio::steady_timer socket_, idle_;
  milliseconds tick_;
  int in_flight_ = 0;
  int messages_ = 0;
};

bool show(milliseconds tick) {
  asio::io_context context;
  connection c(context, tick);
  asio::co_spawn(context, c.run(), asio::detached);
  context.run();
  return c.has_left_cleanly();
}

}  // namespace reactor

using pattern = bool (*)(milliseconds tick);
std::map<std::string, pattern> const patterns = {
    {"counter", counter::show},
    {"producer_consumer", producer_consumer::show},
    {"fork_join", fork_join::show},
    {"reactor", reactor::show},
};

bool show(std::vector<std::string> names, milliseconds tick) {
  if (names.empty()) names = {"counter", "producer_consumer", "fork_join", "reactor"};
  for (std::string const& name : names)
    if (!patterns.contains(name))
      throw command_line::usage_error("there is no pattern '" + name + "'");
  bool held = true;
  for (std::string const& name : names) held = patterns.at(name)(tick) && held;
  return held;
}

int main(int argc, char** argv) {
  using namespace command_line;
  milliseconds tick(10);
  arguments names{"[counter] [producer_consumer] [fork_join] [reactor]", {}};
  options::options_description description("Options");
  description.add_options()("tick",
                            time_option("tick", tick, milliseconds(1), std::chrono::seconds(1)),
                            "a tick of the timers: 1ms to 1s");
  return run(
      argc, argv, "mailbox_patterns",
      "Shows what logical threads use the flags of an async_mailbox for: all of it, or what you "
      "name.",
      description, [&] { return show(names.given, tick); }, &names);
}
