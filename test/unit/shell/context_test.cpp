// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>

#include "support/executors.hpp"

namespace context_test {

using namespace asio_sync::test;

// Waits of every kind for the mutex whose handlers belong to the context. The mutex is held.
template <class Context>
void queue_all_kinds(async_mutex& mutex, Context& context, fate (&fates)[4]) {
  auto const strand = asio::make_strand(context);
  mutex.async_lock(asio::bind_executor(context, observed_handler(fates[0])));
  mutex.async_lock(asio::bind_executor(strand, observed_handler(fates[1])));
  mutex.async_lock_for(1h, asio::bind_executor(context, observed_handler(fates[2])));
  mutex.async_lock_for(
      1h, asio::bind_executor(asio::any_io_executor(strand), observed_handler(fates[3])));
}

bool all_dropped(fate const (&fates)[4]) {
  return std::ranges::all_of(fates, [](fate const& f) { return f.dropped(); });
}

// A held mutex that destructors may unlock, or destroy.
struct held_mutex {
  explicit held_mutex(asio::io_context& home) : mutex(std::make_unique<async_mutex>(home)) {
    lock = async_mutex::lock_type(*mutex, std::try_to_lock);
  }
  void unlock() {
    if (lock.owns_lock()) lock.unlock();
  }
  void reset() {
    unlock();
    mutex.reset();
  }

  std::unique_ptr<async_mutex> mutex;
  async_mutex::lock_type lock;
};

// Destroys a context with waits of all kinds, on a mutex at home in it and on one elsewhere. The
// handlers' destructors do action(context, near, far).
template <class Action>
void act_in_destructors(Action action) {
  asio::io_context elsewhere;
  held_mutex far(elsewhere);
  fate follower;
  {
    auto context = std::make_unique<asio::io_context>();
    held_mutex near(*context);
    fate fates[8];
    auto const handler = [&, &dying = *context](int i) {
      return observed_handler(fates[i], [&] { action(dying, near, far); });
    };
    auto const ex = context->get_executor();
    for (int i = 0; i < 8; i += 4) {
      auto const strand = asio::make_strand(ex);
      async_mutex& mutex = i == 0 ? *near.mutex : *far.mutex;
      mutex.async_lock(asio::bind_executor(ex, handler(i)));
      mutex.async_lock_for(1h, asio::bind_executor(ex, handler(i + 1)));
      mutex.async_lock(asio::bind_executor(strand, handler(i + 2)));
      mutex.async_lock_for(1h, asio::bind_executor(strand, handler(i + 3)));
    }
    far.mutex->async_lock(observed_handler(follower));
    context.reset();
    for (auto const& f : fates) BOOST_TEST(f.dropped());
  }
  far.unlock();
  elsewhere.run();
  BOOST_TEST(follower.called == 1);
}

// Destroys what a step says, in the order that `order` gives.
void destroy_in_order(std::vector<int> const& order, bool granted) {
  auto first = std::make_unique<asio::io_context>();
  auto second = std::make_unique<asio::thread_pool>(1);
  auto mutex = std::make_unique<async_mutex>(*first);
  auto held = std::make_unique<async_mutex::lock_type>(*mutex, std::try_to_lock);
  second->stop();
  second->join();
  fate fates[2][4];
  fate ahead[2];
  if (granted) {
    mutex->async_lock(observed_handler(ahead[0]));
    mutex->async_lock(asio::bind_executor(*second, observed_handler(ahead[1])));
  }
  queue_all_kinds(*mutex, *first, fates[0]);
  queue_all_kinds(*mutex, *second, fates[1]);
  for (int step : order) switch (step) {
      case 0: first.reset(); break;
      case 1: second.reset(); break;
      case 2: held.reset(); break;
      case 3: mutex.reset();
    }
  BOOST_TEST(all_dropped(fates[0]));
  BOOST_TEST(all_dropped(fates[1]));
}

}  // namespace context_test

BOOST_AUTO_TEST_SUITE(context_test)

