// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_ORDER_HPP
#define ASIO_SYNC_TEST_RULES_ORDER_HPP

// R6: chains of hand-offs; and what else happens to very many waits.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// How often what happened to many handlers.
struct outcomes {
  std::size_t granted = 0, refused = 0, dropped = 0;
};

class counting_handler {
 public:
  explicit counting_handler(outcomes& o) noexcept : outcomes_(&o) {}
  counting_handler(counting_handler&& other) noexcept
      : outcomes_(std::exchange(other.outcomes_, nullptr)) {}
  counting_handler& operator=(counting_handler&&) = delete;
  ~counting_handler() {
    if (outcomes_) ++outcomes_->dropped;
  }
  template <class... Grant>
    requires carried<Grant...>
  void operator()(error_code error, Grant...) {
    outcomes& o = *std::exchange(outcomes_, nullptr);
    ++(error ? o.refused : o.granted);
  }

 private:
  outcomes* outcomes_;
};

template <class Executor>
void queue_many(primitive_type& p, Executor const& ex, outcomes& o) {
  for (std::size_t i = 0; i < many_waits; ++i)
    subject::wait(p, asio::bind_executor(ex, counting_handler(o)));
}

// Many waits on that executor are served, one by the other or all at once; what has come of them
// when the first was served, and at the end. On a small stack.
template <class Executor>
std::pair<outcomes, outcomes> chain(asio::io_context& io, Executor const& ex) {
  outcomes o, at_first;
  run_on_stack(small_stack, [&] {
    primitive_type p(io);
    if (!subject::occupy(p)) return;
    queue_many(p, ex, o);
    subject::serve(p);
    at_first = o;
    io.restart();
    io.run();
    if (!subject::idle(p)) o = {};
  });
  return {at_first, o};
}

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_an_io_context) {
  auto const [first, all] = chain(context, context.get_executor());
  BOOST_TEST(first.granted == 0u);
  BOOST_TEST(all.granted == many_waits);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_a_strand) {
  auto const [first, all] = chain(context, asio::make_strand(context));
  BOOST_TEST(first.granted == 0u);
  BOOST_TEST(all.granted == many_waits);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_a_strand_of_any_executor) {
  asio::any_io_executor const ex = context.get_executor();
  auto const [first, all] = chain(context, asio::make_strand(ex));
  BOOST_TEST(first.granted == 0u);
  BOOST_TEST(all.granted == many_waits);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_a_thread_pool) {
  asio::thread_pool pool(1);
  primitive_type p(pool);
  outcomes in_pool, in_strand;
  auto const strand = asio::make_strand(pool);
  BOOST_TEST_REQUIRE(subject::occupy(p));
  queue_many(p, pool.get_executor(), in_pool);
  queue_many(p, strand, in_strand);
  subject::serve(p);
  pool.join();
  BOOST_TEST((in_pool.granted == many_waits && in_strand.granted == many_waits));
}

BOOST_AUTO_TEST_CASE(R6_chain_of_hand_offs_on_an_executor_that_runs_inline) {
  auto const [first, all] = chain(context, inline_executor(context));
  BOOST_TEST(first.granted == many_waits);
  BOOST_TEST(all.granted == many_waits);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_grants_that_are_dropped) {
  auto const [first, all] = chain(context, dropping_executor(context));
  BOOST_TEST(first.dropped == many_waits);
  BOOST_TEST(all.dropped == many_waits);
}

BOOST_AUTO_TEST_CASE(R6_chain_of_grants_that_die_with_their_context) {
  outcomes o;
  result last;
  run_on_stack(small_stack, [&] {
    asio::io_context dying;
    for (std::size_t i = 0; i < many_waits; ++i)
      subject::wait(primitive, asio::bind_executor(dying, counting_handler(o)));
    subject::wait(primitive, last.handler());
  });
  BOOST_TEST(o.dropped == many_waits);
  poll();
  BOOST_TEST(last.granted());
}

BOOST_AUTO_TEST_CASE(R6_what_serves_cancels_or_closes_runs_none_of_the_handlers) {
  fate f[3];
  asio::post(context, [&] {  // on the very thread that runs them
    subject::wait(primitive, observed_handler(f[0]));
    keep_occupied(primitive);
    for (int i : {1, 2}) {
      BOOST_TEST(i == static_cast<int>(primitive.waiters()) + i);
      subject::wait(primitive, observed_handler(f[i]));
      if (i == 1) primitive.cancel();
      if (i == 2) primitive.close();
    }
    for (auto const& each : f) BOOST_TEST(each.waits());
  });
  poll();
  BOOST_TEST((f[0].granted() && f[1].refused(aborted) && f[2].refused(closed)));
}

BOOST_AUTO_TEST_CASE(R6_inline_completions_do_not_nest) {
  int inside = 0, done = 0;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  for (int i = 0; i < 3; ++i)
    subject::wait(primitive,
                  asio::bind_executor(inline_executor(context), [&, i](error_code, auto... g) {
                    BOOST_TEST(++inside == 1);
                    (let_go(g), ...);
                    BOOST_TEST(done++ == i);
                    --inside;
                  }));
  subject::serve(primitive);
  BOOST_TEST(done == 3);
}

BOOST_AUTO_TEST_CASE(R4_very_many_waits_are_cancelled) {
  outcomes o;
  run_on_stack(small_stack, [&] {
    if (!subject::occupy(primitive)) return;
    queue_many(primitive, context.get_executor(), o);
    BOOST_TEST(primitive.cancel() == many_waits);
    BOOST_TEST(o.refused == 0u);
    context.run();
  });
  BOOST_TEST(o.refused == many_waits);
}

BOOST_AUTO_TEST_CASE(R9_a_primitive_is_destroyed_with_very_many_waits) {
  outcomes o;
  run_on_stack(small_stack, [&] {
    {
      primitive_type p(context);
      if (!subject::occupy(p)) return;
      queue_many(p, context.get_executor(), o);
      queue_many(p, inline_executor(context), o);
    }
    context.run();
  });
  BOOST_TEST(o.refused == 2 * many_waits);
}

BOOST_AUTO_TEST_CASE(R10_a_context_is_destroyed_with_very_many_waits) {
  outcomes o;
  run_on_stack(small_stack, [&] {
    asio::io_context dying;
    primitive_type near(dying);
    if (!subject::occupy(near) || !subject::occupy(primitive)) return;
    queue_many(near, dying.get_executor(), o);
    queue_many(primitive, dying.get_executor(), o);
  });
  BOOST_TEST(o.dropped == 2 * many_waits);
  BOOST_TEST(primitive.waiters() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

#endif
