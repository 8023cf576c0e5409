// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_UNIT_SIGNALS_SUBJECTS_HPP
#define ASIO_SYNC_TEST_UNIT_SIGNALS_SUBJECTS_HPP

// The signals as subjects: a case over them is written once. A subject is made for so many waits.
// begin() and begin_for() begin one, block() blocks for one, and release() ends all of them, or
// the oldest where a wait takes the signal. opened() is true if the signal has come, until
// lower().

#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_latch.hpp>
#include <asio_sync/async_mailbox.hpp>
#include <asio_sync/async_manual_reset_event.hpp>

namespace asio_sync::test::signals {

inline error_code const broken = error::broken_barrier;

struct fixture {
  void poll() {
    for (int i = 0; i < 2; ++i) test::poll(context, other);
  }

  asio::io_context context, other;
};

template <class Event, bool Takes>
struct event : Event {
  static constexpr bool takes = Takes, arrives = false, leads = false, blocks = true;

  explicit event(auto& home, std::size_t = 0) : Event(home) {}
  auto begin(auto token) { return this->async_wait(std::move(token)); }
  auto begin_for(auto time, auto token) { return this->async_wait_for(time, std::move(token)); }
  void block() { this->wait(); }
  auto block_for(auto time) { return this->wait_for(time); }
  auto block_until(auto time) { return this->wait_until(time); }
  void release() { this->set(); }
  bool opened() const { return this->is_set(); }
  void lower() { this->reset(); }
};

struct auto_reset : event<async_auto_reset_event, true> {
  static constexpr char const* name = "auto-reset event";
  using event::event;
};

struct manual_reset : event<async_manual_reset_event, false> {
  static constexpr char const* name = "manual-reset event";
  using event::event;
};

// Its waits take a flag.
struct mailbox : async_mailbox {
  static constexpr char const* name = "mailbox";
  static constexpr bool takes = true, arrives = false, leads = false, blocks = false;
  static constexpr mailbox_flags flag = 4;

  explicit mailbox(auto& home, std::size_t = 0) : async_mailbox(home) {}
  auto begin(auto token) { return async_take_any(flag, std::move(token)); }
  auto begin_for(auto time, auto token) {
    return async_take_any_for(flag, time, std::move(token));
  }
  void release() { raise(flag); }
  bool opened() const { return peek() == flag; }
  void lower() { take(flag); }
};

// Arrivals at a latch or a barrier; release() is one that does not wait.
template <class Meeting, bool Leads>
struct meeting : Meeting {
  static constexpr bool takes = false, arrives = true, leads = Leads, blocks = true;

  using Meeting::Meeting;
  auto begin(auto token) { return this->async_arrive_and_wait(std::move(token)); }
  auto begin_for(auto time, auto token) {
    return this->async_arrive_and_wait_for(time, std::move(token));
  }
  auto block() { return this->arrive_and_wait(); }
  auto block_for(auto time) { return this->arrive_and_wait_for(time); }
  auto block_until(auto time) { return this->arrive_and_wait_until(time); }
};

struct latch : meeting<async_latch, false> {
  static constexpr char const* name = "latch";

  explicit latch(auto& home, std::size_t waits = 0)
      : meeting(home, static_cast<std::ptrdiff_t>(waits + 1)) {}
  void release() { count_down(); }
  bool opened() const { return try_wait(); }
  // Makes the arrivals that are missing, and returns how many they were.
  int ahead() {
    int n = 0;
    for (; !try_wait(); ++n) count_down();
    return n;
  }
};

struct barrier : meeting<async_barrier, true> {
  static constexpr char const* name = "barrier";

  explicit barrier(auto& home, std::size_t waits = 0)
      : meeting(home, static_cast<std::ptrdiff_t>(waits + 1), [this] { ++phases; }) {}
  void release() { arrive_and_drop(); }
  bool opened() const { return phases != 0; }
  int ahead() {
    int n = 1;
    for (; !arrive_and_wait_for(std::chrono::seconds()); ++n)
      async_arrive_and_wait([](error_code, bool) {});
    return n;
  }

  std::atomic<int> phases = 0;
};

// Runs check(of<Signal>()) for each of the signals.
template <class Signal>
using of = std::type_identity<Signal>;

template <class... Signals>
void over(auto const& check) {
  auto const check_one = [&]<class Signal>(of<Signal> signal) {
    BOOST_TEST_CONTEXT(Signal::name) check(signal);
  };
  (check_one(of<Signals>()), ...);
}

// Ends all waits of a signal.
void release_all(auto& signal) {
  while (signal.waiters() != 0) signal.release();
}

// A handler that was called without an error; the last to arrive at a barrier is told that it
// leads.
inline bool released(fate const& f) { return f.called == 1 && !f.error; }
template <class Signal>
bool followed(fate const& f) {
  return released(f) && f.owned != Signal::leads;
}

// How a signal comes: by release(), here or inside the home; or by the last arrival.
enum class last {
  release,
  inside,
  handler,
  timed,
  in_no_time,
  elsewhere,
  in_two_steps,
  coroutine,
  by_trip,
  thread
};

template <class Signal>
constexpr auto ways_to_come() {
  using enum last;
  if constexpr (Signal::arrives)
    return std::array{release,   inside,       handler,   timed,   in_no_time,
                      elsewhere, in_two_steps, coroutine, by_trip, thread};
  else
    return std::array{release, inside};
}

template <class Signal>
asio::awaitable<void> arrive(Signal& signal, bool by_trip, auto handler) {
  using detail::immediate_budget;
  while (by_trip && immediate_budget::available()) immediate_budget::use();
  auto const completion = co_await signal.begin(asio::as_tuple(asio::deferred));
  std::apply(handler, completion);
}

// Has the signal come; the handler is called like that of the last wait.
template <class Signal>
void come(Signal& signal, last how, asio::io_context& other, auto handler) {
  if (how == last::release) return signal.release(), handler(error_code());
  if (how == last::inside)
    return asio::post(signal.get_executor(), [&signal, h = std::move(handler)]() mutable {
      signal.release(), h(error_code());
    });
  if constexpr (Signal::arrives) {
    static execution_log log;
    auto const strand = asio::make_strand(other);
    switch (how) {
      case last::handler: signal.begin(std::move(handler)); return;
      case last::timed: signal.begin_for(1h, std::move(handler)); return;
      case last::in_no_time: signal.begin_for(-1s, std::move(handler)); return;
      case last::elsewhere:
        signal.begin_for(0s, asio::bind_executor(strand, std::move(handler)));
        return;
      case last::in_two_steps:
        signal.begin(asio::bind_executor(bare_executor(log), std::move(handler)));
        return;
      case last::thread:
        if constexpr (Signal::leads)
          handler(error_code(), signal.block());
        else
          signal.block(), handler(error_code());
        return;
      default:
        asio::co_spawn(other, arrive(signal, how == last::by_trip, std::move(handler)),
                       asio::detached);
    }
  }
}

}  // namespace asio_sync::test::signals

#endif
