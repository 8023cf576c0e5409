// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The permits of a semaphore: split, merged, outliving it, and in great numbers.

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/async_semaphore.hpp>

namespace semaphore_permit_test {

using namespace asio_sync::test;

#ifdef ASIO_SYNC_TEST_SANITIZED
constexpr std::ptrdiff_t many = 100'000;
#else
constexpr std::ptrdiff_t many = 1'000'000;
#endif

bool is_invalid(system_error const& e) {
  return e.code() == errc::make_error_code(errc::invalid_argument);
}
bool is_too_large(system_error const& e) {
  return e.code() == make_error_code(errc::value_too_large);
}

// The ways to two permits; carried.hpp in test/rules has more.
using maker = semaphore_permit (*)(async_semaphore&, asio::io_context&);

constexpr maker makers[] = {
    [](async_semaphore& s, asio::io_context&) { return s.try_acquire(2); },
    [](async_semaphore& s, asio::io_context&) { return s.acquire(2); },
    [](async_semaphore& s, asio::io_context&) { return s.try_acquire_for(2, 1h); },
    [](async_semaphore& s, asio::io_context&) { return s.try_acquire(3).split(2); },
    [](async_semaphore& s, asio::io_context& io) {
      semaphore_permit p;
      s.async_acquire(2, [&](error_code, semaphore_permit q) { p = std::move(q); });
      io.poll();
      return p;
    },
};

// Permits of a semaphore that has died since.
semaphore_permit orphan(asio::io_context& io, maker make = makers[0]) {
  async_semaphore s(io, 5);
  io.restart();
  semaphore_permit p = make(s, io);
  BOOST_TEST(p.count() == 2);
  BOOST_TEST(s.available() == 3);
  return p;
}

struct fixture {
  asio::io_context context;
  async_semaphore semaphore{context, 10, 10};
  async_semaphore other{context, 10, 10};
};

}  // namespace semaphore_permit_test

BOOST_FIXTURE_TEST_SUITE(semaphore_permit_test, fixture)

BOOST_AUTO_TEST_CASE(permits_are_moved_swapped_and_given_back_once) {
  semaphore_permit empty;
  empty.release();
  BOOST_TEST((!empty && empty.count() == 0 && empty.forget() == 0));
  semaphore_permit p = semaphore.try_acquire(3);
  BOOST_TEST(static_cast<bool>(p));
  semaphore_permit& same = p;
  p = std::move(same);
  semaphore_permit moved(std::move(p));
  BOOST_TEST(p.count() == 0);  // NOLINT(bugprone-use-after-move)
  semaphore_permit q = other.try_acquire(4);
  swap(moved, q);
  BOOST_TEST((moved.count() == 4 && q.count() == 3));
  q = std::move(moved);  // gives the three back
  BOOST_TEST(semaphore.available() == 10);
  BOOST_TEST(other.available() == 6);
  q.release();
  q.release();
  BOOST_TEST(other.available() == 10);
}

BOOST_AUTO_TEST_CASE(split_takes_a_part_out) {
  semaphore_permit p = semaphore.try_acquire(5);
  for (std::ptrdiff_t const n : {std::ptrdiff_t(-1), std::ptrdiff_t(6), PTRDIFF_MAX, PTRDIFF_MIN})
    BOOST_CHECK_EXCEPTION(static_cast<void>(p.split(n)), system_error, is_invalid);
  {
    semaphore_permit const none = p.split(0), two = p.split(2);
    BOOST_TEST((!none && two.count() == 2 && p.count() == 3));
    BOOST_TEST(semaphore.available() == 5);
  }
  BOOST_TEST(semaphore.available() == 7);
  semaphore_permit all = p.split(3);
  BOOST_TEST(!p);
  p.release();
  BOOST_TEST(semaphore.available() == 7);
  all.release();
  BOOST_TEST(semaphore.available() == 10);
  BOOST_TEST(!p.split(0));
  BOOST_CHECK_EXCEPTION(static_cast<void>(p.split(1)), system_error, is_invalid);
}

