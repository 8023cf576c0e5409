// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the mailbox's own: waits for any or all of a set of flags, which look at them or take
// them. What it has in common with other primitives is in test/rules.

#include "support/mailbox_result.hpp"
#include "support/test.hpp"

#include <asio_sync/async_mailbox.hpp>

namespace mailbox_test {

using namespace asio_sync::test;
using handler = mailbox_handler;

constexpr mailbox_flags a = 1, b = 2, c = 0x8000'0000, none = 0, every = 0xFFFF'FFFF;

struct fixture {
  asio::io_context context, other;
  async_mailbox mailbox{context};

  void poll() { test::poll(context, other); }
  // Ends what still waits, while its handler has where to note that.
  void end() {
    mailbox.cancel();
    poll();
  }
};

}  // namespace mailbox_test

BOOST_FIXTURE_TEST_SUITE(mailbox_test, fixture)

BOOST_AUTO_TEST_CASE(Mailbox_is_made_empty) {
  using io_executor = asio::io_context::executor_type;
  BOOST_TEST(mailbox.peek() == none);
  BOOST_TEST((mailbox.get_executor() == context.get_executor()));
  basic_async_mailbox<io_executor> plain(context);
  BOOST_TEST(plain.peek() == none);
  static_assert(std::is_same_v<async_mailbox::rebind_executor<io_executor>::other,
                               basic_async_mailbox<io_executor>>);
  static_assert(std::is_same_v<mailbox_flags, std::uint32_t>);
  static_assert(
      noexcept(mailbox.raise(a))&& noexcept(mailbox.take(a))&& noexcept(mailbox.close()));
  static_assert(!std::is_move_constructible_v<async_mailbox>);
}

BOOST_AUTO_TEST_CASE(Mailbox_flags_stay_up_until_they_are_taken) {
  mailbox.raise(a | c);
  mailbox.raise(a);
  mailbox.raise(none);
  BOOST_TEST(mailbox.peek() == (a | c));
  BOOST_TEST(mailbox.take(b) == (a | c));
  BOOST_TEST(mailbox.take(a | b) == (a | c));  // as they were before
  BOOST_TEST(mailbox.peek() == c);
  BOOST_TEST(mailbox.take(none) == c);
  mailbox.raise(every);
  BOOST_TEST(mailbox.take(every) == every);
  BOOST_TEST(mailbox.take(every) == none);
}

BOOST_AUTO_TEST_CASE(Mailbox_waits_for_flags_that_are_up_complete_with_these) {
  mailbox_result any, all, partly, take_any, take_all;
  mailbox.raise(a | c);
  mailbox.async_wait_any(a | b, handler(any));
  mailbox.async_wait_all(a | c, handler(all));
  mailbox.async_wait_all(a | b, handler(partly));
  BOOST_TEST(mailbox.peek() == (a | c));
  mailbox.async_take_any(a | b, handler(take_any));
  BOOST_TEST(mailbox.peek() == c);
  mailbox.raise(a);
  mailbox.async_take_all(a | c, handler(take_all));
  BOOST_TEST(mailbox.peek() == none);
  poll();
  BOOST_TEST((any.got(a) && all.got(a | c) && take_any.got(a) && take_all.got(a | c)));
  BOOST_TEST(partly.waits());
  BOOST_TEST(mailbox.waiters() == 1u);
  end();
}

BOOST_AUTO_TEST_CASE(Mailbox_waits_are_satisfied_when_their_flags_come) {
  mailbox_result any, all, take_any, take_all;
  mailbox.async_wait_any(a | b, handler(any));
  mailbox.async_wait_all(b | c, handler(all));
  mailbox.async_take_all(a | c, asio::bind_executor(other, handler(take_all)));
  mailbox.raise(c);
  poll();
  BOOST_TEST(mailbox.waiters() == 3u);
  mailbox.raise(b);
  BOOST_TEST(mailbox.waiters() == 1u);
  BOOST_TEST(mailbox.peek() == (b | c));
  mailbox.async_take_any(a, handler(take_any));
  mailbox.raise(a);  // for the oldest that takes
  BOOST_TEST(mailbox.peek() == b);
  poll();
  BOOST_TEST((any.got(b) && all.got(b | c) && take_all.got(a | c) && take_any.waits()));
  end();
}

BOOST_AUTO_TEST_CASE(Mailbox_an_empty_set_is_satisfied_at_once_unless_it_is_closed) {
  for (bool const somebody_waits : {false, true}) {
    mailbox_result r[4], waits;
    if (somebody_waits) mailbox.async_take_any(c, handler(waits));
    mailbox.raise(a);
    mailbox.async_wait_any(none, handler(r[0]));
    mailbox.async_wait_all(none, handler(r[1]));
    mailbox.async_take_any(none, handler(r[2]));
    mailbox.async_take_all_for(none, 0s, handler(r[3]));
    BOOST_TEST(mailbox.waiters() == std::size_t(somebody_waits));
    poll();
    for (auto const& each : r) BOOST_TEST(each.got(none));
    BOOST_TEST(mailbox.peek() == a);
    end();
  }
  mailbox.close();
  mailbox_result late;
  mailbox.async_wait_all(none, handler(late));
  poll();
  BOOST_TEST(late.refused(closed));
}

