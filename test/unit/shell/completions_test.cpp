// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Completions while user code runs on top of the library: in a handler that an executor runs
// inline, in the destructor of a handler that is never called. None of them waits there for the
// user code to return, and none outlives its context.

#include "support/executors.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

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
    switch (where) {
      case place::inline_handler:
        mutex.async_lock(asio::bind_executor(inline_executor(context), handler));
        break;
      case place::immediate_handler: mutex.async_lock(bind_immediate(context, handler)); break;
      case place::dropped_handler:
        mutex.async_lock(
            asio::bind_executor(dropping_executor(context), observed_handler(f, count_and_act)));
        break;
      case place::dropped_completion: {
        asio::io_context dying;
        mutex.async_lock(asio::bind_executor(dying, observed_handler(f, count_and_act)));
        break;
      }
      case place::dying_context: {
        BOOST_TEST_REQUIRE(mutex.try_lock());
        asio::io_context dying;
        mutex.async_lock(asio::bind_executor(dying, observed_handler(f, count_and_act)));
        break;
      }
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
  switch (kind) {
    case 0: return mutex.async_lock(asio::bind_executor(ex, observed_handler(f)));
    case 1:
      return mutex.async_lock(asio::bind_executor(asio::make_strand(ex), observed_handler(f)));
    case 2:
      return mutex.async_lock(
          asio::bind_executor(asio::make_strand(asio::any_io_executor(ex)), observed_handler(f)));
    case 3:
      return mutex.async_lock_for(1h,
                                  asio::bind_executor(asio::make_strand(ex), observed_handler(f)));
    case 4: {
      asio::any_io_executor const strand = asio::make_strand(ex);
      return mutex.async_lock(asio::bind_executor(asio::make_strand(strand), observed_handler(f)));
    }
    case 5:
      return mutex.async_lock(
          asio::bind_executor(tracking_executor(ex, log), observed_handler(f)));
    default:  // its type does not tell its context: it is called last
      return mutex.async_lock(asio::bind_executor(
          tracking_executor<asio::any_io_executor>(ex, log), observed_handler(f)));
  }
}

// A user's code that ends the context while other waits of it are decided: as the handler that an
// executor runs inline, or the destructor of one that an executor destroys, or cannot take.
struct endings {
  asio::io_context other;
  throwing_executor::plan fault = throwing_executor::plan::nothing;
  fate f;

  static constexpr int count = 3;
  void queue(async_mutex& mutex, int which, action const& act) {
    if (which == 0)
      mutex.async_lock(
          asio::bind_executor(inline_executor(other), [act](error_code, auto) { act(); }));
    else if (which == 1)
      mutex.async_lock(asio::bind_executor(dropping_executor(other), observed_handler(f, act)));
    else
      mutex.async_lock(
          asio::bind_executor(throwing_executor(other, fault), observed_handler(f, act)));
    fault = throwing_executor::plan::execute;
  }
};

// The context of some waits is destroyed by the completion of one that `decide` decides together
// with them. It stands before them in the queue, in the middle, or behind them.
void destroy_between(bool home_dies, int which, std::size_t position,
                     std::function<void(std::unique_ptr<async_mutex>&)> const& decide) {
  endings ending;
  execution_log log;
  auto dying = std::make_unique<asio::io_context>();
  auto mutex = std::make_unique<async_mutex>(home_dies ? *dying : ending.other);
  BOOST_TEST_REQUIRE(mutex->try_lock());
  fates decided;
  for (std::size_t kind = 0; kind <= kinds; ++kind) {
    if (kind == position) ending.queue(*mutex, which, [&] { dying.reset(); });
    if (kind != kinds) initiate(*mutex, *dying, log, decided[kind], kind);
  }
  decide(mutex);
  BOOST_TEST(!dying);
  for (auto const& f : decided) BOOST_TEST(f.dropped());
}

void destroy_between_all(std::function<void(std::unique_ptr<async_mutex>&)> const& decide) {
  for (bool const home_dies : {false, true})
    for (int which = 0; which < endings::count; ++which)
      for (std::size_t const position : {std::size_t(0), kinds / 2, kinds})
        BOOST_TEST_CONTEXT("home dies " << home_dies << ", ending " << which << ", position "
                                        << position) {
          destroy_between(home_dies, which, position, decide);
        }
}

}  // namespace completions_test

BOOST_AUTO_TEST_SUITE(completions_test)

BOOST_AUTO_TEST_CASE(R8_a_hand_over_at_home_on_top_of_the_library_gives_its_work_back) {
  in_each_place([](place where) {
    asio::io_context home;
    async_mutex mutex(home);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    fate f;
    mutex.async_lock(asio::bind_executor(asio::make_strand(home), observed_handler(f)));
    asio::post(home, [&] { on_top(where, [&] { mutex.unlock(); }); });
    home.poll();
    BOOST_TEST(f.granted());
    BOOST_TEST(home.stopped());  // or run() would never return
  });
}

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

BOOST_AUTO_TEST_CASE(R10_completion_of_a_cancel_destroys_the_context_of_the_others) {
  destroy_between_all([](auto& mutex) { BOOST_TEST(mutex->cancel() == kinds + 1); });
}

BOOST_AUTO_TEST_CASE(R10_completion_of_a_close_destroys_the_context_of_the_others) {
  destroy_between_all([](auto& mutex) { mutex->close(); });
}

BOOST_AUTO_TEST_CASE(R10_completion_of_a_destroyed_mutex_destroys_the_context_of_the_others) {
  destroy_between_all([](auto& mutex) { mutex.reset(); });
}

BOOST_AUTO_TEST_SUITE_END()