BOOST_AUTO_TEST_CASE(merge_adds_what_is_of_the_same_semaphore) {
  semaphore_permit p = semaphore.try_acquire(2), q = semaphore.try_acquire(3);
  p.merge(std::move(q));
  BOOST_TEST((p.count() == 5 && q.count() == 0));  // NOLINT(bugprone-use-after-move)
  p.merge(std::move(q));                           // NOLINT(bugprone-use-after-move): an empty one
  semaphore_permit& same = p;
  p.merge(std::move(same));
  BOOST_TEST(p.count() == 5);
  q.merge(std::move(p));                           // NOLINT(bugprone-use-after-move)
  BOOST_TEST((p.count() == 0 && q.count() == 5));  // NOLINT(bugprone-use-after-move)
  semaphore_permit foreign = other.try_acquire(4);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  BOOST_CHECK_EXCEPTION(q.merge(std::move(foreign)), system_error, is_invalid);
  BOOST_TEST((q.count() == 5 && foreign.count() == 4));
  q.merge(foreign.split(0));  // which has nothing of the other
  q.merge(other.acquire(0));
  BOOST_TEST(q.count() == 5);
  p = semaphore.acquire(0);
  p.merge(std::move(foreign));
  BOOST_TEST(p.count() == 4);
  q.release();
  p.release();
  BOOST_TEST((semaphore.available() == 10 && other.available() == 10));
}

// More than there were, as a member's release() adds some; they are not added up for ever.
BOOST_AUTO_TEST_CASE(R15_release_of_more_than_can_be_counted_is_refused) {
  constexpr std::ptrdiff_t most = async_semaphore::max_permits;
  constexpr std::uint64_t most_in_all = std::min<std::uint64_t>(1ull << 59, PTRDIFF_MAX);
  constexpr std::ptrdiff_t times = most_in_all / most;
  async_semaphore s(context, most);
  semaphore_permit sum = s.try_acquire(most);
  for (std::ptrdiff_t i = 1; i < times; ++i) {
    s.release(most);
    sum.merge(s.try_acquire(most));
  }
  BOOST_CHECK_EXCEPTION(s.release(most), system_error, is_too_large);
  BOOST_TEST(s.available() == 0);
  BOOST_TEST(sum.count() == times * most);
  sum.split(most).forget();  // these are nowhere, so that others can be added
  s.release(most);
  sum.release();  // above the maximum
  BOOST_TEST(s.available() == most);
}

BOOST_AUTO_TEST_CASE(R9_permits_outlive_their_semaphore_however_they_were_taken) {
  for (maker const make : makers) {
    semaphore_permit p = orphan(context, make);
    BOOST_TEST((p && p.count() == 2));
    semaphore_permit part = p.split(1);
    BOOST_CHECK_EXCEPTION(static_cast<void>(p.split(2)), system_error, is_invalid);
    p.merge(std::move(part));
    BOOST_TEST(p.count() == 2);
    semaphore_permit living = semaphore.try_acquire(), dead = orphan(context, make);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    BOOST_CHECK_EXCEPTION(p.merge(std::move(living)), system_error, is_invalid);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    BOOST_CHECK_EXCEPTION(p.merge(std::move(dead)), system_error, is_invalid);
    BOOST_TEST((living.count() == 1 && dead.count() == 2));
    swap(p, living);
    BOOST_TEST(living.forget() == 2);
    p.release();
    BOOST_TEST(semaphore.available() == 10);
    dead.release();
    BOOST_TEST(!dead);
  }
}

BOOST_AUTO_TEST_CASE(R12_the_last_permit_frees_what_was_kept_of_the_semaphore) {
  auto const round = [&] {
    for (maker const make : makers) {
      semaphore_permit p = orphan(context, make), part = p.split(1), zero = p.split(0);
      p.merge(std::move(part));
      part = p.split(2);
      p.forget();
    }
    {
      async_semaphore s(context, 0);
      semaphore_permit const zero = s.acquire(0);
      context.restart();
      s.async_acquire(0, [](error_code, semaphore_permit) {});
      context.poll();
      s.async_acquire(0, [](error_code, semaphore_permit) {});
    }
    context.restart();
    context.poll();
  };
  empty_pool const pool;
  round();
  heap_counter const heap(heap_counter::scope::all_threads);
  for (int i = 0; i < 5; ++i) round();
  BOOST_TEST(heap.kept() <= 0);
}

