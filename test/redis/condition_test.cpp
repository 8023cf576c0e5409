// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Conditions over a real server: rules C1, C2, C3 and C5, with what the network, the session and
// the contexts add.

#include "redis/support/condition_world.hpp"
#include "redis/support/relay.hpp"
#include "redis/support/relayed_world.hpp"
#include "redis/support/world.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/detail/scripts/all.hpp>

#include <csignal>

namespace redis_condition_test {

using namespace asio_sync::test::redis;
using asio_sync::test::failing_heap;

error_code const invalid = make_error_code(errc::invalid_argument);

BOOST_FIXTURE_TEST_SUITE(condition_test, condition_world)

// --- Waiting and notifying ---

BOOST_AUTO_TEST_CASE(a_coroutine_waits_and_is_notified) {
  bool is_ready = false;
  int done = 0;
  auto const waits = [&]() -> asio::awaitable<void> {
    lock_type lock = co_await m.async_lock();
    while (!is_ready) co_await ready.async_wait(lock);
    BOOST_TEST(lock.owns_lock());
    BOOST_TEST(lock.mutex() == &m);
    co_await lock.async_unlock();
    ++done;
  };
  auto const notifies = [&]() -> asio::awaitable<void> {
    lock_type lock = co_await m.async_lock();
    is_ready = true;
    co_await ready.async_notify_one();
    BOOST_TEST(done == 0);  // it is in the queue of the mutex
    co_await lock.async_unlock();
    ++done;
  };
  asio::co_spawn(io, waits, asio::detached);
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  asio::co_spawn(io, notifies, asio::detached);
  BOOST_TEST(soon([&] { return done == 2; }));
  expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(giving_the_mutex_back_and_joining_the_queue_are_one_step) {
  waiting first;
  outcome<lock_type> second;
  first.lock = lock(m);
  m.async_lock(second.handler());
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 1; }));
  ready.async_wait(first.lock, first.handler());
  BOOST_TEST_REQUIRE(soon([&] { return second.calls != 0; }));
  BOOST_TEST(parked() == 1);  // whoever has the mutex after it finds it waiting
  ready.notify_one();
  second.guard.unlock();
  wait_for_end(first);
  BOOST_TEST(first.has_lock(error_code()));
}

BOOST_AUTO_TEST_CASE(notify_one_takes_the_oldest_and_notify_all_takes_all_in_order) {
  std::vector<int> order;
  async_condition other(m, "other");
  waiting w[4], elsewhere;
  for (int i = 0; i < 4; ++i) {
    w[i].lock = lock(m);
    ready.async_wait(w[i].lock, [&, i](error_code e) {
      w[i].handler()(e);
      order.push_back(i);
      w[i].lock = {};
    });
  }
  park(other, elsewhere);
  ready.notify_one();
  wait_for_end(w[0]);
  BOOST_TEST(!soon([&] { return order.size() > 1; }, 20ms));
  ready.notify_all();
  wait_for_end(w[1], w[2], w[3]);
  BOOST_TEST((order == std::vector{0, 1, 2, 3}));
  BOOST_TEST(elsewhere.calls == 0);
  other.notify_all();
  wait_for_end(elsewhere);
}

