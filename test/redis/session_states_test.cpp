// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The states of the session: each step of the table is taken, and the table has no other.

#include "support/session_script.hpp"
#include "support/test.hpp"

namespace redis_session_states_test {

using namespace session_script;
using state = session_state;

// Brings a session that runs into a state.
void reach(fixture& f, state s) {
  if (s == state::stopped) return f.s.stop();
  if (s == state::offline) return;
  if (s == state::opening) {
    f.connect();
    f.sent();
    return;
  }
  f.open();
  if (s == state::open) return;
  if (s == state::confirming) {
    f.empty();
    f.sent();
    return;
  }
  f.cut();
  if (s == state::suspended) return;
  f.connect();
  f.sent();
}

void lapse(fixture& f) {
  f.after(6s);
  f.s.tick(f.now);
}

void stop(fixture& f) { f.s.stop(); }

struct row {
  session_step step;
  void (*act)(fixture&);
};

row const rows[] = {
    {{state::stopped, state::offline}, [](fixture& f) { f.s.run(); }},
    {{state::offline, state::opening}, [](fixture& f) { f.connect(); }},
    {{state::opening, state::open}, [](fixture& f) { f.opens(); }},
    {{state::opening, state::offline}, [](fixture& f) { f.cut(); }},
    {{state::open, state::suspended}, [](fixture& f) { f.cut(); }},
    {{state::open, state::offline}, lapse},
    {{state::open, state::confirming}, [](fixture& f) { f.empty(); }},
    {{state::confirming, state::open}, [](fixture& f) { f.resumes(); }},
    {{state::confirming, state::suspended}, [](fixture& f) { f.cut(); }},
    {{state::confirming, state::opening}, [](fixture& f) { f.refuse("NOSESSION"); }},
    {{state::confirming, state::offline}, lapse},
    {{state::suspended, state::resuming}, [](fixture& f) { f.connect(); }},
    {{state::suspended, state::offline}, lapse},
    {{state::resuming, state::open}, [](fixture& f) { f.resumes(); }},
    {{state::resuming, state::suspended}, [](fixture& f) { f.cut(); }},
    {{state::resuming, state::opening}, [](fixture& f) { f.refuse("NOSESSION"); }},
    {{state::resuming, state::offline}, lapse},
    {{state::offline, state::stopped}, stop},
    {{state::opening, state::stopped}, stop},
    {{state::open, state::stopped}, stop},
    {{state::confirming, state::stopped}, stop},
    {{state::suspended, state::stopped}, stop},
    {{state::resuming, state::stopped}, stop},
};

BOOST_AUTO_TEST_SUITE(session_states_test)

BOOST_AUTO_TEST_CASE(each_step_of_the_table_is_taken) {
  for (session_step const& step : session_steps)
    BOOST_TEST(std::any_of(std::begin(rows), std::end(rows),
                           [&step](row const& r) { return r.step == step; }));
  for (row const& r : rows) {
    BOOST_TEST(is_legal(r.step));
    fixture f;
    reach(f, r.step.from);
    BOOST_TEST((f.s.state() == r.step.from));
    r.act(f);
    BOOST_TEST((f.s.state() == r.step.to));
  }
}

BOOST_AUTO_TEST_CASE(an_event_that_does_not_belong_to_a_state_changes_nothing) {
  for (state const s : {state::stopped, state::offline, state::suspended}) {
    fixture f;
    reach(f, s);
    f.told();
    f.cut();
    f.opens();
    f.answer_beat({});
    f.push("G a.1:1 11 e");
    BOOST_TEST((f.s.state() == s));
    BOOST_TEST(f.told() == "");
    BOOST_TEST(f.sent() == "");
  }
  for (state const s :
       {state::stopped, state::opening, state::open, state::confirming, state::resuming}) {
    fixture f;
    reach(f, s);
    f.connect();
    BOOST_TEST((f.s.state() == s));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_states_test
