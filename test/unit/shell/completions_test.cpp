// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Completions while user code runs on top of the library: in a handler that an executor runs
// inline, in the destructor of a handler that is never called. None of them waits there for the
// user code to return, and none outlives its context.

#include "support/executors.hpp"
#include "support/manual_queue.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <boost/version.hpp>

// Associated immediate executors are in Asio from Boost 1.82 on.
#if BOOST_VERSION >= 108200
#include <boost/asio/bind_immediate_executor.hpp>
#endif

namespace completions_test {

using namespace asio_sync::test;

using action = std::function<void()>;

// Where user code runs on top of the library.
enum class place {
  inline_handler,      // a handler that its executor runs at once
  immediate_handler,   // a handler that its immediate executor runs
  dropped_handler,     // the destructor of a handler that its executor destroys
  dropped_completion,  // the destructor of a handler that is destroyed on its way
  dying_context        // the destructor of a handler whose wait is queued when its context ends
};

constexpr auto long_enough = 1min;  // for whatever does not hang

constexpr place places[] = {place::inline_handler, place::immediate_handler,
                            place::dropped_handler, place::dropped_completion,
                            place::dying_context};

// The inline executor as the handler's immediate one where Asio has them, else as its only one.
template <class Handler>
auto bind_immediate(asio::io_context& context, Handler handler) {
#if BOOST_VERSION >= 108200
  return asio::bind_immediate_executor(inline_executor(context), std::move(handler));
#else
  return asio::bind_executor(inline_executor(context), std::move(handler));
#endif
}

// Does it on top of a mutex that nobody else knows.
void on_top(place where, action const& act) {
  int done = 0;
  {
    asio::io_context context;
    async_mutex mutex(context);
    fate f;
    auto const count_and_act = [&] { ++done, act(); };
    auto const handler = [&](error_code, auto) { count_and_act(); };
    auto const drop = [&](auto const& ex) {
      mutex.async_lock(asio::bind_executor(ex, observed_handler(f, count_and_act)));
    };
    asio::io_context dying;
    switch (where) {
      case place::inline_handler:
        mutex.async_lock(asio::bind_executor(inline_executor(context), handler));
        break;
      case place::immediate_handler: mutex.async_lock(bind_immediate(context, handler)); break;
      case place::dropped_handler: drop(dropping_executor(context)); break;
      case place::dying_context: BOOST_TEST_REQUIRE(mutex.try_lock()); [[fallthrough]];
      case place::dropped_completion: drop(dying.get_executor());
    }
  }
  BOOST_TEST(done == 1);
}

template <class Function>
void in_each_place(Function function) {
  for (place where : places) BOOST_TEST_CONTEXT("place " << static_cast<int>(where)) {
      function(where);
    }
}

// Waits of the kinds that reach the context in a way of their own each.
constexpr std::size_t kinds = 7;
using fates = std::array<fate, kinds>;

template <class Context>
void initiate(async_mutex& mutex, Context& context, execution_log& log, fate& f,
              std::size_t kind) {
  auto const ex = context.get_executor();
  asio::any_io_executor const any = ex, strand = asio::make_strand(ex);
  auto const wait = [&](auto const& on) {
    mutex.async_lock(asio::bind_executor(on, observed_handler(f)));
  };
  switch (kind) {
    case 0: return wait(ex);
    case 1: return wait(asio::make_strand(ex));
    case 2: return wait(asio::make_strand(any));
    case 3:
      return mutex.async_lock_for(1h,
                                  asio::bind_executor(asio::make_strand(ex), observed_handler(f)));
    case 4: return wait(asio::make_strand(strand));
    case 5: return wait(tracking_executor(ex, log));
    default:
      return wait(tracking_executor(any, log));  // its type does not tell its context: it
                                                 // is called last
  }
}

// The context of some waits is destroyed by the completion of one that `decide` decides together
// with them. It stands before them in the queue, in the middle, or behind them. It is a handler
// that an executor runs inline, or the destructor of one that an executor destroys, or cannot
// take.
template <class Decide>
void destroy_between(bool home_dies, int ending, std::size_t position, Decide decide) {
  asio::io_context other;
  auto fault = throwing_executor::plan::nothing;
  execution_log log;
  fate end;
  fates decided;
  auto dying = std::make_unique<asio::io_context>();
  auto mutex = std::make_unique<async_mutex>(home_dies ? *dying : other);
  BOOST_TEST_REQUIRE(mutex->try_lock());
  auto const queue_ending = [&](auto const& ex) {
    mutex->async_lock(asio::bind_executor(ex, observed_handler(end, [&] { dying.reset(); })));
  };
  for (std::size_t kind = 0; kind <= kinds; ++kind) {
    if (kind == position && ending == 0)
      mutex->async_lock(
          asio::bind_executor(inline_executor(other), [&](error_code, auto) { dying.reset(); }));
    if (kind == position && ending == 1) queue_ending(dropping_executor(other));
    if (kind == position && ending == 2) queue_ending(throwing_executor(other, fault));
    if (kind != kinds) initiate(*mutex, *dying, log, decided[kind], kind);
  }
  fault = throwing_executor::plan::execute;
  decide(mutex);
  BOOST_TEST(!dying);
  for (auto const& f : decided) BOOST_TEST(f.dropped());
}

template <class Decide>
void destroy_between_all(Decide decide) {
  for (bool const home_dies : {false, true})
    for (int const ending : {0, 1, 2})
      for (std::size_t const position : {std::size_t(0), kinds / 2, kinds})
        BOOST_TEST_CONTEXT("home dies " << home_dies << ", ending " << ending << ", position "
                                        << position) {
          destroy_between(home_dies, ending, position, decide);
        }
}

}  // namespace completions_test

