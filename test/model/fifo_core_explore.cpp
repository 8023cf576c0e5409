// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "fiber.hpp"
#include "fifo_core_scenarios.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace fifo_model {

void explore(void (*scenario)(), int more_preemptions) {
#ifdef ASIO_SYNC_MODEL_ASAN
  more_preemptions = 0;  // switching fibers takes a hundred times as long
#endif
  int const most = model::unlimited - more_preemptions;
  int const bound = std::min(model::default_bound(), most) + more_preemptions;
  auto const found = model::explore({.preemptions = bound, .spurious_failures = true},
                                    [scenario] { scenario(); });
  BOOST_TEST(!found.failed, found.message << '\n' << found.trace);
  BOOST_TEST_MESSAGE("model: " << found.runs << " runs in " << found.seconds << " s");
}

}  // namespace fifo_model
