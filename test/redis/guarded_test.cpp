// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Operations that run while a lock or a permit at a server is held.

#include "redis/support/connection.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/redis/async_mutex.hpp>
#include <asio_sync/redis/async_semaphore.hpp>
#include <asio_sync/redis/async_shared_mutex.hpp>

#include <csignal>

namespace redis_guarded_test {

using namespace asio_sync::test::redis;
using asio_sync::async_guarded;
using asio_sync::async_guarded_for;
using asio_sync::redis::async_shared_mutex;

// Ends soon, and owns its timer.
struct a_while {
  template <class Context>
  explicit a_while(Context& context) : timer(context, 100us) {}

  template <class Token>
  auto operator()(Token&& token) && {
    return timer.async_wait(std::forward<Token>(token));
  }

  asio::steady_timer timer;
};

// Counts those that have begun while another one had not ended.
struct counted : a_while {
  counted(a_while&& w, std::atomic<int>& in, std::atomic<int>& out)
      : a_while(std::move(w)), inside(&in), most(&out) {}
  counted(counted&&) noexcept = default;
  ~counted() {
    if (has_begun) --*inside;
  }

  template <class Token>
  auto operator()(Token&& token) && {
    has_begun = true;
    if (++*inside > 1) ++*most;
    return static_cast<a_while&&>(*this)(std::forward<Token>(token));
  }

  std::atomic<int>*inside, *most;
  bool has_begun = false;
};

// A mutex in a world, and an operation that ends when the timer is cancelled or moved.
struct fixture : world {
  auto sleep() {
    return [this](auto&& token) {
      begun = true;
      return timer.async_wait(std::forward<decltype(token)>(token));
    };
  }

