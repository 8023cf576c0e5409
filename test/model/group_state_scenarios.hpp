// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_GROUP_STATE_SCENARIOS_HPP
#define ASIO_SYNC_TEST_MODEL_GROUP_STATE_SCENARIOS_HPP

#include "group_state_model.hpp"

#include <atomic>

/// The scenarios that are explored and, with a fault in the core, replayed.
namespace group_model {

using enum wait_outcome;

/// Two operations end, and one who joins is queued, another comes: both see what was done.
inline void two_ends_against_joins() {
  primitive group;
  operation queued, coming;
  branch first, second;
  model::plain<int> data[2];
  group.begin(first);
  group.begin(second);
  group.start(queued);
  auto const see = [&](operation& op) {
    group.require(op);
    model::check(data[0] == 1 && data[1] == 1, "what was done before is seen");
  };
  model::threads(
      [&] {
        data[0] = 1;
        group.end(first);
      },
      [&] {
        data[1] = 1;
        group.end(second);
        see(queued);
      },
      [&] {
        group.start(coming);
        see(coming);
      });
  group.end_all();
}

/// Operations add to a counter before they end, in any order: who finds nothing pending reads the
/// sum.
inline void counter_of_what_has_ended() {
  primitive group;
  branch first, second;
  model::atomic<int> counter{0};
  group.begin(first);
  group.begin(second);
  auto const count_and_end = [&](branch& b) {
    counter.fetch_add(1, std::memory_order_relaxed);
    group.end(b);
  };
  model::threads([&] { count_and_end(first); }, [&] { count_and_end(second); },
                 [&] {
                   if (group.pending() != 0) return;
                   int const sum = counter.load(std::memory_order_relaxed);
                   model::check(sum == 2, "what was done before is seen");
                 });
  group.end_all();
}

/// The last ends while another begins: who joins waits for that, or has come in between.
inline void end_against_begin() {
  primitive group;
  operation queued, coming;
  branch first, second;
  group.begin(first);
  group.start(queued);
  model::threads([&] { group.end(first); },
                 [&] {
                   group.begin(second);
                   group.end(second);
                 },
                 [&] {
                   group.start(coming);
                   group.require(coming);
                 });
  group.require(queued);
  group.end_all();
}

/// By hand: of two who take back what was added once, one does.
inline void done_too_often() {
  primitive group;
  operation queued;
  bool counted[2] = {};
  group.add();
  group.start(queued);
  model::threads([&] { counted[0] = group.done(); }, [&] { counted[1] = group.done(); },
                 [&] { group.require(queued); });
  model::check(counted[0] != counted[1], "one of them");
  group.end_all();
}

/// A join is cancelled, comes to the queue late, or is released.
inline void cancel_against_the_last_end() {
  primitive group;
  operation queued, coming;
  branch only;
  group.begin(only);
  group.start(queued);
  coming.make();
  model::threads([&] { group.end(only); }, [&] { group.cancel(queued); },
                 [&] {
                   group.enter(coming);
                   group.require(coming);
                 });
  if (!group.finish(queued)) model::check(queued.outcome == aborted, "cancelled");
  group.end_all();
}

/// The primitive ends while an operation does: that keeps the core.
inline void destroyed_while_an_operation_ends() {
  primitive group;
  operation queued;
  branch only;
  group.begin(only);
  group.start(queued);
  model::threads([&] { group.end(only); }, [&] { group.abandon(); });
  if (!group.finish(queued)) model::check(queued.outcome == aborted, "aborted");
  group.check_gone();
}

/// Whoever joins ends the primitive.
inline void destroyed_by_who_joins() {
  primitive group;
  operation queued;
  branch first, second;
  group.begin(first);
  group.begin(second);
  group.start(queued);
  model::threads([&] { group.end(first); }, [&] { group.end(second); },
                 [&] {
                   group.require(queued);
                   group.abandon();
                 });
  group.check_gone();
}

/// Whoever finds nothing pending does, beside the hand of the last.
inline void destroyed_by_who_need_not_wait() {
  primitive group;
  operation joining;
  group.add();
  model::threads([&] { group.done(); },
                 [&] {
                   group.start(joining);
                   group.require(joining);
                   group.abandon();
                 });
  group.check_gone();
}

}  // namespace group_model

#endif
