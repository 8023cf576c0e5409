// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A mutex, and a condition, that a program and a shared library use together, where each has a
// pool, thread-locals and services of its own.

#include "shared/sides.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio_sync::async_condition;
using asio_sync::async_mutex;
using asio_sync::test::for_each_two_sides;
using asio_sync::test::side;
using asio_sync::test::side_wait;
using boost::system::error_code;

error_code const aborted = asio::error::operation_aborted;

// A mutex that one side makes, and another one destroys.
class mutex_of {
 public:
  template <class Executor>
  mutex_of(side const& maker, side const& destroyer, Executor const& ex)
      : mutex_(maker.make(ex)), destroyer_(destroyer) {}
  mutex_of(mutex_of const&) = delete;
  mutex_of& operator=(mutex_of const&) = delete;
  ~mutex_of() { destroyer_.destroy(mutex_); }

  async_mutex& operator*() const { return *mutex_; }
  async_mutex* operator->() const { return mutex_; }

 private:
  async_mutex* mutex_;
  side const& destroyer_;
};

struct deleter_of {
  void operator()(async_condition* condition) const { destroyer->destroy(condition); }

  side const* destroyer;
};

// A context with a held mutex, and waits of every kind for it.
struct scene {
  scene(side const& m, side const& destroyer)
      : maker(m), context(std::in_place), mutex(std::in_place, m, destroyer, executor()) {
    BOOST_REQUIRE((*mutex)->try_lock());
  }

  ~scene() { end_context(); }

  // Signals first: that of a coroutine holds its strand.
  void end_context() {
    for (side_wait& wait : waits) wait.stop.reset();
    context.reset();
  }

  asio::any_io_executor executor() { return context->get_executor(); }

  // One of each kind, by that side.
  void queue(side const& by) {
    asio::any_io_executor const strand = asio::make_strand(context->get_executor());
    for (asio::any_io_executor const& ex : {executor(), strand}) {
      by.lock(**mutex, waits.emplace_back(), ex);
      waits.emplace_back().time = 1h;
      by.lock(**mutex, waits.back(), ex);
      by.lock_in_coroutine(**mutex, waits.emplace_back(), ex);
      context->restart();
      context->poll();  // brings the coroutine to its wait
    }
  }

  bool all(bool (side_wait::*is)() const noexcept) const {
    return std::ranges::all_of(waits, [is](side_wait const& wait) { return (wait.*is)(); });
  }
  bool all_refused(error_code e) const {
    return std::ranges::all_of(waits, [e](side_wait const& wait) { return wait.refused(e); });
  }