  async_mutex m{io, c, "x"};
  bool begun = false;
  asio::steady_timer timer{io, asio::steady_timer::time_point::max()};
};

BOOST_FIXTURE_TEST_SUITE(guarded_test, fixture)

BOOST_AUTO_TEST_CASE(an_operation_has_the_lock_until_it_has_ended) {
  async_mutex same(io, c, "x");
  ending done;
  async_guarded(m, sleep(), done.handler());
  BOOST_TEST(!begun);
  BOOST_TEST(soon([&] { return begun; }));
  outcome<lock_type> next;
  same.async_lock(next.handler());
  BOOST_TEST(!soon([&] { return next.calls != 0; }, 50ms));
  timer.expires_at(asio::steady_timer::time_point::min());
  BOOST_TEST(soon([&] { return done.calls && next.calls; }));
  BOOST_TEST(done.is(aborted));  // the timer's own: it was moved
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(an_operation_whose_lock_is_lost_is_cancelled) {
  ending done;
  async_guarded(m, sleep(), done.handler());
  BOOST_TEST(soon([&] { return begun; }));
  ::kill(s.id(), SIGSTOP);
  BOOST_TEST(soon([&] { return done.calls != 0; }, 5s));
  ::kill(s.id(), SIGCONT);
  BOOST_TEST(done.is(lease_lost));
  BOOST_TEST(lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(an_operation_whose_lock_is_lost_before_it_begins_does_not_begin) {
  asio::io_context busy;
  ending done;
  connection admin(s.socket());
  async_guarded(m, sleep(), done.handler_on(busy));
  BOOST_TEST(soon([&] { return admin({"EXISTS", "as:{x}:h"}).number == 1 && m.waiters() == 0; }));
  c.stop();
  BOOST_TEST(asio_sync::test::redis::soon(busy, [&] { return done.calls != 0; }));
  BOOST_TEST(done.is(lease_lost));
  BOOST_TEST(!begun);
}

// The executor does not run inline what it is given.
BOOST_AUTO_TEST_CASE(a_cancellation_on_the_way_to_the_beginning_is_not_lost) {
  asio::cancellation_signal signal;
  ending done;
  auto const queues = asio::require(io.get_executor(), asio::execution::blocking.never);
  async_guarded(
      m, sleep(),
      asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(queues, done.handler())));
  connection admin(s.socket());
  while (admin({"EXISTS", "as:{x}:h"}).number == 0) std::this_thread::sleep_for(1ms);
  for (int i = 0; i < 1000 && m.waiters() != 0; ++i) std::this_thread::sleep_for(1ms);
  BOOST_TEST(io.run_one() == 1u);  // the guard arrives
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(soon([&] { return done.calls != 0; }));
  BOOST_TEST(done.is(aborted));
  BOOST_TEST(lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(an_operation_that_cannot_be_cancelled_ends_before_the_loss_is_told) {
  ending done;
  std::function<void()> end;
  auto const deaf = [&](auto&& token) {
    return asio::async_initiate<decltype(token), void(error_code)>(
        [&](auto handler) {
          auto const kept = std::make_shared<decltype(handler)>(std::move(handler));
          end = [&, kept] {
            asio::post(io, asio::bind_executor(asio::get_associated_executor(*kept),
                                               [kept] { std::move (*kept)(error_code()); }));
          };
        },
        token);
  };
  async_guarded(m, deaf, done.handler());
  BOOST_TEST(soon([&] { return static_cast<bool>(end); }));
  c.stop();
  BOOST_TEST(!soon([&] { return done.calls != 0; }, 100ms));
  end();
  end = nullptr;
  BOOST_TEST(soon([&] { return done.calls != 0; }));
  BOOST_TEST(done.is(lease_lost));
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_the_wait_and_later_the_operation) {
  auto held = lock(m);
  asio::cancellation_signal one, two;
  ending waits, runs;
  async_guarded(m, sleep(), asio::bind_cancellation_slot(one.slot(), waits.handler()));
  async_guarded(m, sleep(), asio::bind_cancellation_slot(two.slot(), runs.handler()));
  BOOST_TEST(m.waiters() == 2u);
  one.emit(asio::cancellation_type::total);
  BOOST_TEST(soon([&] { return waits.calls != 0; }));
  BOOST_TEST(waits.is(aborted));
  held.unlock();
  BOOST_TEST(soon([&] { return m.waiters() == 0; }));
  BOOST_TEST(!soon([&] { return runs.calls != 0; }, 50ms));
  two.emit(asio::cancellation_type::partial);
  BOOST_TEST(soon([&] { return runs.calls != 0; }));
  BOOST_TEST(runs.is(aborted));
  BOOST_TEST(lock(m).owns_lock());
}

BOOST_AUTO_TEST_CASE(a_lock_that_cannot_be_had_is_an_error_and_nothing_begins) {
  auto held = lock(m);
  ending late, at_once, refused;
  async_guarded_for(m, sleep(), 20ms, late.handler());
  async_guarded_for(m, sleep(), 0s, at_once.handler());
  BOOST_TEST(soon([&] { return late.calls && at_once.calls; }));
  BOOST_TEST((late.is(timed_out) && at_once.is(timed_out)));
  m.close();
  async_guarded(m, sleep(), refused.handler());
  BOOST_TEST(soon([&] { return refused.calls != 0; }));
  BOOST_TEST(refused.is(closed));
  BOOST_TEST(!begun);
}

BOOST_AUTO_TEST_CASE(readers_writers_and_permits_guard) {
  async_shared_mutex shelf(io, c, "shelf");
  async_semaphore one(io, c, "one", 1);
  asio::steady_timer second(io, asio::steady_timer::time_point::max());
  int reading = 0;
  ending first_reader, second_reader, writer, permit, after;
  auto const read = [&](auto&& token) {
    ++reading;
    return timer.async_wait(std::forward<decltype(token)>(token));
  };
  async_guarded(shared(shelf), read, first_reader.handler());
  async_guarded(shared(shelf), read, second_reader.handler());
  BOOST_TEST(soon([&] { return reading == 2; }));
  async_guarded(shelf, a_while(io), writer.handler());
  async_guarded(one, second.async_wait(asio::deferred), permit.handler());
  BOOST_TEST(!soon([&] { return writer.calls != 0; }, 50ms));
  timer.cancel();
  BOOST_TEST(soon([&] { return first_reader.calls && second_reader.calls && writer.calls; }));
  BOOST_TEST(first_reader.is(aborted));
  async_guarded(one, a_while(io), after.handler());
  BOOST_TEST(!soon([&] { return after.calls != 0; }, 50ms));
  second.cancel();
  BOOST_TEST(soon([&] { return permit.calls && after.calls; }));
}

BOOST_AUTO_TEST_CASE(an_operation_of_a_reader_a_writer_or_a_permit_is_cancelled_by_a_loss) {
  async_shared_mutex shelf(io, c, "shelf"), table(io, c, "table");
  async_semaphore one(io, c, "one", 1);
  constexpr auto never = asio::steady_timer::time_point::max();
  asio::steady_timer reads(io, never), writes(io, never), works(io, never);
  int running = 0;
  auto const on = [&](asio::steady_timer& its) {
    return [&](auto&& token) {
      ++running;
      return its.async_wait(std::forward<decltype(token)>(token));
    };
  };
  ending reader, writer, permit;
  async_guarded(shared(shelf), on(reads), reader.handler());
  async_guarded(table, on(writes), writer.handler());
  async_guarded(one, on(works), permit.handler());
  BOOST_TEST_REQUIRE(soon([&] { return running == 3; }));
  c.stop();
  BOOST_TEST_REQUIRE(soon([&] { return reader.calls && writer.calls && permit.calls; }));
  for (auto const* each : {&reader, &writer, &permit}) BOOST_TEST(each->is(lease_lost));
}

BOOST_AUTO_TEST_CASE(coroutines_futures_and_pools_guard) {
  bool done = false;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    asio::steady_timer short_one(io, 1ms);
    co_await async_guarded(m, short_one.async_wait(asio::deferred));
    done = true;
  };
  asio::co_spawn(io, coroutine, asio::detached);
  BOOST_TEST(soon([&] { return done; }));
  asio::thread_pool users(2);
  async_mutex theirs(users, c, "y");
  std::atomic<int> inside = 0, most = 0, failures = 0, left = 100;
  for (int i = 0; i < 100; ++i) {
    async_guarded(theirs, counted(a_while(users), inside, most), [&](error_code e) {
      failures += e.failed();
      --left;
    });
  }
  BOOST_TEST(soon([&] { return left == 0; }));
  BOOST_TEST(most == 0);
  BOOST_TEST(failures == 0);
  async_guarded(theirs, a_while(users), asio::use_future).get();
}

// The context ends after the client's thread, which posts to it.
BOOST_AUTO_TEST_CASE(operations_end_with_their_context) {
  {
    asio::io_context theirs;
    asio::steady_timer never(theirs, asio::steady_timer::time_point::max());
    asio::thread_pool their_pool(1);
    client other(their_pool.get_executor(), quick(s));
    other.async_run(asio::detached);
    async_mutex mutex(theirs, other, "x");
    bool runs = false;
    auto const operation = [&](auto&& token) {
      runs = true;
      return never.async_wait(std::forward<decltype(token)>(token));
    };
    async_guarded(mutex, operation, asio::detached);
    async_guarded(mutex, operation, asio::detached);
    BOOST_TEST(asio_sync::test::redis::soon(theirs, [&] { return runs; }));
  }
  BOOST_TEST(lock(m).owns_lock());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_guarded_test
