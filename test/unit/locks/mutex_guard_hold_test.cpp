// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Who may end a hold, a guard or a member; why a guard does not get one; and guards and mutexes in
// what the standard has for them.

#include "support/blocked_thread.hpp"
#include "support/mutex_guard.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

namespace mutex_guard_hold_test {

using namespace asio_sync::test;
using namespace asio_sync::test::guards;

bool owns(guard const& g, mutex_type const& mutex) {
  return g.owns_lock() && g.mutex() == &mutex && mutex.is_locked();
}

struct fixture : two_mutexes {
  // Nothing but a guard can end its hold.
  void is_a_guards() {
    BOOST_CHECK_EXCEPTION(mutex.unlock(), system_error, carries(not_permitted));
    BOOST_CHECK_EXCEPTION(static_cast<void>(guard(mutex, std::adopt_lock)), system_error,
                          carries(not_permitted));
    BOOST_TEST(mutex.is_locked());
    BOOST_TEST(!mutex.try_lock());
  }
};

}  // namespace mutex_guard_hold_test

BOOST_FIXTURE_TEST_SUITE(mutex_guard_hold_test, fixture)

BOOST_AUTO_TEST_CASE(R15_a_guards_hold_ends_by_that_guard_alone) {
  guard const g(mutex);
  is_a_guards();
  result queued;
  mutex.async_lock(queued.handler());
  is_a_guards();
  BOOST_TEST(mutex.waiters() == 1u);
  mutex.close();
  is_a_guards();
  BOOST_TEST(owns(g, mutex));
  poll();
  BOOST_TEST(queued.refused(closed));
}

BOOST_AUTO_TEST_CASE(R15_a_grant_on_its_way_is_a_guards_already) {
  result free, queued;
  mutex.async_lock(free.handler());
  is_a_guards();
  poll();
  BOOST_TEST(free.granted());
  mutex.async_lock(queued.handler());
  free.lock.unlock();
  is_a_guards();
  poll();
  BOOST_TEST(queued.granted());
  is_a_guards();
  queued.lock.unlock();
  mutex.lock();
  mutex.async_lock(free.handler());
  mutex.unlock();  // from a member's hold to a guard's
  is_a_guards();
  poll();
  BOOST_TEST(owns(free.lock, mutex));
}

BOOST_AUTO_TEST_CASE(R15_only_what_a_member_has_locked_is_adopted) {
  BOOST_CHECK_EXCEPTION(static_cast<void>(guard(mutex, std::adopt_lock)), system_error,
                        carries(not_permitted));
  BOOST_TEST(!mutex.is_locked());
  mutex.close();
  BOOST_CHECK_EXCEPTION(static_cast<void>(guard(mutex, std::adopt_lock)), system_error,
                        carries(not_permitted));
  BOOST_REQUIRE(other.try_lock());
  guard g(other, std::adopt_lock);
  BOOST_TEST(owns(g, other));
  BOOST_CHECK_EXCEPTION(static_cast<void>(guard(other, std::adopt_lock)), system_error,
                        carries(not_permitted));
  BOOST_CHECK_EXCEPTION(other.unlock(), system_error, carries(not_permitted));
  BOOST_TEST(g.release() == &other);
  guard const again(other, std::adopt_lock);
  BOOST_TEST(owns(again, other));
}

BOOST_AUTO_TEST_CASE(a_members_hold_is_adopted_with_waits_queued) {
  result queued[2];
  mutex.lock();
  for (auto& q : queued) mutex.async_lock(q.handler());
  {
    guard const g(mutex, std::adopt_lock);
    BOOST_TEST(mutex.waiters() == 2u);
    is_a_guards();
  }
  poll();
  BOOST_TEST(queued[0].granted());
  BOOST_TEST(queued[1].calls == 0);
  BOOST_TEST(queued[0].lock.release() == &mutex);
  guard g(mutex, std::adopt_lock);
  g.unlock();
  poll();
  BOOST_TEST(queued[1].granted());
}

BOOST_AUTO_TEST_CASE(R15_what_a_member_has_waited_for_is_a_members_hold) {
  for (bool const timed : {false, true}) {
    guard held(mutex);
    bool locked = true;
    blocked_thread thread(mutex, [&] {
      if (timed)
        locked = mutex.try_lock_for(1h);
      else
        mutex.lock();
    });
    held.unlock();
    BOOST_TEST(!thread.join());
    BOOST_TEST(locked);
    held = guard(mutex, std::adopt_lock);
    held.release();
    BOOST_CHECK_NO_THROW(mutex.unlock());
  }
}

