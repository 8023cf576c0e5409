// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Contexts that end while waits belong to them: what becomes of these, what the destructors of
// their handlers may do, and contexts that shut down before they have seen the library.

#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_lock_all.hpp>

namespace context_test {

using namespace asio_sync::test;

// Waits of every kind whose handlers belong to the context: handler(0) to handler(kinds - 1).
constexpr int kinds = 6;
using fates = std::array<fate, kinds>;

template <class Context, class Make>
void queue_timed(async_mutex& mutex, Context& context, Make handler) {
  auto const ex = context.get_executor();
  asio::any_io_executor const strand = asio::make_strand(ex);
  mutex.async_lock_for(1h, asio::bind_executor(ex, handler(0)));
  mutex.async_lock_for(1h, asio::bind_executor(strand, handler(1)));
}

template <class Context, class Make>
void queue_plain(async_mutex& mutex, Context& context, Make handler) {
  auto const ex = context.get_executor();
  auto const erased = asio::make_strand(asio::any_io_executor(ex));
  asio::any_io_executor const nested = asio::make_strand(erased);
  mutex.async_lock(asio::bind_executor(ex, handler(2)));
  mutex.async_lock(asio::bind_executor(asio::make_strand(ex), handler(3)));
  mutex.async_lock(asio::bind_executor(erased, handler(4)));
  mutex.async_lock(asio::bind_executor(nested, handler(5)));
}

template <class Context>
void queue_all_kinds(async_mutex& mutex, Context& context, fates& f, bool timed_first = false) {
  auto const handler = [&](int i) { return observed_handler(f[i]); };
  if (timed_first) queue_timed(mutex, context, handler);
  queue_plain(mutex, context, handler);
  if (!timed_first) queue_timed(mutex, context, handler);
}

bool all_dropped(fates const& f) {
  return std::ranges::all_of(f, [](fate const& each) { return each.dropped(); });
}

// A held mutex that destructors may unlock, or destroy.
struct mortal_mutex {
  explicit mortal_mutex(asio::io_context& home) : mutex(std::make_unique<async_mutex>(home)) {
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
  mortal_mutex far(elsewhere);
  fate follower;
  {
    auto context = std::make_unique<asio::io_context>();
    mortal_mutex near(*context);
    fates f[2];
    for (auto& each : f) {
      auto const handler = [&, &dying = *context](int i) {
        return observed_handler(each[i], [&] { action(dying, near, far); });
      };
      queue_plain(&each == f ? *near.mutex : *far.mutex, *context, handler);
      queue_timed(&each == f ? *near.mutex : *far.mutex, *context, handler);
    }
    far.mutex->async_lock(observed_handler(follower));
    context.reset();
    for (auto const& each : f) BOOST_TEST(all_dropped(each));
  }
  far.unlock();
  elsewhere.run();
  BOOST_TEST(follower.called == 1);
}

// Destroys what a step says, in the order that `order` gives, with a grant on its way.
void destroy_in_order(std::vector<int> const& order) {
  auto first = std::make_unique<asio::io_context>();
  auto second = std::make_unique<asio::thread_pool>(1);
  auto mutex = std::make_unique<async_mutex>(*first);
  auto held = std::make_unique<async_mutex::lock_type>(*mutex, std::try_to_lock);
  second->stop();
  second->join();
  fates f[2];
  fate ahead[2];
  mutex->async_lock(observed_handler(ahead[0]));
  mutex->async_lock(asio::bind_executor(*second, observed_handler(ahead[1])));
  queue_all_kinds(*mutex, *first, f[0]);
  queue_all_kinds(*mutex, *second, f[1]);
  for (int step : order) switch (step) {
      case 0: first.reset(); break;
      case 1: second.reset(); break;
      case 2: held.reset(); break;
      case 3: mutex.reset();
    }
  for (auto const& each : f) BOOST_TEST(all_dropped(each));
}

// --- Contexts that have not seen the library before they shut down ---

// Calls a function when the last copy is destroyed.
std::shared_ptr<void> at_end(std::function<void()> f) {
  return {nullptr, [f = std::move(f)](void*) { f(); }};
}

// A context of the user's own: destroys what it was given and has not run when it shuts down.
// Told: as Asio has it, its destructor shuts it down.
template <bool Told>
class own_context : public asio::execution_context {
  struct queue : asio::execution_context::service {
    static inline asio::execution_context::id id;
    explicit queue(asio::execution_context& context) : service(context) {}
    void shutdown() noexcept override {
      while (auto const dropped = take()) continue;
    }
    void add(std::shared_ptr<void> function) {
      std::lock_guard const guard(lock);
      functions.push_back(std::move(function));
    }
    std::shared_ptr<void> take() {
      std::lock_guard const guard(lock);
      if (functions.empty()) return nullptr;
      auto last = std::move(functions.back());
      functions.pop_back();
      return last;
    }
    std::mutex lock;  // a wait whose time is up comes from the thread of a timer
    std::vector<std::shared_ptr<void>> functions;
  };