BOOST_AUTO_TEST_SUITE(completions_test)

BOOST_AUTO_TEST_CASE(R8_hand_overs_at_home_while_others_still_queue_give_their_work_back) {
  in_each_place([](place where) {
    asio::io_context home;
    async_mutex mutex(home);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    fate f[4];
    for (int i = 0; i < 4; ++i) {
      auto const strand = asio::make_strand(home);
      auto unlocks = [&, i](error_code, auto lock) {
        f[i].called += lock.owns_lock();
        on_top(where, [&] { lock.unlock(); });
      };
      mutex.async_lock(asio::bind_executor(strand, unlocks));
    }
    asio::post(home, [&] { on_top(where, [&] { mutex.unlock(); }); });
    home.poll();
    for (auto const& each : f) BOOST_TEST(each.called == 1);
    BOOST_TEST(home.stopped());
  });
}

// With a time, so that the case fails where it would wait for ever.
BOOST_AUTO_TEST_CASE(R5_user_code_on_top_of_the_library_unlocks_and_blocks) {
  in_each_place([](place where) {
    asio::thread_pool pool(1);
    async_mutex mutex(pool);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    fate plain, erased;
    auto const strand = asio::make_strand(pool);
    auto const other = asio::make_strand(asio::any_io_executor(pool.get_executor()));
    mutex.async_lock(asio::bind_executor(strand, observed_handler(plain)));
    mutex.async_lock(asio::bind_executor(other, observed_handler(erased)));
    bool locked = false;
    on_top(where, [&] {
      mutex.unlock();
      locked = mutex.try_lock_for(long_enough);
    });
    BOOST_TEST(locked);
    if (locked) mutex.unlock();
    pool.join();
    BOOST_TEST(plain.granted());
    BOOST_TEST(erased.granted());
  });
}

BOOST_AUTO_TEST_CASE(R5_user_code_on_top_of_the_library_unlocks_and_runs_the_context) {
  in_each_place([](place where) {
    for (std::size_t kind : {0u, 1u, 2u, 3u, 4u}) {
      BOOST_TEST_INFO("kind " << kind);
      asio::io_context context;
      async_mutex mutex(context);
      BOOST_TEST_REQUIRE(mutex.try_lock());
      execution_log log;
      fate f;
      initiate(mutex, context, log, f, kind);
      on_top(where, [&] {
        mutex.unlock();
        context.poll();  // run() would never return, or return too early
        BOOST_TEST(f.granted());
        BOOST_TEST(context.stopped());
      });
    }
  });
}

