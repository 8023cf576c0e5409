// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What is the keyed mutex's own: keys that do not know of each other, that are there only while
// somebody uses them, and that are user code. What it has in common with other primitives is in
// test/rules.

#include "support/coroutine.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/async_keyed_mutex.hpp>

namespace keyed_mutex_test {

using namespace asio_sync::test;

template <class Mutex>
struct result_of {
  int calls = 0;
  error_code error;
  typename Mutex::keyed_lock lock;

  auto handler() {
    return [this](error_code e, typename Mutex::keyed_lock l) {
      ++calls;
      error = e;
      lock = std::move(l);
    };
  }
  bool granted() const { return calls == 1 && !error && lock; }
  bool refused(error_code e) const { return calls == 1 && error == e && !lock; }
  bool waits() const { return calls == 0; }
};

// A key that throws where it is told to, and knows how many of its kind there are.
enum class place { nowhere, hash, copy, equality };

struct awkward_key {
  explicit awkward_key(int v) noexcept : value(v) { ++alive; }
  awkward_key(awkward_key const& other) : value(other.value) {
    fail_at(place::copy);
    ++alive;
  }
  awkward_key(awkward_key&& other) noexcept : value(other.value) { ++alive; }
  awkward_key& operator=(awkward_key const&) = delete;
  ~awkward_key() { --alive; }

  static void fail_at(place here) {
    if (throws == here) throw std::runtime_error("key");
  }

  friend bool operator==(awkward_key const& a, awkward_key const& b) {
    fail_at(place::equality);
    return a.value == b.value;
  }

  int value;
  static inline int alive = 0;
  static inline place throws = place::nowhere;
};

struct awkward_hash {
  std::size_t operator()(awkward_key const&) const {
    awkward_key::fail_at(place::hash);
    return 1;  // the same for all, so that they are compared
  }
};

using awkward_mutex = basic_async_keyed_mutex<awkward_key, asio::any_io_executor, awkward_hash>;

// Calls back when it is destroyed.
struct observed_key {
  int value;
  std::shared_ptr<std::function<void()>> on_end;

  ~observed_key() {
    if (on_end && on_end.use_count() == 1 && *on_end) (*on_end)();
  }
  observed_key(int v, std::shared_ptr<std::function<void()>> f) : value(v), on_end(std::move(f)) {}
  observed_key(observed_key const&) = default;
  observed_key& operator=(observed_key const&) = default;
  friend bool operator==(observed_key const& a, observed_key const& b) {
    return a.value == b.value;
  }
};
struct observed_hash {
  std::size_t operator()(observed_key const& k) const { return std::hash<int>()(k.value); }
};
using observed_mutex = basic_async_keyed_mutex<observed_key, asio::any_io_executor, observed_hash>;

struct fixture {
  using mutex_type = async_keyed_mutex<std::string>;
  using result = result_of<mutex_type>;

  asio::io_context context;

  void poll() { test::poll(context); }
};

}  // namespace keyed_mutex_test

BOOST_FIXTURE_TEST_SUITE(keyed_mutex_test, fixture)

BOOST_AUTO_TEST_CASE(made_of_executors_contexts_and_function_objects) {
  struct parity {
    int modulus = 2;
    std::size_t operator()(int n) const { return std::size_t(n % modulus); }
    bool operator()(int a, int b) const { return a % modulus == b % modulus; }
  };
  basic_async_keyed_mutex<int, asio::any_io_executor, parity, parity> by_parity(context);
  basic_async_keyed_mutex<int, asio::io_context::executor_type, parity, parity> by_three(
      context.get_executor(), parity{3}, parity{3});
  auto const held = by_parity.try_lock(3);
  BOOST_TEST(!by_parity.try_lock(5));
  BOOST_TEST(static_cast<bool>(by_parity.try_lock(4)));
  auto const of_three = by_three.try_lock(3);
  BOOST_TEST(static_cast<bool>(by_three.try_lock(5)));
  BOOST_TEST(!by_three.try_lock(6));
  BOOST_TEST((by_three.get_executor() == context.get_executor()));
}