 public:
  own_context() { asio::use_service<queue>(*this); }
  own_context(own_context const&) = delete;
  own_context& operator=(own_context const&) = delete;
  ~own_context() {
    if (Told) shutdown();
  }

  class executor_type {
   public:
    explicit executor_type(own_context& context) noexcept : context_(&context) {}
    executor_type require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
      return asio::execution::blocking.never;
    }
    template <class Function>
    void execute(Function&& f) const {
      asio::use_service<queue>(*context_).add(
          std::make_shared<std::decay_t<Function>>(std::forward<Function>(f)));
    }
    friend bool operator==(executor_type const&, executor_type const&) noexcept = default;

   private:
    own_context* context_;
  };

  executor_type get_executor() noexcept { return executor_type(*this); }
};

// Has such a context destroy a function in its queue, which acts then.
template <class Context, class... Args>
void act_in_queue(std::function<void(Context&)> act, Args... args) {
  Context dying(args...);
  if constexpr (std::is_same_v<Context, asio::thread_pool>) dying.stop();
  asio::post(dying.get_executor(), [end = at_end([&] { act(dying); })] {});
}

// Have a context destroy a function in a strand, and a handler that waits for a timer, which act
// then.
void act_in_strand(std::function<void(asio::io_context&)> act) {
  asio::io_context dying;
  asio::post(asio::make_strand(dying), [end = at_end([&] { act(dying); })] {});
}
void act_in_timer(std::function<void(asio::io_context&)> act) {
  asio::io_context dying;
  auto const timer = std::make_shared<asio::steady_timer>(dying, 1h);
  timer->async_wait([timer, end = at_end([&] { act(dying); })](error_code) {});
}

// Calls act(a function that begins waits in a shutdown), which are dropped: at once if that is
// told.
template <class Act>
void begin_in_a_shutdown(bool told, Act act) {
  for (bool const timed_first : {true, false}) {
    held_mutex s;
    fates f;
    act([&](auto& dying) {
      queue_all_kinds(s.mutex, dying, f, timed_first);
      if (told) BOOST_TEST(all_dropped(f));
    });
    BOOST_TEST(all_dropped(f));  // what is not told destroys handlers when the context has ended
    BOOST_TEST(s.mutex.waiters() == 0u);
    s.mutex.unlock();
    BOOST_TEST(s.mutex.try_lock());
  }
}

// Destroys a context that has a grant in its queue, and handlers whose destructors wait for that.
template <class Context>
void wait_for_a_grant_in_the_queue(std::unique_ptr<Context> dying, bool in_strand,
                                   bool from_strand, bool at_home) {
  asio::io_context home;
  async_mutex mutex(at_home ? asio::any_io_executor(dying->get_executor()) : home.get_executor());
  int locked = 0;
  fate granted, waits[2];
  auto const lock = [&] {
    std::scoped_lock const here(mutex);
    ++locked;
  };
  auto const executor = [&](bool strand) -> asio::any_io_executor {
    if (strand) return asio::make_strand(*dying);
    return dying->get_executor();
  };
  BOOST_TEST_REQUIRE(mutex.try_lock());
  mutex.async_lock(asio::bind_executor(executor(in_strand), observed_handler(granted)));
  mutex.async_lock(asio::bind_executor(executor(from_strand), observed_handler(waits[0], lock)));
  mutex.async_lock_for(
      1h, asio::bind_executor(executor(from_strand), observed_handler(waits[1], lock)));
  mutex.unlock();
  dying.reset();
  BOOST_TEST(locked == 2);
  BOOST_TEST((granted.dropped() && waits[0].dropped() && waits[1].dropped()));
  BOOST_TEST(mutex.try_lock());
}

}  // namespace context_test

