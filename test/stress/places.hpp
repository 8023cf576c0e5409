// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_STRESS_PLACES_HPP
#define ASIO_SYNC_TEST_STRESS_PLACES_HPP

// The primitives, each guarding a page of plain data, and how one gets to that.

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mailbox.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

namespace asio_sync::test {

namespace asio = boost::asio;

// Plain data, in two copies: whoever reads sees them alike, and no write is lost.
class page {
 public:
  void write() {
    ++first_;
    ++second_;
    written_.fetch_add(1, std::memory_order_relaxed);
  }
  void read() {
    if (first_ != second_) torn_ = true;
  }
  bool is_right() const { return !torn_ && first_ == second_ && first_ == written_; }
  long written() const { return written_; }

 private:
  long first_ = 0, second_ = 0;
  std::atomic<long> written_ = 0;
  std::atomic<bool> torn_ = false;
};

struct book {
  page of_mutex, of_shared, of_semaphore, of_turn, of_gate, of_monitor;
  page of_key[4], of_flag[4];

  template <class Function>
  void each(Function f) const {
    for (auto const* p : {&of_mutex, &of_shared, &of_semaphore, &of_turn, &of_gate, &of_monitor})
      f(*p);
    for (auto const& p : of_key) f(p);
    for (auto const& p : of_flag) f(p);
  }
};

// All of the family. An event that is set, and each flag that is up, is the right to its page.
struct primitives {
  static constexpr std::ptrdiff_t permits = 3, marchers = 4;

  template <class Home>
  explicit primitives(Home home, std::function<void()> phase_ends = {})
      : mutex(home()),
        shared(home()),
        semaphore(home(), permits),
        keyed(home()),
        turn(home(), true),
        gate(home()),
        mailbox(home()),
        stock_mutex(home()),
        stock_changed(home()),
        barrier(home(), marchers, std::move(phase_ends)),
        group(home()) {
    mailbox.raise(15);
  }

  template <class Function>
  void each(Function f) {
    f(mutex), f(shared), f(semaphore), f(keyed), f(turn), f(gate), f(mailbox), f(stock_mutex),
        f(stock_changed), f(barrier), f(group);
  }
  // Whoever comes now has to wait for as long as this is kept.
  auto occupy() {
    turn.reset();
    mailbox.take(15);
    return std::make_tuple(async_mutex::lock_type(mutex), async_shared_mutex::lock_type(shared),
                           semaphore.acquire(permits), keyed.try_lock(0), keyed.try_lock(1),
                           keyed.try_lock(2), keyed.try_lock(3));
  }

  void cancel() {
    each([](auto& primitive) { primitive.cancel(); });
  }
  void close() {
    each([](auto& primitive) { primitive.close(); });
  }

  async_mutex mutex;
  async_shared_mutex shared;
  async_semaphore semaphore;
  async_keyed_mutex<int> keyed;
  async_auto_reset_event turn;
  async_manual_reset_event gate;
  async_mailbox mailbox;
  async_mutex stock_mutex;
  async_condition stock_changed;
  async_barrier barrier;
  async_group group;
};

// A place: `wait`, timed or not, for one of its pages, which a number picks; `use` of the page;
// and `block` for threads, where there is such a form, which gives what a wait gives. What is got
// lets go by its destructor, or else by `leave`.
struct place {
  primitives& p;
  book& b;

  template <class Got>
  void leave(unsigned, Got&) {}

  // What has to run so that a wait can begin here, beside the visitor's own executor.
  asio::any_io_executor needs() { return {}; }
};

struct mutex_place : place {
  template <class Token>
  auto wait(unsigned, Token&& token) {
    return p.mutex.async_lock(std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return p.mutex.async_lock_for(time, std::forward<Token>(token));
  }
  async_mutex::lock_type block(unsigned) { return async_mutex::lock_type(p.mutex); }
  async_mutex::lock_type block(unsigned, std::chrono::microseconds time) {
    return async_mutex::lock_type(p.mutex, time);
  }
  void use(unsigned, async_mutex::lock_type& lock) {
    if (lock.owns_lock()) b.of_mutex.write();
  }
};

struct reading_place : place {
  using lock_type = async_shared_mutex::shared_lock_type;

  template <class Token>
  auto wait(unsigned, Token&& token) {
    return p.shared.async_lock_shared(std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return p.shared.async_lock_shared_for(time, std::forward<Token>(token));
  }
  lock_type block(unsigned) { return lock_type(p.shared); }
  lock_type block(unsigned, std::chrono::microseconds time) { return lock_type(p.shared, time); }
  void use(unsigned, lock_type& lock) {
    if (lock.owns_lock()) b.of_shared.read();
  }
};

// Some go on as readers.
struct writing_place : place {
  using lock_type = async_shared_mutex::lock_type;