BOOST_AUTO_TEST_CASE(Mailbox_those_who_look_are_served_before_those_who_take) {
  mailbox_result take, look, look_at_all;
  mailbox.async_take_any(a | b, handler(take));
  mailbox.async_wait_any(b, handler(look));
  mailbox.async_wait_all(a | b, handler(look_at_all));
  mailbox.raise(a | b);
  BOOST_TEST(mailbox.peek() == none);
  poll();
  BOOST_TEST((take.got(a | b) && look.got(b) && look_at_all.got(a | b)));
}

BOOST_AUTO_TEST_CASE(R7_the_oldest_whom_the_flags_satisfy_takes_them) {
  mailbox_result all, first, second, third;
  mailbox.async_take_all(a | b, handler(all));
  mailbox.async_take_any(a | c, handler(first));
  mailbox.async_take_any(a, handler(second));
  mailbox.async_take_any(b | c, handler(third));
  mailbox.raise(a | c);  // first takes both
  BOOST_TEST(mailbox.waiters() == 3u);
  mailbox.raise(a);
  BOOST_TEST(mailbox.waiters() == 2u);
  poll();
  BOOST_TEST((first.got(a | c) && second.got(a) && all.waits() && third.waits()));
  mailbox.raise(b);
  poll();
  BOOST_TEST((third.got(b) && all.waits()));
  mailbox.raise(a);
  mailbox.raise(b);  // now both are up
  poll();
  BOOST_TEST(all.got(a | b));
  BOOST_TEST((mailbox.peek() == none && mailbox.waiters() == 0u));
}

BOOST_AUTO_TEST_CASE(R7_one_raise_serves_several_of_disjoint_sets_in_order) {
  std::string order;
  auto const note = [&](char name) {
    return [&order, name](error_code e, mailbox_flags) { order += e ? '-' : name; };
  };
  mailbox.async_take_any(a, note('1'));
  mailbox.async_take_any_for(a, 1h, note('2'));
  mailbox.async_wait_any(a, note('3'));
  mailbox.async_take_all(b | c, note('4'));
  mailbox.raise(every);
  poll();
  BOOST_TEST(order == "134");
  end();
  BOOST_TEST(mailbox.peek() == (every & ~(a | b | c)));
}

BOOST_AUTO_TEST_CASE(R7_whom_the_flags_do_not_satisfy_keeps_nobody_out_and_reserves_nothing) {
  mailbox_result all, now, queued;
  mailbox.async_take_all(a | b, handler(all));
  mailbox.raise(a);
  BOOST_TEST(mailbox.peek() == a);
  mailbox.async_take_any(a, handler(now));
  BOOST_TEST(mailbox.peek() == none);
  mailbox.raise(b);
  mailbox.async_take_any(a, handler(queued));
  mailbox.raise(a);
  BOOST_TEST(mailbox.peek() == none);
  poll();
  BOOST_TEST((now.got(a) && all.got(a | b) && queued.waits()));
  mailbox.raise(a);
  BOOST_TEST(mailbox.take(a) == none);  // it was taken
  poll();
  BOOST_TEST(queued.got(a));
}

BOOST_AUTO_TEST_CASE(Mailbox_take_beside_waits_takes_only_what_is_up) {
  mailbox_result waits;
  mailbox.async_take_all(a | b | c, handler(waits));
  mailbox.raise(a | b);
  BOOST_TEST(mailbox.take(b | c) == (a | b));
  BOOST_TEST(mailbox.peek() == a);
  mailbox.raise(c);
  poll();
  BOOST_TEST(waits.waits());
  mailbox.raise(b);
  poll();
  BOOST_TEST(waits.got(a | b | c));
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_take_raises_again_what_it_took) {
  for (bool const queued : {false, true})
    for (bool const all : {false, true}) {
      mailbox_result dropped;
      {
        asio::io_context dying;
        if (!queued) mailbox.raise(a | b);
        auto token = asio::bind_executor(dying, handler(dropped));
        if (all)
          mailbox.async_take_all(a | b, std::move(token));
        else
          mailbox.async_take_any(a | b | c, std::move(token));
        if (queued) mailbox.raise(a | b);
        BOOST_TEST(mailbox.peek() == none);
        mailbox.raise(a);
        BOOST_TEST(mailbox.take(every) == a);  // in between
      }
      BOOST_TEST(dropped.dropped());
      BOOST_TEST(mailbox.take(every) == (a | b));
    }
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_take_satisfies_others_and_raises_the_rest) {
  mailbox_result dropped[2], looks, takes, not_this;
  {
    asio::io_context dying;
    mailbox.async_take_any(a | b | c, asio::bind_executor(dying, handler(dropped[0])));
    mailbox.async_take_any(b, asio::bind_executor(dying, handler(dropped[1])));
    mailbox.async_wait_all_for(a | b, 1h, handler(looks));
    mailbox.async_take_any(b, handler(takes));
    mailbox.async_take_all(b | c, asio::bind_executor(other, handler(not_this)));
    mailbox.raise(a | b);  // the first takes it, the third sees it
    BOOST_TEST(mailbox.waiters() == 3u);
    poll();
    BOOST_TEST(looks.got(a | b));
  }
  BOOST_TEST((dropped[0].dropped() && dropped[1].dropped()));
  BOOST_TEST(mailbox.peek() == a);
  poll();
  BOOST_TEST((takes.got(b) && not_this.waits()));
  end();
}

