// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What a condition promises: letting go and joining in one step, waits that move to the queue of
// their mutex, what becomes of the lock, and the rules of all primitives where it has its own way.

#include "support/blocked_thread.hpp"
#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

namespace condition_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

// What a wait that was given a lock came back with; it keeps that.
struct outcome {
  int calls = 0;
  error_code error;
  lock_type lock;

  bool waits() const noexcept { return calls == 0; }
  bool has_lock(error_code e = {}) const noexcept {
    return calls == 1 && error == e && lock.owns_lock();
  }
  bool without_lock(error_code e) const noexcept {
    return calls == 1 && error == e && !lock.owns_lock();
  }
  auto handler() {
    return [this](error_code e, lock_type l) {
      ++calls;
      error = e;
      lock = std::move(l);
    };
  }
};

struct fixture {
  asio::io_context context, other;
  async_mutex mutex{context};
  async_condition condition{context};
  bool ready = false;

  void poll() { test::poll(context, other); }

  bool is_free() { return mutex.try_lock() && (mutex.unlock(), true); }

  void begin(outcome& o) { condition.async_wait(lock_type(mutex), o.handler()); }
  void begin_until_ready(outcome& o) {
    condition.async_wait(
        lock_type(mutex), [this] { return ready; }, o.handler());
    poll();  // looks
  }
};

}  // namespace condition_test

BOOST_FIXTURE_TEST_SUITE(condition_test, fixture)

BOOST_AUTO_TEST_CASE(Condition_is_made_of_an_executor_or_a_context) {
  using io_executor = asio::io_context::executor_type;
  basic_async_condition<io_executor> plain(context);
  async_condition erased(context.get_executor());
  static_assert(std::is_same_v<async_condition::rebind_executor<io_executor>::other,
                               basic_async_condition<io_executor>>);
  BOOST_TEST((plain.get_executor() == context.get_executor()));
  static_assert(noexcept(plain.notify_one())&& noexcept(plain.notify_all()));
  static_assert(noexcept(plain.close()));
  static_assert(!std::is_move_constructible_v<async_condition>);
  static_assert(!std::is_convertible_v<asio::io_context&, async_condition>);
}

BOOST_AUTO_TEST_CASE(C1_who_waits_has_let_go_and_is_reached_by_the_next_notification) {
  outcome one;
  begin(one);
  BOOST_TEST(condition.waiters() == 1u);
  BOOST_TEST(is_free());
  condition.notify_one();
  BOOST_TEST(condition.waiters() == 0u);
  BOOST_TEST(one.waits());
  BOOST_TEST(mutex.is_locked());
  poll();
  BOOST_TEST(one.has_lock());
}

BOOST_AUTO_TEST_CASE(C1_letting_go_hands_the_mutex_to_who_waits_for_it) {
  lock_type lock(mutex);
  fate next;
  mutex.async_lock(observed_handler(next));
  outcome one;
  condition.async_wait(std::move(lock), one.handler());
  BOOST_TEST(!lock.owns_lock());  // NOLINT(bugprone-use-after-move)
  poll();
  BOOST_TEST((next.granted() && one.waits()));
}

BOOST_AUTO_TEST_CASE(C1_who_gets_the_mutex_while_it_is_let_go_reaches_the_wait) {
  for (bool const looks : {false, true}) {
    outcome one;
    lock_type lock(mutex);
    // Called inside the wait, as it lets go.
    auto const next = [&](error_code, lock_type const&) {
      ready = true;
      condition.notify_one();
    };
    ready = false;
    mutex.async_lock(asio::bind_executor(inline_executor(context), next));
    if (looks)
      condition.async_wait(
          std::move(lock), [this] { return ready; }, one.handler());
    else
      condition.async_wait(std::move(lock), one.handler());
    poll();
    BOOST_TEST((ready && one.has_lock()));
  }
}

BOOST_AUTO_TEST_CASE(C2_the_callers_lock_is_empty_while_the_wait_is_outstanding) {
  lock_type lock(mutex);
  std::optional<error_code> error;
  condition.async_wait(lock, [&](error_code e) { error = e; });
  BOOST_TEST(!lock.owns_lock());
  BOOST_TEST(!lock.mutex());
  condition.notify_all();
  BOOST_TEST(!lock.mutex());
  poll();
  BOOST_TEST((error && !*error && lock.owns_lock() && lock.mutex() == &mutex));
}