  template <class Token>
  auto wait(unsigned, Token&& token) {
    return p.shared.async_lock(std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return p.shared.async_lock_for(time, std::forward<Token>(token));
  }
  lock_type block(unsigned) { return lock_type(p.shared); }
  lock_type block(unsigned, std::chrono::microseconds time) { return lock_type(p.shared, time); }
  void use(unsigned pick, lock_type& lock) {
    if (!lock.owns_lock()) return;
    b.of_shared.write();
    if (pick % 3 != 0) return;
    auto const reader = async_shared_mutex::downgrade(std::move(lock));
    if (reader.owns_lock()) b.of_shared.read();
  }
};

// Who has all permits writes, who has one reads.
struct semaphore_place : place {
  template <class Token>
  auto wait(unsigned pick, Token&& token) {
    return p.semaphore.async_acquire(number(pick), std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned pick, std::chrono::microseconds time, Token&& token) {
    return p.semaphore.async_acquire_for(number(pick), time, std::forward<Token>(token));
  }
  semaphore_permit block(unsigned pick) { return p.semaphore.acquire(number(pick)); }
  semaphore_permit block(unsigned pick, std::chrono::microseconds time) {
    return p.semaphore.try_acquire_for(number(pick), time);
  }
  void use(unsigned, semaphore_permit& permit) {
    if (permit.count() == primitives::permits)
      b.of_semaphore.write();
    else if (permit)
      b.of_semaphore.read();
  }
  static std::ptrdiff_t number(unsigned pick) { return pick % 2 ? 1 : primitives::permits; }
};

struct keyed_place : place {
  using lock_type = async_keyed_mutex<int>::keyed_lock;

  template <class Token>
  auto wait(unsigned pick, Token&& token) {
    return p.keyed.async_lock(key(pick), std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned pick, std::chrono::microseconds time, Token&& token) {
    return p.keyed.async_lock_for(key(pick), time, std::forward<Token>(token));
  }
  void use(unsigned, lock_type& lock) {
    if (lock.owns_lock()) b.of_key[lock.key()].write();
  }
  static int key(unsigned pick) { return static_cast<int>(pick % 4); }
};

// Two mutexes of different types, in either order.
struct all_place : place {
  using locks = std::tuple<async_mutex::lock_type, async_shared_mutex::lock_type>;

  template <class Token>
  auto wait(unsigned, Token&& token) {
    return async_lock_all(std::tie(p.mutex, p.shared), std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return async_lock_all_for(std::tie(p.mutex, p.shared), time, std::forward<Token>(token));
  }
  void use(unsigned, locks& both) {
    if (!std::get<0>(both).owns_lock()) return;
    b.of_mutex.write();
    b.of_shared.write();
  }
};

// Whom the event releases has the page, and passes that on by setting it.
struct turn_place : place {
  template <class Token>
  auto wait(unsigned, Token&& token) {
    return p.turn.async_wait(std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return p.turn.async_wait_for(time, std::forward<Token>(token));
  }
  bool block(unsigned) { return p.turn.wait(), true; }
  bool block(unsigned, std::chrono::microseconds time) { return p.turn.wait_for(time); }
  void use(unsigned, bool got) {
    if (got) b.of_turn.write();
  }
  void leave(unsigned, bool got) {
    if (got) p.turn.set();
  }
};

// What was written before the gate was opened is read behind it.
struct gate_place : place {
  template <class Token>
  auto wait(unsigned, Token&& token) {
    return p.gate.async_wait(std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return p.gate.async_wait_for(time, std::forward<Token>(token));
  }
  bool block(unsigned) { return p.gate.wait(), true; }
  bool block(unsigned, std::chrono::microseconds time) { return p.gate.wait_for(time); }
  void use(unsigned, bool got) {
    if (got) b.of_gate.read();
  }
};

// Each flag is taken by one at a time, who raises it again.
struct mailbox_place : place {
  template <class Token>
  auto wait(unsigned pick, Token&& token) {
    return p.mailbox.async_take_any(flags(pick), std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned pick, std::chrono::microseconds time, Token&& token) {
    return p.mailbox.async_take_all_for(flags(pick), time, std::forward<Token>(token));
  }
  void use(unsigned, mailbox_flags got) {
    for (unsigned i = 0; i < 4; ++i)
      if (got >> i & 1) b.of_flag[i].write();
  }
  void leave(unsigned, mailbox_flags got) { p.mailbox.raise(got); }
  static mailbox_flags flags(unsigned pick) { return 1 + pick % 15; }
};

// What is in the monitor.
struct visitors_book {
  long visits = 0;
  bool over = false;
};

// Some enter only when the number of visits is even, or at the end.
struct monitor_place : place {
  using entry = async_monitor<visitors_book>::entry;

  async_monitor<visitors_book>& monitor;

  asio::any_io_executor needs() { return monitor.get_executor().get_inner_executor(); }

  template <class Token>
  auto wait(unsigned pick, Token&& token) {
    auto const may_enter = [pick](visitors_book const& v) {
      return pick % 2 == 0 || v.visits % 2 == 0 || v.over;
    };
    return monitor.async_enter_when(may_enter, std::forward<Token>(token));
  }
  template <class Token>
  auto wait(unsigned, std::chrono::microseconds time, Token&& token) {
    return monitor.async_enter_for(time, std::forward<Token>(token));
  }
  void use(unsigned, entry& inside) {
    if (!inside) return;
    ++inside->visits;
    b.of_monitor.write();
  }
};

// Waits for the mutex that the group counts.
struct tracked_place : mutex_place {
  template <class Token>
  auto wait(unsigned pick, Token&& token) {
    return mutex_place::wait(pick, p.group.track(std::forward<Token>(token)));
  }
  template <class Token>
  auto wait(unsigned pick, std::chrono::microseconds time, Token&& token) {
    return mutex_place::wait(pick, time, p.group.track(std::forward<Token>(token)));
  }
};

}  // namespace asio_sync::test

#endif
