// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Runs a workload of the benchmarks so that test/counts/run can count what it does.
//
//   counts about                 what instructions depend on: the compiler, Boost, the build
//   counts run WORKLOAD N        runs N units
//   counts allocations WORKLOAD N  prints the heap allocations of N more units, when warm
//   counts bytes N               prints the heap's bytes for each of N queued waits

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

#include <boost/version.hpp>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>

namespace {

using namespace asio_sync::bench;

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> allocated_bytes{0};

// With what the heap keeps for itself in front of each block.
std::size_t bytes_of(void* memory) { return malloc_usable_size(memory) + sizeof(std::size_t); }

catalogue all_workloads() {
  catalogue all;
  add_mutex_workloads(all);
  add_two_thread_workloads(all);
  return all;
}

workload find(std::string const& name) {
  catalogue const all = all_workloads();
  auto const found = all.find(name);
  if (found != all.end()) return found->second.make();
  std::cerr << "counts: no workload '" << name << "'\n";
  std::exit(2);
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
  workload const work = find(name);
  run(work, 2 * n);
  run(work, 2 * n);
  auto const once = static_cast<std::ptrdiff_t>(allocations_of(work, n));
  return static_cast<std::ptrdiff_t>(allocations_of(work, 2 * n)) - once;
}

std::size_t bytes_of_queued(std::size_t n) {
  scene<mutex_lock> s(reactor::absent);
  static_cast<void>(s.lock.try_lock());
  std::size_t completed = 0;
  std::size_t const before = allocated_bytes;
  for (std::size_t i = 0; i != n; ++i)
    s.lock.async_lock(queued_handler<mutex_lock>{&s.lock, &completed});
  std::size_t const bytes = allocated_bytes - before;
  s.lock.unlock();
  s.context.run();
  return bytes;
}

void about() {
#if defined(__clang__) || !defined(__GNUC__) || __GNUC__ != 12
  std::cout << "not g++ 12\n";
#elif !defined(NDEBUG) || !defined(__OPTIMIZE__)
  std::cout << "not optimised\n";
#elif BOOST_VERSION / 100 != 1081
  std::cout << "not Boost 1.81\n";
#elif !defined(__x86_64__)
  std::cout << "not x86-64\n";
#endif
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  ++allocations;
  allocated_bytes += bytes_of(memory);
  return memory;
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  auto const align = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  if (!memory) throw std::bad_alloc();
  ++allocations;
  allocated_bytes += bytes_of(memory);
  return memory;
}

// Not inlined: g++ would warn of what looks like a mismatch.
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
  if (what == "about" && arguments.size() == 1) {
    about();
  } else if (what == "run" && arguments.size() == 3) {
    run(find(arguments[1]), std::stoul(arguments[2]));
  } else if (what == "allocations" && arguments.size() == 3) {
    std::cout << more_allocations(arguments[1], std::stoul(arguments[2])) << '\n';
  } else if (what == "bytes" && arguments.size() == 2) {
    std::cout << bytes_of_queued(std::stoul(arguments[1])) << '\n';
  } else {
    std::cerr << "counts: one of about, run WORKLOAD N, allocations WORKLOAD N, bytes N\n";
    return 2;
  }
}
