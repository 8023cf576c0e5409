// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_GRANTS_HPP
#define ASIO_SYNC_TEST_RULES_GRANTS_HPP

// R4 and R5: grants against cancellations, and from within user code.

#include "rules/common.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

// Whatever a handler, its destructor or its allocator may want of the primitive.
inline void use(primitive_type& p) {
  fate f;
  asio::io_context io;
  static_cast<void>(p.waiters());
  static_cast<void>(subject::hold(p));
  if (grant const got = subject::block_for(p, 0s)) renew(p);
  subject::wait_for(p, 1h, asio::bind_executor(io, observed_handler(f)));
  p.cancel();
  io.run();
  BOOST_TEST(f.called == 1);
  if (f.granted()) renew(p);
}

// A handler that calls a function when it is called or moved, when it is destroyed unmoved, and
// when its allocator is used.
struct talkative_handler {
  struct hooks {
    std::function<void()> called, moved, destroyed, allocates;
  };

  template <class T = void>
  struct allocator {
    using value_type = T;

    explicit allocator(hooks& h) noexcept : on(&h) {}
    template <class U>
    allocator(allocator<U> const& other) noexcept : on(other.on) {}
    T* allocate(std::size_t n) {
      if (on->allocates) on->allocates();
      return std::allocator<T>().allocate(n);
    }
    void deallocate(T* memory, std::size_t n) noexcept {
      if (on->allocates) on->allocates();
      std::allocator<T>().deallocate(memory, n);
    }
    friend bool operator==(allocator const&, allocator const&) noexcept = default;

    hooks* on;
  };

  using allocator_type = allocator<>;
  allocator_type get_allocator() const noexcept { return allocator_type(*on); }

  explicit talkative_handler(hooks& h) noexcept : on(&h) {}
  talkative_handler(talkative_handler&& other) noexcept
      : on(other.on), live(std::exchange(other.live, false)) {
    if (on->moved) on->moved();
  }
  talkative_handler& operator=(talkative_handler&&) = delete;
  ~talkative_handler() {
    if (live && on->destroyed) on->destroyed();
  }

  void operator()(error_code, auto...) {
    if (on->called) on->called();
  }

  hooks* on;
  bool live = true;
};

}  // namespace ASIO_SYNC_RULES_SUITE

BOOST_FIXTURE_TEST_SUITE(ASIO_SYNC_RULES_SUITE, fixture)

BOOST_AUTO_TEST_CASE(R4_every_type_of_cancellation_takes_the_wait_out_at_once) {
  for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                          asio::cancellation_type::total, asio::cancellation_type::all}) {
    result r;
    asio::cancellation_signal signal;
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait(primitive, asio::bind_cancellation_slot(signal.slot(), r.handler()));
    signal.emit(asio::cancellation_type::none);
    BOOST_TEST(primitive.waiters() == 1u);
    signal.emit(type);
    BOOST_TEST(primitive.waiters() == 0u);
    signal.emit(type);
    BOOST_TEST(r.calls == 0);
    poll();
    BOOST_TEST(r.refused(aborted));
    subject::serve(primitive);
    BOOST_TEST(idle());
  }
}

BOOST_AUTO_TEST_CASE(R4_after_the_grant_cancel_does_nothing) {
  result free, queued;
  subject::wait(primitive, free.handler());
  BOOST_TEST(primitive.cancel() == 0u);
  poll();
  BOOST_TEST(free.granted());
  keep_occupied(primitive);
  subject::wait(primitive, queued.handler());
  let_go(primitive, free.held);
  BOOST_TEST(primitive.cancel() == 0u);
  poll();
  BOOST_TEST(queued.granted());
}

BOOST_AUTO_TEST_CASE(R4_cancel_completes_all_that_wait_and_leaves_the_holder_alone) {
  result r[3];
  grant held = subject::hold(primitive);
  for (auto& each : r) subject::wait(primitive, each.handler());
  blocked_thread thread(primitive, 4, [&] { static_cast<void>(subject::block(primitive)); });
  blocked_thread timed(primitive, 5,
                       [&] { static_cast<void>(subject::block_for(primitive, 1h)); });
  BOOST_TEST(primitive.cancel() == 5u);
  BOOST_TEST(primitive.cancel() == 0u);
  poll();
  for (auto const& each : r) BOOST_TEST(each.refused(aborted));
  BOOST_TEST((thread.join() == aborted && timed.join() == aborted));
  BOOST_TEST(static_cast<bool>(held));
  let_go(held);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R4_those_behind_a_cancelled_wait_move_up) {
  result r[3];
  asio::cancellation_signal signals[2];
  grant held = subject::hold(primitive);
  for (int i = 0; i < 2; ++i)
    subject::wait(primitive, asio::bind_cancellation_slot(signals[i].slot(), r[i].handler()));
  subject::wait(primitive, r[2].handler());
  signals[1].emit(asio::cancellation_type::partial);
  signals[0].emit(asio::cancellation_type::total);
  BOOST_TEST(primitive.waiters() == 1u);
  let_go(held);
  poll();
  BOOST_TEST((r[0].refused(aborted) && r[1].refused(aborted) && r[2].granted()));
}

