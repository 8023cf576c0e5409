// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows what an async_mutex is for. A list of Fibonacci numbers grows by one number in three
// asynchronous steps: fetch the last two, add them, append the sum. The program starts several
// additions at once. Nothing runs in parallel, and yet it goes wrong: with --unsafe all of them
// fetch 0 and 1 before the first has appended its sum. To put it right, each addition holds an
// async_mutex over the three steps, whether they are coroutines, callbacks, or threads that wait
// for futures.

#include "command_line.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::use_future;
using asio_sync::async_mutex;
using boost::system::error_code;

using number = std::uint64_t;
using numbers = std::vector<number>;

// The shared list. Each step completes through the event loop, as if a server were asked for it.
class number_list {
 public:
  explicit number_list(asio::io_context& context) : context_(context) {}

  // Completes with the last two numbers.
  template <class Token>
  auto async_last_two(Token&& token) {
    number const last = numbers_.back();
    return asio::post(context_,
                      asio::append(std::forward<Token>(token), numbers_.end()[-2], last));
  }

  // Completes with the sum.
  template <class Token>
  auto async_add(number a, number b, Token&& token) {
    return asio::post(context_, asio::append(std::forward<Token>(token), a + b));
  }

  // Completes when the number is in the list.
  template <class Token>
  auto async_append(number n, Token&& token) {
    numbers_.push_back(n);
    return asio::post(context_, std::forward<Token>(token));
  }

  void print() {
    std::string line;
    for (number const n : numbers_) line += (line.empty() ? "[" : ", ") + std::to_string(n);
    std::cout << line + "]\n";
    printed_.push_back(numbers_);
  }

  // All that was printed.
  std::vector<numbers> const& printed() const { return printed_; }

 private:
  asio::io_context& context_;
  numbers numbers_{0, 1};
  std::vector<numbers> printed_;
};

// The three steps, and the mutex held over them, as coroutines.

asio::awaitable<void> add_number(number_list& list) {
  auto [a, b] = co_await list.async_last_two(use_awaitable);
  auto sum = co_await list.async_add(a, b, use_awaitable);
  co_await list.async_append(sum, use_awaitable);
  list.print();
}

asio::awaitable<void> add_number_locked(async_mutex& mutex, number_list& list) {
  auto lock = co_await mutex.async_lock();  // waits for its turn, and blocks no thread
  co_await add_number(list);
}  // unlocks: the next one goes on

// The same with callbacks.

template <class Done>
void add_number(number_list& list, Done done) {
  list.async_last_two([&list, done = std::move(done)](number a, number b) mutable {
    list.async_add(a, b, [&list, done = std::move(done)](number sum) mutable {
      list.async_append(sum, [&list, done = std::move(done)]() mutable {
        list.print();
        done();
      });
    });
  });
}

void add_number_locked_callback(async_mutex& mutex, number_list& list) {
  mutex.async_lock([&list](error_code error, async_mutex::lock_type lock) {
    if (error) throw boost::system::system_error(error);
    add_number(list, [lock = std::move(lock)]() mutable { lock.unlock(); });
  });
}

// The same with futures, in a thread that runs no event loop.

void add_number_blocking(async_mutex& mutex, number_list& list) {
  auto lock = mutex.async_lock(use_future).get();
  auto [a, b] = list.async_last_two(use_future).get();
  auto sum = list.async_add(a, b, use_future).get();
  list.async_append(sum, use_future).get();
  list.print();
}

struct settings {
  bool unsafe = false;
  std::string style = "coroutine";
  int count = 5;
  int threads = 1;
};

// Runs the event loop on this number of threads until it is out of work.
void run_loop(asio::io_context& context, int threads) {
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i)
    others.push_back(std::async(std::launch::async, [&context] { context.run(); }));
  context.run();
  for (auto& other : others) other.get();
}

// Starts all additions at once, and runs the event loop until they are done.
void run_additions(settings const& set, asio::io_context& context, number_list& list) {
  async_mutex mutex(context);
  for (int i = 0; i < set.count; ++i) {
    if (set.style == "coroutine")
      asio::co_spawn(context, set.unsafe ? add_number(list) : add_number_locked(mutex, list),
                     [](std::exception_ptr error) {
                       if (error) std::rethrow_exception(error);
                     });
    else if (set.unsafe)
      add_number(list, [] {});
    else
      add_number_locked_callback(mutex, list);
  }
  run_loop(context, set.threads);
}

// The same with futures: each addition blocks a thread of its own.
void run_blocking_additions(settings const& set, asio::io_context& context, number_list& list) {
  async_mutex mutex(context);
  std::future<void> loop;
  auto const work = asio::make_work_guard(context);  // until all additions are done
  loop = std::async(std::launch::async, run_loop, std::ref(context), set.threads);
  std::vector<std::future<void>> additions;
  additions.reserve(set.count);
  for (int i = 0; i < set.count; ++i)
    additions.push_back(
        std::async(std::launch::async, [&mutex, &list] { add_number_blocking(mutex, list); }));
  for (auto& addition : additions) addition.get();
}

// What the additions have to print: one number more in each line, or the fault.
std::vector<numbers> expected_lines(settings const& set) {
  std::vector<numbers> lines;
  numbers line{0, 1};
  for (int i = 0; i < set.count; ++i) {
    line.push_back(set.unsafe ? 1 : line.end()[-2] + line.back());
    lines.push_back(line);
  }
  if (set.unsafe) lines.assign(lines.size(), line);
  return lines;
}

bool show(settings const& set) {
  bool const blocking = set.style == "future";
  if (!blocking && set.style != "coroutine" && set.style != "callback")
    throw command_line::usage_error("--style is callback, coroutine or future, not '" + set.style +
                                    "'");
  if (set.unsafe && (blocking || set.threads != 1))
    throw command_line::usage_error(
        "--unsafe works with one thread and the styles callback and coroutine only: "
        "anything else would be a data race");
  asio::io_context context;
  number_list list(context);
  (blocking ? run_blocking_additions : run_additions)(set, context, list);
  if (set.unsafe && set.count > 1)
    std::clog << "fibonacci: each addition fetched 0 and 1, before the first appended its sum\n";
  return list.printed() == expected_lines(set);
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("unsafe", options::bool_switch(&set.unsafe),
       "without the mutex: each addition works on 0 and 1")
      ("style", options::value(&set.style)->value_name("STYLE")->default_value(set.style),
       "callback, coroutine or future")
      ("count", number_option("count", set.count, 1, 90), "number of additions: 1 to 90")
      ("threads", number_option("threads", set.threads, 1, 64),
       "number of threads that run the event loop: 1 to 64");
  // clang-format on
  return run(argc, argv, "fibonacci",
             "Appends Fibonacci numbers to a list in asynchronous steps, under an async_mutex.",
             description, [&set] { return show(set); });
}
