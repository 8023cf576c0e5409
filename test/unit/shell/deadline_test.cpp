// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The parts of a timed wait: how long it may take, and the heap of the deadlines.

#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/detail/context/deadline_heap.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>

using asio_sync::detail::deadline_heap;
using asio_sync::detail::no_limit;
using asio_sync::detail::steady_clock;
using asio_sync::detail::wait_limit;
using asio_sync::detail::waiter;
using asio_sync::detail::waiter_action;
using namespace asio_sync::test;

namespace deadline_test {

std::unique_ptr<waiter> make_wait() {
  return std::make_unique<waiter>([](waiter&, waiter_action) {}, nullptr, waiter::asked_type());
}

// A clock whose time does not pass, and whose epoch is far from others'.
struct still_clock {
  using rep = long long;
  using period = std::milli;
  using duration = std::chrono::milliseconds;
  using time_point = std::chrono::time_point<still_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() noexcept { return time_point(-5000s); }
};

// A clock that shows the end of all time backwards.
struct endless_clock {
  using rep = double;
  using period = std::ratio<1>;
  using duration = std::chrono::duration<double>;
  using time_point = std::chrono::time_point<endless_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() noexcept {
    return time_point(duration(-std::numeric_limits<double>::infinity()));
  }
};

template <class Clock, class Duration>
std::chrono::time_point<Clock, Duration> point_of(typename Duration::rep since) {
  return std::chrono::time_point<Clock, Duration>(Duration(since));
}

// How many allocations it takes to have so many deadlines. They leave.
std::size_t allocations_to_fill(deadline_heap& heap, std::size_t n) {
  std::vector<std::unique_ptr<waiter>> waits;
  for (std::size_t i = 0; i < n; ++i) waits.push_back(make_wait());
  asio_sync::test::heap_counter const heap_of_process;
  for (auto const& wait : waits) heap.push(steady_clock::now(), *wait);
  std::size_t const allocations = heap_of_process.allocations();
  for (auto const& wait : waits) heap.erase(*wait);
  return allocations;
}

template <class Duration>
constexpr auto clock_max = std::chrono::time_point<std::chrono::system_clock, Duration>::max();
template <class Duration>
constexpr auto clock_min = std::chrono::time_point<std::chrono::system_clock, Duration>::min();

}  // namespace deadline_test

BOOST_AUTO_TEST_SUITE(deadline_test)

BOOST_AUTO_TEST_CASE(R11_the_heap_agrees_with_a_sorted_map) {
  unsigned const seed = asio_sync::test::random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  asio_sync::test::random_choice random(seed);

  deadline_heap heap;
  std::multimap<steady_clock::time_point, std::unique_ptr<waiter>> model;
  for (int step = 0; step < 50'000; ++step) {
    auto const action = random.below(8);
    unsigned const aim = step / 1000 % 2 ? 5 : 3;  // grow, then shrink
    if (action < aim) {
      steady_clock::time_point const when(std::chrono::nanoseconds(random.below(100)));
      auto const entered = model.emplace(when, make_wait());
      heap.push(when, *entered->second);
    } else if (!model.empty()) {
      auto leaving = std::next(
          model.begin(), static_cast<long>(random.below(static_cast<unsigned>(model.size()))));
      if (action == 7)
        for (leaving = model.begin(); leaving->second.get() != &heap.front();) ++leaving;
      heap.erase(*leaving->second);
      BOOST_REQUIRE(leaving->second->heap_index == waiter::not_timed);
      heap.erase(*leaving->second);  // does nothing
      model.erase(leaving);
    }
    BOOST_REQUIRE(heap.empty() == model.empty());
    if (!model.empty()) BOOST_REQUIRE((heap.earliest() == model.begin()->first));
  }
}

