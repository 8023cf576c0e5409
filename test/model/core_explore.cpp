// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// How the scenarios of all cores are explored and replayed.

#include "core_model.hpp"
#include "fiber.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace core_model {

namespace {

// True if the search went through all schedules, and nothing was found.
bool search(void (*scenario)(), const model::options& how) {
  auto const found = model::explore(how, [scenario] { scenario(); });
  BOOST_TEST(!found.failed, found.message << "\n" << found.trace);
  BOOST_TEST_MESSAGE("model: " << found.runs << " runs in " << found.seconds << " s, "
                               << how.stale_reads << " stale reads");
  return found.complete;
}

}  // namespace

void explore(void (*scenario)(), int more_preemptions) {
  int stale_bound = model::default_bound();
#ifdef ASIO_SYNC_MODEL_ASAN
  more_preemptions = stale_bound = 0;  // switching fibers takes a hundred times as long
#endif
  int const most = model::unlimited - more_preemptions;
  int const bound = std::min(model::default_bound(), most) + more_preemptions;
  if (search(scenario, {.preemptions = bound, .spurious_failures = true}))
    search(scenario, {.preemptions = stale_bound,
                      .stale_reads = model::default_stale_reads(),
                      .spurious_failures = true});
}

model::result replay(void (*scenario)(), std::string_view schedule) {
  return model::replay(schedule, [scenario] { scenario(); },
                       {.spurious_failures = true, .quiet = true});
}

void kept(void (*scenario)(), std::string_view schedule) {
  auto const found = replay(scenario, schedule);
  BOOST_TEST(!found.failed, "model: " << found.message << "\n" << found.trace);
}

}  // namespace core_model