  side const& maker;
  std::deque<side_wait> waits;
  std::optional<asio::io_context> context;
  std::optional<mutex_of> mutex;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(two_sides_test)

BOOST_AUTO_TEST_CASE(R12_what_is_hidden_has_a_pool_of_its_own) {
  asio_sync::test::plugin const loaded;
  void const* const own = asio_sync_test_side_program()->pool();
  BOOST_TEST(asio_sync_test_side_hidden()->pool() != own);
  BOOST_TEST(loaded.get().pool() != own);
}

BOOST_AUTO_TEST_CASE(R7_waits_of_both_sides_share_one_queue) {
  for_each_two_sides([](side const& one, side const& other) {
    scene s(one, other);
    for (side const* by : {&one, &other, &one}) s.queue(*by);
    std::size_t served = 0;
    for (std::size_t i = 0; i < s.waits.size(); ++i)
      s.waits[i].then = [&, i] {
        BOOST_TEST(served++ == i);
        BOOST_TEST(s.waits[i].granted());
        (i % 3 ? one : other).unlock(s.waits[i]);
      };
    other.unlock(**s.mutex);
    (s.waits.size() % 2 ? one : other).run(*s.context);
    BOOST_TEST(served == s.waits.size());
    BOOST_TEST(!(*s.mutex)->is_locked());
  });
}

BOOST_AUTO_TEST_CASE(R4_one_side_cancels_what_the_other_has_initiated) {
  for_each_two_sides([](side const& one, side const& other) {
    scene s(one, one);
    s.queue(one);
    s.queue(other);
    std::size_t const queued = (*s.mutex)->waiters();
    BOOST_TEST(queued == s.waits.size());
    for (std::size_t i = 0; i < queued; ++i) (i < queued / 2 ? other : one).cancel(s.waits[i]);
    s.context->run();
    BOOST_TEST(s.all_refused(aborted));
    BOOST_TEST((*s.mutex)->waiters() == 0u);
    (*s.mutex)->unlock();
  });
}

BOOST_AUTO_TEST_CASE(R4_one_side_cancels_all) {
  for_each_two_sides([](side const& one, side const& other) {
    scene s(one, one);
    s.queue(one);
    s.queue(other);
    other.cancel(**s.mutex);
    one.run(*s.context);
    BOOST_TEST(s.all_refused(aborted));
    (*s.mutex)->unlock();
  });
}

BOOST_AUTO_TEST_CASE(R18_one_side_closes) {
  for_each_two_sides([](side const& one, side const& other) {
    scene s(one, one);
    s.queue(one);
    s.queue(other);
    other.close(**s.mutex);
    one.run(*s.context);
    BOOST_TEST(s.all_refused(asio_sync::error::closed));
    (*s.mutex)->unlock();
  });
}

BOOST_AUTO_TEST_CASE(R9_one_side_destroys_what_the_other_has_made_and_waits_for) {
  for_each_two_sides([](side const& one, side const& other) {
    scene s(one, other);
    s.queue(one);
    s.queue(other);
    other.unlock(**s.mutex);  // granted, and on its way
    s.mutex.reset();
    one.run(*s.context);
    BOOST_TEST(s.all_refused(aborted));
  });
}

BOOST_AUTO_TEST_CASE(R3_grant_that_is_dropped_goes_on_to_the_other_side) {
  for_each_two_sides([](side const& one, side const& other) {
    asio::io_context elsewhere;
    scene s(one, one);
    s.queue(other);
    side_wait survivor;
    one.lock(**s.mutex, survivor, elsewhere.get_executor());
    one.unlock(**s.mutex);
    s.end_context();
    BOOST_TEST(s.all(&side_wait::dropped));
    other.run(elsewhere);
    BOOST_TEST(survivor.granted());
    other.unlock(survivor);
  });
}

// The sides that are hidden from each other have a service each in the context.
BOOST_AUTO_TEST_CASE(R10_context_dies_with_waits_of_both_sides) {
  for_each_two_sides([](side const& one, side const& other) {
    for (side const* first : {&one, &other}) {  // the younger service dies first
      scene s(one, other);
      s.queue(*first);
      s.queue(first == &one ? other : one);
      s.end_context();
      BOOST_TEST(s.all(&side_wait::dropped));
      BOOST_TEST((*s.mutex)->waiters() == 0u);
      (*s.mutex)->unlock();
    }
  });
}

BOOST_AUTO_TEST_CASE(R10_context_dies_with_waits_for_mutexes_of_both_sides_and_elsewhere) {
  for_each_two_sides([](side const& one, side const& other) {
    asio::io_context elsewhere;
    mutex_of const foreign(other, one, elsewhere.get_executor());
    BOOST_REQUIRE(foreign->try_lock());
    std::optional<asio::io_context> context(std::in_place);
    std::deque<side_wait> waits;
    auto const queue = [&](side const& by, async_mutex& mutex) {
      for (auto time : {3h, 1h, 2h}) {
        waits.emplace_back().time = time;
        by.lock(mutex, waits.back(), context->get_executor());
      }
    };
    mutex_of const early(other, one, context->get_executor());
    BOOST_REQUIRE(early->try_lock());
    queue(other, *foreign);
    mutex_of const late(one, other, context->get_executor());
    BOOST_REQUIRE(late->try_lock());
    for (async_mutex* mutex : {&*late, &*early, &*foreign}) {
      queue(other, *mutex);
      queue(one, *mutex);
    }
    context.reset();
    BOOST_TEST(std::ranges::all_of(waits, &side_wait::dropped));
    for (async_mutex* mutex : {&*late, &*early, &*foreign}) {
      BOOST_TEST(mutex->waiters() == 0u);
      mutex->unlock();
    }
  });
}

// The mutex and the condition do not leave in one step, and a wait goes from one to the other.
BOOST_AUTO_TEST_CASE(R10_context_dies_with_waits_on_a_condition_over_a_mutex_of_the_other_side) {
  for_each_two_sides([](side const& one, side const& other) {
    for (bool const mutex_is_older : {true, false}) {
      std::optional<asio::io_context> context(std::in_place);
      asio::any_io_executor const ex = context->get_executor();
      std::unique_ptr<async_condition, deleter_of> condition(nullptr, {&other});
      if (!mutex_is_older) condition.reset(other.make_condition(ex));
      mutex_of const mutex(one, one, ex);
      if (mutex_is_older) condition.reset(other.make_condition(ex));
      std::deque<side_wait> waits(4);
      for (std::size_t i = 0; i < waits.size(); ++i)
        (i % 2 ? one : other).wait(*condition, *mutex, waits[i], ex);
      BOOST_REQUIRE(mutex->try_lock());
      condition->notify_one();
      BOOST_TEST((mutex->waiters() == 1u && condition->waiters() == 3u));
      context.reset();
      BOOST_TEST(std::ranges::all_of(waits, &side_wait::dropped));
      BOOST_TEST((mutex->waiters() == 0u && condition->waiters() == 0u));
      mutex->unlock();
    }
  });
}

BOOST_AUTO_TEST_CASE(R11_timed_waits_of_both_sides_expire_and_nothing_keeps_run) {
  for_each_two_sides([](side const& one, side const& other) {
    scene s(one, other);
    for (side const* by : {&one, &other, &other, &one}) {
      s.waits.emplace_back().time = 1ms;
      by->lock(**s.mutex, s.waits.back(), s.executor());
    }
    other.run(*s.context);
    BOOST_TEST(s.all_refused(asio::error::timed_out));
    s.waits.clear();
    s.queue(one);
    s.queue(other);
    for (auto& wait : s.waits) wait.then = [&] { one.unlock(wait); };
    one.unlock(**s.mutex);
    one.run(*s.context);
    BOOST_TEST(
        std::ranges::all_of(s.waits, [](side_wait const& w) { return w.calls == 1 && !w.error; }));
  });
}

BOOST_AUTO_TEST_CASE(R12_blocks_of_one_side_are_freed_by_the_other) {
  for_each_two_sides([](side const& one, side const& other) {
    asio::io_context context;
    asio_sync::test::heap_counter const heap;
    for (int i = 0; i < 20'000; ++i) {
      mutex_of const mutex(one, other, context.get_executor());
      side_wait wait;
      other.lock(*mutex, wait, context.get_executor());
      context.poll();
      context.restart();
    }
    // What is left is in the pool of the other side, and no more than that holds.
    using namespace asio_sync::detail::pool;
    BOOST_TEST(heap.kept() <= std::ptrdiff_t(2 * batch * (depot_capacity + 2)));
  });
}

// Each side has its own queue of completions per thread: a chain nests once for each, not more.
BOOST_AUTO_TEST_CASE(R6_a_chain_of_hand_offs_from_side_to_side_does_not_nest) {
  for_each_two_sides([](side const& one, side const& other) {
    asio::io_context context;
    mutex_of const mutex(one, other, context.get_executor());
    BOOST_REQUIRE(mutex->try_lock());
    asio::any_io_executor const ex = asio_sync::test::inline_executor(context);
    std::deque<side_wait> waits;
    int depth = 0, deepest = 0, served = 0;
    for (int i = 0; i < 1'000; ++i) {
      side_wait& wait = waits.emplace_back();
      (i % 2 ? one : other).lock(*mutex, wait, ex);
      wait.then = [&, i] {
        deepest = std::max(deepest, ++depth);
        (i % 3 ? one : other).unlock(wait);
        --depth;
        ++served;
      };
    }
    one.unlock(*mutex);
    BOOST_TEST(served == 1'000);
    BOOST_TEST(deepest <= 2);
  });
}

BOOST_AUTO_TEST_CASE(R6_a_chain_of_dropped_grants_from_side_to_side_does_not_nest) {
  for_each_two_sides([](side const& one, side const& other) {
    asio::io_context context;
    mutex_of const mutex(one, other, context.get_executor());
    BOOST_REQUIRE(mutex->try_lock());
    asio::any_io_executor const ex = asio_sync::test::dropping_executor(context);
    std::deque<side_wait> waits(30'000);  // nested, they would need more stack than there is
    for (std::size_t i = 0; i < waits.size(); ++i)
      (i % 2 ? one : other).lock(*mutex, waits[i], ex);
    other.unlock(*mutex);
    BOOST_TEST(std::ranges::all_of(waits, &side_wait::dropped));
    BOOST_TEST(!mutex->is_locked());
  });
}

BOOST_AUTO_TEST_CASE(R15_misuse_is_an_exception_that_the_other_side_catches) {
  for_each_two_sides([](side const& one, side const& other) {
    asio::io_context context;
    mutex_of const mutex(one, other, context.get_executor());
    BOOST_CHECK_EXCEPTION(other.unlock(*mutex), boost::system::system_error,
                          [](boost::system::system_error const& e) {
                            return e.code() == boost::system::errc::operation_not_permitted;
                          });
  });
}

BOOST_AUTO_TEST_CASE(R17_threads_and_contexts_of_both_sides_take_turns) {
  for_each_two_sides([](side const& one, side const& other) {
    constexpr int turns = 300;
    asio::io_context home;
    mutex_of const mutex(one, other, home.get_executor());
    int counter = 0;
    auto const take_turns = [&](side const& by) {
      asio::io_context context;
      std::deque<side_wait> waits;
      for (int i = 0; i < turns; ++i) {
        side_wait& wait = waits.emplace_back();
        wait.then = [&] {
          ++counter;
          by.unlock(wait);
        };
        by.lock(*mutex, wait, context.get_executor());
        by.run(context);
        by.lock_in_thread(*mutex);
        ++counter;
        by.unlock(*mutex);
      }
    };
    std::thread first(take_turns, std::cref(one)), second(take_turns, std::cref(other));
    first.join();
    second.join();
    BOOST_TEST(counter == 4 * turns);
  });
}

BOOST_AUTO_TEST_SUITE_END()
