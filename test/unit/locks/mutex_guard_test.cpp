// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The guard of a mutex that lives: the interface of std::unique_lock.

#include "support/mutex_guard.hpp"
#include "support/blocked_thread.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace mutex_guard_test {

using namespace asio_sync::test;
using clock = std::chrono::steady_clock;
using namespace asio_sync::test::guards;

// Every member that locks throws this, and changes nothing.
void locks_with(guard& g, error_code expected) {
  bool const owned = g.owns_lock();
  mutex_type* const mutex = g.mutex();
  BOOST_CHECK_EXCEPTION(g.lock(), system_error, carries(expected));
  BOOST_CHECK_EXCEPTION(static_cast<void>(g.try_lock()), system_error, carries(expected));
  BOOST_CHECK_EXCEPTION(static_cast<void>(g.try_lock_for(1h)), system_error, carries(expected));
  BOOST_CHECK_EXCEPTION(static_cast<void>(g.try_lock_for(0s)), system_error, carries(expected));
  BOOST_CHECK_EXCEPTION(static_cast<void>(g.try_lock_until(clock::now() + 1h)), system_error,
                        carries(expected));
  BOOST_TEST(g.owns_lock() == owned);
  BOOST_TEST(g.mutex() == mutex);
}

void is_empty(guard& g) {
  BOOST_TEST(!g.owns_lock());
  BOOST_TEST(!g);
  BOOST_TEST(!g.mutex());
  locks_with(g, not_permitted);
  BOOST_CHECK_EXCEPTION(g.unlock(), system_error, carries(not_permitted));
  BOOST_TEST(!g.release());
}

// A guard of a mutex: of this one, and it owns it or not.
bool owns(guard const& g, mutex_type const& mutex) {
  return g.owns_lock() && static_cast<bool>(g) && g.mutex() == &mutex && mutex.is_locked();
}
bool refers(guard const& g, mutex_type const& mutex) {
  return !g.owns_lock() && !g && g.mutex() == &mutex;
}

}  // namespace mutex_guard_test

BOOST_FIXTURE_TEST_SUITE(mutex_guard_test, two_mutexes)

BOOST_AUTO_TEST_CASE(has_the_members_of_unique_lock) {
  static_assert(std::is_same_v<guard::mutex_type, mutex_type>);
  static_assert(!std::is_copy_constructible_v<guard> && !std::is_copy_assignable_v<guard>);
  static_assert(!std::is_convertible_v<mutex_type&, guard>);
  static_assert(!std::is_constructible_v<guard, mutex_type const&>);
  static_assert(!std::is_convertible_v<guard, bool> && std::is_constructible_v<bool, guard>);
  guard g;
  static_assert(std::is_same_v<decltype(g.mutex()), mutex_type*>);
  static_assert(std::is_same_v<decltype(g.release()), mutex_type*>);
  static_assert(std::is_same_v<decltype(g.lock()), void>);
  static_assert(std::is_same_v<decltype(g.unlock()), void>);
  static_assert(std::is_same_v<decltype(g.try_lock()), bool>);
  static_assert(std::is_same_v<decltype(g.try_lock_for(1ms)), bool>);
  static_assert(std::is_same_v<decltype(g.try_lock_until(clock::now())), bool>);
  static_assert(noexcept(g.owns_lock())&& noexcept(g.mutex())&& noexcept(static_cast<bool>(g)));
  is_empty(g);
}

BOOST_AUTO_TEST_CASE(R13_what_must_not_throw_says_so) {
  static_assert(std::is_nothrow_default_constructible_v<guard>);
  static_assert(std::is_nothrow_move_constructible_v<guard>);
  static_assert(std::is_nothrow_move_assignable_v<guard>);
  static_assert(std::is_nothrow_swappable_v<guard>);
  static_assert(std::is_nothrow_destructible_v<guard>);
  static_assert(std::is_nothrow_constructible_v<guard, mutex_type&, std::defer_lock_t>);
  guard g;
  static_assert(noexcept(g.release())&& noexcept(g.swap(g)));
  is_empty(g);
}