BOOST_AUTO_TEST_CASE(R4_the_signal_may_die_before_its_wait_completes) {
  std::optional<asio::cancellation_signal> signal(std::in_place);
  fate f;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive, asio::bind_cancellation_slot(signal->slot(), observed_handler(f)));
  signal.reset();
  subject::serve(primitive);
  poll();
  BOOST_TEST(f.granted());
}

BOOST_AUTO_TEST_CASE(R4_the_slot_may_get_another_handler_before_the_wait_completes) {
  for (bool const cancelled : {false, true}) {
    fate f;
    asio::cancellation_signal signal;
    BOOST_TEST_REQUIRE(subject::occupy(primitive));
    subject::wait(primitive, asio::bind_cancellation_slot(signal.slot(), observed_handler(f)));
    if (cancelled) signal.emit(asio::cancellation_type::terminal);
    signal.slot().assign([](asio::cancellation_type) {});  // another operation's
    subject::serve(primitive);
    poll();
    BOOST_TEST(signal.slot().has_handler());
    BOOST_TEST((cancelled ? f.refused(aborted) : f.granted()));
  }
}

// The second wait lies in the memory of the first.
BOOST_AUTO_TEST_CASE(R4_a_signal_does_nothing_once_the_handler_is_called) {
  asio::cancellation_signal signal, next;
  result first, second;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive, asio::bind_cancellation_slot(signal.slot(), first.handler()));
  subject::serve(primitive);
  poll();
  BOOST_TEST(first.granted());
  keep_occupied(primitive);
  subject::wait(primitive, asio::bind_cancellation_slot(next.slot(), second.handler()));
  signal.emit(asio::cancellation_type::terminal);
  BOOST_TEST(primitive.waiters() == 1u);
  let_go(primitive, first.held);
  poll();
  BOOST_TEST(second.granted());
}

BOOST_AUTO_TEST_CASE(R4_a_coroutine_is_cancelled_through_its_signal) {
  asio::cancellation_signal signal;
  error_code error;
  auto const coroutine = [&]() -> asio::awaitable<void> {
    try {
      static_cast<void>(co_await granted(subject::wait(primitive)));
    } catch (system_error const& e) {
      error = e.code();
    }
  };
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  asio::co_spawn(context, coroutine,
                 asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr) {}));
  poll();
  BOOST_TEST(primitive.waiters() == 1u);
  signal.emit(asio::cancellation_type::terminal);
  poll();
  BOOST_TEST(primitive.waiters() == 0u);
  BOOST_TEST(error == aborted);
}

// Which of them wins is left to the machine, but one does.
BOOST_AUTO_TEST_CASE(R4_cancel_meets_grant) {
  asio::thread_pool pool(1);
  primitive_type in_pool(pool);
  std::atomic<int> granted = 0, refused = 0;
  for (int round = 1; round <= 1000; ++round) {
    primitive_type& p = round % 2 ? in_pool : primitive;
    BOOST_TEST_REQUIRE(subject::occupy(p));
    asio::cancellation_signal signal;
    auto const ended = [&](error_code e, auto... g) {
      ++(is_granted(e, g...) ? granted : refused);
    };
    subject::wait(p,
                  asio::bind_executor(pool, asio::bind_cancellation_slot(signal.slot(), ended)));
    asio::post(pool, [&] { signal.emit(asio::cancellation_type::terminal); });
    subject::serve(p);
    while (granted + refused != round) std::this_thread::yield();
    while (!subject::idle(p)) std::this_thread::yield();
    std::promise<void> emitted;
    asio::post(pool, [&] { emitted.set_value(); });
    emitted.get_future().wait();
  }
  BOOST_TEST(granted + refused == 1000);
}