BOOST_AUTO_TEST_CASE(R7_each_key_is_first_come_first_served_by_itself) {
  mutex_type mutex(context);
  auto a = mutex.try_lock("a"), b = mutex.try_lock("b");
  std::string order;
  for (char const* name : {"a", "b", "a", "b", "c"})
    mutex.async_lock(name, [&](error_code, auto lock) { order += lock.key(); });
  BOOST_TEST(mutex.waiters() == 4u);
  BOOST_TEST(mutex.size() == 3u);
  poll();
  BOOST_TEST(order == "c");
  b.unlock();
  BOOST_TEST(!mutex.try_lock("b"));
  poll();
  BOOST_TEST(order == "cbb");
  BOOST_TEST(mutex.waiters() == 2u);
  BOOST_TEST(mutex.size() == 1u);
  a.unlock();
  poll();
  BOOST_TEST(order == "cbbaa");
  BOOST_TEST(mutex.size() == 0u);
}

BOOST_AUTO_TEST_CASE(R7_keys_with_one_hash_are_told_apart) {
  awkward_mutex mutex(context);
  auto const one = mutex.try_lock(awkward_key(1)), two = mutex.try_lock(awkward_key(2));
  BOOST_TEST((one.owns_lock() && two.owns_lock()));
  BOOST_TEST(!mutex.try_lock(awkward_key(1)));
  BOOST_TEST(mutex.size() == 2u);
}

BOOST_AUTO_TEST_CASE(R7_a_grant_keeps_the_tag_of_its_entrys_address) {
  using core = asio_sync::detail::keyed_mutex_core;
  using asio_sync::detail::key_entry, asio_sync::detail::key_share;
  for (std::uint64_t const tag : {0x00, 0x0f, 0xb4, 0xff}) {  // as AArch64 has it
    auto const address = static_cast<std::uintptr_t>(tag << 56 | 0x00ff'7123'4567'89a0);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nobody goes there
    auto* const entry = reinterpret_cast<key_entry*>(address);
    auto const granted = core::granted({entry, key_share::hold});
    BOOST_TEST(granted.granted());
    BOOST_TEST(core::held_by(granted).entry == entry);
  }
}

BOOST_AUTO_TEST_CASE(an_entry_is_there_only_while_it_is_held_or_waited_for) {
  mutex_type mutex(context);
  result first, second;
  asio::cancellation_signal cancels;
  auto held = mutex.try_lock("a");
  mutex.async_lock("a", first.handler());
  mutex.async_lock("a", asio::bind_cancellation_slot(cancels.slot(), second.handler()));
  BOOST_TEST(mutex.size() == 1u);
  cancels.emit(asio::cancellation_type::terminal);
  BOOST_TEST(mutex.size() == 1u);
  held.unlock();
  BOOST_TEST(mutex.size() == 1u);  // on its way
  poll();
  BOOST_TEST(first.granted());
  BOOST_TEST(second.refused(aborted));
  first.lock.unlock();
  BOOST_TEST(mutex.size() == 0u);
  auto again = mutex.try_lock("a");
  mutex.async_lock_for("a", 0s, second.handler());
  BOOST_TEST(mutex.size() == 1u);
  again.unlock();
  BOOST_TEST(mutex.size() == 0u);
  mutex.close();
  mutex.async_lock("a", second.handler());
  BOOST_TEST(mutex.size() == 0u);
}

BOOST_AUTO_TEST_CASE(R12_a_million_idle_keys_take_no_memory) {
  async_keyed_mutex<int> mutex(context);
  static_cast<void>(mutex.try_lock(-1));  // fills the pool
  asio_sync::test::heap_counter const heap;
  for (int i = 0; i < 1'000'000; ++i) static_cast<void>(mutex.try_lock(i));
  BOOST_TEST(heap.allocations() == 0u);
  BOOST_TEST(mutex.size() == 0u);
}

BOOST_AUTO_TEST_CASE(R12_keys_that_are_aligned_more_than_others) {
  struct alignas(64) wide {
    int value;
    bool operator==(wide const&) const = default;
  };
  struct hash {
    std::size_t operator()(wide const& w) const { return std::size_t(w.value); }
  };
  basic_async_keyed_mutex<wide, asio::any_io_executor, hash> mutex(context);
  std::vector<decltype(mutex.try_lock({}))> held;
  for (int i = 0; i < 100; ++i) {
    held.push_back(mutex.try_lock({i}));
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(&held.back().key()) % 64 == 0u);
  }
}