BOOST_AUTO_TEST_CASE(R10_handlers_of_a_destroyed_context_are_destroyed_and_not_called) {
  fate fates[4];
  fate on_their_way[2];
  asio::io_context home;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  {
    asio::io_context context;
    mutex.async_lock(asio::bind_executor(context, observed_handler(on_their_way[0])));
    mutex.cancel();
    mutex.async_lock(asio::bind_executor(context, observed_handler(on_their_way[1])));
    queue_all_kinds(mutex, context, fates);
    mutex.unlock();
    BOOST_TEST(mutex.waiters() == 4u);
  }
  BOOST_TEST(all_dropped(fates));
  for (auto const& f : on_their_way) BOOST_TEST(f.dropped());
  BOOST_TEST(mutex.waiters() == 0u);
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_CASE(R10_waits_leave_the_queue_of_a_mutex_elsewhere_with_their_context) {
  asio::io_context home;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate queued[4];
  fate refused;
  fate living;
  {
    asio::io_context context;
    mutex.async_lock(asio::bind_executor(context, observed_handler(refused)));
    mutex.cancel();
    queue_all_kinds(mutex, context, queued);
    mutex.async_lock(observed_handler(living));
  }
  BOOST_TEST(all_dropped(queued));
  BOOST_TEST(refused.dropped());
  BOOST_TEST(mutex.waiters() == 1u);
  BOOST_TEST(living.waits());
  mutex.unlock();
  home.poll();
  BOOST_TEST(living.granted());
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_CASE(R10_stopped_context_is_destroyed_with_completions_on_their_way) {
  fate fates[3];
  auto pool = std::make_unique<asio::thread_pool>(1);
  pool->stop();
  async_mutex mutex(*pool);
  mutex.async_lock(observed_handler(fates[0]));
  mutex.async_lock(asio::bind_executor(asio::make_strand(*pool), observed_handler(fates[1])));
  mutex.async_lock_for(0s, observed_handler(fates[2]));
  pool.reset();
  for (auto const& f : fates) BOOST_TEST(f.dropped());
  BOOST_TEST(mutex.try_lock());
}

BOOST_AUTO_TEST_CASE(R10_handler_that_owns_the_mutex_does_not_leak_it) {
  std::weak_ptr<async_mutex> watch;
  fate fates[4];
  asio::io_context home;
  for (bool const at_home : {false, true}) {
    fate f[4];
    asio::io_context context;
    auto mutex = std::make_shared<async_mutex>(at_home ? context : home);
    watch = mutex;
    BOOST_TEST_REQUIRE(mutex->try_lock());
    async_mutex& m = *mutex;
    auto const strand = asio::make_strand(context);
    auto const handler = [&](int i) { return observed_handler(f[i], [mutex] {}); };
    m.async_lock(asio::bind_executor(context, handler(0)));
    m.async_lock_for(1h, asio::bind_executor(context, handler(1)));
    m.async_lock(asio::bind_executor(strand, handler(2)));
    m.async_lock_for(1h, asio::bind_executor(strand, handler(3)));
  }
  BOOST_TEST(watch.expired());

  auto context = std::make_unique<asio::io_context>();
  auto mutex = std::make_shared<async_mutex>(*context);
  watch = mutex;
  async_mutex& m = *mutex;
  m.async_lock(observed_handler(fates[0], [mutex] {}));
  m.async_lock(observed_handler(fates[1], [mutex] {}));
  m.async_lock(observed_handler(fates[2], [mutex = std::move(mutex)] {}));
  context.reset();
  BOOST_TEST(watch.expired());
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_initiate_other_waits) {
  std::vector<fate> late(64);
  std::size_t used = 0;
  act_in_destructors([&](asio::io_context& context, held_mutex& near, held_mutex& far) {
    auto const ex = context.get_executor();
    for (auto* m : {near.mutex.get(), far.mutex.get()}) {
      fate* f = &late[used];
      used += 3;
      m->async_lock(asio::bind_executor(ex, observed_handler(f[0])));
      m->async_lock_for(1h, asio::bind_executor(ex, observed_handler(f[1])));
      m->async_lock(asio::bind_executor(asio::make_strand(context), observed_handler(f[2])));
      for (int i = 0; i < 3; ++i) BOOST_TEST(f[i].dropped());
    }
  });
  BOOST_TEST(used == 48u);
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_unlock) {
  act_in_destructors([](asio::io_context&, held_mutex& near, held_mutex& far) {
    near.unlock();
    far.unlock();
  });
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_cancel_and_close) {
  act_in_destructors([](asio::io_context&, held_mutex& near, held_mutex& far) {
    near.mutex->cancel();
    far.mutex->cancel();
    near.mutex->close();
    far.mutex->close();
  });
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_destroy_the_mutex) {
  act_in_destructors([](asio::io_context&, held_mutex& near, held_mutex& far) {
    near.reset();
    far.reset();
  });
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_make_a_mutex) {
  std::vector<std::unique_ptr<async_mutex>> made;
  fate granted[8];
  act_in_destructors([&](asio::io_context& context, held_mutex&, held_mutex&) {
    async_mutex& mutex = *made.emplace_back(std::make_unique<async_mutex>(context));
    mutex.async_lock(observed_handler(granted[made.size() - 1]));
    fate queued[4];
    queue_all_kinds(mutex, context, queued);
    BOOST_TEST(all_dropped(queued));
  });
  BOOST_TEST(made.size() == 8u);
  for (auto const& f : granted) BOOST_TEST(f.dropped());
  for (auto const& mutex : made) BOOST_TEST(mutex->try_lock());
}

// With completion ports an io_context, once it shuts down, waits until no work is left: for ever,
// if that is in a service which is made meanwhile, and so is never shut down.
#if !defined(BOOST_ASIO_HAS_IOCP)
BOOST_AUTO_TEST_CASE(R10_first_wait_of_a_context_comes_from_a_destructor_while_it_shuts_down) {
  asio::io_context home;
  async_mutex mutex(home);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate late;
  fate posted;
  {
    asio::io_context context;
    auto const handler =
        std::make_shared<observed_handler>(posted, [&, ex = context.get_executor()] {
          mutex.async_lock(asio::bind_executor(ex, observed_handler(late)));
        });
    asio::post(context, [handler] {});
  }
  BOOST_TEST(posted.destroyed == 1);
  BOOST_TEST(late.dropped());
  BOOST_TEST(mutex.waiters() == 0u);
}
#endif

BOOST_AUTO_TEST_CASE(R10_contexts_mutex_and_guard_are_destroyed_in_every_order) {
  for (bool const granted : {false, true}) {
    std::vector<int> order{0, 1, 2, 3};
    do {
      auto const at = [&](int step) { return std::ranges::find(order, step); };
      if (at(2) < at(3)) destroy_in_order(order, granted);  // no guard outlives its mutex
    } while (std::ranges::next_permutation(order).found);
  }
}

BOOST_AUTO_TEST_CASE(R10_new_context_at_the_address_of_the_home_is_not_taken_for_it) {
  alignas(asio::io_context) std::byte memory[sizeof(asio::io_context)];
  auto* context = new (memory) asio::io_context;
  async_mutex mutex(*context);
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate before[4];
  queue_all_kinds(mutex, *context, before);
  context->~io_context();
  BOOST_TEST(all_dropped(before));

  context = new (memory) asio::io_context;
  fate after[4];
  queue_all_kinds(mutex, *context, after);
  context->poll();
  BOOST_TEST(!context->stopped());
  mutex.unlock();
  context->run();
  for (auto const& f : after) BOOST_TEST(f.granted());
  BOOST_TEST_REQUIRE(mutex.try_lock());
  fate last[4];
  context->restart();
  queue_all_kinds(mutex, *context, last);
  context->~io_context();
  BOOST_TEST(all_dropped(last));
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R10_context_is_destroyed_while_this_thread_still_keeps_completions_for_it) {
  asio::io_context other;
  async_mutex outer(other);
  for (bool const at_home : {false, true}) {
    auto context = std::make_unique<asio::io_context>();
    async_mutex mutex(at_home ? *context : other);
    BOOST_TEST_REQUIRE(mutex.try_lock());
    fate granted;
    fate queued;
    for (fate* f : {&granted, &queued})
      mutex.async_lock(asio::bind_executor(asio::make_strand(*context), observed_handler(*f)));
    bool done = false;
    outer.async_lock(asio::bind_executor(inline_executor(other), [&](error_code, auto) {
      mutex.unlock();
      context.reset();
      done = true;
    }));
    BOOST_TEST(done);
    BOOST_TEST(granted.dropped());
    BOOST_TEST(queued.dropped());
    BOOST_TEST(mutex.try_lock());
  }
}

// The home still holds work for the hand-over on its way.
BOOST_AUTO_TEST_CASE(R10_the_home_dies_while_another_thread_cancels_waits_of_others) {
  for (int round = 0; round != 200; ++round) {
    asio::io_context other;
    std::optional<asio::io_context> home(std::in_place);
    async_mutex mutex(*home);
    auto lock = async_mutex::lock_type(mutex, std::try_to_lock);
    fate on_its_way;
    mutex.async_lock(observed_handler(on_its_way));
    asio::post(*home, [&] {
      lock.unlock();
      home->stop();
    });
    home->run();
    int cancelled = 0;
    for (int i = 0; i != 2000; ++i)
      mutex.async_lock(asio::bind_executor(
          other, [&](error_code error, async_mutex::lock_type const&) { cancelled += !!error; }));
    std::thread canceller([&] { mutex.cancel(); });
    while (mutex.waiters() == 2000) {
    }
    home.reset();
    canceller.join();
    other.run();
    BOOST_TEST((on_its_way.dropped() && cancelled == 2000));
  }
}

BOOST_AUTO_TEST_CASE(R10_context_of_waits_on_a_strand_of_any_io_executor_is_destroyed) {
  for (bool const at_home : {false, true}) {
    asio::io_context other;
    auto context = std::make_unique<asio::io_context>();
    async_mutex mutex(at_home ? *context : other);
    fate granted, queued, timed, nested, late, living;
    auto const strand = [ex = context->get_executor()] {
      return asio::make_strand(asio::any_io_executor(ex));
    };
    auto const initiates = [&] {
      mutex.async_lock(asio::bind_executor(strand(), observed_handler(late)));
    };
    mutex.async_lock(asio::bind_executor(strand(), observed_handler(granted)));
    mutex.async_lock(asio::bind_executor(strand(), observed_handler(queued, initiates)));
    mutex.async_lock_for(1h, asio::bind_executor(strand(), observed_handler(timed)));
    mutex.async_lock(asio::bind_executor(asio::any_io_executor(asio::make_strand(strand())),
                                         observed_handler(nested)));
    mutex.async_lock(asio::bind_executor(other, observed_handler(living)));
    BOOST_TEST(mutex.waiters() == 4u);
    context.reset();
    for (auto const* f : {&granted, &queued, &timed, &nested, &late}) BOOST_TEST(f->dropped());
    other.run();
    BOOST_TEST(living.granted());
    BOOST_TEST(mutex.waiters() == 0u);
    BOOST_TEST(mutex.try_lock());
  }
}

BOOST_AUTO_TEST_SUITE_END()
