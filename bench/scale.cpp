// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A file of its own: what the compiler inlines, and with it what the counts of the other workloads
// are, depends on what else it sees.

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>
#include <bench/queued_waits.hpp>

#include <algorithm>
#include <deque>

namespace asio_sync::bench {

namespace {

// A thousand mutexes: each lock is of the next one, and try_lock is of all.
class many_mutexes_lock {
 public:
  using held = async_mutex::lock_type;
  static constexpr std::size_t count = 1000;

  explicit many_mutexes_lock(boost::asio::io_context& context) {
    for (std::size_t i = 0; i != count; ++i) mutexes_.emplace_back(context);
  }

  bool try_lock() {
    return std::ranges::all_of(mutexes_, [](async_mutex& mutex) { return mutex.try_lock(); });
  }
  void unlock() {
    for (async_mutex& mutex : mutexes_) mutex.unlock();
  }
  void release(held& lock) { lock.unlock(); }

  template <class Token>
  auto async_lock(Token&& token) {
    async_mutex& mutex = mutexes_[next_];
    next_ = (next_ + 1) % count;
    return mutex.async_lock(std::forward<Token>(token));
  }

 private:
  std::deque<async_mutex> mutexes_;
  std::size_t next_ = 0;
};

void add_departures(catalogue& all, std::size_t n) {
  std::string const size = "/" + std::to_string(n) + "/mutex";
  for (departure const order : departures) {
    std::string const path = name_of(order) + size;
    all["W11/" + path] = {n, [=] { return leaving(cancelled<mutex_lock>(order)); }};
    all["scale/timed out " + path] = {n, [=] { return leaving(timed_out<mutex_lock>(order)); }};
  }
  all["scale/queued" + size] = {n, [] { return queueing(drained<mutex_lock>()); }};
  all["scale/drained" + size] = {n, [] { return leaving(drained<mutex_lock>()); }};
}

}  // namespace

void add_scale_workloads(catalogue& all) {
  add_departures(all, 1000);
  for (std::size_t const n : scale) add_departures(all, n);
  all["scale/4 waits each/1000 mutexes"] = {
      4000, [] { return queue_and_drain<many_mutexes_lock>(reactor::absent, 4000); }};
  all["scale/free/1000 mutexes"] = {4096, [] {
                                      return free_lock<many_mutexes_lock>(
                                          reactor::absent,
                                          std::type_identity<boost::asio::deferred_t>());
                                    }};
}

}  // namespace asio_sync::bench