BOOST_FIXTURE_TEST_SUITE(context_test, held_mutex)

BOOST_AUTO_TEST_CASE(R10_waits_leave_the_queue_of_a_mutex_elsewhere_with_their_context) {
  for (bool const held : {true, false}) {
    fates queued;
    fate refused, first, living;
    {
      asio::io_context dying;
      mutex.async_lock(asio::bind_executor(dying, observed_handler(refused)));
      mutex.cancel();
      mutex.async_lock(asio::bind_executor(dying, observed_handler(first)));
      queue_all_kinds(mutex, dying, queued);
      mutex.async_lock(observed_handler(living));
      if (!held) mutex.unlock();
    }
    BOOST_TEST((refused.dropped() && first.dropped() && all_dropped(queued)));
    BOOST_TEST(mutex.waiters() == std::size_t(held));
    BOOST_TEST(living.waits());
    if (held) mutex.unlock();
    poll();
    BOOST_TEST(living.granted());
    BOOST_TEST(mutex.try_lock());
  }
}

BOOST_AUTO_TEST_CASE(R10_stopped_context_is_destroyed_with_completions_on_their_way) {
  fate f[3];
  auto pool = std::make_unique<asio::thread_pool>(1);
  pool->stop();
  async_mutex in_pool(*pool);
  in_pool.async_lock(observed_handler(f[0]));
  in_pool.async_lock(asio::bind_executor(asio::make_strand(*pool), observed_handler(f[1])));
  in_pool.async_lock_for(0s, observed_handler(f[2]));
  pool.reset();
  for (auto const& each : f) BOOST_TEST(each.dropped());
  BOOST_TEST(in_pool.try_lock());
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_initiate_other_waits) {
  fates late[4 * kinds];
  std::size_t used = 0;
  act_in_destructors([&](asio::io_context& dying, mortal_mutex& near, mortal_mutex& far) {
    for (auto* m : {near.mutex.get(), far.mutex.get()}) {
      queue_all_kinds(*m, dying, late[used]);
      BOOST_TEST(all_dropped(late[used++]));
    }
  });
  BOOST_TEST(used == std::size(late));
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_unlock_cancel_close_and_destroy) {
  using ends = void (*)(mortal_mutex&);
  for (ends const end : {ends([](mortal_mutex& m) { m.unlock(); }),
                         ends([](mortal_mutex& m) { m.mutex->cancel(), m.mutex->close(); }),
                         ends([](mortal_mutex& m) { m.reset(); })})
    act_in_destructors([end](asio::io_context&, mortal_mutex& near, mortal_mutex& far) {
      end(near);
      end(far);
    });
}

BOOST_AUTO_TEST_CASE(R10_destructors_of_handlers_make_a_mutex) {
  std::vector<std::unique_ptr<async_mutex>> made;
  fate granted[2 * kinds];
  act_in_destructors([&](asio::io_context& dying, mortal_mutex&, mortal_mutex&) {
    async_mutex& fresh = *made.emplace_back(std::make_unique<async_mutex>(dying));
    fresh.async_lock(observed_handler(granted[made.size() - 1]));
    fates queued;
    queue_all_kinds(fresh, dying, queued);
    BOOST_TEST(all_dropped(queued));
  });
  BOOST_TEST(made.size() == std::size(granted));
  for (auto const& f : granted) BOOST_TEST(f.dropped());
  for (auto const& fresh : made) BOOST_TEST(fresh->try_lock());
}

