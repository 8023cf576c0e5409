// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A client that asks who holds and who waits, and that takes locks from their holders.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace redis_inspect_test {

using namespace asio_sync::test::redis;
using asio_sync::redis::async_monitor;
using asio_sync::redis::async_shared_mutex;
using asio_sync::redis::inspection;
using redis_error = asio_sync::redis::error;

// Keeps the completion of an inspection.
struct report {
  int calls = 0;
  error_code error;
  inspection found;

  auto handler() {
    return [this](error_code e, inspection i) {
      ++calls;
      error = e;
      found = std::move(i);
    };
  }
  auto handler_on(asio::io_context& io) { return asio::bind_executor(io, handler()); }
  bool is(auto const& e) const { return calls == 1 && error == e && found.kind.empty(); }
};

// An answer may take a second on a busy machine.
constexpr std::chrono::milliseconds life = 4s;

config unnamed(server const& s) {
  config c = quick(s);
  c.session_ttl = c.max_session_ttl = life;
  return c;
}

config named(server const& s) {
  config c = unnamed(s);
  c.name = "printer-7";
  return c;
}

struct fixture : world {
  fixture() : world(&named) {}

  inspection inspect(std::string const& name) {
    report r;
    c.async_inspect(name, r.handler_on(io));
    BOOST_TEST_REQUIRE(soon([&] { return r.calls != 0; }));
    BOOST_TEST(r.error == error_code());
    return r.found;
  }

  error_code force(std::string const& name, std::uint64_t fence) {
    ending e;
    c.async_force_release(name, fence, e.handler_on(io));
    BOOST_TEST_REQUIRE(soon([&] { return e.calls != 0; }));
    return e.error;
  }

  bool has_waiters(std::string const& name, std::uint64_t n) {
    return soon([&] { return inspect(name).waiter_count == n; });
  }
};

BOOST_FIXTURE_TEST_SUITE(inspect_test, fixture)

// --- Inspections ---

BOOST_AUTO_TEST_CASE(an_object_that_nobody_uses_is_empty) {
  auto const found = inspect("x");
  BOOST_TEST(found.kind.empty());
  BOOST_TEST(found.capacity == 0u);
  BOOST_TEST(found.holders.empty());
  BOOST_TEST(found.waiters.empty());
}

BOOST_AUTO_TEST_CASE(a_mutex_shows_who_holds_it_and_who_waits) {
  async_mutex m(io, c, "x");
  lock_type held = lock(m);
  client other(pool.get_executor(), unnamed(s));
  other.async_run(asio::detached);
  async_mutex n(io, other, "x");
  outcome<lock_type> waits, second;
  n.async_lock(waits.handler());
  BOOST_TEST(has_waiters("x", 1));
  m.async_lock(second.handler());
  BOOST_TEST(has_waiters("x", 2));
  auto const found = inspect("x");
  BOOST_TEST(found.kind == "mutex");
  BOOST_TEST(found.capacity == 1u);
  BOOST_TEST(found.used == 1u);
  BOOST_TEST(found.gate.count() == 0);
  BOOST_TEST(found.holder_count == 1u);
  BOOST_TEST_REQUIRE(found.holders.size() == 1u);
  inspection::holder const& h = found.holders[0];
  BOOST_TEST(h.who == "printer-7");
  BOOST_TEST(h.fence == held.fence());
  BOOST_TEST(h.weight == 1u);
  BOOST_TEST(h.is_alive);
  BOOST_TEST((h.age >= 0ms && h.age < 60s));
  BOOST_TEST_REQUIRE(found.waiters.size() == 2u);
  BOOST_TEST(found.waiters[0].who == "");
  BOOST_TEST(found.waiters[0].is_alive);
  BOOST_TEST(found.waiters[0].is_reachable);
  BOOST_TEST(found.waiters[1].who == "printer-7");
  BOOST_TEST(found.waiters[1].session == h.session);
  BOOST_TEST(found.waiters[0].session != h.session);
  BOOST_TEST(found.waiters[0].ticket < found.waiters[1].ticket);
  m.cancel();
  n.cancel();
  BOOST_TEST(soon([&] { return waits.calls && second.calls; }));
}