BOOST_AUTO_TEST_CASE(each_constructor_does_what_that_of_unique_lock_does) {
  {
    guard const plain(mutex);
    BOOST_TEST(owns(plain, mutex));
    guard const tried(mutex, std::try_to_lock), for_time(mutex, 1ms), no_time(mutex, 0s),
        until(mutex, clock::now() + 1ms), by_system(mutex, std::chrono::system_clock::now() - 1s);
    for (guard const* refused : {&tried, &for_time, &no_time, &until, &by_system})
      BOOST_TEST(refers(*refused, mutex));
  }
  BOOST_TEST(refers(guard(mutex, std::defer_lock), mutex));
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(owns(guard(mutex, std::try_to_lock), mutex));
  BOOST_TEST(owns(guard(mutex, 1h), mutex));
  BOOST_TEST(owns(guard(mutex, -1s), mutex));
  BOOST_TEST(owns(guard(mutex, clock::now() + 1h), mutex));
  BOOST_TEST(owns(guard(mutex, std::chrono::system_clock::now() - 1s), mutex));
  BOOST_TEST(!mutex.is_locked());
  mutex.lock();
  BOOST_TEST(owns(guard(mutex, std::adopt_lock), mutex));
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(each_member_that_locks_locks_what_is_free) {
  guard g(mutex, std::defer_lock);
  g.lock();
  BOOST_TEST(owns(g, mutex));
  g.unlock();
  BOOST_TEST(refers(g, mutex));
  BOOST_TEST(!mutex.is_locked());
  BOOST_TEST(g.try_lock());
  g.unlock();
  BOOST_TEST(g.try_lock_for(0s));
  g.unlock();
  BOOST_TEST(g.try_lock_until(clock::now() - 1s));
  BOOST_TEST(owns(g, mutex));
}

BOOST_AUTO_TEST_CASE(each_member_that_locks_leaves_alone_what_is_held) {
  guard const held(mutex);
  guard g(mutex, std::defer_lock);
  BOOST_TEST(!g.try_lock());
  BOOST_TEST(!g.try_lock_for(1ms));
  BOOST_TEST(!g.try_lock_until(clock::now() + 1ms));
  BOOST_TEST(!g.try_lock_until(std::chrono::system_clock::now() - 1s));
  BOOST_TEST(refers(g, mutex));
  BOOST_TEST(owns(held, mutex));
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R7_guards_that_block_are_served_in_their_turn) {
  guard held(mutex);
  for (int form = 0; form < 5; ++form) {
    bool owned = false;
    blocked_thread thread(mutex, [&] {
      guard g(mutex, std::defer_lock);
      switch (form) {
        case 0: g.lock(); break;
        case 1: owned = g.try_lock_for(1h); break;
        case 2: owned = g.try_lock_until(clock::now() + 1h); break;
        case 3: g = guard(mutex); break;
        case 4: g = guard(mutex, 1h);
      }
      owned = owns(g, mutex);
    });
    BOOST_TEST(!guard(mutex, std::try_to_lock).owns_lock());
    held.unlock();
    BOOST_TEST(!thread.join());
    BOOST_TEST(owned);
    BOOST_TEST(held.try_lock());
  }
}

BOOST_AUTO_TEST_CASE(R7_unlock_and_destruction_pass_the_mutex_on) {
  result first, second;
  {
    guard g(mutex);
    mutex.async_lock(first.handler());
    mutex.async_lock(second.handler());
    g.unlock();
    BOOST_TEST(mutex.is_locked());
    BOOST_TEST(!g.try_lock());
  }
  poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(owns(first.lock, mutex));
  { guard const last = std::move(first.lock); }
  poll();
  BOOST_TEST(second.granted());
}

BOOST_AUTO_TEST_CASE(release_leaves_the_mutex_locked_for_a_member_to_unlock) {
  guard g(mutex);
  BOOST_TEST(g.release() == &mutex);
  is_empty(g);
  BOOST_TEST(!mutex.try_lock());
  mutex.unlock();
  BOOST_TEST(!mutex.is_locked());
  guard deferred(mutex, std::defer_lock);
  BOOST_TEST(deferred.release() == &mutex);
  is_empty(deferred);
  BOOST_CHECK_EXCEPTION(mutex.unlock(), system_error, carries(not_permitted));
}

BOOST_AUTO_TEST_CASE(release_with_waits_queued_is_followed_by_unlock) {
  result queued;
  guard g(mutex);
  mutex.async_lock(queued.handler());
  BOOST_TEST(g.release() == &mutex);
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.unlock();
  poll();
  BOOST_TEST(queued.granted());
}

BOOST_AUTO_TEST_CASE(moves_leave_an_empty_guard) {
  guard a(mutex);
  guard b(std::move(a));
  is_empty(a);
  BOOST_TEST(owns(b, mutex));
  a = std::move(b);
  is_empty(b);
  BOOST_TEST(owns(a, mutex));
  guard deferred(other, std::defer_lock);
  guard moved(std::move(deferred));
  is_empty(deferred);
  BOOST_TEST(refers(moved, other));
}

BOOST_AUTO_TEST_CASE(a_guard_assigned_to_itself_stays_as_it_is) {
  guard g(mutex);
  guard* const same = &g;
  g = std::move(*same);  // NOLINT(bugprone-use-after-move): what this is about
  BOOST_TEST(owns(g, mutex));
  g.unlock();
  g = std::move(*same);  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(refers(g, mutex));
  g.swap(*same);  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(refers(g, mutex));
}

BOOST_AUTO_TEST_CASE(assignment_over_a_guard_that_owns_unlocks) {
  guard a(mutex), b(other);
  result queued;
  mutex.async_lock(queued.handler());
  a = std::move(b);
  is_empty(b);
  BOOST_TEST(owns(a, other));
  poll();
  BOOST_TEST(queued.granted());
  a = guard();
  BOOST_TEST(!other.is_locked());
}

BOOST_AUTO_TEST_CASE(swap_exchanges_what_guards_refer_to) {
  guard a(mutex), b(other, std::defer_lock), none;
  a.swap(b);
  BOOST_TEST(refers(a, other));
  BOOST_TEST(owns(b, mutex));
  swap(b, none);
  is_empty(b);
  BOOST_TEST(owns(none, mutex));
  std::swap(a, none);
  BOOST_TEST(owns(a, mutex));
  a.unlock();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_CASE(R15_what_a_guard_holds_it_does_not_lock_again) {
  guard g(mutex);
  locks_with(g, deadlock);
  BOOST_TEST(owns(g, mutex));
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R15_what_a_guard_does_not_hold_it_does_not_unlock) {
  guard const held(mutex);
  guard g(mutex, std::try_to_lock);
  for (int i = 0; i < 2; ++i) {
    BOOST_CHECK_EXCEPTION(g.unlock(), system_error, carries(not_permitted));
    BOOST_TEST(refers(g, mutex));
  }
  BOOST_TEST(owns(held, mutex));
}

BOOST_AUTO_TEST_SUITE_END()
