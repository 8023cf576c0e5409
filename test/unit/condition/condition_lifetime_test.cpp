// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Waits on a condition whose condition, mutex or context dies, in every state of the wait; their
// memory, and what throws.

#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_shared_mutex.hpp>

namespace condition_lifetime_test {

using namespace asio_sync::test;
using lock_type = async_mutex::lock_type;

struct fixture {
  std::optional<asio::io_context> context{std::in_place}, other{std::in_place};
  std::optional<async_mutex> mutex{*context};
  std::optional<async_condition> condition{*context};
  int ended = 0, destroyed = 0;
  error_code error;
  bool owned = false;
  bool timed = false;

  void poll() {
    for (auto* const io : {&context, &other})
      if (*io) {
        (*io)->restart();
        (*io)->poll();
      }
  }

  // A wait that looks at nothing true, on an executor.
  template <class Executor>
  void begin(Executor const& ex, bool looks) {
    struct handler {
      fixture* f;
      explicit handler(fixture& of) noexcept : f(&of) {}
      handler(handler&& from) noexcept : f(std::exchange(from.f, nullptr)) {}
      handler& operator=(handler&&) = delete;
      ~handler() {
        if (f) ++f->destroyed;
      }
      void operator()(error_code e, lock_type l) {
        ++f->ended;
        f->error = e;
        f->owned = l.owns_lock();
      }
    };
    auto const never = [] { return false; };
    auto token = asio::bind_executor(ex, handler(*this));
    if (looks && timed)
      condition->async_wait_for(lock_type(*mutex), 1h, never, std::move(token));
    else if (looks)
      condition->async_wait(lock_type(*mutex), never, std::move(token));
    else if (timed)
      condition->async_wait_for(lock_type(*mutex), 1h, std::move(token));
    else
      condition->async_wait(lock_type(*mutex), std::move(token));
  }

  // Calls f for a wait in each of its states, on each of the executors, with time and without,
  // over a mutex of either context. Each has a fixture of its own.
  template <class Function>
  static void in_every_state(Function f) {
    for (unsigned kind = 0; kind < 8; ++kind)
      for (int place = 0; place < 4; ++place)
        for (int ex = 0; ex < 4; ++ex) {
          fixture s;
          s.timed = (kind & 2) != 0;
          if (kind & 4) s.mutex.emplace(*s.other);
          s.bring_to(place, ex, (kind & 1) != 0);
          f(s, place, ex);
        }
  }

  // 0: on its way to its first look, or at the condition; 1: at the condition; 2: at the mutex; 3:
  // on its way with it.
  lock_type holder;
  std::optional<asio::strand<asio::io_context::executor_type>> strand;
  void bring_to(int place, int ex, bool looks) {
    switch (ex) {
      case 0: begin(context->get_executor(), looks); break;
      case 1: begin(other->get_executor(), looks); break;
      case 2: begin(strand.emplace(other->get_executor()), looks); break;
      default: begin(asio::any_io_executor(asio::make_strand(*other)), looks);
    }
    if (place > 0) poll();
    if (place == 2) holder = lock_type(*mutex);
    if (place > 1) condition->notify_one();
  }

