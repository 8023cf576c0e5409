// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// handler_tracking [FILE [PAGE]]: waits of every kind with Asio's own way to debug, which makes
// each of its operations larger and writes a line to stderr for all that happens to them: here to
// the FILE. The waits are to be among these, under their own names, and what the PAGE shows is
// what comes first.

#if !defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING)
#define BOOST_ASIO_ENABLE_HANDLER_TRACKING 1
#endif

#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio_sync::async_mutex;
using boost::system::error_code;

std::atomic<int> good{0};  // waits that have ended as they should

auto expecting(error_code expected) {
  return [expected](error_code error, async_mutex::lock_type lock) {
    if (error == expected && lock.owns_lock() == !expected) ++good;
  };
}

asio::awaitable<void> with_use_awaitable(async_mutex& mutex) {
  async_mutex::lock_type const lock = co_await mutex.async_lock(asio::use_awaitable);
  if (lock.owns_lock()) ++good;
}

asio::awaitable<void> with_deferred(async_mutex& mutex) {
  async_mutex::lock_type const lock = co_await mutex.async_lock(asio::deferred);
  if (lock.owns_lock()) ++good;
}

// What doc/debugging.md shows.
void waits_of_the_page() {
  auto const handler = [](error_code, async_mutex::lock_type) {};
  asio::io_context context;
  async_mutex mutex(context);
  asio::cancellation_signal stop;
  async_mutex::lock_type held(mutex);
  mutex.async_lock(handler);                                             // wait 1
  mutex.async_lock(asio::bind_cancellation_slot(stop.slot(), handler));  // wait 2
  stop.emit(asio::cancellation_type::terminal);                          // ends wait 2
  held.unlock();                                                         // serves wait 1
  context.run();
}

// All of them queue. Returns how many there are.
int waits_of_an_io_context() {
  asio::io_context context, other;
  async_mutex mutex(context);
  asio::cancellation_signal stop;
  if (!mutex.try_lock()) return 0;
  mutex.async_lock(expecting({}));
  mutex.async_lock(asio::bind_executor(other, expecting({})));
  mutex.async_lock(asio::bind_executor(asio::make_strand(context), expecting({})));
  mutex.async_lock(asio::bind_executor(asio::make_strand(other), expecting({})));
  asio::any_io_executor const erased = asio::make_strand(context);
  mutex.async_lock(asio::bind_executor(erased, expecting({})));
  mutex.async_lock(asio::bind_executor(
      asio::make_strand(asio::any_io_executor(other.get_executor())), expecting({})));
  asio::co_spawn(context, with_use_awaitable(mutex), asio::detached);
  asio::co_spawn(asio::make_strand(context), with_deferred(mutex), asio::detached);
  mutex.async_lock_for(1ms, expecting(asio::error::timed_out));
  mutex.async_lock(
      asio::bind_cancellation_slot(stop.slot(), expecting(asio::error::operation_aborted)));
  stop.emit(asio::cancellation_type::terminal);
  while (good != 2 && context.run_one() != 0) continue;  // the last two
  mutex.unlock();
  for (int turn = 0; turn < 20; ++turn) {
    context.restart();
    context.poll();
    other.restart();
    other.poll();
  }
  return 10;
}

int waits_of_a_thread_pool() {
  asio::thread_pool pool(2);
  async_mutex mutex(pool);
  if (!mutex.try_lock()) return 0;
  mutex.async_lock(expecting({}));
  mutex.async_lock(asio::bind_executor(asio::make_strand(pool), expecting({})));
  mutex.unlock();
  pool.join();
  return 2;
}

asio_sync::async_steps no_steps() { co_return; }

void run_of_an_enumerator() {
  asio::io_context context;
  asio_sync::async_enumerator enumerator(context);
  enumerator.async_run(no_steps(), asio::detached);
  context.run();
}

// The executor that tracking asks has gone with its context. Returns how many end well.
int waits_without_the_strand() {
  using monitor_type = asio_sync::async_monitor<int>;
  asio::io_context other;
  auto home = std::make_unique<asio::io_context>();
  monitor_type monitor(*home);
  monitor_type::condition changed(monitor);
  auto inside = monitor.try_enter();
  home.reset();
  int ended = 0;
  auto const always = [](int const&) { return true; };
  auto const at_other = [&](auto f) { return asio::bind_executor(other, f); };
  auto const waited = [&](error_code error) { ended += !error; };
  changed.async_wait(inside, at_other(waited));
  changed.notify_one();
  other.run();
  changed.async_wait(inside, always, at_other(waited));
  other.restart();
  other.run();
  inside.leave();
  monitor.async_enter(at_other([&](error_code, auto entered) { ended += entered.owns(); }));
  monitor.async_enter_when(always, at_other([&](error_code error, auto) {
                             ended += error == asio::error::operation_aborted;
                           }));
  other.restart();
  other.run();
  return ended;
}

// The lines that name an operation of ours.
std::size_t lines_of(char const* file, std::string const& primitive,
                     std::string const& operation) {
  std::size_t count = 0;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("@asio|") && line.find("|" + primitive + "@") != std::string::npos &&
        line.find("." + operation) != std::string::npos)
      ++count;
  return count;
}

// The lines of a file that are Asio's, without what differs from run to run: times and addresses.
std::vector<std::string> tracked_lines(char const* file) {
  std::regex const time("^@asio\\|[0-9.]+"), address("@[0-9A-Fa-fx]+\\.");
  std::vector<std::string> result;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("@asio|")) continue;
    if (line.ends_with('\r')) line.pop_back();
    line = std::regex_replace(line, time, "@asio|time");
    result.push_back(std::regex_replace(line, address, "@address."));
  }
  return result;
}

// Whether the page shows how the file begins.
bool is_shown(char const* file, char const* page) {
  auto const shown = tracked_lines(page), seen = tracked_lines(file);
  bool const same = !shown.empty() && shown.size() <= seen.size() &&
                    std::equal(shown.begin(), shown.end(), seen.begin());
  if (!same) std::cout << page << " does not show how " << file << " begins\n";
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  char const* const file = argc > 1 ? argv[1] : "handler_tracking.txt";
  if (!std::freopen(file, "w", stderr)) return 2;
  waits_of_the_page();
  int const waits = waits_of_an_io_context() + waits_of_a_thread_pool();
  run_of_an_enumerator();
  int const without_the_strand = waits_without_the_strand();
  std::fflush(stderr);
  std::size_t const lines = lines_of(file, "async_mutex", "async_lock");
  bool const run = lines_of(file, "async_enumerator", "async_run") == 1;
  std::cout << good << " of " << waits << " waits ended well; " << lines << " lines name one\n";
  if (!run) std::cout << "no line, or several, name the run of an enumerator\n";
  std::cout << without_the_strand << " of 4 waits without a strand ended well\n";
  bool const shown = argc < 3 || is_shown(file, argv[2]);
  return shown && run && without_the_strand == 4 && good == 12 && waits == 12 && lines >= 12 ? 0
                                                                                             : 1;
}