BOOST_AUTO_TEST_CASE(a_notification_without_a_wait_is_not_remembered) {
  ending none;
  ready.async_notify_all(none.handler_on(io));
  wait_for_end(none);
  BOOST_TEST(none.is(error_code()));
  waiting w;
  park(ready, w);
  BOOST_TEST(!soon([&] { return w.calls != 0; }, 20ms));
  BOOST_TEST(ready.waiters() == 1u);
  ready.notify_one();
  wait_for_end(w);
  BOOST_TEST(ready.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(another_client_notifies_and_has_the_mutex_first) {
  client other(pool.get_executor(), quick(s));
  ending other_run;
  other.async_run(other_run.handler_on(io));
  async_mutex its(io, other, "x");
  async_condition its_ready(its, "ready");
  waiting w;
  park(ready, w);
  lock_type held = lock(its);
  its_ready.notify_one();
  BOOST_TEST_REQUIRE(soon([&] { return queued() == 1; }));
  BOOST_TEST(w.calls == 0);
  std::uint64_t const fence = held.fence();
  held.unlock();
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
  BOOST_TEST(w.lock.fence() > fence);
  other.stop();
  BOOST_TEST(soon([&] { return other_run.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(futures_wait_and_a_lock_waits_again_and_again) {
  async_mutex in_pool(pool, c, "x");
  async_condition turn(in_pool, "turn");
  lock_type lock = in_pool.async_lock(asio::use_future).get();
  for (int i = 0; i < 20; ++i) {
    auto const end = turn.async_wait(lock, asio::use_future);
    while (parked() == 0) std::this_thread::yield();
    turn.async_notify_one(asio::use_future).get();
    BOOST_TEST_REQUIRE((end.wait_for(20s) == std::future_status::ready));
    BOOST_TEST(lock.owns_lock());
  }
}

// --- Cancelling ---

BOOST_AUTO_TEST_CASE(a_cancelled_wait_ends_with_the_mutex) {
  waiting cancelled, by_slot, timed;
  asio::cancellation_signal signal;
  park(ready, cancelled);
  by_slot.lock = lock(m);
  ready.async_wait(by_slot.lock, asio::bind_cancellation_slot(signal.slot(), by_slot.handler()));
  timed.lock = lock(m);
  ready.async_wait_for(timed.lock, 1s, timed.handler());
  lock_type held = lock(m);
  signal.emit(asio::cancellation_type::total);
  BOOST_TEST(soon([&] { return queued() == 1; }));
  wait_for_end();
  BOOST_TEST(soon([&] { return queued() == 2; }));  // its time is up
  BOOST_TEST(ready.cancel() == 1u);
  BOOST_TEST(ready.cancel() == 0u);
  BOOST_TEST(soon([&] { return queued() == 3; }));
  BOOST_TEST((cancelled.calls + by_slot.calls + timed.calls) == 0);
  held.unlock();
  wait_for_end(by_slot);
  BOOST_TEST(by_slot.has_lock(aborted));
  by_slot.lock = {};
  wait_for_end(timed);
  BOOST_TEST(timed.has_lock(timed_out));
  timed.lock = {};
  wait_for_end(cancelled);
  BOOST_TEST(cancelled.has_lock(aborted));
  cancelled.lock = {};
  expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_wait_of_zero_time_keeps_the_mutex) {
  waiting w;
  w.lock = lock(m);
  auto const fence = w.lock.fence();
  ready.async_wait_for(w.lock, 0s, w.handler());
  wait_for_end(w);
  BOOST_TEST(w.is(timed_out));
  BOOST_TEST(w.lock.fence() == fence);
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_at_once_ends_with_the_mutex) {
  for (int i = 0; i < 200; ++i) {
    waiting w;
    w.lock = lock(m);
    ready.async_wait(w.lock, w.handler());
    BOOST_TEST(ready.cancel() == 1u);
    wait_for_end(w);
    BOOST_TEST_REQUIRE(w.has_lock(aborted));
  }
  expect_nothing_left();
}

// Two waits are cancelled: at most one of them keeps the notification. If none does, the third
// wait has it.
BOOST_AUTO_TEST_CASE(a_cancellation_and_a_notification_lose_nothing) {
  async_condition same(m, "ready");
  int kept = 0;
  for (int i = 0; i < 30; ++i) {
    waiting first, second, third;
    park(ready, first);
    park(ready, second);
    park(same, third);
    if (i % 2) {
      ready.notify_one();
      ready.cancel();
    } else {
      BOOST_TEST(ready.cancel() == 2u);
      ready.notify_one();
    }
    int notified = 0;
    for (waiting* w : {&first, &second}) {
      wait_for_end(*w);
      BOOST_TEST_REQUIRE(w->lock.owns_lock());
      BOOST_TEST((!w->error || w->error == aborted));
      notified += !w->error;
      w->lock = {};
    }
    BOOST_TEST_REQUIRE(notified <= 1);
    if (notified) {
      BOOST_TEST(third.calls == 0);
      same.notify_one();
    }
    wait_for_end(third);
    BOOST_TEST_REQUIRE(third.has_lock(error_code()));
    third.lock = {};
    kept += notified;
  }
  BOOST_TEST_MESSAGE(kept << " of 30 were kept");
  expect_nothing_left();
}

// The slot counts until the handler is called; the notification goes to the other wait.
BOOST_AUTO_TEST_CASE(a_cancellation_on_the_way_passes_the_notification_on) {
  asio::io_context slow;
  waiting first, second;
  asio::cancellation_signal signal;
  first.lock = lock(m);
  ready.async_wait(first.lock, asio::bind_cancellation_slot(
                                   signal.slot(), asio::bind_executor(slow, first.handler())));
  park(ready, second);
  lock_type held = lock(m);
  ending told;
  ready.async_notify_one(told.handler_on(io));
  wait_for_end(told);
  held.unlock();
  BOOST_TEST_REQUIRE(soon([&] { return ready.waiters() == 1; }));  // the first is on its way
  signal.emit(asio::cancellation_type::total);
  slow.run_for(20s);
  BOOST_TEST(first.has_lock(aborted));
  BOOST_TEST(second.calls == 0);
  first.lock.unlock();
  wait_for_end(second);
  BOOST_TEST(second.has_lock(error_code()));
}

BOOST_AUTO_TEST_CASE(close_and_the_end_of_the_condition_take_the_mutex_away) {
  waiting parked_one, later, destroyed;
  park(ready, parked_one);
  ready.close();
  BOOST_TEST(ready.is_closed());
  wait_for_end(parked_one);
  BOOST_TEST(parked_one.is_without_lock(closed));
  later.lock = lock(m);
  ready.async_wait(later.lock, later.handler());
  wait_for_end(later);
  BOOST_TEST(later.is_without_lock(closed));
  std::optional<async_condition> short_lived(std::in_place, m, "short");
  park(*short_lived, destroyed);
  short_lived.reset();
  wait_for_end(destroyed);
  BOOST_TEST(destroyed.is_without_lock(aborted));
  BOOST_TEST(lock(m).owns_lock());
  expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_wait_that_ends_before_the_client_knows_it_gives_the_mutex_back) {
  for (int i = 0; i < 50; ++i) {
    async_condition short_lived(m, "short");
    waiting w;
    w.lock = lock(m);
    short_lived.async_wait(w.lock, w.handler());
    short_lived.close();
    BOOST_TEST_REQUIRE(soon([&] { return w.calls != 0; }));
    BOOST_TEST(w.is_without_lock(closed));
  }
  expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_wait_may_lose_its_context) {
  waiting second;
  {
    auto lost = std::make_unique<waiting>();
    asio::io_context brief;
    lost->lock = lock(m);
    ready.async_wait(lost->lock, asio::bind_executor(brief, lost->handler()));
    BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
    park(ready, second);
    lost.reset();  // nothing touches the lock any more when the handler is destroyed
  }
  BOOST_TEST(soon([&] { return parked() == 1; }));
  ready.notify_one();
  wait_for_end(second);
  BOOST_TEST(second.has_lock(error_code()));
  second.lock = {};
  expect_nothing_left();
}

// A handler whose move throws is destroyed: its mutex and its notification go on.
BOOST_AUTO_TEST_CASE(a_handler_that_cannot_be_moved_passes_the_notification_on) {
  struct fragile {
    explicit fragile(bool* t) : throws(t) {}
    fragile(fragile const&) = default;
    fragile(fragile&& other) : throws(other.throws) {
      if (*throws) throw std::runtime_error("moved");
    }
    void operator()(error_code) const {}
    bool* throws;
  };
  bool throws = false;
  asio::io_context apart;
  lock_type lent = lock(m);
  ready.async_wait(lent, asio::bind_executor(apart, fragile(&throws)));
  waiting second;
  park(ready, second);
  throws = true;
  ready.notify_one();
  BOOST_TEST_REQUIRE(soon([&] { return ready.waiters() == 1; }));
  BOOST_CHECK_THROW(apart.run_for(20s), std::runtime_error);
  wait_for_end(second);
  BOOST_TEST(second.has_lock(error_code()));
  BOOST_TEST(!lent);
}

// --- Misuse ---

BOOST_AUTO_TEST_CASE(a_wait_without_a_lock_of_this_mutex_is_refused) {
  async_mutex another(io, c, "y");
  async_condition its(another, "ready");
  waiting empty, foreign;
  ready.async_wait(empty.lock, empty.handler());
  foreign.lock = lock(m);
  its.async_wait(foreign.lock, foreign.handler());
  wait_for_end(empty, foreign);
  BOOST_TEST(empty.is(not_permitted));
  BOOST_TEST(foreign.is(invalid));
  BOOST_TEST(foreign.lock.owns_lock());
}

BOOST_AUTO_TEST_CASE(names_have_their_limits) {
  BOOST_CHECK_THROW(async_condition(m, ""), boost::system::system_error);
  BOOST_CHECK_THROW(async_condition(m, std::string(513, 'a')), boost::system::system_error);
  std::string const odd("{\0\n\xff }", 6);
  for (std::string const& name : {odd, std::string(512, 'a')}) {
    async_condition any(m, name);
    waiting w;
    park(any, w);
    any.notify_one();
    wait_for_end(w);
    BOOST_TEST(w.has_lock(error_code()));
  }
}

BOOST_AUTO_TEST_CASE(failing_memory_leaves_the_lock_as_it_was) {
  waiting w;
  w.lock = lock(m);
  bool has_begun = false;
  for (int n = 0; !has_begun; ++n) {
    try {
      failing_heap const none(n);
      ready.async_wait(w.lock, w.handler());
      has_begun = true;
    } catch (std::bad_alloc const&) {
      BOOST_TEST_REQUIRE(w.lock.owns_lock());
    }
  }
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  for (bool told = false; !told;) {
    for (int n = 0; !told; ++n) {
      try {
        failing_heap const none(n);
        ready.notify_one();
        told = true;
      } catch (std::bad_alloc const&) {
      }
    }
  }
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
}

// An executor of a user's own, a copy of which unlocks the lock.
struct unlocking_executor {
  explicit unlocking_executor(asio::io_context& io) : inner(io.get_executor()) {}
  unlocking_executor(unlocking_executor const& other) noexcept : inner(other.inner) {
    if (copies_left > 0 && --copies_left == 0 && *lock) lock->unlock();
  }
  unlocking_executor& operator=(unlocking_executor const&) = default;
  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return inner.context();
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <class Function>
  void execute(Function&& f) const {
    asio::require(inner, asio::execution::blocking.never).execute(static_cast<Function&&>(f));
  }
  bool operator==(unlocking_executor const&) const noexcept = default;

  asio::io_context::executor_type inner;
  static inline int copies_left = 0;
  static inline lock_type* lock = nullptr;
};

BOOST_AUTO_TEST_CASE(a_lock_that_an_executor_unlocks_is_not_waited_with) {
  asio::io_context apart;
  bool has_unlocked = true;
  for (int n = 1; has_unlocked; ++n) {
    lock_type held = lock(m);
    ending waited;
    unlocking_executor::lock = &held;
    unlocking_executor const ex(apart);
    unlocking_executor::copies_left = n;
    ready.async_wait(held, asio::bind_executor(ex, waited.handler()));
    has_unlocked = std::exchange(unlocking_executor::copies_left, 0) == 0;
    if (!has_unlocked) {
      BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
      ready.notify_all();
    }
    BOOST_TEST_REQUIRE(asio_sync::test::redis::soon(apart, [&] { return waited.calls != 0; }));
    BOOST_TEST((waited.is(not_permitted) || (!has_unlocked && waited.is(error_code()))), n);
  }
}

// --- The client and its session ---

BOOST_AUTO_TEST_CASE(a_client_that_is_destroyed_ends_its_notifications) {
  for (bool const has_run : {false, true}) {
    ending told, ran;
    {
      client other(pool.get_executor(), quick(s));
      async_mutex its(io, other, "x");
      async_condition its_ready(its, "ready");
      if (has_run) {
        other.async_run(ran.handler_on(io));
        lock(its).unlock();
        other.stop();
        wait_for_end(ran);
      }
      its_ready.notify_one();
      its_ready.async_notify_one(told.handler_on(io));
    }
    wait_for_end(told);
    BOOST_TEST(told.is(aborted));
  }
}

BOOST_AUTO_TEST_CASE(a_notification_waits_for_the_client_and_leaves_before_it) {
  waiting w;
  park(ready, w);
  client other(pool.get_executor(), quick(s));
  async_mutex its(io, other, "x");
  async_condition its_ready(its, "ready");
  its_ready.notify_one();  // the client does not run yet
  ending ran, down;
  other.async_run(ran.handler_on(io));
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
  w.lock = {};
  waiting again;
  park(ready, again);
  std::promise<void> goes_on;  // until then the client has seen neither of the two
  asio::post(pool, [&] { goes_on.get_future().wait(); });
  its_ready.notify_one();
  other.async_shutdown(down.handler_on(io));
  goes_on.set_value();
  wait_for_end(again, down, ran);
  BOOST_TEST(again.has_lock(error_code()));
  BOOST_TEST(down.is(error_code()));
  ending late;
  its_ready.async_notify_one(late.handler_on(io));
  wait_for_end(late);
  BOOST_TEST(late.is(aborted));
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_the_waits) {
  waiting w;
  park(ready, w);
  ending down;
  c.async_shutdown(down.handler_on(io));
  wait_for_end(w, down);
  BOOST_TEST(w.is_without_lock(aborted));
  BOOST_TEST(admin({"KEYS", "as:{*"}).elements.empty());
}

BOOST_AUTO_TEST_CASE(a_wait_survives_its_session_and_ends_as_if_notified) {
  waiting w;
  park(ready, w);
  ::kill(s.id(), SIGSTOP);
  BOOST_TEST_REQUIRE(soon([&] { return events.has(event::kind::session_lost); }));
  ::kill(s.id(), SIGCONT);
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
}

BOOST_AUTO_TEST_CASE(lost_data_ends_the_waits_as_if_notified) {
  waiting w, cancelled;
  park(ready, w);
  park(ready, cancelled);
  BOOST_TEST(admin({"FLUSHALL"}).text == "OK");
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
  w.lock = {};
  wait_for_end(cancelled);
  BOOST_TEST(cancelled.has_lock(error_code()));
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_lost_before_it_is_given_back_is_lease_lost) {
  waiting w;
  ending forced;
  w.lock = lock(m);
  c.async_force_release("x", w.lock.fence(), forced.handler_on(io));
  ready.async_wait(w.lock, w.handler());  // on its way when the lock is taken away
  wait_for_end(w, forced);
  BOOST_TEST((w.calls == 1 && w.error == lease_lost && !w.lock.owns_lock()));
}

BOOST_AUTO_TEST_CASE(a_lock_in_a_wait_is_not_lost_but_given_back) {
  waiting w;
  w.lock = lock(m);
  ending loss;
  w.lock.async_wait_lost(loss.handler_on(io));
  ready.async_wait(w.lock, w.handler());
  wait_for_end(loss);
  BOOST_TEST(loss.is(aborted));
  ready.notify_one();
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
}

BOOST_AUTO_TEST_CASE(a_lock_of_another_object_of_the_mutex_comes_back_as_one_of_the_conditions) {
  async_mutex same(io, c, "x");
  waiting w;
  w.lock = lock(same);
  w.fence = w.lock.fence();
  ready.async_wait(w.lock, w.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  ready.notify_all();
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
  BOOST_TEST(w.lock.mutex() == &m);
  ending loss;
  w.lock.async_wait_lost(loss.handler_on(io));
  c.stop();
  BOOST_TEST(!w.lock.owns_lock());
  wait_for_end(loss);
  BOOST_TEST(loss.is(error_code()));
}

BOOST_AUTO_TEST_CASE(a_deferred_wait_for_a_loss_ends_although_a_wait_has_given_the_lock_back) {
  for (bool const is_late : {false, true}) {
    waiting w;
    ending loss;
    w.lock = lock(m);
    auto const kept = w.lock.async_wait_lost(asio::deferred);  // like the frame of an awaitable
    auto until_lost = kept;
    ready.async_wait_for(w.lock, 20ms, w.handler());
    if (is_late) wait_for_end(w);
    std::move(until_lost)(loss.handler_on(io));
    wait_for_end(w, loss);
    BOOST_TEST(loss.is(aborted));
    BOOST_TEST(w.has_lock(timed_out));
  }
}

BOOST_AUTO_TEST_SUITE_END()

// --- A network that loses ---

BOOST_AUTO_TEST_SUITE(condition_relay_test)

using flow = relay::flow;

struct lossy : relayed_world {
  lossy() : relayed_world(6s) {}

  void park(waiting& w) {
    w.lock = lock(m);
    w.fence = w.lock.fence();
    ready.async_wait(w.lock, w.handler());
    BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
    relayed_world::unlock(lock(behind));  // the client knows, too
  }
  std::int64_t parked() { return admin({"ZCARD", "as:{x}:c"}).number; }

  template <class... Waits>
  void wait_for_end(Waits&... all) {
    BOOST_TEST_REQUIRE(soon([&] { return (all.calls && ...); }));
  }

  // The last one unlocks: nothing is left of the object.
  void unlock(lock_type held) {
    relayed_world::unlock(std::move(held));
    BOOST_TEST(soon([&] { return admin({"KEYS", "as:{*"}).elements.empty(); }));
  }

  async_mutex behind{io, c, "y"};
  async_condition ready{m, "ready"}, direct_ready{direct, "ready"};
};

BOOST_FIXTURE_TEST_CASE(a_wait_whose_command_is_lost_is_sent_again, lossy) {
  waiting w;
  w.lock = lock(m);
  r.set(to_server, flow::drop);
  ready.async_wait(w.lock, w.handler());
  wait_for(scripts::cond_wait);
  r.cut();
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  direct_ready.notify_one();
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
  unlock(std::move(w.lock));
}

BOOST_FIXTURE_TEST_CASE(a_wait_whose_answer_is_lost_parks_once, lossy) {
  waiting w;
  w.lock = lock(m);
  r.set(to_client, flow::drop);
  ready.async_wait(w.lock, w.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  r.cut();
  wait_for(event::kind::connected, 2);
  direct_ready.notify_one();
  wait_for_end(w);
  BOOST_TEST(w.has_lock(error_code()));
  unlock(std::move(w.lock));
}

BOOST_FIXTURE_TEST_CASE(a_notification_whose_answer_is_lost_wakes_one, lossy) {
  waiting first, second;
  for (waiting* w : {&first, &second}) {
    w->lock = lock(direct);
    direct_ready.async_wait(w->lock, w->handler());
  }
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 2; }));
  ending told;
  r.set(to_client, flow::drop);
  ready.async_notify_one(told.handler_on(io));
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  r.cut();
  wait_for_end(told, first);
  BOOST_TEST(told.is(error_code()));
  first.lock = {};
  BOOST_TEST(parked() == 1);
  direct_ready.notify_one();
  wait_for_end(second);
}

BOOST_FIXTURE_TEST_CASE(a_recall_that_is_lost_is_sent_again, lossy) {
  for (relay::way const way : {to_server, to_client}) {
    waiting w;
    park(w);
    drop(way);
    BOOST_TEST(ready.cancel() == 1u);
    wait_for(scripts::unwait);
    r.cut();
    wait_for_end(w);
    BOOST_TEST(w.has_lock(aborted));
    unlock(std::move(w.lock));
  }
}

// Its notification is passed on, although the recall and the release are sent again.
BOOST_FIXTURE_TEST_CASE(a_recalled_wait_passes_its_notification_on_across_connections, lossy) {
  waiting w, other;
  park(w);
  r.set(to_server, flow::drop);
  BOOST_TEST(ready.cancel() == 1u);
  wait_for(scripts::unwait);
  direct_ready.notify_one();
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 0; }));
  r.cut();
  wait_for(event::kind::connected, 2);
  wait_for_end(w);
  BOOST_TEST(w.has_lock(aborted));
  r.set(to_server, flow::drop);
  w.lock.unlock();
  wait_for(scripts::release);
  r.cut();
  other.lock = lock(direct);
  direct_ready.async_wait(other.lock, other.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  direct_ready.notify_one();
  wait_for_end(other);
  unlock(std::move(other.lock));
}

BOOST_FIXTURE_TEST_CASE(a_notification_survives_an_outage_and_a_shutdown, lossy) {
  waiting w;
  w.lock = lock(direct);
  direct_ready.async_wait(w.lock, w.handler());
  BOOST_TEST_REQUIRE(soon([&] { return parked() == 1; }));
  r.refuses = true;
  r.cut();
  wait_for(event::kind::disconnected, 1);
  ready.notify_one();
  ending down;
  c.async_shutdown(down.handler_on(io));
  r.refuses = false;
  wait_for_end(w, down);
  BOOST_TEST(w.has_lock(error_code()));
  BOOST_TEST(down.is(error_code()));
  unlock(std::move(w.lock));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_condition_test