BOOST_AUTO_TEST_CASE(a_semaphore_and_a_shared_mutex_show_their_weights) {
  async_semaphore permits(io, c, "s", 5);
  outcome<semaphore_permit> three;
  permits.async_acquire(3, three.handler());
  BOOST_TEST_REQUIRE(soon([&] { return three.calls != 0; }));
  auto const of = inspect("s");
  BOOST_TEST(of.kind == "semaphore");
  BOOST_TEST(of.capacity == 5u);
  BOOST_TEST(of.used == 3u);
  BOOST_TEST(of.holders.at(0).weight == 3u);

  async_shared_mutex shared(io, c, "m");
  outcome<async_shared_mutex::lock_type> writer;
  outcome<async_shared_mutex::shared_lock_type> reader;
  shared.async_lock(writer.handler());
  BOOST_TEST_REQUIRE(soon([&] { return writer.calls != 0; }));
  shared.async_lock_shared(reader.handler());
  BOOST_TEST(has_waiters("m", 1));
  auto const found = inspect("m");
  BOOST_TEST(found.kind == "shared_mutex");
  BOOST_TEST(found.holders.at(0).weight == found.capacity);
  BOOST_TEST(found.waiters.at(0).weight == 1u);
  shared.cancel();
  BOOST_TEST(soon([&] { return reader.calls != 0; }));
}

BOOST_AUTO_TEST_CASE(a_monitor_shows_who_owns_and_how_many_wait_on_conditions) {
  async_monitor m(io, c, "x");
  outcome<async_monitor::entry> adds, waits;
  m.async_enter(adds.handler());
  BOOST_TEST_REQUIRE(soon([&] { return adds.calls != 0; }));
  auto const fence = adds.guard.fence();
  auto part = adds.guard.add_owned("free", -1, "freed");
  ending left, waited;
  adds.guard.async_leave(left.handler_on(io));
  m.async_enter(waits.handler());
  BOOST_TEST_REQUIRE(soon([&] { return left.calls && waits.calls; }));
  BOOST_TEST(inspect("x").used == 1u);
  waits.guard.async_wait("freed", waited.handler_on(io));
  BOOST_TEST(soon([&] { return inspect("x").condition_waiter_count == 1; }));
  auto const found = inspect("x");
  BOOST_TEST(found.kind == "monitor");
  BOOST_TEST(found.used == 0u);
  BOOST_TEST(found.waiter_count == 0u);
  BOOST_TEST_REQUIRE(found.holders.size() == 1u);
  BOOST_TEST(found.holders[0].who == "printer-7");
  BOOST_TEST(found.holders[0].weight == 0u);
  BOOST_TEST(found.holders[0].fence == fence);
  BOOST_TEST(force("x", fence) == error_code());
  BOOST_TEST(soon([&] { return waited.calls != 0; }));
  BOOST_TEST(!part.owns());
  BOOST_TEST(waits.guard.number("free") == 0);
}

BOOST_AUTO_TEST_CASE(every_token_takes_an_inspection) {
  async_mutex m(io, c, "x");
  lock_type held = lock(m);
  auto later = c.async_inspect("x", asio::use_future);
  BOOST_TEST(later.get().kind == "mutex");
  report second;
  auto deferred = [&] {
    std::string name = "x";
    return c.async_inspect(name, asio::deferred);  // outlives the name
  }();
  std::move(deferred)(second.handler_on(io));
  BOOST_TEST(soon([&] { return second.calls != 0; }));
  BOOST_TEST(second.found.kind == "mutex");
  auto force = c.async_force_release(std::string("x"), held.fence(), asio::deferred);
  BOOST_TEST(held.owns_lock());
  ending done;
  std::move(force)(done.handler_on(io));
  BOOST_TEST(soon([&] { return done.calls != 0; }));
  BOOST_TEST(done.is(error_code()));
}

