// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Runs a workload of the benchmarks so that test/counts/run can count what it does.
//
//   counts about KIND              why KIND cannot be counted here, if so
//   counts run WORKLOAD N          runs N units
//   counts allocations WORKLOAD N  prints the heap allocations of N more units, when warm
//   counts bytes WHAT N            prints the heap's bytes for N of them
//   counts kept WHAT N             prints those that are kept when N of them have gone

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>
#include <bench/queued_waits.hpp>

#include <boost/asio/detail/config.hpp>
#include <boost/version.hpp>

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace {

using namespace asio_sync::bench;

std::atomic<std::size_t> allocations{0};

[[noreturn]] void refuse(std::string const& reason) {
  std::cerr << "counts: " << reason << '\n';
  std::exit(2);
}

catalogue all_workloads() {
  catalogue all;
  add_handler_workloads(all);
  add_free_lock_workloads(all);
  add_section_workloads(all);
  add_free_semaphore_workloads(all);
  add_semaphore_workloads(all);
  add_shared_mutex_workloads(all);
  add_event_workloads(all);
  add_flags_workloads(all);
  add_latch_workloads(all);
  add_barrier_workloads(all);
  add_condition_workloads(all);
  add_enumerator_workloads(all);
  add_group_workloads(all);
  add_monitor_workloads(all);
  add_lock_all_workloads(all);
  add_keyed_mutex_workloads(all);
  add_scale_workloads(all);
  add_two_thread_workloads(all);
  return all;
}

workload make(std::string const& name) {
  catalogue const all = all_workloads();
  description const* const found = find(all, name);
  if (!found) refuse("no workload '" + name + "'");
  if (is_with_threads(name)) have_second_thread();
  return found->make();
}

void run(workload const& work, std::size_t n) {
  if (work.prepare) work.prepare(n);
  work.run(n);
}

std::size_t allocations_of(workload const& work, std::size_t n) {
  std::size_t const before = allocations;
  run(work, n);
  return allocations - before;
}

// What 2n units allocate more than n: of neither counts what a run allocates once, its threads and
// coroutines.
std::ptrdiff_t more_allocations(std::string const& name, std::size_t n) {
  workload const work = make(name);
  run(work, 2 * n);
  run(work, 2 * n);
  auto const once = static_cast<std::ptrdiff_t>(allocations_of(work, n));
  return static_cast<std::ptrdiff_t>(allocations_of(work, 2 * n)) - once;
}

#ifdef __GLIBC__
// With what the heap keeps for itself in front of each block.
std::ptrdiff_t heap_in_use() {
  struct mallinfo2 const info = mallinfo2();
  return static_cast<std::ptrdiff_t>(info.uordblks + info.hblkhd);
}
#else
std::ptrdiff_t heap_in_use() {
  refuse("the C library does not tell how much of the heap is used");
}
#endif

// Neither contexts and primitives nor what belongs to the user, such as the signals, is counted,
// and nothing of it has been in use before.
queued_waits find_waits(std::string const& name) {
  std::map<std::string, std::function<queued_waits()>> const all = {
      {"waits that are drained", drained<mutex_lock>},
      {"waits that are cancelled", [] { return cancelled<mutex_lock>(departure::at_random); }},
      {"waits that time out", [] { return timed_out<mutex_lock>(departure::in_order); }},
  };
  auto const found = all.find(name);
  if (found == all.end()) refuse("there are no '" + name + "'");
  return found->second();
}

std::ptrdiff_t bytes_of_mutexes(std::size_t n) {
  boost::asio::io_context context;
  asio_sync::async_mutex const first(context);
  std::deque<asio_sync::async_mutex> mutexes;
  std::ptrdiff_t const before = heap_in_use();
  for (std::size_t i = 0; i != n; ++i) mutexes.emplace_back(context);
  return heap_in_use() - before;
}

std::ptrdiff_t bytes_of(std::string const& name, std::size_t n) {
  if (name == "mutexes") return bytes_of_mutexes(n);
  queued_waits const waits = find_waits(name);
  waits.reserve(n);
  std::ptrdiff_t const before = heap_in_use();
  waits.queue(n);
  std::ptrdiff_t const bytes = heap_in_use() - before;
  waits.leave();
  return bytes;
}

std::ptrdiff_t bytes_kept(std::string const& name, std::size_t n) {
  queued_waits const waits = find_waits(name);
  waits.reserve(n);
  std::ptrdiff_t const before = heap_in_use();
  waits.queue(n);
  waits.leave();
  waits.reserve(0);  // ends the signals: the memory of what is in their slots is theirs
  waits.reserve(n);
  return heap_in_use() - before;
}

char const* why_not_counted([[maybe_unused]] std::string const& kind) {
#ifndef BOOST_ASIO_HAS_EPOLL
  if (kind == "epoll_wait") return "Asio has no epoll here";
#endif
#ifndef BOOST_ASIO_HAS_TIMERFD
  if (kind == "timerfd_settime") return "Asio has no timerfd here";
#endif
  if (kind == "allocations" || kind == "epoll_wait" || kind == "timerfd_settime") return "";
#if defined(__clang__) || !defined(__GNUC__) || __GNUC__ != 12
  return "not g++ 12, for which the limits hold";
#elif !defined(NDEBUG) || !defined(__OPTIMIZE__)
  return "not optimised, for which the limits hold";
#elif BOOST_VERSION / 100 != 1081
  return "not Boost 1.81, for which the limits hold";
#elif !defined(__x86_64__)
  return "not x86-64, for which the limits hold";
#elif !defined(__GLIBC__)
  return "not the C library of GNU, for which the limits hold";
#else
  return "";
#endif
}

}  // namespace

// None of these is inlined: g++ would warn of what looks like a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  ++allocations;
  return memory;
}

[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  void* const memory = aligned_alloc(static_cast<std::size_t>(alignment), size);
  if (!memory) throw std::bad_alloc();
  return memory;
}

// Through this Asio allocates.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  void* const memory = ::memalign(alignment, size);
  if (memory) ++allocations;
  return memory;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

int main(int argc, char** argv) {
  std::vector<std::string> const arguments(argv + 1, argv + argc);
  std::string const what = arguments.empty() ? "" : arguments[0];
  if (what == "about" && arguments.size() == 2) {
    std::cout << why_not_counted(arguments[1]) << '\n';
    return 0;
  }
  if (what == "compiler" && arguments.size() == 1) {
    std::cout << ASIO_SYNC_COMPILER << '\n';
    return 0;
  }
  if (arguments.size() != 3)
    refuse("one of: about KIND; compiler; run, allocations, bytes, kept with a name and a number");
  std::string const& name = arguments[1];
  std::size_t const n = std::stoul(arguments[2]);
  if (what == "run")
    run(make(name), n);
  else if (what == "allocations")
    std::cout << more_allocations(name, n) << '\n';
  else if (what == "bytes")
    std::cout << bytes_of(name, n) << '\n';
  else if (what == "kept")
    std::cout << bytes_kept(name, n) << '\n';
  else
    refuse("unknown command '" + what + "'");
}
