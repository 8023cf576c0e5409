// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_BEAT_SCHEDULE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_BEAT_SCHEDULE_HPP

#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/due_heap.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/rotation.hpp>
#include <asio_sync/redis/detail/session/session_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
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

  // A round begins with so many waiters, for so many objects of a beat, before other rounds go on.
  static constexpr std::size_t most_of_begun = 16, most_begun = max_waited_objects / 2;

  struct token {
    object* about;
    std::uint64_t counter;
  };

  explicit beat_schedule(duration interval) : interval_(interval) { named_.reserve(max_tokens); }

  time_point at() const noexcept { return at_; }
  void set(time_point at) noexcept { at_ = at; }

  // Adds a claim that begins to wait.
  void add_waiter(claim& c) noexcept {
    if (c.object_.waiters.claims.empty()) ++objects_;
    add(c, c.object_.waiters);
    ++waits_;
  }

  // Removes a claim that has ceased to wait.
  void remove_waiter(claim& c) noexcept {
    claim_group& g = c.object_.waiters;
    bool const is_in_round = !g.claims.is_complete();
    g.claims.erase(c);
    --waits_;
    if (is_in_round && g.claims.is_complete()) end_round(g);
    if (!g.claims.empty()) return;
    dues_.erase(g);
    g.turn = time_point::max();
    --objects_;
  }

  // Adds a claim that begins to hold.
  void add_holder(claim& c) noexcept {
    claim_group& g = c.object_.holders;
    if (g.claims.empty()) held_.push_back(g);
    add(c, g);
  }

  // Removes a claim that has ceased to hold.
  void remove_holder(claim& c) noexcept {
    claim_group& g = c.object_.holders;
    g.claims.erase(c);
    if (g.claims.empty()) held_.erase(g);
  }

  // Names a claim that waits within an interval, and after the time that the server has given as a
  // hint, whatever is earlier.
  void expect(claim& c, time_point now, std::optional<std::chrono::milliseconds> hint) noexcept {
    claim_group& g = c.object_.waiters;
    if (g.turn == time_point::max()) {
      g.turn = now + interval_;
      dues_.set(g, g.turn);
    }
    auto const asked = hint ? now + *hint + std::chrono::milliseconds(1) : time_point::max();
    if (asked < std::min(g.turn, g.due.at)) dues_.set(g, asked);
    at_ = std::min(at_, std::max(now, std::min(dues_.earliest(), rounds_at())));
  }

  // Names all waiters from now on, within an interval.
  void name_all(time_point now) noexcept {
    while (dues_.earliest() != time_point::max()) begin_round(dues_.front(), now);
    for (rounds_.restart(); !rounds_.is_complete();) {
      claim_group& g = rounds_.visit();
      g.claims.restart();
      g.turn = now + interval_;
    }
    at_ = now;
    rounds_from_ = time_point::min();
  }

  // Chooses the claims of a beat that is sent now, and the time of the next one.
  void begin(time_point now) {
    auto const soon = now + slack();
    named_.clear();
    named_objects_ = 0;
    ++number_;
    while (dues_.earliest() <= soon && dues_.front().named != number_) {
      claim_group& g = dues_.front();
      begin_round(g, now);
      if (name(g, most_begun, named_.size() + most_of_begun)) end_round(g);
    }
    if (rounds_at() <= soon) continue_rounds(now);
    name_holders();
    at_ = std::min({now + interval_, rounds_at(), dues_.earliest()});
    sort_named();
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
  static void add(claim& c, claim_group& to) noexcept {
    to.about = &c.object_;
    to.claims.push_back(c);
  }

  // Has a group named from its first claim on, unless a round has begun. Nothing is due.
  void begin_round(claim_group& g, time_point now) noexcept {
    dues_.erase(g);
    if (!g.claims.is_complete()) return;
    g.claims.restart();
    g.turn = now + interval_;
    rounds_.push_back(g);
  }

  void end_round(claim_group& g) noexcept {
    rounds_.erase(g);
    if (g.turn < g.due.at) dues_.set(g, g.turn);
  }

  // Names groups whose rounds have begun, until the beat has no more room.
  void continue_rounds(time_point now) noexcept {
    while (!rounds_.empty() && name(rounds_.front(), max_waited_objects, max_waiters))
      end_round(rounds_.front());
    rounds_from_ = rounds_.empty() ? time_point::min() : now;
  }

  // Returns the time at which the rounds go on: the earlier, the more waits there are now.
  time_point rounds_at() const noexcept {
    return rounds_.empty() ? time_point::max() : rounds_from_ + gap();
  }

  // Names the groups that hold, each once, beginning behind the last one that an earlier beat has
  // named as a whole.
  void name_holders() noexcept {
    while (!held_.empty() && held_.front().named != number_) {
      claim_group& g = held_.front();
      if (g.claims.is_complete()) g.claims.restart();
      if (!name(g, max_objects, max_tokens)) return;
      held_.erase(g);
      held_.push_back(g);
    }
  }

  // Names the claims of a group that its round has not visited. Returns false if the beat has no
  // room for all of them.
  bool name(claim_group& g, std::size_t objects, std::size_t tokens) noexcept {
    object& o = *g.about;
    bool const is_new = o.waiters.named != number_ && o.holders.named != number_;
    if (named_.size() >= tokens || (is_new && named_objects_ >= objects)) return false;
    named_objects_ += is_new;
    g.named = number_;
    while (!g.claims.is_complete() && named_.size() < tokens)
      named_.push_back({&o, g.claims.visit().counter_});
    return g.claims.is_complete();
  }

  void sort_named() noexcept {
    std::sort(named_.begin(), named_.end(), [](token const& a, token const& b) {
      int const order = a.about == b.about ? 0 : a.about->name.compare(b.about->name);
      return order != 0 ? order < 0 : a.counter < b.counter;
    });
  }

  // Returns how early a waiter may be named, so that waiters that began together stay together.
  duration slack() const noexcept { return std::min(gap(), interval_ / 2) / 4; }

  // Returns the time between two beats that together name all waiters in an interval. Each but the
  // last one ends a round of max_waited_objects, or names max_waiters.
  duration gap() const noexcept {
    auto const parts = [](std::size_t n, std::size_t max) { return (n + max - 1) / max; };
    auto const beats = parts(objects_, max_waited_objects) + parts(waits_, max_waiters);
    return interval_ / std::max<duration::rep>(static_cast<duration::rep>(beats) - 1, 1);
  }

  duration const interval_;
  time_point at_{};
  std::vector<token> named_;
  std::size_t named_objects_ = 0;
  std::uint64_t number_ = 0;             // of the last beat
  std::size_t waits_ = 0, objects_ = 0;  // claims that wait, and objects that have some

  due_heap<claim_group> dues_;    // waiters that a round, or the server, will name
  rotation<claim_group> rounds_;  // waiters whose round is not complete
  // The time at which the rounds went on last; min() if they go on at once.
  time_point rounds_from_ = time_point::min();
  rotation<claim_group> held_;  // holders, those first whose turn is next
};

}  // namespace asio_sync::redis::detail

#endif