BOOST_AUTO_TEST_CASE(a_deferred_operation_is_launched_once) {
  auto deferred = c.async_inspect("x", asio::deferred);
  auto copy = deferred;
  report first, second;
  std::move(deferred)(first.handler_on(io));
  std::move(copy)(second.handler_on(io));
  BOOST_TEST(soon([&] { return first.calls && second.calls; }));
  BOOST_TEST(first.is(error_code()));
  BOOST_TEST(second.is(not_permitted));
}

BOOST_AUTO_TEST_CASE(a_handler_without_an_executor_runs_on_the_clients) {
  std::promise<std::thread::id> ran, own;
  asio::post(pool, [&] { own.set_value(std::this_thread::get_id()); });
  c.async_inspect(
      "x", [&](error_code, inspection const&) { ran.set_value(std::this_thread::get_id()); });
  BOOST_TEST((ran.get_future().get() == own.get_future().get()));
}

// --- Forced releases ---

BOOST_AUTO_TEST_CASE(a_forced_holder_is_told_at_once_and_the_next_one_owns) {
  client holder(pool.get_executor(), unnamed(s));
  event_log const log(holder);
  holder.async_run(asio::detached);
  async_mutex m(io, holder, "x"), n(io, c, "x");
  lock_type held = lock(m);
  outcome<lock_type> next;
  ending lost, unlocked;
  held.async_wait_lost(lost.handler());
  n.async_lock(next.handler());
  BOOST_TEST(has_waiters("x", 1));
  BOOST_TEST(force("x", held.fence()) == error_code());
  BOOST_TEST(soon([&] { return lost.calls && next.calls; }, life / 3));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(next.granted());
  BOOST_TEST(soon([&] { return log.has(event::kind::forced_release); }));
  BOOST_TEST(log.find(event::kind::forced_release)->text == "x");
  held.async_unlock(unlocked.handler());
  BOOST_TEST(soon([&] { return unlocked.calls != 0; }));
  BOOST_TEST(unlocked.is(lease_lost));
  BOOST_TEST(next.guard.owns_lock());
  BOOST_TEST(inspect("x").holders.at(0).fence == next.guard.fence());
}

