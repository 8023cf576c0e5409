// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_WITHDRAWAL_HPP
#define ASIO_SYNC_TEST_RULES_WITHDRAWAL_HPP

// R4: a cancellation by slot that comes after the grant, and before the handler is called.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// A handler that a signal cancels, and what becomes of it.
struct cancellable {
  fate f;
  std::optional<asio::cancellation_signal> signal{std::in_place};

  template <class Executor>
  auto handler(Executor const& ex) {
    return asio::bind_executor(ex,
                               asio::bind_cancellation_slot(signal->slot(), observed_handler(f)));
  }
  void cancel() { signal->emit(asio::cancellation_type::total); }

  // Withdrawn, if the primitive takes grants back; otherwise the cancellation came too late.
  bool ended_late() const { return withdraws ? f.refused(aborted) : f.granted(); }
};

// The wait is granted, and its handler on its way: at once, or after it has queued.
template <class Executor>
void grant_to(primitive_type& p, cancellable& c, Executor const& ex, bool queues) {
  if (queues) BOOST_TEST_REQUIRE(subject::occupy(p));
  subject::wait(p, c.handler(ex));
  if (queues) serve_last(p);
}

// What takes keeps what it was given, if it was not withdrawn.
inline void renew_unless_withdrawn(primitive_type& p) {
  if (!withdraws) renew(p);
}

// One initiation whose allocations fail one after the other, that of its slot's memory among them.
template <bool Occupied>
struct initiation_with_a_slot : fixture {
  cancellable c;

  initiation_with_a_slot() {
    if (Occupied) BOOST_TEST_REQUIRE(subject::occupy(primitive));
  }

  void act() { subject::wait(primitive, c.handler(context.get_executor())); }

  void check(bool thrown) {
    if (thrown) {
      BOOST_TEST(c.f.dropped());
      c.cancel();  // does nothing
      BOOST_TEST(primitive.waiters() == 0u);
      if (Occupied) subject::serve(primitive);
    } else {
      if (Occupied) subject::serve(primitive);
      poll();
      BOOST_TEST(c.f.granted());
      renew(primitive);
    }
    BOOST_TEST(idle());
  }
};

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R4_every_type_of_cancellation_withdraws_a_grant_on_its_way) {
  for (auto const type : {asio::cancellation_type::none, asio::cancellation_type::terminal,
                          asio::cancellation_type::partial, asio::cancellation_type::total})
    for (bool const queues : {false, true}) {
      cancellable c;
      grant_to(primitive, c, context.get_executor(), queues);
      BOOST_TEST(c.f.waits());
      c.signal->emit(type);
      BOOST_TEST(primitive.waiters() == 0u);
      poll();
      if (type != asio::cancellation_type::none) {
        BOOST_TEST(c.ended_late());
        renew_unless_withdrawn(primitive);
      } else {
        BOOST_TEST(c.f.granted());
        renew(primitive);
      }
      c.cancel();  // does nothing
      BOOST_TEST(idle());
    }
}

BOOST_AUTO_TEST_CASE(R4_a_grant_is_withdrawn_on_every_executor) {
  auto const check = [&](auto const& ex) {
    for (bool const queues : {false, true}) {
      cancellable c;
      grant_to(primitive, c, ex, queues);
      c.cancel();
      for (int i = 0; i < 3; ++i) poll(context), poll(other);
      BOOST_TEST(c.ended_late());
      renew_unless_withdrawn(primitive);
      BOOST_TEST(idle());
    }
  };
  check(context.get_executor());
  check(other.get_executor());
  check(asio::make_strand(context));
  check(asio::make_strand(other));
  check(asio::any_io_executor(other.get_executor()));
  check(asio::any_io_executor(asio::make_strand(other)));
}

BOOST_AUTO_TEST_CASE(R4_a_withdrawn_grant_goes_to_those_behind) {
  for (bool const timed : {false, true}) {
    cancellable first;
    fate second;
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait(primitive, first.handler(other.get_executor()));
    if (timed)
      subject::wait_for(primitive, 1h, observed_handler(second));
    else
      subject::wait(primitive, observed_handler(second));
    serve_last(primitive);
    BOOST_TEST(first.f.waits());
    first.cancel();
    poll();
    if (keeps_out) BOOST_TEST(second.waits());
    poll(other);
    BOOST_TEST(first.ended_late());
    poll();
    BOOST_TEST(second.granted());
    renew(primitive);
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R4_what_was_refused_before_keeps_its_error) {
  for (error_code const error : {aborted, timed_out, closed}) {
    primitive_type refusing(context);
    cancellable c;
    BOOST_TEST_REQUIRE(subject::occupy(refusing));
    if (error == timed_out)
      subject::wait_for(refusing, 0s, c.handler(context.get_executor()));
    else
      subject::wait(refusing, c.handler(context.get_executor()));
    if (error == aborted) BOOST_TEST(refusing.cancel() == 1u);
    if (error == closed) refusing.close();
    BOOST_TEST(c.f.waits());
    c.cancel();
    poll();
    BOOST_TEST(c.f.refused(error));
    if (error != closed) subject::serve(refusing);
  }
}

BOOST_AUTO_TEST_CASE(R4_the_end_of_the_signal_takes_no_cancellation_back) {
  for (bool const queues : {false, true}) {
    cancellable emitted, silent;
    grant_to(primitive, emitted, context.get_executor(), queues);
    emitted.cancel();
    emitted.signal.reset();
    poll();
    BOOST_TEST(emitted.ended_late());
    renew_unless_withdrawn(primitive);
    grant_to(primitive, silent, context.get_executor(), queues);
    silent.signal.reset();
    poll();
    BOOST_TEST(silent.f.granted());
    renew(primitive);
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R4_R9_a_grant_is_withdrawn_that_the_primitive_does_not_live_to_see) {
  for (bool const queues : {false, true})
    for (bool const cancelled_first : {false, true}) {
      auto mortal = std::make_unique<primitive_type>(context);
      cancellable c;
      grant_to(*mortal, c, other.get_executor(), queues);
      if (cancelled_first) c.cancel();
      mortal.reset();
      if (!cancelled_first) c.cancel();
      poll(), poll(other);
      BOOST_TEST(c.f.called == 1);
      BOOST_TEST((withdraws ? c.f.refused(aborted) : !c.f.error));
    }
}

BOOST_AUTO_TEST_CASE(R3_R4_a_grant_that_is_cancelled_and_then_dropped_goes_on_once) {
  for (bool const queues : {false, true}) {
    auto dying = std::make_unique<asio::io_context>();
    cancellable c;
    fate next;
    grant_to(primitive, c, dying->get_executor(), queues);
    c.cancel();
    if (keeps_out) subject::wait(primitive, observed_handler(next));
    dying.reset();
    BOOST_TEST(c.f.dropped());
    poll();
    if (keeps_out) {
      BOOST_TEST(next.granted());
      renew(primitive);
    }
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R4_a_slot_that_cannot_be_connected_takes_nothing) {
  fail_each_allocation<initiation_with_a_slot<false>>();
  fail_each_allocation<initiation_with_a_slot<true>>();
}

BOOST_AUTO_TEST_SUITE_END()

#endif