BOOST_AUTO_TEST_CASE(R5_handlers_and_their_destructors_may_use_the_primitive) {
  fate f[4];
  auto const uses = [&] { use(primitive); };
  {
    asio::io_context dying;
    auto const bound = [&](fate& each) {
      return asio::bind_executor(dying, observed_handler(each, uses));
    };
    subject::wait(primitive, bound(f[0]));  // dies on its way
    keep_occupied(primitive);
    subject::wait(primitive, bound(f[1]));  // dies in the queue
    subject::wait_for(primitive, 1h, bound(f[2]));
  }
  end_occupation(primitive);
  subject::wait(primitive, observed_handler(f[3], uses));  // is called
  renew(primitive);
  subject::wait(primitive, [&](error_code, auto...) { uses(); });
  poll();
  renew(primitive);
  BOOST_TEST(f[0].dropped());
  BOOST_TEST(f[1].called + f[2].called == 0);
  BOOST_TEST(f[3].granted());
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R5_whatever_belongs_to_a_handler_may_use_the_primitive) {
  int uses = 0;
  bool inside = false;
  auto const uses_it = [&] {
    if (std::exchange(inside, true)) return;
    ++uses;
    use(primitive);
    inside = false;
  };
  using hooks = talkative_handler::hooks;
  for (auto const hook : {&hooks::called, &hooks::moved, &hooks::destroyed, &hooks::allocates})
    for (bool const queued : {false, true}) {
      hooks on;
      on.*hook = uses_it;
      uses = 0;
      asio::cancellation_signal signal;
      if (queued) BOOST_TEST_REQUIRE(subject::occupy(primitive));
      subject::wait(primitive, asio::bind_cancellation_slot(signal.slot(), talkative_handler(on)));
      if (queued) subject::serve(primitive);
      poll();
      renew(primitive);
      {
        asio::io_context dying;
        if (queued) BOOST_TEST_REQUIRE(subject::occupy(primitive));
        subject::wait_for(primitive, 1h, asio::bind_executor(dying, talkative_handler(on)));
      }
      if (queued) subject::serve(primitive);
      on = {};
      BOOST_TEST(uses > 0);
      BOOST_TEST(idle());
    }
}

BOOST_AUTO_TEST_CASE(R5_the_handler_of_a_slot_that_is_destroyed_may_use_the_primitive) {
  struct in_slot {
    explicit in_slot(primitive_type& used) noexcept : p(used) {}
    ~in_slot() { p.cancel(); }
    void operator()(asio::cancellation_type) const {}
    primitive_type& p;
  };
  result waiting, r;
  asio::cancellation_signal signal;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive, waiting.handler());
  signal.slot().emplace<in_slot>(primitive);
  subject::wait(primitive,
                asio::bind_cancellation_slot(signal.slot(), r.handler()));  // in its place
  BOOST_TEST(primitive.waiters() == 1u);
  subject::serve(primitive);
  poll();
  BOOST_TEST((waiting.refused(aborted) && r.granted()));
}

BOOST_AUTO_TEST_CASE(R5_executors_may_use_the_primitive) {
  execution_log log;
  tracking_executor const own(context.get_executor(), log);
  log.on_execute = log.on_property = [&] {
    static_cast<void>(primitive.waiters());
    static_cast<void>(subject::hold(primitive));
    primitive.cancel();
  };
  fate f;
  BOOST_TEST_REQUIRE(subject::occupy(primitive));
  subject::wait(primitive, asio::bind_executor(own, observed_handler(f)));
  subject::serve(primitive);
  poll();
  BOOST_TEST(f.called + f.destroyed == 2);
  BOOST_TEST(idle());
}

BOOST_AUTO_TEST_CASE(R5_the_handler_may_destroy_the_primitive) {
  for (ending how : {ending::free, ending::serve, ending::cancel, ending::close}) {
    auto own = std::make_unique<primitive_type>(context);
    result behind;
    int called = 0;
    if (how != ending::free) BOOST_TEST_REQUIRE(subject::occupy(*own));
    subject::wait(*own, [&](error_code, auto... g) {
      ++called;
      (let_go(g), ...);
      own.reset();
    });
    if (how == ending::free) keep_occupied(*own);
    subject::wait(*own, behind.handler());
    if (how == ending::serve) subject::serve(*own);
    if (how == ending::cancel) BOOST_TEST(own->cancel() == 2u);
    if (how == ending::close) own->close();
    poll();
    BOOST_TEST(called == 1);
    BOOST_TEST(!own);
    bool const is_served = how == ending::free || how == ending::serve;
    if ((how == ending::serve && !owns) || (is_served && is_remote))
      BOOST_TEST(behind.granted());
    else
      BOOST_TEST(behind.refused(how == ending::close ? closed : aborted));
  }
}

BOOST_AUTO_TEST_SUITE_END()

#endif
