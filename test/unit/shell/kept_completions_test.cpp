// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Completions that a thread keeps back while user code runs above it, and what becomes of them.

#include "support/executors.hpp"
#include "support/manual_queue.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace kept_completions_test {

using namespace asio_sync::test;

struct fixture {
  asio::io_context context;
  async_mutex mutex{context};
  async_mutex outer{context};
  manual_queue queue;
  fate f;
  fate next;

  // A grant that waits in a queue of the user's, with another wait behind it.
  void grant_into_the_queue() {
    mutex.async_lock(
        asio::bind_executor(manual_queue::executor(queue, context), observed_handler(f)));
    BOOST_TEST_REQUIRE(queue.size() == 1u);
    mutex.async_lock(observed_handler(next));
  }

  // Destroys the grant: its handler has gone then, and the next is on its way.
  void drop_it() {
    queue.drop(0);
    BOOST_TEST(f.dropped());
    context.poll();
    BOOST_TEST(next.granted());
  }
};

}  // namespace kept_completions_test

BOOST_FIXTURE_TEST_SUITE(kept_completions_test, fixture)

BOOST_AUTO_TEST_CASE(R10_what_is_kept_for_a_context_that_ends_is_dropped) {
  auto dying = std::make_unique<asio::io_context>();
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(inline_executor(context), [&](error_code, auto) {
    dying.reset();
    BOOST_TEST(f.dropped());
  }));
  mutex.async_lock(asio::bind_executor(inline_executor(*dying), observed_handler(f)));
  BOOST_TEST(mutex.cancel() == 2u);
  BOOST_TEST(f.dropped());
}

BOOST_AUTO_TEST_CASE(R10_what_never_queued_is_dropped_with_its_context) {
  outer.async_lock(asio::bind_executor(inline_executor(context), [&](error_code, auto) {
    auto short_lived = std::make_unique<asio::io_context>();
    mutex.async_lock(asio::bind_executor(inline_executor(*short_lived), observed_handler(f)));
    BOOST_TEST(f.waits());
    short_lived.reset();
    BOOST_TEST(f.dropped());
  }));
  BOOST_TEST(f.dropped());
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_CASE(R3_a_grant_dropped_inside_an_inline_handler_goes_on_at_once) {
  grant_into_the_queue();
  outer.async_lock(
      asio::bind_executor(inline_executor(context), [&](error_code, auto) { drop_it(); }));
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R3_a_grant_dropped_inside_a_destructor_goes_on_at_once) {
  grant_into_the_queue();
  fate top;
  outer.async_lock(
      asio::bind_executor(dropping_executor(context), observed_handler(top, [&] { drop_it(); })));
  BOOST_TEST(top.dropped());
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R13_initiation_that_throws_leaves_nothing_that_the_slot_cancels) {
  asio::cancellation_signal signal;
  BOOST_TEST_REQUIRE(mutex.try_lock());
  auto fault = throwing_executor::plan::prefer;  // when the slot is connected already
  BOOST_CHECK_THROW(mutex.async_lock(asio::bind_cancellation_slot(
                        signal.slot(), asio::bind_executor(throwing_executor(context, fault),
                                                           observed_handler(f)))),
                    std::runtime_error);
  BOOST_TEST(f.dropped());
  asio::cancellation_signal other;
  fault = throwing_executor::plan::nothing;
  mutex.async_lock(asio::bind_cancellation_slot(  // in the same memory
      other.slot(),
      asio::bind_executor(throwing_executor(context, fault), observed_handler(next))));
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  context.poll();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_CASE(R13_what_a_relayed_handler_throws_leaves_run) {
  execution_log log;
  mutex.async_lock(asio::bind_executor(bare_executor(log), [](error_code, auto) { throw 1; }));
  mutex.async_lock(observed_handler(next));
  BOOST_CHECK_THROW(context.run(), int);
  context.run();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_SUITE_END()