BOOST_AUTO_TEST_CASE(R5_destructor_of_a_dropped_grant_blocks_on_the_mutex) {
  asio::thread_pool pool(1);
  async_mutex mutex(pool);
  auto dying = std::make_unique<asio::io_context>();
  fate dropped, next;
  bool locked = false;
  mutex.async_lock(asio::bind_executor(
      *dying, observed_handler(dropped, [&] { locked = mutex.try_lock_for(long_enough); })));
  mutex.async_lock(asio::bind_executor(asio::make_strand(pool), observed_handler(next)));
  dying.reset();
  BOOST_TEST(dropped.dropped());
  BOOST_TEST(locked);
  if (locked) mutex.unlock();
  pool.join();
  BOOST_TEST(next.granted());
}

// The first that is destroyed unlocks, the others block.
BOOST_AUTO_TEST_CASE(R5_destructors_in_a_shutdown_block_on_what_an_earlier_one_unlocked) {
  for (bool const at_home : {true, false}) {
    asio::thread_pool pool(1);
    async_mutex mutex(pool);
    auto lock = async_mutex::lock_type(mutex, std::try_to_lock);
    fate next;
    mutex.async_lock(asio::bind_executor(asio::make_strand(pool), observed_handler(next)));
    auto dying = std::make_unique<asio::io_context>();
    asio::io_context other;
    async_mutex queue(at_home ? *dying : other);
    BOOST_TEST_REQUIRE(queue.try_lock());
    int locked = 0;
    auto const use = [&] {
      if (lock.owns_lock()) return lock.unlock();
      if (!mutex.try_lock_for(long_enough)) return;
      ++locked;
      mutex.unlock();
    };
    fate f[3];
    for (auto& each : f)
      queue.async_lock(asio::bind_executor(*dying, observed_handler(each, use)));
    dying.reset();
    BOOST_TEST(locked == 2);
    pool.join();
    BOOST_TEST(next.granted());
  }
}

BOOST_AUTO_TEST_CASE(R6_a_thread_about_to_block_first_does_what_it_keeps_back) {
  in_each_place([](place where) {
    asio::io_context context;
    async_mutex mutex(context);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    fate f;
    mutex.async_lock(asio::bind_executor(inline_executor(context), observed_handler(f)));
    bool locked = false;
    on_top(where, [&] {
      mutex.unlock();
      // Above an immediate executor nothing is kept back: it was run, and has gone.
      if (where != place::immediate_handler) BOOST_TEST(!mutex.try_lock_for(0s));
      // Inside a handler of an inline executor another one is kept back, and this does not block.
      if (where == place::inline_handler) BOOST_TEST(f.waits());
      locked = mutex.try_lock_for(long_enough);
      BOOST_TEST(f.granted());
    });
    BOOST_TEST(locked);
  });
}

BOOST_AUTO_TEST_CASE(R10_completion_for_a_context_without_a_service_does_not_outlive_it) {
  in_each_place([](place where) {
    asio::io_context other;
    async_mutex mutex(other);
    execution_log log;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      fate f;
      on_top(where, [&] {
        auto context = std::make_unique<asio::io_context>();
        initiate(mutex, *context, log, f, kind);  // free: nothing makes a service
        context.reset();
        BOOST_TEST(f.dropped());
      });
      BOOST_TEST(f.dropped());
      BOOST_TEST_REQUIRE(mutex.try_lock());
      mutex.unlock();
    }
  });
}

BOOST_AUTO_TEST_CASE(R10_a_completion_destroys_the_context_of_others_decided_with_it) {
  destroy_between_all([](auto& mutex) { BOOST_TEST(mutex->cancel() == kinds + 1); });
  destroy_between_all([](auto& mutex) { mutex->close(); });
  destroy_between_all([](auto& mutex) { mutex.reset(); });
}

