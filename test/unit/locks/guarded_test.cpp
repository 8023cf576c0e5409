// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// An operation that is run under a guard; and the code in doc/async_guarded.md.

#include "support/test.hpp"

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/async_shared_mutex.hpp>

#include "support/memory.hpp"
#include "unit/locks/guarded_fixture.hpp"

#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <boost/asio/write.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace guarded_program {

// clang-format off
#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <boost/asio/write.hpp>

#include <cstddef>
#include <iostream>

namespace asio = boost::asio;

int main() {
  asio::io_context context;
  asio::readable_pipe reader(context);
  asio::writable_pipe writer(context);
  asio::connect_pipe(reader, writer);

  asio_sync::async_mutex writing(context);
  for (char const* line : {"first", "second", "third"})
    asio_sync::async_guarded(
        writing, asio::async_write(writer, asio::buffer(line, 5), asio::deferred),
        [line](boost::system::error_code error, std::size_t bytes) {
          std::cout << line << ": " << bytes << " bytes, " << error.message() << '\n';
        });
  std::cout << writing.waiters() << " wait\n";
  context.run();
  return 0;
}
// clang-format on

}  // namespace guarded_program

namespace guarded_test {

using namespace asio_sync::test;
using asio::deferred;
using asio::use_awaitable;

BOOST_FIXTURE_TEST_SUITE(guarded_test, fixture)

BOOST_AUTO_TEST_CASE(program_on_the_page) {
  std::ostringstream text;
  auto* const before = std::cout.rdbuf(text.rdbuf());
  int const status = guarded_program::main();
  std::cout.rdbuf(before);
  BOOST_TEST(status == 0);
  BOOST_TEST(text.str() ==
             "2 wait\nfirst: 5 bytes, Success\nsecond: 5 bytes, Success\n"
             "third: 5 bytes, Success\n");
}

BOOST_AUTO_TEST_CASE(function_on_the_page) {
  asio::readable_pipe reader(context);
  asio::writable_pipe writer(context);
  asio::connect_pipe(reader, writer);
  async_mutex& writing = mutex;
  std::string const line = "line\n";
  auto const write = [&](auto&& token) {
    return asio::async_write(writer, asio::buffer(line), std::forward<decltype(token)>(token));
  };
  async_guarded(writing, write, asio::detached);
  poll();
  std::string read(line.size(), ' ');
  BOOST_TEST(reader.read_some(asio::buffer(read)) == line.size());
  BOOST_TEST(read == line);
}

BOOST_AUTO_TEST_CASE(time_limit_on_the_page) {
  asio::writable_pipe writer(context);
  async_mutex& writing = mutex;
  async_mutex::lock_type const held(writing);
  std::string const line = "line\n";
  bool late = false;
  async_guarded_for(writing, asio::async_write(writer, asio::buffer(line), asio::deferred), 1s,
                    [&](error_code e, std::size_t) { late = e == asio::error::timed_out; });
  context.run();
  BOOST_TEST(late);
}

// Any thread sends; the pipe is the strand's.
struct session {
  asio::strand<asio::any_io_executor> strand;
  asio::writable_pipe socket{strand};
  async_mutex writing{strand};
};

void send(session& to, std::shared_ptr<std::string const> text) {
  async_guarded(to.writing, asio::async_write(to.socket, asio::buffer(*text), asio::deferred),
                asio::bind_executor(to.strand, [text](error_code, std::size_t) {}));
}

BOOST_AUTO_TEST_CASE(broadcast_on_the_page) {
  asio::thread_pool pool(2);
  session to{asio::strand<asio::any_io_executor>(pool.get_executor())};
  asio::readable_pipe reader(context);
  asio::connect_pipe(reader, to.socket);
  std::vector<std::thread> threads;
  for (char const* text : {"aaaa", "bbbb", "cccc"})
    threads.emplace_back([&to, text] {
      for (int i = 0; i < 10; ++i) send(to, std::make_shared<std::string const>(text));
    });
  for (auto& each : threads) each.join();
  pool.join();
  std::string read(120, ' ');
  BOOST_TEST(asio::read(reader, asio::buffer(read)) == 120u);
  for (std::size_t i = 0; i < read.size(); ++i) BOOST_TEST(read[i] == read[i / 4 * 4]);
}

BOOST_AUTO_TEST_CASE(semaphore_that_can_have_none_is_refused) {
  async_semaphore none(context, 0, 0);
  async_guarded(none, operation(), handler());
  poll();
  BOOST_CHECK(
      got == nothing(boost::system::errc::make_error_code(boost::system::errc::invalid_argument)));
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(R7_operations_under_one_key_run_one_after_the_other) {
  async_keyed_mutex<std::string> users(context);
  stopped second, other;
  async_guarded(keyed(users, "ann"), operation(), handler());
  async_guarded(keyed(users, "ann"), std::ref(second), handler());
  async_guarded(keyed(users, "bob"), std::ref(other), handler());
  poll();
  BOOST_TEST(second.begun == 0);
  BOOST_TEST(other.begun == 1);
  BOOST_TEST(users.waiters() == 1u);
  inner.end();
  poll();
  BOOST_TEST(called == 1);
  BOOST_CHECK(got == success);
  BOOST_TEST(second.begun == 1);
  other.end();
  poll();
  second.end(asio::error::eof);
  poll();
  BOOST_TEST(called == 3);
  BOOST_CHECK(got == std::tuple(error_code(asio::error::eof), 7, std::string("done")));
  BOOST_TEST(users.size() == 0u);
}

BOOST_AUTO_TEST_CASE(R4_R9_the_wait_for_a_key_is_cancelled_or_its_mutex_dies) {
  std::optional<async_keyed_mutex<int>> keys(std::in_place, context);
  auto const held = keys->try_lock(1);
  async_guarded(keyed(*keys, 1), operation(), handler());
  keys->cancel();
  poll();
  BOOST_CHECK(got == nothing(aborted));
  async_guarded(keyed(*keys, 1), operation(), handler());
  keys.reset();
  poll();
  BOOST_TEST(called == 2);
  BOOST_CHECK(got == nothing(aborted));
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(function_under_a_key_on_the_page) {
  async_keyed_mutex<std::string> users(context);
  int begun = 0;
  auto const write = [&](auto&& token) {
    BOOST_TEST(users.size() == 1u);
    ++begun;
    return inner(std::forward<decltype(token)>(token));
  };
  async_guarded(keyed(users, "ann"), write, asio::detached);
  poll();
  inner.end();
  poll();
  BOOST_TEST(begun == 1);
  BOOST_TEST(users.size() == 0u);
}

BOOST_AUTO_TEST_CASE(R18_closed_guard_begins_nothing) {
  mutex.close();
  async_guarded(mutex, operation(), handler());
  BOOST_TEST(called == 0);
  poll();
  BOOST_CHECK(got == nothing(error::closed));
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(R4_cancelled_while_it_waits) {
  for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total}) {
    asio::cancellation_signal signal;
    async_mutex::lock_type const held(mutex);
    async_guarded(mutex, operation(), asio::bind_cancellation_slot(signal.slot(), handler()));
    poll();
    signal.emit(type);
    BOOST_TEST(mutex.waiters() == 0u);
    poll();
    BOOST_CHECK(got == nothing(aborted));
    BOOST_TEST(inner.begun == 0);
  }
  BOOST_TEST(called == 3);
}

BOOST_AUTO_TEST_CASE(R4_cancelled_while_the_operation_runs) {
  asio::cancellation_signal signal;
  for (bool const waits : {false, true}) {
    std::optional<async_mutex::lock_type> held;
    if (waits) held.emplace(mutex);
    async_guarded(mutex, operation(), asio::bind_cancellation_slot(signal.slot(), handler()));
    held.reset();
    poll();
    BOOST_REQUIRE(inner.is_pending());
    signal.emit(asio::cancellation_type::total);
    poll();
    BOOST_CHECK(std::get<0>(got) == aborted);
    BOOST_TEST(!mutex.is_locked());
  }
  BOOST_TEST(called == 2);
}

BOOST_AUTO_TEST_CASE(R4_cancelled_after_the_grant_and_before_the_operation) {
  asio::cancellation_signal signal;
  std::optional<async_mutex::lock_type> held(mutex);
  async_guarded(mutex, operation(), asio::bind_cancellation_slot(signal.slot(), handler()));
  held.reset();
  signal.emit(asio::cancellation_type::partial);
  BOOST_TEST(mutex.is_locked());
  poll();
  BOOST_TEST(called == 1);
  BOOST_CHECK(got == nothing(aborted));
  BOOST_TEST(!locked_then);
  BOOST_TEST(inner.begun == 0);
}

BOOST_AUTO_TEST_CASE(R2_handler_runs_on_its_executor_and_else_on_that_of_the_guard) {
  asio::io_context other;
  async_guarded(mutex, operation(), asio::bind_executor(other, handler()));
  other.poll();
  inner.end();
  poll();
  BOOST_TEST(called == 0);
  other.restart();
  other.run();
  BOOST_TEST(called == 1);

  async_mutex elsewhere(other);
  async_guarded(elsewhere, operation(), handler());
  other.restart();
  other.poll();
  inner.end();
  poll();
  BOOST_TEST(called == 1);
  other.restart();
  other.run();
  BOOST_TEST(called == 2);
}

// Whose destructor may need it.
BOOST_AUTO_TEST_CASE(R3_guard_is_released_before_a_dropped_handler_is_destroyed) {
  bool was_free = false;
  std::shared_ptr<void> at_end(nullptr, [&](void*) { was_free = mutex.try_lock(); });
  async_guarded(mutex, operation(),
                [at_end = std::move(at_end)](error_code, int, std::string const&) {});
  poll();
  inner.drop();
  BOOST_TEST(was_free);
  if (was_free) mutex.unlock();
}

BOOST_AUTO_TEST_CASE(R9_mutex_dies_while_the_operation_runs) {
  std::optional<async_mutex> dying(std::in_place, context);
  async_guarded(*dying, operation(), handler());
  async_guarded(*dying, operation(), handler());
  poll();
  dying.reset();
  inner.end();
  poll();
  BOOST_TEST(called == 2);
  BOOST_TEST(inner.begun == 1);
}

// Whether it waits for the guard or runs then: with the handler it belongs to another context.
BOOST_AUTO_TEST_CASE(R10_context_of_the_guard_dies_first) {
  for (bool const waits : {false, true}) {
    auto dying = std::make_unique<asio::io_context>();
    async_mutex guard(*dying);
    std::optional<async_mutex::lock_type> held;
    if (waits) held.emplace(guard);
    async_guarded(guard, operation(), asio::bind_executor(context, handler()));
    dying.reset();
    held.reset();
    poll();
    BOOST_REQUIRE(inner.is_pending());
    inner.end();
    poll();
    BOOST_CHECK(got == success);
    BOOST_TEST(!guard.is_locked());
  }
  BOOST_TEST(called == 2);
}

BOOST_AUTO_TEST_CASE(R13_initiation_that_throws_releases) {
  inner.fails_to_begin = true;
  asio::post(context, [this] {
    BOOST_CHECK_THROW(async_guarded(mutex, operation(), handler()), std::bad_alloc);
  });
  poll();
  BOOST_TEST(inner.begun == 1);
  BOOST_TEST(!mutex.is_locked());

  std::optional<async_mutex::lock_type> held(mutex);
  async_guarded(mutex, operation(), handler());
  held.reset();
  context.restart();
  BOOST_CHECK_THROW(context.poll(), std::bad_alloc);  // as of any handler
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(called == 0);
}

BOOST_AUTO_TEST_CASE(R13_each_allocation_failing) {
  asio::steady_timer timer(context, 1h);
  for (bool const waits : {false, true})
    for (std::size_t successes = 0;; ++successes) {
      std::optional<async_mutex::lock_type> held;
      if (waits) held.emplace(mutex);
      bool threw = false;
      {
        test::empty_pool const pool;
        test::failing_heap const heap(successes, test::failing_heap::failures::one);
        try {
          async_guarded(mutex, timer.async_wait(deferred), [&](error_code) { ++called; });
        } catch (std::bad_alloc const&) {
          threw = true;
        }
      }
      BOOST_TEST(mutex.waiters() == (waits && !threw ? 1u : 0u));
      held.reset();
      poll();
      timer.cancel();
      poll();
      BOOST_TEST(called == (threw ? 0 : 1));
      BOOST_TEST(!mutex.is_locked());
      called = 0;
      if (!threw) break;
    }
}

BOOST_AUTO_TEST_CASE(R12_free_guard_allocates_nothing) {
  asio::steady_timer timer(context);
  std::optional<test::heap_counter> heap;
  std::function<void(error_code)> const next = [&](error_code) {
    if (++called == 5) heap.emplace();  // Asio has memory to use again
    if (called < 20)
      return async_guarded(mutex, timer.async_wait(deferred), [&](error_code e) { next(e); });
    BOOST_TEST(heap->allocations() == 0u);
    heap.reset();
  };
  asio::post(context, [&] { next({}); });
  poll();
  BOOST_TEST(called == 20);
}

BOOST_AUTO_TEST_CASE(deferred_one_is_launched_as_often_as_it_is_copied) {
  auto const run = async_guarded(mutex, operation(), deferred);
  auto again = run;
  run(handler());
  std::move(again)(handler());
  BOOST_TEST(mutex.waiters() == 1u);
  poll();
  for (int i = 0; i < 2; ++i) {
    inner.end();
    poll();
  }
  BOOST_TEST(called == 2);
  BOOST_CHECK(got == success);
}

BOOST_AUTO_TEST_CASE(operation_that_completes_with_a_guard) {
  async_mutex second(context);
  auto inside = async_guarded(mutex, second.async_lock(deferred), asio::use_future);
  poll();
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(inside.get().owns_lock());
}

BOOST_AUTO_TEST_CASE(R1a_tokens) {
  asio::steady_timer timer(context);
  bool done = false;
  auto const run = [&]() -> asio::awaitable<void> {
    co_await async_guarded(mutex, timer.async_wait(deferred));
    co_await async_guarded(mutex, timer.async_wait(deferred), use_awaitable);
    auto const [error] =
        co_await async_guarded(permits, timer.async_wait(deferred), asio::as_tuple(deferred));
    done = !error;
  };
  asio::co_spawn(context, run, asio::detached);
  context.run();
  BOOST_TEST(done);
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R17_one_at_a_time_on_many_threads) {
  asio::thread_pool pool(4);
  async_mutex shared(pool);
  std::atomic<int> inside{0}, most{0};
  int count = 0;  // guarded
  auto const step = [&](auto&& token) {
    return asio::async_initiate<decltype(token), void(error_code)>(
        [&](auto handler) {
          asio::post(pool, [&, h = std::move(handler)]() mutable {
            if (++inside > most) most = inside.load();
            ++count;
            --inside;
            std::move(h)(error_code());
          });
        },
        token);
  };
  for (int i = 0; i < 1000; ++i)
    asio::post(pool, [&] { async_guarded(shared, step, [](error_code) {}); });
  pool.join();
  BOOST_TEST(count == 1000);
  BOOST_TEST(most == 1);
  BOOST_TEST(!shared.is_locked());
}

BOOST_AUTO_TEST_CASE(R7_readers_run_side_by_side_and_a_writer_alone) {
  async_shared_mutex both(context);
  std::string order;
  auto const trip = [&](char c) {
    return [this, &order, c](auto&& token) {
      order += c;
      return asio::async_initiate<decltype(token), void(error_code)>(
          [this](auto handler) {
            asio::post(context,
                       [h = std::move(handler)]() mutable { std::move(h)(error_code()); });
          },
          token);
    };
  };
  auto const done = [&](char c) { return [&order, c](error_code e) { order += e ? '!' : c; }; };
  async_guarded(shared(both), trip('a'), done('A'));
  async_guarded(shared(both), trip('b'), done('B'));
  async_guarded(both, trip('w'), done('W'));
  async_guarded(shared(both), trip('c'), done('C'));
  BOOST_TEST((order.empty() && both.waiters() == 2u));
  context.run();
  BOOST_TEST(order == "abABwWcC");
  BOOST_TEST(!both.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace guarded_test
