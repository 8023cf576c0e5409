// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_WORKLOAD_HPP
#define ASIO_SYNC_BENCH_WORKLOAD_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace asio_sync::bench {

// Something that is measured, ready to run: so many locks, posts, or whatever its unit is.
struct workload {
  std::function<void(std::size_t)> run;
  std::function<void(std::size_t)> prepare = nullptr;  // before each run, not measured
};

// How a workload is made, and how it is run.
struct description {
  std::size_t units;  // of one run
  std::function<workload()> make;
  bool threads = false;  // of its own: the clock on the wall is what counts
};

// By their names, such as "W3/deferred/mutex" and "W3/deferred/mutex/reactor".
using catalogue = std::map<std::string, description>;

// The end of the name of what is measured once the process has had a second thread. Until then the
// C library leaves out what mutexes need for more than one, and so does async_mutex.
inline constexpr std::string_view with_threads = "/threads";

inline bool is_with_threads(std::string_view name) { return name.ends_with(with_threads); }

inline description const* find(catalogue const& all, std::string_view name) {
  if (is_with_threads(name)) name.remove_suffix(with_threads.size());
  auto const found = all.find(std::string(name));
  return found != all.end() ? &found->second : nullptr;
}

inline void have_second_thread() {
  std::thread([] {}).join();
}

// Those of async_mutex stand in several units, each about as large as a user's: g++ inlines into a
// large unit no more than a part of what it holds, whatever that is.
void add_handler_workloads(catalogue& all);
void add_free_lock_workloads(catalogue& all);  // in coroutines
void add_section_workloads(catalogue& all);    // contended, in coroutines
void add_scale_workloads(catalogue& all);      // very many waits, many mutexes
void add_free_semaphore_workloads(catalogue& all);
void add_semaphore_workloads(catalogue& all);
void add_shared_mutex_workloads(catalogue& all);
void add_event_workloads(catalogue& all);
void add_flags_workloads(catalogue& all);  // auto-reset event and mailbox
void add_latch_workloads(catalogue& all);
void add_barrier_workloads(catalogue& all);
void add_condition_workloads(catalogue& all);
void add_enumerator_workloads(catalogue& all);
void add_group_workloads(catalogue& all);     // fork and join
void add_monitor_workloads(catalogue& all);   // entered, and invoked
void add_lock_all_workloads(catalogue& all);  // several mutexes at once
void add_keyed_mutex_workloads(catalogue& all);
void add_two_thread_workloads(catalogue& all);   // initiated by one thread, run by another
void add_http_workloads(catalogue& all);         // requests to the example http_server
void add_bare_http_workload(catalogue& all);     // and to it without the primitives
void add_limit_workloads(catalogue& all);        // what bounds it from below
void add_alternative_workloads(catalogue& all);  // what people use instead

// How many waits there are where that is not to matter.
inline constexpr std::size_t scale[] = {10'000, 100'000, 1'000'000};

// Whether something in the context needs the reactor, as in a real program. Then each trip through
// an idle context asks the operating system for events.
enum class reactor { absent, present };

inline constexpr reactor reactors[] = {reactor::absent, reactor::present};

inline std::string operator+(std::string const& name, reactor r) {
  return r == reactor::present ? name + std::string("/reactor") : name;
}

class bench_context {
 public:
  explicit bench_context(reactor r) {
    if (r == reactor::present) timer_.emplace(io_);
  }

  boost::asio::io_context& io() noexcept { return io_; }

  // Runs until there is nothing more to do.
  void run() {
    io_.restart();
    io_.run();
  }

  void run_in_two_threads() {
    io_.restart();
    std::thread other([this] { io_.run(); });
    io_.run();
    other.join();
  }

 private:
  boost::asio::io_context io_;
  std::optional<boost::asio::steady_timer> timer_;
};

}  // namespace asio_sync::bench

#endif