BOOST_AUTO_TEST_CASE(C2_cancelled_and_expired_waits_have_the_mutex_again) {
  outcome cancelled, expired;
  begin(cancelled);
  condition.async_wait_for(lock_type(mutex), 1ms, expired.handler());
  lock_type holder(mutex);
  BOOST_TEST(condition.cancel() == 2u);
  BOOST_TEST(condition.waiters() == 0u);
  BOOST_TEST(mutex.waiters() == 2u);
  poll();
  BOOST_TEST((cancelled.waits() && expired.waits()));
  holder.unlock();
  poll();
  BOOST_TEST(cancelled.has_lock(aborted));
  cancelled.lock.unlock();
  poll();
  BOOST_TEST(expired.has_lock(aborted));
  expired = {};
  lock_type again(mutex);
  condition.async_wait_for(std::move(again), 1ms, expired.handler());
  context.restart();
  context.run();
  BOOST_TEST(expired.has_lock(timed_out));
}

BOOST_AUTO_TEST_CASE(C2_with_a_closed_condition_the_lock_does_not_own) {
  outcome queued, later;
  begin(queued);
  condition.close();
  BOOST_TEST(condition.is_closed());
  poll();
  BOOST_TEST(queued.without_lock(closed));
  BOOST_TEST(queued.lock.mutex() == &mutex);
  begin(later);
  BOOST_TEST(is_free());
  poll();
  BOOST_TEST(later.without_lock(closed));
  BOOST_TEST(later.lock.mutex() == &mutex);
}

BOOST_AUTO_TEST_CASE(C2_with_a_closed_mutex_the_lock_does_not_own) {
  outcome queued, notified;
  begin(notified);
  begin(queued);
  lock_type holder(mutex);
  condition.notify_one();
  mutex.close();
  poll();
  BOOST_TEST(notified.without_lock(closed));
  BOOST_TEST(notified.lock.mutex() == &mutex);
  condition.notify_one();
  poll();
  BOOST_TEST(queued.without_lock(closed));
}

BOOST_AUTO_TEST_CASE(C2_with_a_dead_mutex_the_lock_is_empty) {
  outcome queued, notified, on_its_way;
  {
    async_mutex dying(context);
    condition.async_wait(lock_type(dying), on_its_way.handler());
    condition.async_wait(lock_type(dying), notified.handler());
    condition.async_wait(lock_type(dying), queued.handler());
    condition.notify_one();
    condition.notify_one();
  }
  poll();
  for (auto* const o : {&on_its_way, &notified}) {
    BOOST_TEST(o->without_lock(aborted));
    BOOST_TEST(!o->lock.mutex());
  }
  BOOST_TEST(queued.waits());
  condition.notify_one();
  poll();
  BOOST_TEST(queued.without_lock(aborted));
  BOOST_TEST(!queued.lock.mutex());
}

BOOST_AUTO_TEST_CASE(C2_cancel_of_the_mutex_leaves_those_alone_that_have_been_notified) {
  outcome one;
  fate plain;
  begin(one);
  lock_type holder(mutex);
  mutex.async_lock(observed_handler(plain));
  condition.notify_one();
  BOOST_TEST(mutex.waiters() == 2u);
  BOOST_TEST(mutex.cancel() == 1u);
  BOOST_TEST(mutex.waiters() == 1u);
  holder.unlock();
  poll();
  BOOST_TEST(plain.refused(aborted));
  BOOST_TEST(one.has_lock());
}