  bool is_free() { return mutex->try_lock() && (mutex->unlock(), true); }
};

// So many primitives stand between two that another thread is likely to come by when their home
// has told the one of its end, and not yet the other.
struct crowd {
  explicit crowd(asio::io_context& context) {
    for (int i = 0; i < 100'000; ++i) events.emplace_back(context);
  }
  std::deque<asio_sync::async_manual_reset_event> events;
};

template <class Told, class Function>
void end_home_while(std::optional<asio::io_context>& home, Told told, Function f) {
  std::thread other([&] {
    while (!told()) {
    }
    f();
  });
  home.reset();
  other.join();
}

}  // namespace condition_lifetime_test

BOOST_AUTO_TEST_SUITE(condition_lifetime_test)

BOOST_AUTO_TEST_CASE(R9_the_condition_dies_with_a_wait_in_any_state) {
  fixture::in_every_state([](fixture& f, int place, int) {
    f.condition.reset();
    f.holder = {};
    f.poll();
    f.poll();
    BOOST_TEST(f.ended == 1);
    BOOST_TEST(f.is_free());
    BOOST_TEST(f.owned == !f.error);
    if (place == 1) BOOST_TEST(f.error == aborted);
  });
}

BOOST_AUTO_TEST_CASE(R9_the_mutex_dies_with_a_wait_in_any_state) {
  fixture::in_every_state([](fixture& f, int, int) {
    f.mutex.reset();
    f.holder = {};
    f.poll();
    f.condition->notify_all();
    f.poll();
    BOOST_TEST(f.ended == 1);
    BOOST_TEST((f.error == aborted && !f.owned));
  });
}

BOOST_AUTO_TEST_CASE(R9_both_die_in_either_order) {
  for (bool const condition_first : {false, true})
    fixture::in_every_state([&](fixture& f, int, int) {
      if (condition_first) f.condition.reset();
      f.mutex.reset();
      f.condition.reset();
      f.holder = {};
      f.poll();
      BOOST_TEST(f.ended == 1);
      BOOST_TEST((f.error == aborted && !f.owned));
    });
}

BOOST_AUTO_TEST_CASE(R8_whatever_ends_a_wait_in_any_state_its_context_runs_out_of_work) {
  using ending = void (*)(fixture&);
  for (ending const end :
       {ending([](fixture& f) { f.condition->cancel(); }),
        ending([](fixture& f) { f.condition->close(); }),
        ending([](fixture& f) { f.condition.reset(); }),
        ending([](fixture& f) { f.mutex->close(); }), ending([](fixture& f) { f.mutex.reset(); })})
    for (bool const inside : {false, true})
      fixture::in_every_state([&](fixture& f, int, int ex) {
        auto const end_it = [&] {
          end(f);
          f.holder = {};
        };
        inside ? asio::post(*f.context, end_it) : end_it();
        f.poll();
        f.poll();
        bool const runs_out = ex == 0 ? f.context->stopped() : f.other->stopped();
        BOOST_TEST(runs_out == (f.ended == 1));
      });
}

BOOST_AUTO_TEST_CASE(R10_the_context_of_a_wait_dies_in_any_state) {
  fixture::in_every_state([](fixture& f, int, int ex) {
    if (ex == 0) {  // that of condition and mutex, too
      f.context.reset();
    } else {
      f.strand.reset();
      f.other.reset();
    }
    f.holder = {};
    BOOST_TEST(f.ended == 0);
    BOOST_TEST(f.destroyed == 1);
    BOOST_TEST(f.condition->waiters() == 0u);
    BOOST_TEST(f.mutex->waiters() == 0u);
    BOOST_TEST(f.is_free());
  });
}

BOOST_AUTO_TEST_CASE(R10_the_home_dies_with_several_that_have_time) {
  fixture f;
  f.timed = true;
  for (int i = 0; i < 3; ++i) f.begin(f.context->get_executor(), false);
  f.context.reset();
  BOOST_TEST(f.destroyed == 3);
  BOOST_TEST(f.condition->waiters() == 0u);
  BOOST_TEST(f.is_free());
}

BOOST_AUTO_TEST_CASE(R10_the_home_dies_while_another_thread_notifies) {
  auto const handler = [](error_code, lock_type const&) {};
  std::optional<asio::io_context> home(std::in_place);
  async_mutex mutex(*home);
  crowd const between(*home);
  async_condition condition(*home);
  condition.async_wait(lock_type(mutex), handler);
  lock_type const held(mutex);
  mutex.async_lock(handler);
  end_home_while(
      home, [&] { return mutex.waiters() == 0; }, [&] { condition.notify_all(); });
  BOOST_TEST((condition.waiters() == 0u && mutex.waiters() == 0u));
}

BOOST_AUTO_TEST_CASE(R10_the_home_dies_while_another_thread_notifies_one_that_has_time) {
  auto const handler = [](error_code, lock_type const&) {};
  std::optional<asio::io_context> home(std::in_place);
  crowd const others(*home);
  async_mutex mutex(*home);
  async_condition condition(*home);
  condition.async_wait_for(lock_type(mutex), 1h, handler);
  condition.async_wait(lock_type(mutex), handler);
  end_home_while(
      home, [&] { return condition.waiters() < 2; }, [&] { condition.notify_one(); });
  BOOST_TEST((condition.waiters() == 0u && mutex.waiters() == 0u));
}

BOOST_AUTO_TEST_CASE(R10_the_home_dies_while_another_thread_closes) {
  auto const handler = [](error_code, lock_type const&) {};
  std::optional<asio::io_context> home(std::in_place);
  crowd const between(*home);
  async_mutex mutex(*home);
  async_condition condition(*home);
  for (int i = 0; i < 2; ++i) condition.async_wait(lock_type(mutex), handler);
  lock_type const held(mutex);
  condition.notify_one();
  end_home_while(
      home, [&] { return condition.waiters() == 0; }, [&] { mutex.close(); });
  BOOST_TEST(mutex.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(R10_the_home_of_a_monitor_dies_while_another_thread_notifies) {
  using monitor_type = asio_sync::async_monitor<int>;
  std::optional<asio::io_context> home(std::in_place);
  auto const at_home = home->get_executor();
  monitor_type monitor(*home);
  crowd const between(*home);
  monitor_type::condition condition(monitor);
  monitor_type::entry inside = monitor.try_enter();
  condition.async_wait(inside, asio::bind_executor(at_home, [](error_code) {}));
  monitor_type::entry const held = monitor.try_enter();
  monitor.async_enter(asio::bind_executor(at_home, [](error_code, monitor_type::entry const&) {}));
  end_home_while(
      home, [&] { return monitor.waiters() == 0; }, [&] { condition.notify_all(); });
  BOOST_TEST((condition.waiters() == 0u && monitor.waiters() == 0u));
}

BOOST_AUTO_TEST_CASE(R10_the_home_dies_and_waits_of_others_live) {
  fixture f;
  f.begin(f.other->get_executor(), true);
  f.poll();
  f.context.reset();
  BOOST_TEST(f.condition->waiters() == 1u);
  f.condition->notify_one();
  f.poll();
  BOOST_TEST(f.condition->waiters() == 1u);
  BOOST_TEST(f.condition->cancel() == 1u);
  f.poll();
  BOOST_TEST((f.ended == 1 && f.owned));
}

BOOST_AUTO_TEST_CASE(R10_coroutines_with_everything_in_their_frames_die_with_their_context) {
  for (bool const notified : {false, true}) {
    auto const frame = std::make_shared<int>();
    {
      asio::io_context context;
      async_mutex mutex(context);
      async_condition condition(context);
      for (int i = 0; i < 3; ++i)
        asio::co_spawn(
            context,
            [&, frame]() -> asio::awaitable<void> {
              lock_type lock = co_await mutex.async_lock(asio::use_awaitable);
              // Named: g++ 12 destroys what a lambda within co_await captures twice.
              auto const never = [copy = frame] { return false; };
              co_await condition.async_wait(lock, never, asio::use_awaitable);
            },
            asio::detached);
      context.poll();
      if (notified) condition.notify_all();
    }
    BOOST_TEST(frame.use_count() == 1);
  }
}

BOOST_AUTO_TEST_CASE(R9_a_false_predicate_has_destroyed_its_condition) {
  for (int const look : {1, 2}) {
    fixture f;
    int looks = 0;
    bool ended = false;
    f.condition->async_wait(
        lock_type(*f.mutex),
        [&] {
          if (++looks == look) f.condition.reset();
          return false;
        },
        [&](error_code e, lock_type l) { ended = e == aborted && !l.owns_lock(); });
    f.poll();
    if (f.condition) f.condition->notify_one();
    f.poll();
    BOOST_TEST((ended && looks == look && f.is_free()));
  }
}

BOOST_AUTO_TEST_CASE(R9_the_woken_wait_destroys_the_condition_of_the_notifier) {
  for (int i = 0; i < 200; ++i) {
    asio::thread_pool pool(1);
    async_mutex mutex(pool);
    auto condition = std::make_unique<async_condition>(pool);
    std::atomic<bool> ready{false};
    condition->async_wait(
        lock_type(mutex), [&] { return ready.load(); },
        [&](error_code, lock_type const&) { condition.reset(); });
    ready = true;
    {
      lock_type const lock(mutex);
      if (condition) i % 2 == 0 ? condition->notify_all() : condition->notify_one();
    }
    pool.join();
    BOOST_TEST(!condition);
  }
}

BOOST_AUTO_TEST_CASE(R12_a_wait_allocates_once_however_often_it_looks) {
  fixture f;
  allocator_log log;
  bool ready = false;
  int calls = 0;
  f.condition->async_wait_for(
      lock_type(*f.mutex), 1h, [&] { return ready; },
      asio::bind_allocator(logging_allocator<>(log), [&](error_code, lock_type const&) {
        ++calls;
        BOOST_TEST(log.live_bytes == 0u);
      }));
  for (int i = 0; i < 3; ++i) {
    f.poll();
    f.condition->notify_one();
  }
  BOOST_TEST(log.allocations == 1u);
  f.poll();
  ready = true;
  f.condition->notify_one();
  f.poll();
  BOOST_TEST(calls == 1);
  BOOST_TEST((log.allocations == 1u && log.deallocations == 1u));
}

BOOST_AUTO_TEST_CASE(R13_looking_again_and_notifying_need_no_memory) {
  for (int ex = 0; ex < 4; ++ex) {
    fixture f;
    f.bring_to(1, ex, true);
    {
      empty_pool const pool;
      failing_heap const heap;
      for (int i = 0; i < 3; ++i) {
        f.condition->notify_all();
        f.poll();
      }
      f.condition->cancel();
      f.poll();
    }
    BOOST_TEST((f.ended == 1 && f.owned));
  }
}

// A wait whose allocations fail one after the other.
template <bool Looks>
struct initiation : fixture {
  asio::strand<asio::io_context::executor_type> its{other->get_executor()};
  asio::cancellation_signal signal;
  lock_type lock{*mutex};
  int calls = 0;

  void act() {
    auto handler = asio::bind_executor(
        its, asio::bind_cancellation_slot(signal.slot(),
                                          [this](error_code, lock_type const&) { ++calls; }));
    if constexpr (Looks)
      condition->async_wait_for(
          std::move(lock), 1h, [] { return false; }, std::move(handler));
    else
      condition->async_wait(std::move(lock), std::move(handler));
  }

  void check(bool thrown) {
    BOOST_TEST(lock.owns_lock() == thrown);  // it is the caller's still
    poll();
    BOOST_TEST(condition->waiters() == std::size_t(!thrown));
    signal.emit(asio::cancellation_type::all);
    poll();
    BOOST_TEST(calls == int(!thrown));
  }
};

BOOST_AUTO_TEST_CASE(R13_initiation_without_memory_leaves_the_lock_to_the_caller) {
  BOOST_TEST(fail_each_allocation<initiation<false>>() >= 3u);
  BOOST_TEST(fail_each_allocation<initiation<true>>() >= 3u);
}

// NOLINTBEGIN(bugprone-use-after-move): the lock stays where it is
BOOST_AUTO_TEST_CASE(R13_an_executor_that_throws_in_the_initiation_leaves_the_lock_to_the_caller) {
  fixture f;
  auto plan = throwing_executor::plan::execute;
  throwing_executor const throwing(*f.context, plan);
  auto const handler = [&](error_code, lock_type const&) { ++f.ended; };
  auto const plain = [&](error_code) { ++f.ended; };
  lock_type lock(*f.mutex);
  auto& c = f.condition;
  BOOST_CHECK_THROW(c->async_wait(
                        lock, [] { return true; }, asio::bind_executor(throwing, plain)),
                    std::runtime_error);
  BOOST_TEST(lock.owns_lock());
  BOOST_CHECK_THROW(
      c->async_wait(
          std::move(lock), [] { return true; }, asio::bind_executor(throwing, handler)),
      std::runtime_error);
  BOOST_TEST(lock.owns_lock());
  BOOST_CHECK_THROW(c->async_wait_for(lock, 0s, asio::bind_executor(throwing, plain)),
                    std::runtime_error);
  BOOST_TEST(lock.owns_lock());
  lock.unlock();
  BOOST_CHECK_THROW(c->async_wait(lock, asio::bind_executor(throwing, plain)), std::runtime_error);
  BOOST_TEST(lock.mutex() == &*f.mutex);
  f.poll();
  BOOST_TEST((f.ended == 0 && f.is_free()));
}
// NOLINTEND(bugprone-use-after-move)

// Hands out one place, again and again.
template <class T>
struct one_place {
  using value_type = T;

  explicit one_place(void* m) noexcept : memory(m) {}
  template <class U>
  one_place(one_place<U> const& other) noexcept : memory(other.memory) {}

  T* allocate(std::size_t) noexcept { return static_cast<T*>(memory); }
  void deallocate(T*, std::size_t) noexcept {}

  friend bool operator==(one_place const&, one_place const&) noexcept = default;

  void* memory;
};

BOOST_AUTO_TEST_CASE(R9_a_wait_in_the_block_of_one_whose_initiation_goes_on_is_dropped) {
  struct counter {
    int* n;
    explicit counter(int& count) noexcept : n(&count) {}
    counter(counter&& other) noexcept : n(std::exchange(other.n, nullptr)) {}
    counter& operator=(counter&&) = delete;
    ~counter() {
      if (n) ++*n;
    }
    void operator()(error_code, lock_type const&) const { BOOST_TEST(false); }
  };
  for (bool const looks : {false, true}) {
    fixture f;
    alignas(std::max_align_t) std::byte memory[1024];
    one_place<std::byte> const place(memory);
    int dropped = 0;
    auto const wait_elsewhere = [&](error_code, lock_type lock) {
      auto handler = asio::bind_executor(*f.other, asio::bind_allocator(place, counter(dropped)));
      if (looks)  // it has the mutex still, and is on its way
        f.condition->async_wait(
            lock_type(std::move(lock)), [] { return true; }, std::move(handler));
      else
        f.condition->async_wait(lock_type(std::move(lock)), std::move(handler));
      f.other.reset();
      ++f.ended;
    };
    f.condition->async_wait_for(lock_type(*f.mutex), 0s,
                                asio::bind_executor(inline_executor(*f.context),
                                                    asio::bind_allocator(place, wait_elsewhere)));
    BOOST_TEST((f.ended == 1 && dropped == 1));
    BOOST_TEST(f.is_free());
  }
}

// Has another thread run what it is given, waits for that, and then does something itself.
struct handing_executor {
  handing_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context; }

  template <class Function>
  void execute(Function&& f) const {
    auto const own = std::make_shared<std::decay_t<Function>>(std::forward<Function>(f));
    std::thread([own] { (*own)(); }).join();
    if (*afterwards) std::exchange(*afterwards, nullptr)();
  }

  friend bool operator==(handing_executor const&, handing_executor const&) noexcept = default;

  asio::execution_context* context;
  std::function<void()>* afterwards;
};

BOOST_AUTO_TEST_CASE(R9_a_wait_in_the_block_of_one_that_another_thread_has_ended_is_dropped) {
  fixture f;
  alignas(std::max_align_t) std::byte memory[1024];
  one_place<std::byte> const place(memory);
  lock_type lock;
  std::function<void()> afterwards = [&] {
    lock = lock_type(*f.mutex);
    f.condition->async_wait_for(
        lock, 0s, asio::bind_executor(*f.other, asio::bind_allocator(place, [](error_code) {
          BOOST_TEST(false);
        })));
    f.other.reset();
    BOOST_TEST((!lock.owns_lock() && f.is_free()));
  };
  handing_executor const ex{&*f.context, &afterwards};
  auto const ends = [&](error_code, lock_type const&) { ++f.ended; };
  f.condition->async_wait_for(lock_type(*f.mutex), 0s,
                              asio::bind_executor(ex, asio::bind_allocator(place, ends)));
  BOOST_TEST((f.ended == 1 && !afterwards));
}

BOOST_AUTO_TEST_CASE(R9_an_upgrade_in_the_block_of_one_that_another_thread_has_ended_is_dropped) {
  fixture f;
  asio_sync::async_shared_mutex mutex(*f.context);
  using shared_type = asio_sync::async_shared_mutex::shared_lock_type;
  using exclusive_type = asio_sync::async_shared_mutex::lock_type;
  alignas(std::max_align_t) std::byte memory[1024];
  one_place<std::byte> const place(memory);
  shared_type first(mutex), second;
  std::function<void()> afterwards = [&] {
    second = shared_type(mutex);
    auto const never = [](error_code, exclusive_type const&) { BOOST_TEST(false); };
    mutex.async_upgrade(std::move(second),
                        asio::bind_executor(*f.other, asio::bind_allocator(place, never)));
    f.other.reset();
    BOOST_TEST(!second.owns_lock());
    BOOST_TEST((mutex.try_lock() && (mutex.unlock(), true)));
  };
  handing_executor const ex{&*f.context, &afterwards};
  auto const ends = [&](error_code, exclusive_type const&) { ++f.ended; };
  mutex.async_upgrade(std::move(first),
                      asio::bind_executor(ex, asio::bind_allocator(place, ends)));
  BOOST_TEST((f.ended == 1 && !afterwards));
}

BOOST_AUTO_TEST_CASE(R3_a_handler_that_cannot_be_moved_while_its_wait_begins) {
  struct handler {
    bool* throws;
    explicit handler(bool& t) : throws(&t) {}
    // NOLINTNEXTLINE(performance-noexcept-move-constructor)
    handler(handler&& other) : throws(other.throws) {
      if (*throws) throw std::runtime_error("moved");
    }
    handler& operator=(handler&&) = delete;
    void operator()(error_code) const {}
  };
  fixture f;
  bool throws = false;
  lock_type lock(*f.mutex);
  auto const looks = [&] { return throws = true; };
  BOOST_CHECK_THROW(
      f.condition->async_wait(lock, looks,
                              asio::bind_executor(inline_executor(*f.context), handler(throws))),
      std::runtime_error);
  BOOST_TEST((!lock.owns_lock() && f.is_free()));
}

BOOST_AUTO_TEST_CASE(R13_a_handler_that_throws_leaves_condition_and_mutex_usable) {
  fixture f;
  f.condition->async_wait(lock_type(*f.mutex),
                          [](error_code, lock_type const&) { throw std::runtime_error("here"); });
  f.begin(f.context->get_executor(), false);
  f.condition->notify_all();
  BOOST_CHECK_THROW(f.poll(), std::runtime_error);
  f.poll();
  BOOST_TEST((f.ended == 1 && f.owned));
}

BOOST_AUTO_TEST_CASE(R3_a_handler_whose_move_throws_leaves_the_mutex_to_others) {
  struct handler {
    bool* throws;
    explicit handler(bool& t) : throws(&t) {}
    handler(handler const& other) : throws(other.throws) {}
    // NOLINTNEXTLINE(performance-noexcept-move-constructor)
    handler(handler&& other) : throws(other.throws) {
      if (*throws) throw std::runtime_error("moved");
    }
    handler& operator=(handler const&) = delete;
    void operator()(error_code) const {}
    void operator()(error_code, lock_type const&) const {}
  };
  fixture f;
  bool throws = false;
  lock_type lock(*f.mutex);
  for (bool const carried : {false, true}) {
    throws = false;
    if (carried)
      f.condition->async_wait(lock_type(*f.mutex), handler(throws));
    else
      f.condition->async_wait(lock, handler(throws));
    f.condition->notify_one();
    throws = true;
    BOOST_CHECK_THROW(f.poll(), std::runtime_error);
    BOOST_TEST((!lock.owns_lock() && f.is_free()));
  }
}

BOOST_AUTO_TEST_CASE(R6_a_long_chain_of_hand_offs_and_of_looks_in_vain) {
#ifdef ASIO_SYNC_TEST_SANITIZED
  constexpr int many = 2'000;
#else
  constexpr int many = 50'000;
#endif
  run_on_stack(256 << 10, [&] {
    asio::io_context context;
    async_mutex mutex(context);
    async_condition condition(context);
    execution_log log;
    int calls = 0, looks = 0;
    for (int i = 0; i < many; ++i) {
      auto handler = [&](error_code, lock_type const&) { ++calls; };
      if (i % 2 == 0)
        condition.async_wait(lock_type(mutex), std::move(handler));
      else
        condition.async_wait(lock_type(mutex),
                             asio::bind_executor(bare_executor(log), std::move(handler)));
    }
    condition.notify_all();
    context.run();
    BOOST_TEST(calls == many);
    condition.async_wait(
        lock_type(mutex), [&] { return condition.notify_one(), ++looks == many; },
        asio::bind_executor(bare_executor(log), [&](error_code, lock_type const&) { ++calls; }));
    while (looks != many) {
      context.restart();
      context.poll();
      condition.notify_one();
    }
    context.restart();
    context.poll();
    BOOST_TEST(calls == many + 1);
  });
}

BOOST_AUTO_TEST_CASE(R17_waits_are_cancelled_notified_and_time_out_at_once) {
  constexpr int rounds = 300;
  asio::thread_pool pool(2);
  async_mutex mutex(pool);
  async_condition condition(pool);
  std::atomic<int> completed{0};
  int inside = 0;
  bool alone = true;
  auto const handler = [&](error_code, lock_type const& lock) {
    alone = alone && lock.owns_lock() && inside++ == 0;
    --inside;
    ++completed;
  };
  std::thread notifier([&] {
    while (completed != 3 * rounds) {
      condition.notify_one();
      condition.notify_all();
      condition.cancel();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    condition.async_wait(lock_type(mutex), asio::bind_executor(asio::make_strand(pool), handler));
    condition.async_wait_for(lock_type(mutex), std::chrono::microseconds(i), handler);
    condition.async_wait_for(
        lock_type(mutex), std::chrono::microseconds(i), [i] { return i % 3 == 0; }, handler);
  }
  pool.join();
  notifier.join();
  BOOST_TEST(alone);
  BOOST_TEST(completed == 3 * rounds);
}

BOOST_AUTO_TEST_SUITE_END()