BOOST_AUTO_TEST_CASE(a_client_can_force_its_own_lock) {
  async_mutex m(io, c, "x");
  lock_type held = lock(m);
  ending done;
  c.async_force_release("x", held.fence(), done.handler_on(io));
  BOOST_TEST(soon([&] { return done.calls != 0; }));
  BOOST_TEST(done.is(error_code()));
  BOOST_TEST(soon([&] { return !held.owns_lock(); }));  // the push may come behind the answer
  held.unlock();
  BOOST_TEST(lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(a_fence_that_nobody_holds_with_is_refused) {
  BOOST_TEST(force("x", 1) == not_permitted);
  async_mutex m(io, c, "x");
  lock_type held = lock(m);
  BOOST_TEST(force("x", held.fence() + 1) == not_permitted);
  BOOST_TEST(force("y", held.fence()) == not_permitted);
  BOOST_TEST(held.owns_lock());
  std::uint64_t const fence = held.fence();
  BOOST_TEST(force("x", fence) == error_code());
  BOOST_TEST(force("x", fence) == not_permitted);
}

BOOST_AUTO_TEST_CASE(a_forced_lock_of_a_killed_client_is_granted_before_its_session_ends) {
  auto killed = std::make_unique<client>(pool.get_executor(), unnamed(s));
  killed->async_run(asio::detached);
  async_mutex m(io, *killed, "x"), n(io, c, "x");
  lock_type held = lock(m);
  std::uint64_t const fence = held.fence();
  killed.reset();
  outcome<lock_type> next;
  n.async_lock(next.handler());
  BOOST_TEST(has_waiters("x", 1));
  static_cast<void>(force("x", fence));
  BOOST_TEST(soon([&] { return next.calls != 0; }));
  BOOST_TEST(next.granted());
}

// --- Errors ---

BOOST_AUTO_TEST_CASE(names_are_checked_by_the_call) {
  for (std::string const& name : {std::string(), std::string(513, 'x'), std::string("{x")}) {
    auto const is_refused = [&](auto call) {
      try {
        call();
      } catch (boost::system::system_error const& e) {
        BOOST_TEST(std::string(e.what()).find("asio_sync::redis::client::async_") == 0u);
        return e.code() == make_error_code(errc::invalid_argument);
      }
      return false;
    };
    BOOST_TEST(is_refused([&] { c.async_inspect(name, asio::detached); }));
    BOOST_TEST(is_refused([&] { c.async_force_release(name, 1, asio::detached); }));
  }
  BOOST_TEST(inspect(std::string("\0\xff %s", 5)).kind == "");
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_fails_the_operation_alone) {
  async_mutex m(io, c, "y");
  lock_type const held = lock(m);
  connection admin(s.socket());
  admin({"SET", "as:{x}:m", "of somebody"});
  report r;
  c.async_inspect("x", r.handler_on(io));
  BOOST_TEST(soon([&] { return r.calls != 0; }));
  BOOST_TEST(r.is(redis_error::server_error));
  BOOST_TEST((force("x", 1) == redis_error::server_error));
  BOOST_TEST(held.owns_lock());
  BOOST_TEST(!events.has(event::kind::disconnected));
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_run_asks_nothing) {
  auto const check = [&](client& of, error_code e) {
    report r;
    ending done;
    of.async_inspect("x", r.handler_on(io));
    of.async_force_release("x", 1, done.handler_on(io));
    BOOST_TEST(soon([&] { return r.calls && done.calls; }));
    BOOST_TEST(r.is(e));
    BOOST_TEST(done.is(e));
  };
  client never(pool.get_executor(), unnamed(s));
  check(never, not_permitted);
  config wrong = unnamed(s);
  wrong.database = 99;
  client failed(pool.get_executor(), wrong);
  ending ended;
  failed.async_run(ended.handler_on(io));
  BOOST_TEST(soon([&] { return ended.calls != 0; }));
  check(failed, redis_error::server_error);
  ending down;
  c.async_shutdown(down.handler_on(io));
  check(c, aborted);
  BOOST_TEST(soon([&] { return down.calls && run.calls; }));
  check(c, aborted);
}

// --- The end ---

// A server that does not answer, until the end of the scope.
struct stalled {
  explicit stalled(server const& of) : id(of.id()) { ::kill(id, SIGSTOP); }
  ~stalled() { ::kill(id, SIGCONT); }
  ::pid_t const id;
};

BOOST_AUTO_TEST_CASE(a_silent_server_is_waited_for_no_longer_than_the_command_timeout) {
  inspect("x");
  stalled const asleep(s);
  report r;
  ending done;
  auto const begin = std::chrono::steady_clock::now();
  c.async_inspect("x", r.handler_on(io));
  c.async_force_release("x", 1, done.handler_on(io));
  BOOST_TEST(soon([&] { return r.calls && done.calls; }));
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= life / 4));
  BOOST_TEST(r.is(timed_out));
  BOOST_TEST(done.is(timed_out));
}

BOOST_AUTO_TEST_CASE(operations_end_when_they_are_cancelled) {
  inspect("x");
  stalled const asleep(s);
  for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
    asio::cancellation_signal cancel, second;
    report r;
    ending done;
    c.async_inspect("x", asio::bind_cancellation_slot(cancel.slot(), r.handler_on(io)));
    c.async_force_release("x", 1,
                          asio::bind_cancellation_slot(second.slot(), done.handler_on(io)));
    cancel.emit(type);
    second.emit(type);
    BOOST_TEST(soon([&] { return r.calls && done.calls; }));
    BOOST_TEST(r.is(aborted));
    BOOST_TEST(done.is(aborted));
  }
}