BOOST_AUTO_TEST_CASE(R11_the_heap_gives_up_deadlines_in_their_order) {
  deadline_heap heap;
  std::vector<std::unique_ptr<waiter>> waits;
  for (int i = 0; i < 1000; ++i) {
    waits.push_back(make_wait());
    heap.push(steady_clock::time_point(std::chrono::nanoseconds(i * 389 % 1000)), *waits.back());
  }
  for (int i = 0; i < 1000; ++i) {
    BOOST_REQUIRE((heap.earliest() == steady_clock::time_point(std::chrono::nanoseconds(i))));
    heap.erase(heap.front());
  }
  BOOST_TEST(heap.empty());
}

BOOST_AUTO_TEST_CASE(R11_the_heap_keeps_room_for_a_bounded_number_of_deadlines) {
  deadline_heap heap;
  BOOST_TEST(allocations_to_fill(heap, deadline_heap::kept) > 0u);
  BOOST_TEST(allocations_to_fill(heap, deadline_heap::kept) == 0u);
  allocations_to_fill(heap, 100 * deadline_heap::kept);
  BOOST_TEST(allocations_to_fill(heap, deadline_heap::kept) > 0u);
}

BOOST_AUTO_TEST_CASE(R11_no_limit_never_expires) {
  wait_limit const limit = no_limit();
  BOOST_TEST(!limit.timed());
  BOOST_TEST(!limit.expired());
}

BOOST_AUTO_TEST_CASE(R11_zero_and_negative_time_has_expired) {
  for (wait_limit const limit :
       {wait_limit::after(0s), wait_limit::after(-1ns), wait_limit::after(-1h),
        wait_limit::after(std::chrono::nanoseconds::min()),
        wait_limit::after(std::chrono::hours::min()),
        wait_limit::after(std::chrono::duration<double>(-1e300))}) {
    BOOST_TEST(limit.timed());
    BOOST_TEST(limit.expired());
  }
}

BOOST_AUTO_TEST_CASE(R11_a_time_counts_from_when_it_is_asked) {
  wait_limit const limit = wait_limit::after(1h);
  auto const first = limit.deadline();
  BOOST_TEST(!limit.expired());
  BOOST_TEST((first > steady_clock::now() + 59min));
  while (steady_clock::now() + 1h <= first) continue;
  BOOST_TEST((limit.deadline() > first));
}

BOOST_AUTO_TEST_CASE(R11_what_is_shorter_than_a_tick_is_rounded_up) {
  BOOST_TEST(!wait_limit::after(std::chrono::duration<double, std::nano>(0.25)).expired());
  BOOST_TEST(wait_limit::after(std::chrono::duration<double, std::nano>(-0.25)).expired());
}

BOOST_AUTO_TEST_CASE(R11_durations_saturate) {
  using real = std::chrono::duration<double>;
  for (wait_limit const limit :
       {wait_limit::after(std::chrono::nanoseconds::max()),
        wait_limit::after(std::chrono::seconds::max()),
        wait_limit::after(std::chrono::hours::max()),
        wait_limit::after(std::chrono::duration<unsigned long long>::max()),
        wait_limit::after(real(std::numeric_limits<double>::infinity())),
        wait_limit::after(steady_clock::duration::max() - 1ns)}) {
    BOOST_TEST(!limit.expired());
    BOOST_TEST((limit.deadline() == steady_clock::time_point::max()));
  }
}

BOOST_AUTO_TEST_CASE(R11_points_in_time_saturate) {
  using std::chrono::hours;
  using std::chrono::nanoseconds;
  using std::chrono::time_point;
  for (wait_limit const limit :
       {wait_limit::at(steady_clock::time_point::max()),
        wait_limit::at(time_point<steady_clock, hours>::max()),
        wait_limit::at(clock_max<nanoseconds>), wait_limit::at(clock_max<hours>),
        wait_limit::at(clock_max<std::chrono::duration<double>>),
        wait_limit::at(still_clock::time_point::max())}) {
    BOOST_TEST(!limit.expired());
    BOOST_TEST((limit.deadline() > steady_clock::now() + hours(24 * 365 * 100)));
  }
  for (wait_limit const limit :
       {wait_limit::at(steady_clock::time_point::min()),
        wait_limit::at(time_point<steady_clock, hours>::min()),
        wait_limit::at(clock_min<nanoseconds>), wait_limit::at(clock_min<hours>),
        wait_limit::at(clock_min<std::chrono::duration<double>>),
        wait_limit::at(still_clock::time_point::min())}) {
    BOOST_TEST(limit.timed());
    BOOST_TEST(limit.expired());
  }
}

