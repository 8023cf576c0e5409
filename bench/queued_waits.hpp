// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_QUEUED_WAITS_HPP
#define ASIO_SYNC_BENCH_QUEUED_WAITS_HPP

#include <bench/lock_workloads.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace asio_sync::bench {

// Waits that queue on something, and leave: how many is said before.
struct queued_waits {
  std::function<void(std::size_t)> reserve;  // what belongs to the user: signals
  std::function<void(std::size_t)> queue;
  std::function<void()> leave;  // all of them; they may be none
};

// To measure one of the two.
inline workload queueing(queued_waits waits) {
  return {[waits](std::size_t n) { waits.queue(n); },
          [waits](std::size_t n) {
            waits.reserve(n);
            waits.leave();
          }};
}

inline workload leaving(queued_waits waits) {
  return {[waits](std::size_t) { waits.leave(); },
          [waits](std::size_t n) {
            waits.reserve(n);
            waits.queue(n);
          }};
}

// In which order they leave.
enum class departure { in_order, at_random };
inline constexpr departure departures[] = {departure::in_order, departure::at_random};

inline std::string name_of(departure order) {
  return order == departure::in_order ? "in order" : "at random";
}

inline void put_in_order(std::vector<std::uint32_t>& indices, std::size_t n, departure order) {
  if (indices.size() == n) return;
  indices.resize(n);
  std::iota(indices.begin(), indices.end(), 0);
  if (order == departure::at_random)
    std::shuffle(indices.begin(), indices.end(), std::minstd_rand(7));
}

// Signals, and the order in which they are emitted.
struct signals {
  void reserve(std::size_t n, departure order) {
    if (all.size() != n) all = std::vector<boost::asio::cancellation_signal>(n);
    put_in_order(indices, n, order);
  }
  void emit() {
    for (auto const i : indices) all[i].emit(boost::asio::cancellation_type::terminal);
  }

  std::vector<boost::asio::cancellation_signal> all;
  std::vector<std::uint32_t> indices;
};

// They are granted, one after the other.
template <class Lock>
queued_waits drained() {
  struct state : scene<Lock> {
    using scene<Lock>::scene;
    std::size_t completed = 0;
    bool queued = false;
  };
  auto const s = std::make_shared<state>(reactor::absent);
  return {[](std::size_t) {},
          [s](std::size_t n) {
            static_cast<void>(s->lock.try_lock());
            for (std::size_t i = 0; i != n; ++i)
              s->lock.async_lock(queued_handler<Lock>{&s->lock, &s->completed});
            s->queued = true;
          },
          [s] {
            if (std::exchange(s->queued, false)) s->lock.unlock();
            s->context.run();
          }};
}

struct ignore_completion {
  template <class Held>
  void operator()(boost::system::error_code, Held const&) const noexcept {}
};

// They are cancelled through their slots.
template <class Lock>
queued_waits cancelled(departure order) {
  struct state : scene<Lock> {
    using scene<Lock>::scene;
    bench::signals signals;
  };
  auto const s = std::make_shared<state>(reactor::absent);
  static_cast<void>(s->lock.try_lock());
  return {[=](std::size_t n) { s->signals.reserve(n, order); },
          [s](std::size_t) {
            for (auto& signal : s->signals.all)
              s->lock.async_lock(
                  boost::asio::bind_cancellation_slot(signal.slot(), ignore_completion()));
          },
          [s] {
            s->signals.emit();
            s->context.run();
          }};
}

// What times out: queue(i, deadline) makes a wait, queued() says how many there are, run() runs
// until none is left.
struct expiring_waits {
  std::function<void(std::size_t, std::chrono::steady_clock::time_point)> queue;
  std::function<std::size_t()> queued;
  std::function<void()> run;
};

// They time out, each at a time of its own. When they have queued, all of these are over.

inline queued_waits timed_out(expiring_waits waits, departure order) {
  struct state {
    std::vector<std::uint32_t> indices;
    std::chrono::nanoseconds margin{0};
  };
  auto const s = std::make_shared<state>();
  auto const queue_all = [=](std::size_t n) {
    using namespace std::chrono_literals;
    s->margin = std::max<std::chrono::nanoseconds>(s->margin, 1ms + n * 1us);
    for (;; s->margin *= 2) {
      auto const first = std::chrono::steady_clock::now() + s->margin;
      for (std::size_t i = 0; i != n; ++i)
        waits.queue(i, first + std::chrono::nanoseconds(s->indices[i]));
      std::this_thread::sleep_until(first + std::chrono::nanoseconds(n));
      if (waits.queued() == n) return;
      waits.run();  // some came too late to queue
    }
  };
  return {[=](std::size_t n) { put_in_order(s->indices, n, order); }, queue_all, waits.run};
}

template <class Lock>
queued_waits timed_out(departure order) {
  auto const s = std::make_shared<scene<Lock>>(reactor::absent);
  static_cast<void>(s->lock.try_lock());
  return timed_out({[s](std::size_t, auto deadline) {
                      s->lock.async_lock_until(deadline, ignore_completion());
                    },
                    [s] { return s->lock.waiters(); }, [s] { s->context.run(); }},
                   order);
}

}  // namespace asio_sync::bench

#endif
