// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_LIFETIME_HPP
#define ASIO_SYNC_TEST_RULES_LIFETIME_HPP

// R9 and R10: what outlives what.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// Waits of every kind whose handlers belong to the context.
template <class Context>
void queue_all_kinds(primitive_type& p, Context& context, fate (&f)[4]) {
  auto const strand = asio::make_strand(context);
  subject::wait(p, asio::bind_executor(context, observed_handler(f[0])));
  subject::wait(p, asio::bind_executor(strand, observed_handler(f[1])));
  subject::wait_for(p, 1h, asio::bind_executor(context, observed_handler(f[2])));
  subject::wait_for(p, 1h,
                    asio::bind_executor(asio::any_io_executor(strand), observed_handler(f[3])));
}

// What has become of all of them.
inline bool dropped(fate const (&f)[4]) {
  return std::ranges::all_of(f, [](fate const& each) { return each.dropped(); });
}
inline bool refused(fate const (&f)[4], error_code e) {
  return std::ranges::all_of(f, [&](fate const& each) { return each.refused(e); });
}
inline bool granted(fate const (&f)[4]) {
  return std::ranges::all_of(f, [](fate const& each) { return each.granted(); });
}

// Has a context that knows nothing of the library yet shut down, and act while it destroys what is
// in its queue.
inline void act_in_a_shutdown(std::function<void(asio::io_context&)> act) {
  asio::io_context dying;
  std::shared_ptr<void> const end(nullptr, [&](void*) { act(dying); });
  asio::post(dying, [end] {});
}

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R9_waits_of_a_destroyed_primitive_are_aborted_on_their_own_executors) {
  fate near[4], far[4];
  auto p = std::make_unique<primitive_type>(context);
  BOOST_TEST_REQUIRE(subject::occupy(*p));
  queue_all_kinds(*p, context, near);
  queue_all_kinds(*p, other, far);
  error_code in_coroutine;
  auto const coroutine = [&, &q = *p]() -> asio::awaitable<void> {
    static_cast<void>(
        co_await subject::wait(q, asio::redirect_error(asio::use_awaitable, in_coroutine)));
  };
  asio::co_spawn(context, coroutine, asio::detached);
  poll();
  blocked_thread thread(*p, 10, [&q = *p] { static_cast<void>(subject::block(q)); });
  p.reset();
  BOOST_TEST(thread.join() == aborted);
  poll();
  BOOST_TEST(in_coroutine == aborted);
  BOOST_TEST(refused(near, aborted));
  BOOST_TEST(far[0].waits());
  poll(other);
  BOOST_TEST(refused(far, aborted));
}

