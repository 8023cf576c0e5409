// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The session in a random order of events, with a model of the server.

#include "support/session_walk.hpp"
#include "support/test.hpp"

namespace redis_session_walk_test {

using namespace session_walk;

constexpr int steps = 20000;

// Returns the number of the walk that has found a problem, or 0.
unsigned find(model::fault f, unsigned seed, unsigned walks, std::string& problem) {
  walk::counts total;
  for (unsigned i = 1; i <= walks; ++i) {
    problem = walk(seed + i, f, total).run(steps);
    if (!problem.empty()) return i;
  }
  return 0;
}

BOOST_AUTO_TEST_SUITE(session_walk_test)

BOOST_AUTO_TEST_CASE(nobody_believes_in_a_hold_of_somebody_else_and_everybody_is_served) {
  unsigned const seed = asio_sync::test::random_seed();
  walk::counts total;
  unsigned const walks = asio_sync::test::number_from("ASIO_SYNC_TEST_WALKS", 20);
  for (unsigned i = 0; i != walks; ++i) {
    BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed + i);
    std::string const problem = walk(seed + i, model::fault::none, total).run(steps);
    BOOST_TEST_REQUIRE(problem == "");
  }
  BOOST_TEST_MESSAGE(total.steps << " steps, " << total.calls << " calls, " << total.grants
                                 << " grants, " << total.losses << " losses, " << total.data_losses
                                 << " losses of data, " << total.waits << " waits, "
                                 << total.signals << " signals");
  BOOST_TEST(total.grants > walks * 100);
  BOOST_TEST(total.losses > walks);
}

BOOST_AUTO_TEST_CASE(a_part_of_the_protocol_that_is_switched_off_is_found) {
  for (auto const f : {model::fault::no_gate, model::fault::no_generation, model::fault::no_run_id,
                       model::fault::no_passing_on}) {
    std::string problem;
    unsigned const found = find(f, 0, 1000, problem);
    BOOST_TEST_MESSAGE("fault " << static_cast<int>(f) << ": walk " << found << ", " << problem);
    BOOST_TEST_INFO_SCOPE("fault " << static_cast<int>(f));
    BOOST_TEST(found != 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_walk_test