BOOST_AUTO_TEST_CASE(R11_a_time_that_is_no_number_has_passed) {
  auto const passes = []<class Rep>(Rep) {
    using time = std::chrono::duration<Rep>;
    constexpr Rep no_number = std::numeric_limits<Rep>::quiet_NaN();
    BOOST_TEST(wait_limit::after(time(no_number)).expired());
    BOOST_TEST(wait_limit::after(time(-no_number)).expired());
    BOOST_TEST(wait_limit::at(point_of<steady_clock, time>(no_number)).expired());
    BOOST_TEST(wait_limit::at(point_of<std::chrono::system_clock, time>(no_number)).expired());
    BOOST_TEST(wait_limit::at(point_of<still_clock, time>(no_number)).expired());
  };
  passes(float());
  passes(double());
  passes(0.0L);
}

// What can be said is said; with -fsanitize=float-cast-overflow, too.
BOOST_AUTO_TEST_CASE(R11_no_time_overflows_while_it_is_converted) {
  auto const is_far = [](wait_limit limit) {
    using std::chrono::hours;
    return !limit.expired() && limit.deadline() > steady_clock::now() + hours(24 * 365 * 100);
  };
  auto const infinite = []<class Rep>(Rep) { return std::numeric_limits<Rep>::infinity(); };
  using coarse = std::chrono::duration<float>;
  BOOST_TEST(is_far(wait_limit::after(coarse(9.2233718e9F))));  // rounds to more than there is
  BOOST_TEST(wait_limit::after(coarse(-9.2233718e9F)).expired());
  BOOST_TEST(is_far(wait_limit::after(coarse(infinite(0.F)))));
  BOOST_TEST(wait_limit::after(coarse(-infinite(0.F))).expired());
  BOOST_TEST(is_far(wait_limit::after(std::chrono::duration<long double>(1e4000L))));
  using thirds = std::chrono::duration<long long, std::ratio<1, 3>>;
  BOOST_TEST(is_far(wait_limit::after(thirds(20'000'000'000))));
  BOOST_TEST(is_far(wait_limit::after(thirds::max())));
  BOOST_TEST(wait_limit::after(thirds::min()).expired());
  wait_limit const in_a_third = wait_limit::after(thirds(1));
  auto const third = in_a_third.deadline() - steady_clock::now();
  BOOST_TEST((third <= 334ms && third > 0ms));
  for (double const far : {infinite(0.), 1e300, 9.2e18})
    BOOST_TEST(is_far(wait_limit::at(point_of<endless_clock, endless_clock::duration>(far))));
  BOOST_TEST(wait_limit::at(endless_clock::time_point::min()).expired());
}

template <class TimePoint>
steady_clock::time_point deadline_at(TimePoint const& point) {
  wait_limit const limit = wait_limit::at(point);
  return limit.deadline();
}

BOOST_AUTO_TEST_CASE(R11_points_of_other_clocks_are_converted) {
  auto const before = steady_clock::now();
  auto const system = deadline_at(std::chrono::system_clock::now() + 1h);
  auto const still = deadline_at(still_clock::now() + 1h);
  auto const after = steady_clock::now();
  BOOST_TEST((still >= before + 1h && still <= after + 1h));
  BOOST_TEST((system > before + 59min && system < after + 61min));
  BOOST_TEST(wait_limit::at(still_clock::now()).expired());
}

BOOST_AUTO_TEST_CASE(R11_points_of_the_steady_clock_are_kept_as_they_are) {
  auto const point = steady_clock::now() + 1h;
  BOOST_TEST((deadline_at(point) == point));
  auto const coarse = std::chrono::ceil<std::chrono::seconds>(point);
  BOOST_TEST((deadline_at(coarse) == coarse));
}

BOOST_AUTO_TEST_SUITE_END()