BOOST_AUTO_TEST_CASE(R10_contexts_mutex_and_guard_are_destroyed_in_every_order) {
  std::vector<int> order{0, 1, 2, 3};
  do {
    auto const at = [&](int step) { return std::ranges::find(order, step); };
    if (at(2) < at(3)) destroy_in_order(order);  // of guards that outlive it rules/carried.hpp
  } while (std::ranges::next_permutation(order).found);
}

BOOST_AUTO_TEST_CASE(R10_new_context_at_the_address_of_the_home_is_not_taken_for_it) {
  alignas(asio::io_context) std::byte memory[sizeof(asio::io_context)];
  auto* home = new (memory) asio::io_context;
  async_mutex of_home(*home);
  BOOST_TEST_REQUIRE(of_home.try_lock());
  fates before, after, last;
  queue_all_kinds(of_home, *home, before);
  home->~io_context();
  BOOST_TEST(all_dropped(before));

  home = new (memory) asio::io_context;
  queue_all_kinds(of_home, *home, after);
  home->poll();
  BOOST_TEST(!home->stopped());
  of_home.unlock();
  home->run();
  for (auto const& f : after) BOOST_TEST(f.granted());
  BOOST_TEST_REQUIRE(of_home.try_lock());
  home->restart();
  queue_all_kinds(of_home, *home, last);
  home->~io_context();
  BOOST_TEST(all_dropped(last));
  BOOST_TEST(of_home.waiters() == 0u);
}

// The home still holds work for the hand-over on its way.
BOOST_AUTO_TEST_CASE(R10_the_home_dies_while_another_thread_cancels_waits_of_others) {
  for (int round = 0; round != 200; ++round) {
    std::optional<asio::io_context> home(std::in_place);
    async_mutex at_home(*home);
    auto lock = async_mutex::lock_type(at_home, std::try_to_lock);
    fate on_its_way;
    at_home.async_lock(observed_handler(on_its_way));
    asio::post(*home, [&] {
      lock.unlock();
      home->stop();
    });
    home->run();
    int cancelled = 0;
    for (int i = 0; i != 2000; ++i)
      at_home.async_lock(asio::bind_executor(
          other, [&](error_code error, async_mutex::lock_type const&) { cancelled += !!error; }));
    std::thread canceller([&] { at_home.cancel(); });
    while (at_home.waiters() == 2000) continue;
    home.reset();
    canceller.join();
    other.restart();
    other.run();
    BOOST_TEST((on_its_way.dropped() && cancelled == 2000));
  }
}

// Allowed at the same time: what lets only waits of others go.
BOOST_AUTO_TEST_CASE(R10_a_context_dies_while_another_thread_serves_waits_of_others) {
  for (int round = 0; round != 50; ++round) {
    std::optional<asio::io_context> dying(std::in_place);
    async_mutex contended(other);
    async_mutex::lock_type last(contended, std::try_to_lock);
    std::atomic<int> served = 0;
    fate late[4];
    for (int i = 0; i != 300; ++i)
      contended.async_lock([&](error_code, async_mutex::lock_type lock) {
        if (++served == 300) last = std::move(lock);
      });
    for (int i = 0; i != 4; i += 2) {
      contended.async_lock(asio::bind_executor(*dying, observed_handler(late[i])));
      contended.async_lock_for(1h, asio::bind_executor(*dying, observed_handler(late[i + 1])));
    }
    std::thread server([&] {
      last.unlock();
      other.restart();
      other.run();
    });
    while (served == 0) std::this_thread::yield();
    dying.reset();
    server.join();
    BOOST_TEST((last.owns_lock() && contended.waiters() == 0u));
    for (auto const& each : late) BOOST_TEST(each.dropped());
  }
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_in_its_shutdown) {
  begin_in_a_shutdown(true, [](auto begin) { act_in_queue<asio::io_context>(begin); });
  begin_in_a_shutdown(true, [](auto begin) { act_in_queue<asio::io_context>(begin, 1); });
  begin_in_a_shutdown(true, [](auto begin) { act_in_queue<asio::thread_pool>(begin, 1); });
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_while_its_timers_are_shut_down) {
  begin_in_a_shutdown(true, [](auto begin) { act_in_timer(begin); });
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_in_a_shutdown_that_is_not_told) {
  begin_in_a_shutdown(false, [](auto begin) { act_in_strand(begin); });
  begin_in_a_shutdown(false, [](auto begin) { act_in_queue<own_context<true>>(begin); });
}