BOOST_AUTO_TEST_CASE(C3_notify_all_moves_everybody_and_completes_one_for_each_hand_off) {
  constexpr std::size_t n = 1000;
  std::vector<outcome> waits(n);
  for (auto& each : waits) begin(each);
  condition.notify_all();
  BOOST_TEST(mutex.waiters() == n - 1);
  for (std::size_t i = 0; i < n; ++i) {
    context.restart();
    BOOST_TEST(context.poll() == 1u);  // no more than that was posted
    BOOST_TEST(waits[i].has_lock());
    waits[i].lock.unlock();
  }
  BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_CASE(C3_after_the_notification_cancel_does_nothing) {
  outcome one;
  condition.async_wait(lock_type(mutex), one.handler());
  lock_type holder(mutex);
  condition.notify_one();
  BOOST_TEST(condition.cancel() == 0u);
  holder.unlock();
  poll();
  BOOST_TEST(one.has_lock());
}

BOOST_AUTO_TEST_CASE(C3_a_notified_wait_that_is_cancelled_gives_its_notification_back) {
  for (bool const has_mutex : {false, true}) {  // when it is cancelled
    asio::cancellation_signal signal;
    outcome cancelled, next, last;
    condition.async_wait(lock_type(mutex),
                         asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
    begin(next);
    begin(last);
    lock_type holder(mutex);
    condition.notify_one();
    if (has_mutex) holder.unlock();
    signal.emit(asio::cancellation_type::total);
    if (!has_mutex) holder.unlock();
    poll();
    BOOST_TEST(cancelled.has_lock(aborted));
    BOOST_TEST(condition.waiters() == 1u);
    cancelled.lock = lock_type();
    poll();
    BOOST_TEST((next.has_lock() && last.waits()));
    next.lock = lock_type();
    condition.notify_one();
    poll();
    BOOST_TEST(last.has_lock());
    last.lock = lock_type();
    BOOST_TEST(is_free());
  }
}

// notify_all() has nothing for it alone.
BOOST_AUTO_TEST_CASE(C3_a_wait_notified_with_all_that_is_cancelled_gives_nothing_back) {
  asio::cancellation_signal signal;
  outcome cancelled, next;
  condition.async_wait(lock_type(mutex),
                       asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  lock_type holder(mutex);
  condition.notify_all();
  condition.async_wait(std::move(holder), next.handler());
  signal.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST(cancelled.has_lock(aborted));
  cancelled.lock = lock_type();
  poll();
  BOOST_TEST(next.waits());
  condition.notify_one();
  poll();
  BOOST_TEST(next.has_lock());
}

BOOST_AUTO_TEST_CASE(C4_a_wait_that_is_cancelled_late_looks_no_more) {
  int looks = 0;
  auto const predicate = [&] { return ++looks > 1; };
  asio::cancellation_signal signal;
  outcome first, again;
  // Before its first look, the lock held meanwhile.
  condition.async_wait(lock_type(mutex), predicate,
                       asio::bind_cancellation_slot(signal.slot(), first.handler()));
  signal.emit(asio::cancellation_type::partial);
  poll();
  BOOST_TEST(first.has_lock(aborted));
  BOOST_TEST(looks == 0);
  // After it was notified.
  condition.async_wait(std::move(first.lock), predicate,
                       asio::bind_cancellation_slot(signal.slot(), again.handler()));
  poll();
  BOOST_TEST(looks == 1);
  outcome next;
  begin(next);
  condition.notify_one();
  signal.emit(asio::cancellation_type::partial);
  poll();
  BOOST_TEST(again.has_lock(aborted));
  BOOST_TEST(looks == 1);
  again.lock = lock_type();
  poll();
  BOOST_TEST(next.has_lock());
  // By the predicate itself.
  outcome own;
  condition.async_wait(
      std::move(next.lock), [&] { return signal.emit(asio::cancellation_type::total), true; },
      asio::bind_cancellation_slot(signal.slot(), own.handler()));
  poll();
  BOOST_TEST(own.has_lock(aborted));
}

BOOST_AUTO_TEST_CASE(C3_a_dropped_wait_passes_on_what_notify_one_had_for_it) {
  outcome second, third;
  auto dying = std::make_unique<asio::io_context>();
  auto const ignore = [](error_code, lock_type) {};
  condition.async_wait(lock_type(mutex), asio::bind_executor(*dying, ignore));
  begin(second);
  begin(third);
  condition.notify_one();  // the first is on its way
  dying.reset();
  poll();
  BOOST_TEST((second.has_lock() && third.waits()));

  dying = std::make_unique<asio::io_context>();
  condition.async_wait(std::move(second.lock), asio::bind_executor(*dying, second.handler()));
  lock_type holder(mutex);
  condition.notify_all();  // both wait for the mutex
  outcome fourth;
  dying.reset();
  holder.unlock();
  poll();
  BOOST_TEST(third.has_lock());
  condition.async_wait(std::move(third.lock), fourth.handler());
  poll();
  BOOST_TEST(fourth.waits());  // notify_all() had nothing for one alone
}

BOOST_AUTO_TEST_CASE(C3_a_wait_that_is_dropped_while_it_waits_for_the_mutex_passes_it_on_too) {
  auto dying = std::make_unique<asio::io_context>();
  outcome second;
  condition.async_wait(lock_type(mutex),
                       asio::bind_executor(*dying, [](error_code, lock_type) {}));
  begin(second);
  lock_type holder(mutex);
  condition.notify_one();
  BOOST_TEST(mutex.waiters() == 1u);
  dying.reset();
  BOOST_TEST(mutex.waiters() == 1u);  // that is the second
  BOOST_TEST(condition.waiters() == 0u);
  holder.unlock();
  poll();
  BOOST_TEST(second.has_lock());
}

BOOST_AUTO_TEST_CASE(C4_what_is_true_already_does_not_let_go_of_the_mutex) {
  ready = true;
  bool looked = false;
  outcome one;
  condition.async_wait(
      lock_type(mutex), [&] { return looked = true, ready; }, one.handler());
  BOOST_TEST(!looked);
  BOOST_TEST(mutex.is_locked());
  poll();
  BOOST_TEST((looked && one.has_lock()));
}

BOOST_AUTO_TEST_CASE(C4_the_predicate_runs_on_the_waits_executor_with_the_mutex_held) {
  asio::strand<asio::io_context::executor_type> const strand(other.get_executor());
  int looks = 0;
  bool right = true;
  outcome one;
  auto const predicate = [&] {
    right = right && strand.running_in_this_thread() && mutex.is_locked();
    return ++looks == 4;
  };
  condition.async_wait(lock_type(mutex), predicate, asio::bind_executor(strand, one.handler()));
  for (int n = 1; n <= 3; ++n) {
    poll();
    BOOST_TEST(looks == n);
    BOOST_TEST(condition.waiters() == 1u);
    condition.notify_one();
  }
  poll();
  BOOST_TEST((looks == 4 && right && one.has_lock()));
}

BOOST_AUTO_TEST_CASE(C4_nobody_looks_without_the_mutex) {
  for (bool const dies : {false, true}) {
    std::optional<async_mutex> its(context);
    outcome one;
    int looks = 0;
    condition.async_wait(
        lock_type(*its), [&] { return ++looks > 1; }, one.handler());
    poll();
    lock_type holder(*its);
    condition.notify_one();
    if (dies) {
      holder.unlock();  // the wait is on its way with the mutex
      its.reset();
    } else {
      its->close();
    }
    poll();
    BOOST_TEST(looks == 1);
    BOOST_TEST(one.without_lock(dies ? aborted : closed));
  }
}

BOOST_AUTO_TEST_CASE(C4_a_cancellation_before_the_first_look_counts_whatever_is_true) {
  asio::cancellation_signal signal;
  outcome one, no_time;
  auto const begin = [&](outcome& o) {
    return asio::bind_cancellation_slot(signal.slot(), o.handler());
  };
  auto const never = [] {
    BOOST_ERROR("it looks");
    return true;
  };
  condition.async_wait(lock_type(mutex), never, begin(one));
  signal.emit(asio::cancellation_type::partial);
  poll();
  BOOST_TEST(one.has_lock(aborted));
  condition.async_wait_for(std::move(one.lock), 0s, never, begin(no_time));
  signal.emit(asio::cancellation_type::partial);
  poll();
  BOOST_TEST(no_time.has_lock(timed_out));
}

BOOST_AUTO_TEST_CASE(C4_a_cancellation_while_it_waits_for_the_mutex_counts_whatever_is_true) {
  for (bool const expires : {false, true}) {
    asio::cancellation_signal signal;
    outcome one;
    ready = false;
    condition.async_wait_for(
        lock_type(mutex), expires ? 1ms : 1h, [&] { return ready; },
        asio::bind_cancellation_slot(signal.slot(), one.handler()));
    poll();
    lock_type holder(mutex);
    while (expires && condition.waiters() != 0) context.restart(), context.run_one_for(1ms);
    condition.notify_one();
    signal.emit(asio::cancellation_type::terminal);
    ready = true;
    holder.unlock();
    poll();
    BOOST_TEST(one.has_lock(expires ? timed_out : aborted));
    BOOST_TEST(condition.waiters() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(C4_a_predicate_that_cancels_its_own_wait) {
  asio::cancellation_signal signal;
  outcome one;
  condition.async_wait(
      lock_type(mutex), [&] { return signal.emit(asio::cancellation_type::total), false; },
      asio::bind_cancellation_slot(signal.slot(), one.handler()));
  poll();
  BOOST_TEST(one.has_lock(aborted));
}

BOOST_AUTO_TEST_CASE(C4_cancel_covers_what_is_queued_whatever_its_predicate_says) {
  outcome one;
  begin_until_ready(one);
  ready = true;
  BOOST_TEST(condition.cancel() == 1u);
  poll();
  BOOST_TEST(one.has_lock(aborted));
}

BOOST_AUTO_TEST_CASE(C4_when_the_time_is_up_the_predicate_decides) {
  for (bool const now : {false, true}) {
    outcome one;
    ready = false;
    condition.async_wait_for(
        lock_type(mutex), 1ms, [&] { return ready; }, one.handler());
    poll();
    ready = now;
    context.restart();
    context.run();
    BOOST_TEST(one.has_lock(now ? error_code() : timed_out));
  }
}

BOOST_AUTO_TEST_CASE(C4_after_close_a_false_predicate_completes_with_closed) {
  for (bool const now : {true, false}) {
    async_condition closing(context);
    outcome one;
    lock_type holder;
    closing.async_wait(
        lock_type(mutex), [&] { return ready; }, one.handler());
    ready = false;
    poll();
    holder = lock_type(mutex);
    closing.notify_one();
    closing.close();
    ready = now;
    holder.unlock();
    poll();
    BOOST_TEST((now ? one.has_lock() : one.without_lock(closed)));
    one.lock = {};
    BOOST_TEST(is_free());
  }
}

BOOST_AUTO_TEST_CASE(C4_a_predicate_that_throws_leaves_through_the_executor_without_the_lock) {
  outcome failing, behind;
  struct failure {};
  condition.async_wait(
      lock_type(mutex), [&]() -> bool { return ready ? throw failure() : false; },
      failing.handler());
  poll();
  begin(behind);
  ready = true;
  condition.notify_one();
  BOOST_CHECK_THROW(poll(), failure);
  BOOST_TEST(failing.waits());
  poll();
  BOOST_TEST(behind.has_lock());  // the notification went on
}

BOOST_AUTO_TEST_CASE(C5_a_notification_with_nobody_waiting_is_not_remembered) {
  condition.notify_one();
  condition.notify_all();
  outcome one;
  begin(one);
  poll();
  BOOST_TEST(one.waits());
}

BOOST_AUTO_TEST_CASE(R7_waits_are_notified_in_their_order_and_keep_it_at_the_mutex) {
  std::string order;
  for (char const name : {'a', 'b', 'c', 'd'})
    condition.async_wait(lock_type(mutex),
                         [&order, name](error_code, lock_type) { order += name; });
  lock_type holder(mutex);
  condition.notify_one();
  mutex.async_lock([&](error_code, lock_type) { order += 'm'; });
  condition.notify_one();
  condition.notify_all();
  holder.unlock();
  poll();
  BOOST_TEST(order == "ambcd");
}

BOOST_AUTO_TEST_CASE(R8_a_wait_keeps_its_own_context_running_until_it_has_completed) {
  for (auto* const own : {&context, &other}) {
    outcome one;
    ready = false;
    condition.async_wait(
        lock_type(mutex), [&] { return ready; }, asio::bind_executor(*own, one.handler()));
    poll();
    BOOST_TEST(!own->stopped());
    lock_type holder(mutex);
    condition.notify_one();
    poll();
    BOOST_TEST(!own->stopped());
    holder.unlock();  // it looks in vain
    poll();
    BOOST_TEST(!own->stopped());
    ready = true;
    condition.notify_one();
    poll();
    BOOST_TEST((one.has_lock() && own->stopped()));
    one = {};
  }
}

BOOST_AUTO_TEST_CASE(R8_a_wait_without_a_predicate_keeps_its_own_context_running) {
  for (auto* const own : {&context, &other}) {
    outcome one;
    condition.async_wait(lock_type(mutex), asio::bind_executor(*own, one.handler()));
    poll();
    BOOST_TEST(!own->stopped());
    lock_type holder(mutex);
    condition.notify_one();
    poll();
    BOOST_TEST(!own->stopped());
    holder.unlock();
    poll();
    BOOST_TEST((one.has_lock() && own->stopped()));
    one = {};
  }
}

BOOST_AUTO_TEST_CASE(R11_zero_time_does_not_let_go_of_the_mutex) {
  for (auto const time : {0s, -1s}) {
    outcome plain, looking;
    condition.async_wait_for(lock_type(mutex), time, plain.handler());
    BOOST_TEST(mutex.is_locked());
    poll();
    BOOST_TEST(plain.has_lock(timed_out));
    fate other_lock;
    mutex.async_lock(observed_handler(other_lock));
    condition.async_wait_for(
        std::move(plain.lock), time, [] { return false; }, looking.handler());
    poll();
    BOOST_TEST(looking.has_lock(timed_out));
    BOOST_TEST(other_lock.waits());
    looking.lock = {};
    poll();
  }
}

BOOST_AUTO_TEST_CASE(R11_zero_time_looks_once) {
  outcome carried;
  auto const now = [] { return true; };
  condition.async_wait_for(lock_type(mutex), 0s, now, carried.handler());
  poll();
  BOOST_TEST(carried.has_lock());
  std::optional<error_code> error;
  condition.async_wait_for(carried.lock, -1s, now, [&](error_code e) { error = e; });
  poll();
  BOOST_TEST((error && !*error && carried.lock.owns_lock()));
}

BOOST_AUTO_TEST_CASE(R15_a_lock_that_does_not_own_comes_back_as_it_was) {
  outcome empty, unlocked;
  condition.async_wait(lock_type(), empty.handler());
  condition.async_wait(lock_type(mutex, std::defer_lock), unlocked.handler());
  BOOST_TEST((empty.waits() && unlocked.waits()));
  poll();
  BOOST_TEST(empty.without_lock(not_permitted));
  BOOST_TEST(!empty.lock.mutex());
  BOOST_TEST(unlocked.without_lock(not_permitted));
  BOOST_TEST(unlocked.lock.mutex() == &mutex);
  lock_type deferred(mutex, std::defer_lock);
  BOOST_TEST(error_of([&] { condition.wait(deferred); }) == not_permitted);
  auto const now = [] { return true; };
  BOOST_TEST(error_of([&] { condition.wait(deferred, now); }) == not_permitted);
  BOOST_TEST(error_of([&] { condition.wait_for(deferred, 1ms, now); }) == not_permitted);
  std::unique_lock<async_mutex> standard;
  BOOST_TEST(error_of([&] { condition.wait(standard); }) == not_permitted);
}

BOOST_AUTO_TEST_CASE(R15_the_lock_of_a_dead_mutex) {
  std::optional<async_mutex> dying(context);
  lock_type lock(*dying);
  dying.reset();
  std::optional<error_code> error;
  condition.async_wait(lock, [&](error_code e) { error = e; });
  poll();
  BOOST_TEST((error == not_permitted));
  BOOST_TEST((!lock.owns_lock() && !lock.mutex()));
}

BOOST_AUTO_TEST_CASE(R15_a_standard_lock_that_says_it_owns_and_does_not) {
  std::unique_lock lock(mutex);
  mutex.unlock();
  for (bool const looks : {false, true}) {
    std::optional<error_code> error;
    auto const handler = [&](error_code e) { error = e; };
    if (looks)
      condition.async_wait(
          lock, [] { return true; }, handler);
    else
      condition.async_wait(lock, handler);
    poll();
    BOOST_TEST((error == not_permitted));
    BOOST_TEST((lock.mutex() == &mutex && !lock.owns_lock()));
    lock = std::unique_lock(mutex, std::adopt_lock);
  }
  BOOST_TEST(error_of([&] { condition.wait(lock); }) == not_permitted);
  lock = std::unique_lock(mutex, std::adopt_lock);
  condition.close();
  BOOST_TEST(error_of([&] { condition.wait(lock); }) == closed);
  BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_CASE(R15_another_mutex_than_that_of_the_other_waits_is_refused) {
  async_mutex another(context);
  outcome one, two;
  begin(one);
  condition.async_wait(lock_type(another), two.handler());
  poll();
  BOOST_TEST(two.has_lock(invalid));
  BOOST_TEST(two.lock.mutex() == &another);
  condition.notify_one();
  condition.async_wait(std::move(two.lock), two.handler());  // nobody else is queued
  BOOST_TEST(condition.waiters() == 1u);
  condition.notify_one();
  poll();
}

BOOST_AUTO_TEST_CASE(R16_a_thread_does_not_block_the_context_of_condition_or_mutex) {
  async_mutex mutex_elsewhere(other);
  async_condition elsewhere(other);
  auto const is_refused = [this](async_condition& c, async_mutex& m) {
    error_code error;
    asio::post(context, [&] {
      lock_type lock(m);
      error = error_of([&] { c.wait(lock); });
      BOOST_TEST(lock.owns_lock());
    });
    poll();
    return error == deadlock;
  };
  BOOST_TEST(is_refused(condition, mutex));
  BOOST_TEST(is_refused(condition, mutex_elsewhere));
  BOOST_TEST(is_refused(elsewhere, mutex));
}

BOOST_AUTO_TEST_CASE(R16_a_thread_waits_with_either_kind_of_lock) {
  std::unique_lock<async_mutex> standard;
  lock_type own;
  blocked_thread first(condition, 1, [&] {
    standard = std::unique_lock(mutex);
    condition.wait(standard);
  });
  blocked_thread second(condition, 2, [&] {
    own = lock_type(mutex);
    condition.wait(own);
  });
  condition.notify_one();
  BOOST_TEST(!first.join());
  BOOST_TEST(standard.owns_lock());
  condition.notify_one();
  standard.unlock();
  BOOST_TEST(!second.join());
  BOOST_TEST(own.owns_lock());
}

BOOST_AUTO_TEST_CASE(R16_a_thread_gives_up_and_has_the_mutex_again) {
  std::unique_lock lock(mutex);
  BOOST_TEST((condition.wait_for(lock, 1ms) == std::cv_status::timeout));
  BOOST_TEST((lock.owns_lock() && mutex.is_locked()));
  BOOST_TEST(!condition.wait_for(lock, 1ms, [] { return false; }));
  BOOST_TEST(condition.wait_for(lock, 1ms, [] { return true; }));
  auto const now = std::chrono::system_clock::now();
  BOOST_TEST((condition.wait_until(lock, now) == std::cv_status::timeout));
  lock.unlock();
  BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_CASE(R16_a_thread_is_told_why_it_waits_no_longer) {
  lock_type lock;
  auto const wait = [&] {
    lock = lock_type(mutex);
    condition.wait(lock);
  };
  blocked_thread cancelled(condition, wait);
  condition.cancel();
  BOOST_TEST(cancelled.join() == aborted);
  BOOST_TEST(lock.owns_lock());
  lock = {};
  blocked_thread refused(condition, wait);
  condition.close();
  BOOST_TEST(refused.join() == closed);
  BOOST_TEST(!lock.owns_lock());
  lock = lock_type(mutex);
  BOOST_TEST(error_of([&] { condition.wait(lock); }) == closed);
  BOOST_TEST(!lock.owns_lock());
}

BOOST_AUTO_TEST_CASE(R17_threads_callbacks_and_a_notifier_at_once) {
  constexpr int rounds = 2000;
  int produced = 0, consumed = 0;
  std::array<std::thread, 3> threads;
  for (auto& each : threads)
    each = std::thread([&] {
      std::unique_lock lock(mutex);
      for (;;) {
        condition.wait(lock, [&] { return produced > consumed || produced == rounds; });
        if (consumed == produced) return;
        ++consumed;
      }
    });
  while (produced != rounds) {
    std::scoped_lock const lock(mutex);
    ++produced;
    produced == rounds ? condition.notify_all() : condition.notify_one();
  }
  for (auto& each : threads) each.join();
  BOOST_TEST(consumed == rounds);
}

BOOST_AUTO_TEST_CASE(R19_a_wait_counts_in_one_of_the_two_queues) {
  outcome one;
  begin(one);
  lock_type holder(mutex);
  BOOST_TEST((condition.waiters() == 1u && mutex.waiters() == 0u));
  condition.notify_one();
  BOOST_TEST((condition.waiters() == 0u && mutex.waiters() == 1u));
  holder.unlock();
  BOOST_TEST((condition.waiters() == 0u && mutex.waiters() == 0u));
  poll();
}

BOOST_AUTO_TEST_SUITE_END()