BOOST_AUTO_TEST_CASE(R10_context_is_destroyed_while_this_thread_still_keeps_completions_for_it) {
  in_each_place([](place where) {
    for (bool const at_home : {false, true}) {
      asio::io_context other;
      auto dying = std::make_unique<asio::io_context>();
      async_mutex mutex(at_home ? *dying : other);
      BOOST_TEST_REQUIRE(mutex.try_lock());
      fate f[2];
      for (auto& each : f)
        mutex.async_lock(asio::bind_executor(asio::make_strand(*dying), observed_handler(each)));
      on_top(where, [&] {
        mutex.unlock();
        dying.reset();
      });
      BOOST_TEST((f[0].dropped() && f[1].dropped()));
      BOOST_TEST(mutex.try_lock());
    }
  });
}

BOOST_FIXTURE_TEST_CASE(R10_what_is_kept_for_a_context_that_ends_is_dropped, held_mutex) {
  fate f;
  auto dying = std::make_unique<asio::io_context>();
  mutex.async_lock(asio::bind_executor(inline_executor(context), [&](error_code, auto) {
    dying.reset();
    BOOST_TEST(f.dropped());
  }));
  mutex.async_lock(asio::bind_executor(inline_executor(*dying), observed_handler(f)));
  BOOST_TEST(mutex.cancel() == 2u);
  BOOST_TEST(f.dropped());
}

BOOST_FIXTURE_TEST_CASE(R10_what_never_queued_is_dropped_with_its_context, mutex_fixture) {
  fate f;
  on_top(place::inline_handler, [&] {
    auto short_lived = std::make_unique<asio::io_context>();
    mutex.async_lock(asio::bind_executor(inline_executor(*short_lived), observed_handler(f)));
    BOOST_TEST(f.waits());
    short_lived.reset();
    BOOST_TEST(f.dropped());
  });
  BOOST_TEST(mutex.try_lock());
}

// The grant waits in a queue of the user's, with another wait behind it.
BOOST_AUTO_TEST_CASE(R3_a_grant_dropped_on_top_of_the_library_goes_on_at_once) {
  in_each_place([](place where) {
    mutex_fixture s;
    manual_queue queue;
    fate f, next;
    s.mutex.async_lock(
        asio::bind_executor(manual_queue::executor(queue, s.context), observed_handler(f)));
    BOOST_TEST_REQUIRE(queue.size() == 1u);
    s.mutex.async_lock(observed_handler(next));
    on_top(where, [&] {
      queue.drop(0);
      BOOST_TEST(f.dropped());
      s.context.poll();
      BOOST_TEST(next.granted());
    });
  });
}

BOOST_FIXTURE_TEST_CASE(R13_initiation_that_throws_leaves_nothing_that_the_slot_cancels,
                        held_mutex) {
  fate f, next;
  asio::cancellation_signal second;
  auto fault = throwing_executor::plan::prefer;  // when the slot is connected already
  auto const wait = [&](fate& of, asio::cancellation_slot slot) {
    mutex.async_lock(asio::bind_cancellation_slot(
        slot, asio::bind_executor(throwing_executor(context, fault), observed_handler(of))));
  };
  BOOST_CHECK_THROW(wait(f, signal.slot()), std::runtime_error);
  BOOST_TEST(f.dropped());
  fault = throwing_executor::plan::nothing;
  wait(next, second.slot());  // in the same memory
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  poll();
  BOOST_TEST(next.granted());
}

BOOST_FIXTURE_TEST_CASE(R13_what_a_relayed_handler_throws_leaves_run, mutex_fixture) {
  fate next;
  execution_log log;
  mutex.async_lock(asio::bind_executor(bare_executor(log), [](error_code, auto) { throw 1; }));
  mutex.async_lock(observed_handler(next));
  BOOST_CHECK_THROW(context.run(), int);
  context.run();
  BOOST_TEST(next.granted());
}

BOOST_AUTO_TEST_SUITE_END()