// A grant that is dropped gives back what it can, whoever releases at the same time.
BOOST_AUTO_TEST_CASE(R17_a_dropped_grant_meets_a_release) {
  async_semaphore s(context, 1, 1);
  std::atomic<bool> done = false;
  std::thread releases([&] {
    while (!done) try {
        s.release();
      } catch (system_error const&) {
      }
  });
  bool above = false;
  for (std::ptrdiff_t i = 0; i < many / 2 && !above; ++i) {
    s.async_acquire(
        asio::bind_executor(dropping_executor(context), [](error_code, semaphore_permit) {}));
    above = s.available() > 1;
  }
  done = true;
  releases.join();
  BOOST_TEST(!above);
  BOOST_TEST(s.available() == 1);
}

BOOST_AUTO_TEST_CASE(R17_threads_acquire_weights_and_no_permit_is_lost) {
  unsigned const seed = random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  asio::thread_pool pool(2);
  async_semaphore s(pool, 7, 7);
  std::atomic<std::ptrdiff_t> held = 0;
  std::atomic<int> above = 0;
  auto const use = [&](semaphore_permit p) {
    std::ptrdiff_t const n = p.count();
    above += (held += n) > 7;
    semaphore_permit const part = p.split(n / 2);
    held -= n;
  };
  asio::thread_pool threads(3);
  for (unsigned i = 0; i < 3; ++i)
    asio::post(threads, [&, i] {
      random_choice choice(seed + i);
      auto const handler = [&](error_code, semaphore_permit p) { use(std::move(p)); };
      for (int round = 0; round < 2000; ++round) {
        std::ptrdiff_t const n = choice.below(7) + 1;
        unsigned const form = choice.below(4);
        if (form == 0) use(s.try_acquire(n));
        if (form == 1) use(s.try_acquire_for(n, std::chrono::microseconds(choice.below(20))));
        if (form == 2) s.async_acquire(n, handler);
        if (form == 3) s.async_acquire_for(n, 20us, handler);
      }
    });
  threads.join();
  pool.join();
  BOOST_TEST(above == 0);
  BOOST_TEST(s.available() == 7);
  BOOST_TEST(s.waiters() == 0u);
}

// The first of those whom one release() lets in destroys the semaphore.
BOOST_AUTO_TEST_CASE(R9_one_release_of_very_many_permits_meets_the_semaphores_end) {
  for (bool const runs_inline : {false, true}) {
    std::ptrdiff_t granted = 0, refused = 0, permits = 0;
    run_on_stack(256 << 10, [&] {
      asio::io_context io;
      auto s = std::make_unique<async_semaphore>(io, 0);
      auto const handler = [&](error_code e, semaphore_permit p) {
        s.reset();
        ++(e == aborted ? refused : granted);
        permits += p.count();
      };
      asio::any_io_executor ex = io.get_executor();
      if (runs_inline) ex = inline_executor(io);
      for (std::ptrdiff_t i = 0; i < many; ++i) s->async_acquire(asio::bind_executor(ex, handler));
      s->release(many);
      io.run();
    });
    BOOST_TEST((granted == 1 && permits == 1));
    BOOST_TEST(refused == many - 1);
  }
}

BOOST_AUTO_TEST_CASE(R6_one_release_of_very_many_permits_serves_all_of_them) {
  std::ptrdiff_t permits = 0;
  bool idle = false;
  run_on_stack(256 << 10, [&] {
    async_semaphore s(context, 0, many);
    for (std::ptrdiff_t i = 0; i < many; ++i)
      s.async_acquire([&](error_code, semaphore_permit p) { permits += p.forget(); });
    s.release(many);
    idle = s.waiters() == 0 && s.available() == 0;
    context.run();
  });
  BOOST_TEST(idle);
  BOOST_TEST(permits == many);
}

BOOST_AUTO_TEST_SUITE_END()
