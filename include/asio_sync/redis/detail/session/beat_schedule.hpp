// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_BEAT_SCHEDULE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_BEAT_SCHEDULE_HPP

#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace asio_sync::redis::detail {

// Says when the next beat is due, and which claims it names: each waiter once in an interval and
// when the server has asked for it, and holders in rotation, for whom a part of each beat is kept.
// If one beat cannot name all waiters, beats are spread over the interval.
class beat_schedule {
 public:
  using time_point = session_clock::time_point;
  using duration = session_clock::duration;

  static constexpr std::size_t max_objects = 64, max_tokens = 1024;          // of a beat
  static constexpr std::size_t max_waited_objects = 63, max_waiters = 1008;  // of these

  struct token {
    object* about;
    std::uint64_t counter;
  };

  explicit beat_schedule(duration interval) : interval_(interval) { named_.reserve(max_tokens); }

  time_point at() const noexcept { return at_; }
  void set(time_point at) noexcept { at_ = at; }

  duration interval() const noexcept { return interval_; }

  // Counts a claim that begins, or has ceased, to wait.
  void add_wait(claim const& c) noexcept {
    ++waits_;
    if (c.object_.waits++ == 0) ++objects_;
  }
  void remove_wait(claim const& c) noexcept {
    --waits_;
    if (--c.object_.waits == 0) --objects_;
  }

  // Names a waiter at a time, or in an interval, whatever is earlier.
  void name_at(claim& c, time_point when) noexcept {
    c.due_ = when;
    at_ = std::min(at_, when);
  }

  // Chooses the claims of a beat that is sent now, and the time of the next one.
  void begin(time_point now, claim_map const& claims) {
    auto const soon = now + slack();
    named_.clear();
    named_objects_ = 0;
    ++number_;
    at_ = now + interval_;
    for_each_after(last_waiter_, claims, [&](claim& c) {
      if (c.state_ != claim_state::waiting || c.due_ > now) return;
      if (name(c, last_waiter_, max_waited_objects, max_waiters))
        c.due_ = now + interval_;
      else
        name_at(c, now + gap());
    });
    auto early = last_waiter_;  // the rotation goes on after the last waiter that was due
    for_each_after(last_waiter_, claims, [&](claim& c) {
      if (c.state_ != claim_state::waiting) return;
      if (c.due_ <= soon && name(c, early, max_waited_objects, max_waiters))
        c.due_ = now + interval_;
      else
        name_at(c, c.due_);
    });
    for_each_after(last_holder_, claims, [&](claim& c) {
      if (c.state_ == claim_state::holding) name(c, last_holder_, max_objects, max_tokens);
    });
    std::sort(named_.begin(), named_.end(), [](token const& a, token const& b) {
      int const order = a.about->name.compare(b.about->name);
      return order != 0 ? order < 0 : a.counter < b.counter;
    });
  }

  // Returns the tokens of the last beat by object. Only their counters stay valid after write().
  std::span<token const> named() const noexcept { return named_; }

  // Adds the groups of the last beat: an object, a count, as many counters.
  void write(request& out) const {
    for (auto first = named_.begin(); first != named_.end();) {
      auto const last = std::find_if(first, named_.end(), [first](token const& t) {
        return t.about->name != first->about->name;
      });
      out.add(first->about->name).add(static_cast<std::uint64_t>(last - first));
      for (; first != last; ++first) out.add(first->counter);
    }
  }

 private:
  // Calls f for each claim, beginning after the last one that an earlier beat has named.
  template <class Function>
  static void for_each_after(std::uint64_t last, claim_map const& claims, Function f) {
    auto at = claims.upper_bound(last);
    for (std::size_t n = claims.size(); n != 0; --n, ++at) {
      if (at == claims.end()) at = claims.begin();
      f(*at->second);
    }
  }

  // Names a claim, unless the beat has as many objects or tokens already.
  bool name(claim& c, std::uint64_t& last, std::size_t objects, std::size_t tokens) noexcept {
    bool const is_new = c.object_.named != number_;
    if (named_.size() >= tokens || (is_new && named_objects_ >= objects)) return false;
    named_objects_ += is_new;
    c.object_.named = number_;
    named_.push_back({&c.object_, c.counter_});
    last = c.counter_;
    return true;
  }

  // Returns how early a waiter may be named, if there is room, so that waiters that began together
  // stay together. Not if one beat has no room for all of them.
  duration slack() const noexcept {
    return waits_ <= max_waiters ? std::min(gap(), interval_ / 2) / 4 : duration::zero();
  }

  // Returns the time between two beats that together name all waiters in an interval.
  duration gap() const noexcept {
    auto const parts = [](std::size_t n, std::size_t max) { return (n + max - 1) / max; };
    auto const beats = std::max(parts(objects_, max_waited_objects), parts(waits_, max_waiters));
    return interval_ / std::max<duration::rep>(static_cast<duration::rep>(beats), 1);
  }

  duration const interval_;
  time_point at_{};
  std::vector<token> named_;
  std::size_t named_objects_ = 0;
  std::uint64_t number_ = 0;  // of the last beat
  std::uint64_t last_waiter_ = 0, last_holder_ = 0;
  std::size_t waits_ = 0, objects_ = 0;  // claims that wait, and objects that have some
};

}  // namespace asio_sync::redis::detail

#endif
