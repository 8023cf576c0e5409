// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_PROGRAMS_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_PROGRAMS_HPP

#include "redis/walk/round.hpp"
#include "redis/walk/user.hpp"
#include "redis/walk/world.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>

namespace redis_walk {

using user_list = std::array<std::unique_ptr<user>, 5>;

// Runs the programs of the users in a round.
class programs {
 public:
  programs(world const& w, random_choice& random, user_list const& users)
      : world_(w), random_(random), users_(users) {}

  // Does something. Without faults, it ends what has begun. `parks`: it waits on a condition.
  void act(user& u, bool faults, bool parks) {
    u.owns_more = (faults || parks) && mode_ != mode::waits;
    if (parks) return u.wait();
    if (faults && mode_ == mode::condition) return crowd_a_condition(u);
    if (faults && mode_ == mode::monitor) return visit_monitor(u);
    if (faults && mode_ == mode::waits) return crowd_a_monitor(u);
    if (faults && u.uses() < 6 && random_.below(2) == 0) return u.acquire_something();
    if (faults && random_.below(2) == 0) return use_condition(u);
    if (!faults && random_.below(2) == 0) return end_waits(u);
    u.give_up(faults && random_.one_in(4));
  }

  // True if less is to fail in this round, so that more is done.
  bool is_gentle() const noexcept { return is_gentle_; }

 private:
  // Has many users wait on one condition, so that there are waits to choose from.
  void crowd_a_condition(user& u) {
    unsigned const n = random_.below(20);
    if (n < 8)
      return u.uses() < 6 ? u.acquire(0, 1) : u.give_up(random_.one_in(8));
    else if (n < 14)
      u.wait();
    else if (n < 16)
      u.recall();
    else if (n < 18)
      u.give_up(false);
    else if (u.signals() < 3)
      u.notify(subjects[0].name, "c", random_.one_in(12) ? 0 : 1);
  }

  // Has many users enter the monitor.
  void visit_monitor(user& u) {
    place const& p = monitor();
    unsigned const n = random_.below(20);
    if (u.is_inside() && n < 13)
      n < 8 ? u.leave() : u.wait();
    else if (n < 13)
      u.uses() < 7 && p.waiters.size() < 4 ? u.acquire(monitor_subject, 1, random_.one_in(8))
                                           : u.disown();
    else if (n < 16)
      u.disown();
    else if (n < 17)
      u.recall();
    else if (n < 18)
      u.give_up(random_.one_in(4));
    else if (u.signals() < 3)
      u.notify(subjects[monitor_subject].name, "c", random_.one_in(4) ? 0 : 1);
  }

  // Has many users wait in the monitor.
  void crowd_a_monitor(user& u) {
    unsigned const n = random_.below(20);
    place const& p = monitor();
    if (u.is_inside() && n < 17)
      n < 9 ? u.wait() : n < 12 ? u.recall() : u.leave();
    else if (n < 17 && u.uses() < 6 && p.waiters.size() < 4)
      u.acquire(monitor_subject, 1);
    else if (n == 17)
      u.recall();
    else if (n == 18)
      u.give_up(random_.one_in(8));
    else if (n == 19 && u.signals() < 3 && p.parked.size() > 2)
      u.notify(subjects[monitor_subject].name, "c", 1);
  }

  place const& monitor() const { return world_.seen().objects.at(subjects[monitor_subject].name); }

  void use_condition(user& u) {
    unsigned const n = random_.below(10);
    if (n < 6)
      u.wait();
    else if (n < 7)
      u.recall();
    else if (u.signals() < 3)
      notify(u);
  }

  // Notifies somebody who waits, or perhaps nobody.
  void notify(user& u) {
    auto const& all = world_.seen().objects;
    auto const& [name, p] = *std::next(all.begin(), random_.below(unsigned(all.size())));
    std::uint64_t const number = random_.one_in(4) ? 0 : 1;
    if (p.parked.empty()) return u.notify(name, "c", number);
    auto const n = random_.below(unsigned(p.parked.size()));
    u.notify(name, std::next(p.parked.begin(), n)->second.condition, number);
  }

  // In one half of the rounds nothing but notifications ends waits.
  void end_waits(user& u) {
    if (ends_by_recall_) return u.recall();
    bool const is_needed = std::any_of(users_.begin(), users_.end(),
                                       [](auto const& each) { return each->is_waiting(); });
    if (is_needed && u.signals() == 0) notify(u);
  }

  enum class mode { all, condition, monitor, waits };  // what is crowded

  world const& world_;
  random_choice& random_;
  user_list const& users_;
  mode const mode_ = mode(random_.below(4));
  bool const is_gentle_ = mode_ == mode::waits || (mode_ == mode::monitor && random_.one_in(2));
  bool const ends_by_recall_ = random_.below(2) == 0;
};

}  // namespace redis_walk

#endif