// A hold is adopted by two threads in turn, and is always held by somebody.
BOOST_AUTO_TEST_CASE(R17_adopt_and_release_are_one_step_each) {
  std::atomic<int> adopted = 0, wrong = 0;
  auto const adopt = [&] {
    for (int round = 0; round < 2000; ++round) {
      try {
        guard g(mutex, std::adopt_lock);
        if (!owns(g, mutex) || g.release() != &mutex) ++wrong;
        ++adopted;
      } catch (system_error const& e) {
        if (e.code() != not_permitted) ++wrong;
      }
      if (!mutex.is_locked() || mutex.try_lock()) ++wrong;
    }
  };
  for (bool const waits : {false, true}) {
    mutex.lock();
    result queued;
    if (waits) mutex.async_lock(queued.handler());
    std::thread one(adopt);
    adopt();
    one.join();
    BOOST_TEST(wrong == 0);
    BOOST_CHECK_NO_THROW(mutex.unlock());
    poll();
    BOOST_TEST(queued.granted() == waits);
  }
  BOOST_TEST(adopted > 0);
}

// The queue is there in the one moment and not in the next.
BOOST_AUTO_TEST_CASE(R17_adopt_and_release_beside_waits_that_come_and_go) {
  std::atomic<bool> over = false;
  bool barged = false, wrong = false;
  mutex.lock();
  std::thread waits([&] {
    while (!over) barged = mutex.try_lock_for(1us) || barged;
  });
  for (int round = 0; round < 2000; ++round) {
    guard g(mutex, std::adopt_lock);
    wrong = wrong || !owns(g, mutex) || g.release() != &mutex;
  }
  over = true;
  waits.join();
  BOOST_TEST(!barged);
  BOOST_TEST(!wrong);
  BOOST_CHECK_NO_THROW(mutex.unlock());
}

BOOST_AUTO_TEST_CASE(scoped_lock_and_lock_take_mutexes_and_guards) {
  {
    std::scoped_lock const both(mutex, other);
    BOOST_TEST((mutex.is_locked() && other.is_locked()));
  }
  guard a(mutex, std::defer_lock), b(other, std::defer_lock);
  {
    std::scoped_lock const both(a, b);
    BOOST_TEST((owns(a, mutex) && owns(b, other)));
  }
  BOOST_TEST((!mutex.is_locked() && !other.is_locked()));
  std::lock(b, a);
  BOOST_TEST((owns(a, mutex) && owns(b, other)));
  b.unlock();
  BOOST_TEST(std::try_lock(b, other) == 1);
  BOOST_TEST(!b.owns_lock());
  a.unlock();
  {
    std::lock_guard const of_guard(a);
    std::unique_lock const twice(b, std::try_to_lock);
    BOOST_TEST((owns(a, mutex) && owns(b, other)));
  }
  std::lock(mutex, b);
  BOOST_CHECK_EXCEPTION(other.unlock(), system_error, carries(not_permitted));
  mutex.unlock();
  b.unlock();
  BOOST_TEST((!mutex.is_locked() && !other.is_locked()));
}

BOOST_AUTO_TEST_CASE(opposite_orders_of_guards_do_not_deadlock) {
  int counter = 0;
  auto const use = [&](mutex_type& first, mutex_type& second) {
    guard a(first, std::defer_lock), b(second, std::defer_lock);
    for (int i = 0; i < 300; ++i) {
      std::scoped_lock const both(a, b);
      ++counter;
    }
  };
  std::thread one([&] { use(mutex, other); });
  std::thread two([&] { use(other, mutex); });
  one.join();
  two.join();
  BOOST_TEST(counter == 600);
}

// Lock is std::unique_lock<mutex_type>, guard, or the mutex itself.
template <class Lock>
bool wakes_up(mutex_type& mutex, Lock& lock) {
  std::condition_variable_any changed;
  bool ready = false;
  lock.lock();
  bool const timed_out =
      changed.wait_for(lock, 1ms) == std::cv_status::timeout && mutex.is_locked();
  std::thread notifies([&] {
    guard g(mutex);
    ready = true;
    g.unlock();
    changed.notify_all();
  });
  changed.wait(lock, [&] { return ready; });
  notifies.join();
  bool const locked = mutex.is_locked();
  lock.unlock();
  return timed_out && ready && locked && !mutex.is_locked();
}

BOOST_AUTO_TEST_CASE(condition_variable_any_waits_with_mutexes_and_guards) {
  guard g(mutex, std::defer_lock);
  BOOST_TEST(wakes_up(mutex, g));
  std::unique_lock standard(mutex, std::defer_lock);
  BOOST_TEST(wakes_up(mutex, standard));
  BOOST_TEST(wakes_up(mutex, mutex));
}

BOOST_AUTO_TEST_CASE(R15_the_guards_of_the_standard_stay_as_they_are) {
  std::unique_lock standard(mutex);
  BOOST_CHECK_THROW(standard.lock(), std::system_error);
  standard.unlock();
  BOOST_CHECK_THROW(standard.unlock(), std::system_error);
  BOOST_TEST(standard.try_lock());
  guard taken(*standard.release(), std::adopt_lock);  // to a guard, and back
  BOOST_TEST(owns(taken, mutex));
  standard = std::unique_lock(*taken.release(), std::adopt_lock);
  standard.unlock();
  BOOST_TEST(!mutex.is_locked());
}

BOOST_AUTO_TEST_SUITE_END()