BOOST_AUTO_TEST_CASE(R10_first_waits_of_a_context_of_the_users_own_that_its_base_shuts_down) {
  fate f[4];
  act_in_queue<own_context<false>>([&](auto& dying) {
    auto const ex = dying.get_executor();
    mutex.async_lock_for(0ms, asio::bind_executor(ex, observed_handler(f[0])));
    mutex.async_lock_for(1ms, asio::bind_executor(ex, observed_handler(f[1])));
    mutex.async_lock_for(1h, asio::bind_executor(ex, observed_handler(f[2])));
    mutex.async_lock(asio::bind_executor(ex, observed_handler(f[3])));
  });
  for (auto const& each : f) BOOST_TEST(each.dropped());
  BOOST_TEST(mutex.waiters() == 0u);
}

// Operations that begin several waits, an arrival, or a wait that gives a lock back.
BOOST_AUTO_TEST_CASE(R10_first_waits_of_other_kinds_begin_in_a_shutdown) {
  fate f[3];
  async_mutex second(context), free(context);
  async_barrier barrier(context, 2);
  async_condition condition(context);
  async_mutex::lock_type lock(free, std::try_to_lock);
  act_in_queue<asio::io_context>([&](asio::io_context& dying) {
    auto all = std::make_shared<observed_handler>(f[0]);
    async_lock_all_for(std::tie(second, mutex), 1h,
                       asio::bind_executor(dying, [all = std::move(all)](error_code, auto) {}));
    barrier.async_arrive_and_wait_for(1h, asio::bind_executor(dying, observed_handler(f[1])));
    condition.async_wait_for(lock, 1h, asio::bind_executor(dying, observed_handler(f[2])));
    for (auto const& each : f) BOOST_TEST(each.dropped());
  });
  BOOST_TEST(lock.owns_lock());
  BOOST_TEST((second.try_lock() && condition.waiters() == 0u && barrier.waiters() == 0u));
}

// --- Handlers are destroyed once the context has dropped all that it has ---

BOOST_AUTO_TEST_CASE(R10_a_destructor_waits_for_a_grant_in_the_queue_of_its_context) {
  for (int const way : {0, 1, 2, 3, 4, 5, 6, 7}) {
    bool const in_strand = way & 1, from_strand = way & 2, at_home = way & 4;
    wait_for_a_grant_in_the_queue(std::make_unique<asio::io_context>(), in_strand, from_strand,
                                  at_home);
    auto pool = std::make_unique<asio::thread_pool>(1);
    pool->stop();
    wait_for_a_grant_in_the_queue(std::move(pool), in_strand, from_strand, at_home);
  }
}

// A function in its queue, before the grant, has another context end that knows the library.
BOOST_AUTO_TEST_CASE(R10_a_context_that_ends_in_the_end_of_another_leaves_handlers_of_that_alone) {
  auto const end_another = [&](auto& another, bool with_wait, fate& inside) {
    async_mutex const at_home(another);
    if (with_wait) mutex.async_lock(asio::bind_executor(another, observed_handler(inside)));
    if constexpr (requires { another.join(); }) another.stop();
  };
  for (int const way : {0, 1, 2, 3}) {
    bool const with_pool = way & 1, with_wait = way & 2;
    fate inside;
    auto end = at_end([&, with_pool, with_wait] {
      if (with_pool)
        end_another(*std::make_unique<asio::thread_pool>(1), with_wait, inside);
      else
        end_another(*std::make_unique<asio::io_context>(), with_wait, inside);
      BOOST_TEST(inside.dropped() == with_wait);
    });
    auto dying = std::make_unique<asio::io_context>();
    asio::post(*dying, [end = std::move(end)] {});
    wait_for_a_grant_in_the_queue(std::move(dying), false, false, false);
  }
}

BOOST_AUTO_TEST_SUITE_END()
