// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The rules of every primitive over a real server, for the handles that have no subject of their
// own: permits, readers, writers, entries, and waits on conditions.

#include "redis/support/condition_world.hpp"
#include "redis/support/connection.hpp"
#include "redis/support/monitor_world.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

namespace redis_rules_handles_test {

using namespace asio_sync::test::redis;
using asio_sync::redis::async_shared_mutex;
using writer_lock = async_shared_mutex::lock_type;
using reader_lock = async_shared_mutex::shared_lock_type;

// A semaphore of one, a shared mutex and a monitor, besides the mutex and the condition.
struct fixture : condition_world {
  fixture() : condition_world(&unhurried) {}

  async_semaphore one{io, c, "one", 1};
  async_shared_mutex shelf{io, c, "shelf"};
  async_monitor room{io, c, "room"};
};

BOOST_FIXTURE_TEST_SUITE(redis_rules_handles_test, fixture)

BOOST_AUTO_TEST_CASE(R3_grants_that_never_arrive_go_on) {
  outcome<semaphore_permit> permit, dropped_permit, next_permit;
  outcome<writer_lock> writer, dropped_writer, next_writer;
  outcome<entry> inside, dropped_entry, next_entry;
  one.async_acquire(permit.handler());
  shelf.async_lock(writer.handler());
  room.async_enter(inside.handler());
  wait_for_end(permit, writer, inside);
  auto dying = std::make_unique<asio::io_context>();
  one.async_acquire(asio::bind_executor(*dying, dropped_permit.handler()));
  one.async_acquire(next_permit.handler());
  shelf.async_lock(asio::bind_executor(*dying, dropped_writer.handler()));
  shelf.async_lock(next_writer.handler());
  room.async_enter(asio::bind_executor(*dying, dropped_entry.handler()));
  room.async_enter(next_entry.handler());
  permit.guard.release();
  writer.guard.unlock();
  inside.guard = {};
  BOOST_TEST(
      soon([&] { return one.waiters() == 1 && shelf.waiters() == 1 && room.waiters() == 1; }));
  dying.reset();
  wait_for_end(next_permit, next_writer, next_entry);
  BOOST_TEST((next_permit.granted() && next_writer.granted() && next_entry.granted()));
  BOOST_TEST((!dropped_permit.calls && !dropped_writer.calls && !dropped_entry.calls));
}

BOOST_AUTO_TEST_CASE(R4_a_slot_counts_until_the_handler_is_called) {
  asio::io_context slow;
  asio::cancellation_signal signals[4];
  outcome<semaphore_permit> permit, next_permit;
  outcome<writer_lock> writer, next_writer;
  outcome<entry> inside, next_entry;
  outcome<lock_type> owner, next_owner;
  auto const on_the_way = [&](int i, auto handler) {
    return asio::bind_cancellation_slot(signals[i].slot(),
                                        asio::bind_executor(slow, std::move(handler)));
  };
  one.async_acquire(on_the_way(0, permit.handler()));
  shelf.async_lock(on_the_way(1, writer.handler()));
  room.async_enter(on_the_way(2, inside.handler()));
  m.async_lock(on_the_way(3, owner.handler()));
  BOOST_TEST_REQUIRE(
      soon([&] { return one.waiters() + shelf.waiters() + room.waiters() + m.waiters() == 0; }));
  one.async_acquire(next_permit.handler());
  shelf.async_lock(next_writer.handler());
  room.async_enter(next_entry.handler());
  m.async_lock(next_owner.handler());
  for (auto& each : signals) each.emit(asio::cancellation_type::total);
  slow.run_for(20s);
  BOOST_TEST((permit.refused(aborted) && writer.refused(aborted)));
  BOOST_TEST((inside.refused(aborted) && owner.refused(aborted)));
  wait_for_end(next_permit, next_writer, next_entry, next_owner);
  BOOST_TEST((next_permit.granted() && next_writer.granted()));
  BOOST_TEST((next_entry.granted() && next_owner.granted()));
}

BOOST_AUTO_TEST_CASE(R8_waits_on_conditions_keep_their_context_running) {
  asio::io_context own;
  lock_type l = lock(m);
  outcome<entry> o;
  room.async_enter(o.handler());
  wait_for_end(o);
  ending waited, entry_waited;
  ready.async_wait(l, waited.handler_on(own));
  o.guard.async_wait("k", entry_waited.handler_on(own));
  auto const runs = std::async(std::launch::async, [&] { own.run(); });
  BOOST_TEST(soon([&] { return parked() == 1 && admin({"ZCARD", "as:{room}:c"}).number == 1; }));
  std::this_thread::sleep_for(50ms);
  BOOST_TEST(!own.stopped());
  ready.notify_one();
  outcome<entry> notifier;
  room.async_enter(notifier.handler());
  wait_for_end(notifier);
  BOOST_TEST(!own.stopped());
  notifier.guard.notify_one("k");
  ending left;
  notifier.guard.async_leave(left.handler_on(io));
  runs.wait();
  BOOST_TEST((waited.is(error_code()) && entry_waited.is(error_code())));
  wait_for_end(left);
}

BOOST_AUTO_TEST_CASE(R9_permits_and_shared_locks_outlive_their_primitives) {
  auto brief = std::make_unique<async_semaphore>(io, c, "one", 1);
  auto brief_shelf = std::make_unique<async_shared_mutex>(io, c, "shelf");
  outcome<semaphore_permit> permit, waits, next;
  outcome<reader_lock> reader;
  outcome<writer_lock> writer, next_writer;
  brief->async_acquire(permit.handler());
  brief_shelf->async_lock_shared(reader.handler());
  wait_for_end(permit, reader);
  brief->async_acquire(waits.handler());
  brief_shelf->async_lock(writer.handler());
  brief.reset();
  brief_shelf.reset();
  wait_for_end(waits, writer);
  BOOST_TEST((waits.refused(aborted) && writer.refused(aborted)));
  BOOST_TEST(permit.guard.count() == 1);
  BOOST_TEST((reader.guard.owns_lock() && !reader.guard.mutex()));
  one.async_acquire(next.handler());
  shelf.async_lock(next_writer.handler());
  BOOST_TEST(!soon([&] { return next.calls || next_writer.calls; }, 50ms));
  permit.guard.release();
  reader.guard.unlock();
  wait_for_end(next, next_writer);
  BOOST_TEST((next.granted() && next_writer.granted()));
}

BOOST_AUTO_TEST_CASE(R16_no_thread_blocks_its_own_context_or_that_of_the_client) {
  error_code const deadlock = make_error_code(errc::resource_deadlock_would_occur);
  auto const error_of = [](auto call) {
    try {
      call();
    } catch (boost::system::system_error const& e) {
      return e.code();
    }
    return error_code();
  };
  auto const errors = [&] {
    return std::vector<error_code>{
        error_of([&] { static_cast<void>(one.acquire()); }),
        error_of([&] { static_cast<void>(one.try_acquire_for(1h)); }),
        error_of([&] { static_cast<void>(shelf.lock()); }),
        error_of([&] { static_cast<void>(shelf.lock_shared()); }),
        error_of([&] { static_cast<void>(shelf.try_lock_shared_for(1h)); }),
        error_of([&] { static_cast<void>(one.acquire(0)); })};  // nothing to wait for
  };
  for (bool const of_client : {true, false}) {
    std::vector<error_code> all;
    if (of_client) {
      std::promise<std::vector<error_code>> told;
      asio::post(pool, [&] { told.set_value(errors()); });
      all = told.get_future().get();
    } else {
      asio::post(io, [&] { all = errors(); });
      BOOST_TEST_REQUIRE(soon([&] { return !all.empty(); }));
    }
    for (std::size_t i = 0; i != 5; ++i) BOOST_TEST(all[i] == deadlock, i);
    BOOST_TEST(all[5] == error_code());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_rules_handles_test