// As the last thing that is done with it, on whatever thread the wait completes.
BOOST_AUTO_TEST_CASE(R9_destruction_right_after_the_last_wait_was_served) {
  asio::thread_pool pool(1);
  for (int round = 0; round < 600; ++round) {
    auto p = std::make_unique<primitive_type>(pool);
    primitive_type& q = *p;
    std::atomic<int> ended = 0;
    grant kept;
    BOOST_TEST_REQUIRE(subject::occupy(q));
    std::optional<blocked_thread> thread;
    auto const coroutine = [&]() -> asio::awaitable<void> {
      try {
        kept = co_await granted(subject::wait(q));
      } catch (system_error const&) {
      }
      ++ended;
    };
    if (round % 3 == 0)
      thread.emplace(q, [&] { kept = subject::block(q); });
    else if (round % 3 == 1)
      asio::co_spawn(pool, coroutine, asio::detached);
    else
      subject::wait(q, [&](error_code, auto... g) { ((kept = std::move(g)), ...), ++ended; });
    while (q.waiters() != 1) std::this_thread::yield();
    subject::serve(q);
    for (std::atomic<int> spin = round / 3 % 40 * 25; spin > 0;) --spin;  // yields may take long
    p.reset();
    if (thread) thread->join();
    while (!thread && ended == 0) std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_CASE(R9_a_refusal_on_its_way_arrives_as_it_was_decided) {
  result expired, cancelled, late;
  {
    primitive_type p(context);
    BOOST_TEST_REQUIRE(subject::occupy(p));
    subject::wait_for(p, 0s, expired.handler());
    subject::wait(p, cancelled.handler());
    p.cancel();
    subject::wait(p, late.handler());
    p.close();
  }
  poll();
  BOOST_TEST(expired.refused(timed_out));
  BOOST_TEST(cancelled.refused(aborted));
  BOOST_TEST(late.refused(closed));
}

BOOST_AUTO_TEST_CASE(R9_signals_and_deadlines_of_a_dead_primitive_do_nothing) {
  asio::cancellation_signal signal;
  result r[2];
  {
    primitive_type p(context);
    BOOST_TEST_REQUIRE(subject::occupy(p));
    subject::wait(p, asio::bind_cancellation_slot(signal.slot(), r[0].handler()));
    subject::wait_for(p, 1ms, r[1].handler());
  }
  signal.emit(asio::cancellation_type::all);
  std::this_thread::sleep_for(2ms);
  poll();
  signal.emit(asio::cancellation_type::all);
  for (auto const& each : r) BOOST_TEST(each.refused(aborted));
}

BOOST_AUTO_TEST_CASE(R9_an_inline_handler_destroys_the_primitive_inside_what_completes_it) {
  for (bool const queued : {false, true}) {
    auto p = std::make_unique<primitive_type>(context);
    if (queued) BOOST_TEST_REQUIRE(subject::occupy(*p));
    auto const destroys = [&](error_code e, auto... g) {
      BOOST_TEST(is_granted(e, g...));
      (let_go(g), ...);
      p.reset();
    };
    subject::wait(*p, asio::bind_executor(inline_executor(context), destroys));
    if (queued) serve_last(*p);
    BOOST_TEST(!p);
  }
}

BOOST_AUTO_TEST_CASE(R10_a_dead_context_does_not_disturb_blocked_threads) {
  fate f;
  auto dying = std::make_unique<asio::io_context>();
  primitive_type p(*dying);
  BOOST_TEST_REQUIRE(subject::occupy(p));
  subject::wait(p, observed_handler(f));
  blocked_thread thread(p, 2, [&] { static_cast<void>(subject::block(p)); });
  dying.reset();
  BOOST_TEST(f.dropped());
  BOOST_TEST(p.waiters() == 1u);
  subject::serve(p);
  BOOST_TEST(!thread.join());
  BOOST_TEST(subject::idle(p));
}

BOOST_AUTO_TEST_CASE(R10_a_handler_that_owns_the_primitive_dies_with_its_context) {
  fate f;
  {
    asio::io_context dying;
    auto own = std::make_shared<primitive_type>(dying);
    BOOST_TEST_REQUIRE(subject::occupy(*own));
    subject::wait(*own, [own, h = observed_handler(f)](error_code, auto...) {});
    subject::wait_for(*own, 1h, [own](error_code, auto...) {});
  }
  BOOST_TEST(f.dropped());
}

BOOST_AUTO_TEST_CASE(R10_a_wait_that_a_destructor_initiates_in_a_shutdown_is_dropped_at_once) {
  fate first, late[4];
  {
    asio::io_context dying;
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait(primitive, asio::bind_executor(dying, observed_handler(first, [&] {
                                                   queue_all_kinds(primitive, dying, late);
                                                   BOOST_TEST(dropped(late));
                                                 })));
  }
  BOOST_TEST((first.dropped() && dropped(late)));
  BOOST_TEST(primitive.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R10_the_first_waits_of_a_context_begin_in_its_shutdown) {
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  for (bool const timed_first : {false, true}) {
    fate first, late[4];
    act_in_a_shutdown([&](asio::io_context& dying) {
      if (timed_first)
        subject::wait_for(primitive, 1h, asio::bind_executor(dying, observed_handler(first)));
      else
        subject::wait(primitive, asio::bind_executor(dying, observed_handler(first)));
      queue_all_kinds(primitive, dying, late);
      BOOST_TEST((first.dropped() && dropped(late)));
    });
    BOOST_TEST((first.dropped() && dropped(late)));
    BOOST_TEST(primitive.waiters() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(R10_a_primitive_that_is_made_in_a_shutdown_goes_on_without_a_home) {
  std::unique_ptr<primitive_type> made;
  fate at_home, late[4], here;
  act_in_a_shutdown([&](asio::io_context& dying) {
    made = std::make_unique<primitive_type>(dying);
    BOOST_TEST_REQUIRE(subject::occupy(*made));
    subject::wait(*made, observed_handler(at_home));
    queue_all_kinds(*made, dying, late);
    BOOST_TEST((at_home.dropped() && dropped(late)));
    subject::wait(*made, asio::bind_executor(other, observed_handler(here)));
  });
  BOOST_TEST(made->waiters() == 1u);
  subject::serve(*made);
  poll(other);
  BOOST_TEST(here.granted());
  BOOST_TEST(subject::idle(*made));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
