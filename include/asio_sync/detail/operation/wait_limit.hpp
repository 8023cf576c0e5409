// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_WAIT_LIMIT_HPP
#define ASIO_SYNC_DETAIL_OPERATION_WAIT_LIMIT_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <chrono>
#include <ratio>
#include <type_traits>

namespace asio_sync::detail {

// How long a wait may take: for ever, for a time from its initiation on (a deferred operation is
// initiated when it is launched), or until a point in time. Saturates instead of overflowing.
class wait_limit {
 public:
  enum class kind : unsigned char { none, relative, absolute };
  using ticks = steady_clock::duration;

  // The same with its kind in the type: what is tried at once carries no more than it needs.
  template <kind Kind>
  struct of {
    ticks value{};

    operator wait_limit() const noexcept { return {Kind, value}; }
    bool expired() const noexcept { return wait_limit(*this).expired(); }
  };

  template <class Rep, class Period>
  ASIO_SYNC_INLINE static of<kind::relative> after(
      std::chrono::duration<Rep, Period> const& time) noexcept {
    return {saturated(time)};
  }

  // Of another clock than the steady one: converted now.
  template <class Clock, class Duration>
  static of<kind::absolute> at(std::chrono::time_point<Clock, Duration> const& time) {
    ticks const point = saturated(time.time_since_epoch());
    if constexpr (std::is_same_v<Clock, steady_clock>) return {point};
    ticks const now = saturated(Clock::now().time_since_epoch());
    return {sum(difference(point, now), steady_clock::now().time_since_epoch())};
  }

  bool timed() const noexcept { return kind_ != kind::none; }

  // Nothing is left of it: one try.
  bool expired() const noexcept {
    return kind_ == kind::relative ? value_ <= value_.zero()
                                   : timed() && deadline() <= steady_clock::now();
  }

  // For a wait that is initiated now.
  steady_clock::time_point deadline() const noexcept {
    return steady_clock::time_point(
        kind_ == kind::relative ? sum(steady_clock::now().time_since_epoch(), value_) : value_);
  }

 private:
  wait_limit(kind k, ticks value) noexcept : kind_(k), value_(value) {}

  // Rounded up. A time that is no number has passed. By way of `wide` where a multiplication of
  // the standard's conversion could overflow, or round what does not overflow.
  template <class Rep, class Period>
  ASIO_SYNC_INLINE static ticks saturated(
      std::chrono::duration<Rep, Period> const& time) noexcept {
    using wide = std::chrono::duration<long double, steady_clock::period>;
    using factor = std::ratio_divide<Period, steady_clock::period>;
    wide const value(time);
    if (value >= wide(ticks::max())) return ticks::max();
    if (!(value > wide(ticks::min()))) return ticks::min();
    if constexpr (std::chrono::treat_as_floating_point_v<Rep> ||
                  (factor::num != 1 && factor::den != 1))
      return std::chrono::ceil<ticks>(value);
    else
      return std::chrono::ceil<ticks>(time);
  }

  static ticks sum(ticks a, ticks b) noexcept {
    if (b > b.zero() && a > ticks::max() - b) return ticks::max();
    if (b < b.zero() && a < ticks::min() - b) return ticks::min();
    return a + b;
  }

  static ticks difference(ticks a, ticks b) noexcept {
    if (b < b.zero() && a > ticks::max() + b) return ticks::max();
    if (b > b.zero() && a < ticks::min() + b) return ticks::min();
    return a - b;
  }

  kind kind_;
  ticks value_;
};

template <>
struct wait_limit::of<wait_limit::kind::none> {
  operator wait_limit() const noexcept { return {kind::none, ticks()}; }
  static bool expired() noexcept { return false; }
};

using no_limit = wait_limit::of<wait_limit::kind::none>;

}  // namespace asio_sync::detail

#endif