BOOST_AUTO_TEST_CASE(operations_end_with_the_client) {
  auto const check = [&](auto end) {
    report r;
    ending done;
    auto own = std::make_unique<asio::thread_pool>(1);
    auto asks = std::make_unique<client>(own->get_executor(), unnamed(s));
    ending ran;
    asks->async_run(ran.handler_on(io));
    report first;
    asks->async_inspect("x", first.handler_on(io));
    BOOST_TEST(soon([&] { return first.calls != 0; }));
    stalled const asleep(s);
    asks->async_inspect("x", r.handler_on(io));
    asks->async_force_release("x", 1, done.handler_on(io));
    end(asks, own);
    BOOST_TEST(soon([&] { return r.calls && done.calls && ran.calls; }));
    BOOST_TEST(r.is(aborted));
    BOOST_TEST(done.is(aborted));
  };
  using clients = std::unique_ptr<client>;
  using pools = std::unique_ptr<asio::thread_pool>;
  check([](clients& of, pools&) { of->stop(); });
  check([](clients& of, pools&) { of->async_shutdown(asio::detached); });
  check([](clients& of, pools&) { of.reset(); });
  check([](clients&, pools& own) {
    own->stop();
    own->join();
    own.reset();
  });
}

// The context has no thread: the driver has seen nothing of what it is asked.
BOOST_AUTO_TEST_CASE(operations_that_the_driver_has_not_seen_end_with_the_client) {
  for (bool const context_first : {true, false}) {
    report r, later;
    ending done, ran;
    auto idle = std::make_unique<asio::io_context>();
    auto asks = std::make_unique<client>(idle->get_executor(), unnamed(s));
    asks->async_run(ran.handler_on(io));
    asks->async_inspect("x", r.handler_on(io));
    asks->async_force_release("x", 1, done.handler_on(io));
    auto deferred = asks->async_inspect("x", asio::deferred);
    if (context_first)
      idle.reset();
    else
      asks.reset();
    if (idle) idle->poll();
    BOOST_TEST(soon([&] { return r.calls && done.calls; }));
    BOOST_TEST(r.is(aborted));
    BOOST_TEST(done.is(aborted));
    std::move(deferred)(later.handler_on(io));
    BOOST_TEST(soon([&] { return later.calls != 0; }));
    BOOST_TEST(later.is(aborted));
  }
}

BOOST_AUTO_TEST_CASE(a_completion_that_never_runs_is_destroyed) {
  report r;
  ending done;
  auto own = std::make_unique<asio::io_context>();
  c.async_inspect("x", r.handler_on(*own));
  c.async_force_release("x", 1, done.handler_on(*own));
  inspect("x");  // is answered after them
  own.reset();
  BOOST_TEST(r.calls == 0);
  BOOST_TEST(done.calls == 0);
}

BOOST_AUTO_TEST_CASE(a_lost_connection_is_no_error) {
  inspect("x");
  connection admin(s.socket());
  for (int i = 0; i != 5; ++i) {
    report r;
    c.async_inspect("x", r.handler_on(io));
    admin({"CLIENT", "KILL", "TYPE", "pubsub"});
    BOOST_TEST(soon([&] { return r.calls != 0; }));
    BOOST_TEST((!r.error || r.error == timed_out));  // the next connection is made after a pause
  }
  BOOST_TEST(soon([&] {
    report r;
    c.async_inspect("x", r.handler_on(io));
    soon([&] { return r.calls != 0; });
    return !r.error;
  }));
}

BOOST_AUTO_TEST_CASE(a_forked_child_asks_nothing) {
  inspect("x");
  ::pid_t const child = ::fork();
  if (child == 0) {
    asio::io_context own;
    report r;
    ending done;
    c.async_inspect("x", r.handler_on(own));
    c.async_force_release("x", 1, done.handler_on(own));
    own.run();
    ::_exit(r.is(redis_error::forked) && done.is(redis_error::forked) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  inspect("x");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_inspect_test