BOOST_AUTO_TEST_CASE(R4_R18_R9_cancel_close_and_the_end_reach_the_waits_for_all_keys) {
  enum class way { cancel, close, destroy };
  for (way const how : {way::cancel, way::close, way::destroy}) {
    std::optional<mutex_type> mutex(context);
    std::vector<mutex_type::keyed_lock> held;
    std::string order;
    result next[4];
    for (int key = 0; key < 4; ++key) {
      held.push_back(mutex->try_lock(std::to_string(key)));
      if (key % 2) mutex->async_lock(std::to_string(key), next[key].handler());
    }
    for (int key : {2, 0, 3, 2})
      mutex->async_lock(std::to_string(key), [&order, key](error_code e, auto) {
        order += std::to_string(e ? key : 9);
      });
    switch (how) {
      case way::cancel: BOOST_TEST(mutex->cancel() == 6u); break;
      case way::close: mutex->close(); break;
      case way::destroy: mutex.reset(); break;
    }
    if (mutex) {
      BOOST_TEST(mutex->waiters() == 0u);
      BOOST_TEST(mutex->size() == 4u);
    }
    poll();
    BOOST_TEST(order == "2032");
    BOOST_TEST(next[1].refused(how == way::close ? closed : aborted));
    BOOST_TEST(next[3].refused(how == way::close ? closed : aborted));
    held.clear();
    if (mutex) BOOST_TEST(mutex->size() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(R9_a_guard_outlives_its_mutex_with_its_key) {
  mutex_type::keyed_lock held, other;
  {
    mutex_type mutex(context);
    held = mutex.try_lock("a key that is too long to be kept in the string itself");
    other = mutex.try_lock("b");
    BOOST_TEST(held.owns_lock());
  }
  BOOST_TEST(!held.owns_lock());
  BOOST_TEST(held.key() == "a key that is too long to be kept in the string itself");
  held.unlock();
  BOOST_TEST((error_of([&] { held.unlock(); }) == not_permitted));
  BOOST_TEST(other.key() == "b");
}

BOOST_AUTO_TEST_CASE(R15_an_empty_guard_has_no_key_and_nothing_to_unlock) {
  mutex_type mutex(context);
  mutex_type::keyed_lock empty;
  auto held = mutex.try_lock("a");
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST((error_of([&] { empty.unlock(); }) == not_permitted));
    BOOST_TEST((error_of([&] { static_cast<void>(empty.key()); }) == not_permitted));
    BOOST_TEST(!empty.owns_lock());
    if (i == 0) held.unlock();
    swap(empty, held);
  }
}

BOOST_AUTO_TEST_CASE(guards_are_moved_and_swapped) {
  mutex_type mutex(context);
  auto a = mutex.try_lock("a"), b = mutex.try_lock("b");
  swap(a, b);
  BOOST_TEST(a.key() == "b");
  a = std::move(b);  // unlocks what a held
  BOOST_TEST(mutex.size() == 1u);
  BOOST_TEST(a.key() == "a");
  BOOST_TEST(!b);  // NOLINT(bugprone-use-after-move)
}

BOOST_AUTO_TEST_CASE(R13_keys_that_throw_change_nothing) {
  awkward_mutex mutex(context);
  auto const throws_at = [](place where, auto f) {
    awkward_key::throws = where;
    BOOST_CHECK_THROW(f(), std::runtime_error);
    awkward_key::throws = place::nowhere;
  };
  for (bool const held : {false, true}) {
    for (place const where : {place::hash, place::copy, place::equality}) {
      // Somebody who is compared, so that equality is asked for.
      auto other = mutex.try_lock(awkward_key(1));
      awkward_mutex::keyed_lock holder;
      if (held) holder = mutex.try_lock(awkward_key(2));
      result_of<awkward_mutex> waiting;
      if (held) mutex.async_lock(awkward_key(2), waiting.handler());
      std::size_t const size = mutex.size();
      int const alive = awkward_key::alive;
      result_of<awkward_mutex> r;
      throws_at(where, [&] { static_cast<void>(mutex.try_lock(awkward_key(2))); });
      throws_at(where, [&] { mutex.async_lock(awkward_key(2), r.handler()); });
      throws_at(where, [&] { mutex.async_lock_for(awkward_key(2), 1h, r.handler()); });
      asio::io_context other_context;  // somebody may be waiting in the mutex's own
      run(other_context, [&]() -> asio::awaitable<void> {
        // More than the budget, so that both ways of a coroutine are taken.
        for (int i = 0; i < 3; ++i) {
          try {
            auto op = mutex.async_lock(awkward_key(2), asio::use_awaitable);
            awkward_key::throws = where;
            static_cast<void>(co_await std::move(op));
            BOOST_ERROR("it throws");
          } catch (std::runtime_error const&) {
          }
          awkward_key::throws = place::nowhere;
          try {
            auto op = mutex.async_lock(awkward_key(2), asio::deferred);
            awkward_key::throws = where;
            static_cast<void>(co_await std::move(op));
            BOOST_ERROR("it throws");
          } catch (std::runtime_error const&) {
          }
          awkward_key::throws = place::nowhere;
          if (i == 0 && !held)
            for (int n = 0; n < 126; ++n)
              static_cast<void>(co_await mutex.async_lock(awkward_key(2)));
        }
      });
      poll();
      BOOST_TEST(r.calls == 0);
      BOOST_TEST(mutex.size() == size);
      BOOST_TEST(mutex.waiters() == std::size_t(held));
      BOOST_TEST(awkward_key::alive == alive);
      if (held) {
        holder.unlock();
        poll();
        BOOST_TEST(waiting.granted());
      }
    }
  }
  BOOST_TEST(mutex.size() == 0u);
  BOOST_TEST(awkward_key::alive == 0);
}

BOOST_AUTO_TEST_CASE(R5_the_destructor_of_a_key_may_use_the_mutex) {
  std::optional<observed_mutex> mutex(context);
  int ends = 0;
  auto const key = [&](int value, std::function<void()> f) {
    return observed_key(value, std::make_shared<std::function<void()>>(std::move(f)));
  };
  auto const use = [&] {
    ++ends;
    auto const again = mutex->try_lock(key(1, {}));
    BOOST_TEST(again.owns_lock());
    BOOST_TEST(mutex->waiters() == 0u);
  };
  {
    auto held = mutex->try_lock(key(1, use));
    held.unlock();
  }
  BOOST_TEST(ends == 1);
  // Of a key whose last user is a grant that is dropped.
  {
    asio::io_context dying;
    mutex->async_lock(key(1, use), asio::bind_executor(dying, [](error_code, auto) {}));
  }
  BOOST_TEST(ends == 2);
  // The key destroys the mutex, and that with which it came.
  auto held = mutex->try_lock(key(2, [&] { mutex.reset(), ++ends; }));
  held.unlock();
  BOOST_TEST(ends == 3);
  BOOST_TEST(!mutex);
}

BOOST_AUTO_TEST_CASE(R9_a_key_on_its_way_when_the_mutex_dies_is_destroyed) {
  int ends = 0;
  result_of<observed_mutex> r;
  {
    observed_mutex mutex(context);
    mutex.async_lock(observed_key(1, std::make_shared<std::function<void()>>([&] { ++ends; })),
                     r.handler());
  }
  BOOST_TEST(ends == 0);
  poll();
  BOOST_TEST(r.refused(aborted));
  BOOST_TEST(ends == 1);
}

BOOST_AUTO_TEST_CASE(R7_a_wait_whose_key_becomes_free_before_it_queues_is_granted) {
  // The move of its handler unlocks the key: after the wait has asked, and before it queues.
  struct unlocking {
    unlocking(mutex_type::keyed_lock* l, result* r) : lock(l), to(r) {}
    unlocking(unlocking&& other) noexcept : lock(other.lock), to(other.to) {
      if (*lock) lock->unlock();
    }
    void operator()(error_code e, mutex_type::keyed_lock l) { to->handler()(e, std::move(l)); }
    mutex_type::keyed_lock* lock;
    result* to;
  };
  mutex_type mutex(context);
  auto held = mutex.try_lock("a");
  result r;
  mutex.async_lock("a", unlocking(&held, &r));
  poll();
  BOOST_TEST(r.granted());
  BOOST_TEST(mutex.size() == 1u);
}

BOOST_AUTO_TEST_CASE(R17_many_threads_use_few_keys) {
  async_keyed_mutex<int> mutex(context);
  constexpr int keys = 5, coroutines = 8, rounds = 300;
  int uses[keys] = {};
  std::atomic<int> ended{0};
  asio::thread_pool pool(3);
  for (int c = 0; c < coroutines; ++c)
    asio::co_spawn(
        pool,
        [&, c]() -> asio::awaitable<void> {
          asio_sync::test::random_choice choice(static_cast<unsigned>(c + 1));
          for (int i = 0; i < rounds; ++i) {
            int const key = static_cast<int>(choice.below(keys));
            auto const lock = co_await mutex.async_lock(key, asio::use_awaitable);
            ++uses[lock.key()];
            if (choice.below(2)) co_await asio::post(asio::use_awaitable);
          }
          ++ended;
        },
        asio::detached);
  pool.join();
  int sum = 0;
  for (int const n : uses) sum += n;
  BOOST_TEST(ended == coroutines);
  BOOST_TEST(sum == coroutines * rounds);
  BOOST_TEST(mutex.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