BOOST_AUTO_TEST_CASE(R3_a_dropped_look_raises_nothing) {
  mailbox_result dropped[2];
  {
    asio::io_context dying;
    mailbox.async_wait_any(a, asio::bind_executor(dying, handler(dropped[0])));
    mailbox.async_wait_all(a | b, asio::bind_executor(dying, handler(dropped[1])));
    mailbox.raise(a | b);
    mailbox.take(a | b);
  }
  BOOST_TEST((dropped[0].dropped() && dropped[1].dropped()));
  BOOST_TEST(mailbox.peek() == none);
}

BOOST_AUTO_TEST_CASE(R4_a_cancelled_wait_takes_nothing_and_gives_back_what_it_took) {
  mailbox_result r[3];
  asio::cancellation_signal signals[3];
  for (int i = 0; i < 3; ++i)
    mailbox.async_take_any(a, asio::bind_cancellation_slot(signals[i].slot(), handler(r[i])));
  signals[0].emit(asio::cancellation_type::partial);
  mailbox.raise(a);
  signals[1].emit(asio::cancellation_type::all);
  BOOST_TEST(mailbox.cancel() == 1u);
  mailbox.raise(a);
  poll();
  BOOST_TEST((r[0].refused(aborted) && r[1].refused(aborted) && r[2].refused(aborted)));
  BOOST_TEST(mailbox.peek() == a);
}

BOOST_AUTO_TEST_CASE(R4_what_a_withdrawn_take_had_is_up_again_whatever_was_taken_meanwhile) {
  mailbox_result first, next;
  asio::cancellation_signal signal;
  mailbox.async_take_all(a | b, asio::bind_cancellation_slot(signal.slot(), handler(first)));
  mailbox.async_take_any(b, handler(next));
  mailbox.raise(a | b);
  signal.emit(asio::cancellation_type::total);
  mailbox.take(a | b);
  poll();
  BOOST_TEST((first.refused(aborted) && next.got(b)));
  BOOST_TEST(mailbox.peek() == a);
}

BOOST_AUTO_TEST_CASE(R4_a_wait_that_took_nothing_is_not_withdrawn) {
  mailbox_result r[4];
  asio::cancellation_signal signals[4];
  auto const token = [&](int i) {
    return asio::bind_cancellation_slot(signals[i].slot(), handler(r[i]));
  };
  mailbox.async_wait_any(a | b, token(0));
  mailbox.async_wait_all(a, token(1));
  mailbox.raise(a);
  mailbox.async_wait_any(a, token(2));
  mailbox.async_take_any(none, token(3));
  for (auto& each : signals) each.emit(asio::cancellation_type::total);
  poll();
  BOOST_TEST((r[0].got(a) && r[1].got(a) && r[2].got(a) && r[3].got(none)));
  BOOST_TEST(mailbox.peek() == a);
}

BOOST_AUTO_TEST_CASE(R11_zero_time_tries_once_in_every_form) {
  auto const now = std::chrono::steady_clock::now();
  for (mailbox_flags const up : {none, a, b, a | b}) {
    mailbox_result r[8];
    mailbox.raise(up);
    mailbox.async_wait_any_for(a | c, 0s, handler(r[0]));
    mailbox.async_wait_all_for(a | b, -1s, handler(r[1]));
    mailbox.async_wait_any_until(a | c, now, handler(r[2]));
    mailbox.async_wait_all_until(a | b, now, handler(r[3]));
    mailbox.async_take_all_for(a | b, 0s, handler(r[4]));
    mailbox.raise(up);
    mailbox.async_take_all_until(a | b, std::chrono::system_clock::now() - 1h, handler(r[5]));
    mailbox.raise(up);
    mailbox.async_take_any_for(a | c, 0s, handler(r[6]));
    mailbox.async_take_any_until(b, now, handler(r[7]));
    BOOST_TEST((mailbox.waiters() == 0u && mailbox.peek() == none));
    poll();
    mailbox_flags const any = up & a, all = up == (a | b) ? up : none;
    mailbox_flags const expected[] = {any, all, any, all, all, all, any, up & b};
    for (int i = 0; i < 8; ++i)
      BOOST_TEST((expected[i] ? r[i].got(expected[i]) : r[i].refused(timed_out)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
