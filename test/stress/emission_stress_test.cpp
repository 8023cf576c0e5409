// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Groups of two operations of each primitive, in a context that two threads run. Both operations
// become ready at the same time: the first one that completes cancels the other on its own thread,
// while the other is being delivered. ASIO_SYNC_STRESS_ROUNDS says how many rounds each case has
// (500).

#include "support/random.hpp"

#include <asio_sync.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/mpl/list.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using asio::experimental::make_parallel_group;
using asio::experimental::wait_for_one;

namespace emission_stress_test {

// A subject is made for one round. It has two operations, which cannot complete yet: begin(n)
// returns the nth, and finish(n) lets it complete. When both are over, is_free() is true if
// nothing was lost.

template <class Mutex>
struct locked_mutexes {
  using lock_type = typename Mutex::lock_type;

  explicit locked_mutexes(asio::io_context& context)
      : of{Mutex(context), Mutex(context)},
        held{lock_type(of[0], std::try_to_lock), lock_type(of[1], std::try_to_lock)} {}
  void finish(std::size_t n) { held[n].unlock(); }
  bool is_free() const { return !of[0].is_locked() && !of[1].is_locked(); }

  std::array<Mutex, 2> of;
  std::array<lock_type, 2> held;
};

struct mutexes : locked_mutexes<asio_sync::async_mutex> {
  using locked_mutexes::locked_mutexes;
  auto begin(std::size_t n) { return of[n].async_lock(asio::deferred); }
};

struct shared_mutexes : locked_mutexes<asio_sync::async_shared_mutex> {
  using locked_mutexes::locked_mutexes;
  auto begin(std::size_t n) { return of[n].async_lock_shared(asio::deferred); }
};

struct upgrades {
  using mutex_type = asio_sync::async_shared_mutex;

  explicit upgrades(asio::io_context& context)
      : of{mutex_type(context), mutex_type(context)},
        held{reads(of[0]), reads(of[1])},
        upgraded{reads(of[0]), reads(of[1])} {}
  static mutex_type::shared_lock_type reads(mutex_type& mutex) {
    return mutex_type::shared_lock_type(mutex, std::try_to_lock);
  }
  auto begin(std::size_t n) { return of[n].async_upgrade(std::move(upgraded[n]), asio::deferred); }
  void finish(std::size_t n) { held[n].unlock(); }
  bool is_free() {
    for (auto& lock : upgraded)
      if (lock.owns_lock()) lock.unlock();
    return !of[0].is_locked() && !of[1].is_locked();
  }

  std::array<mutex_type, 2> of;
  std::array<mutex_type::shared_lock_type, 2> held;
  std::array<mutex_type::shared_lock_type, 2> upgraded;
};

struct keyed_mutexes {
  using mutex_type = asio_sync::async_keyed_mutex<int>;
  using lock_type = mutex_type::keyed_lock;

  explicit keyed_mutexes(asio::io_context& context)
      : of(context), held{of.try_lock(0), of.try_lock(1)} {}
  auto begin(std::size_t n) { return of.async_lock(static_cast<int>(n), asio::deferred); }
  void finish(std::size_t n) { held[n].unlock(); }
  bool is_free() const { return of.size() == 0; }

  mutex_type of;
  std::array<lock_type, 2> held;
};

struct semaphores {
  explicit semaphores(asio::io_context& context)
      : of{asio_sync::async_semaphore(context, 0, 1), asio_sync::async_semaphore(context, 0, 1)} {}
  auto begin(std::size_t n) { return of[n].async_acquire(asio::deferred); }
  void finish(std::size_t n) { of[n].release(); }
  bool is_free() const { return of[0].available() == 1 && of[1].available() == 1; }

  std::array<asio_sync::async_semaphore, 2> of;
};

template <class Event>
struct events {
  explicit events(asio::io_context& context) : of{Event(context), Event(context)} {}
  auto begin(std::size_t n) { return of[n].async_wait(asio::deferred); }
  void finish(std::size_t n) { of[n].set(); }
  static bool is_free() { return true; }

  std::array<Event, 2> of;
};

struct latches {
  explicit latches(asio::io_context& context)
      : of{asio_sync::async_latch(context, 2), asio_sync::async_latch(context, 2)} {}
  auto begin(std::size_t n) { return of[n].async_arrive_and_wait(asio::deferred); }
  void finish(std::size_t n) { of[n].count_down(); }
  bool is_free() const { return of[0].try_wait() && of[1].try_wait(); }

  std::array<asio_sync::async_latch, 2> of;
};

struct barriers {
  explicit barriers(asio::io_context& context)
      : of{asio_sync::async_barrier(context, 2), asio_sync::async_barrier(context, 2)} {}
  auto begin(std::size_t n) { return of[n].async_arrive_and_wait(asio::deferred); }
  void finish(std::size_t n) { of[n].arrive_and_drop(); }
  static bool is_free() { return true; }

  std::array<asio_sync::async_barrier, 2> of;
};

struct mailboxes {
  explicit mailboxes(asio::io_context& context) : of(context) {}
  auto begin(std::size_t n) { return of.async_take_any(1u << n, asio::deferred); }
  void finish(std::size_t n) { of.raise(1u << n); }
  static bool is_free() { return true; }

  asio_sync::async_mailbox of;
};

struct conditions {
  using lock_type = asio_sync::async_mutex::lock_type;

  explicit conditions(asio::io_context& context)
      : mutex{asio_sync::async_mutex(context), asio_sync::async_mutex(context)},
        of{asio_sync::async_condition(context), asio_sync::async_condition(context)},
        held{lock_type(mutex[0], std::try_to_lock), lock_type(mutex[1], std::try_to_lock)} {}
  auto begin(std::size_t n) { return of[n].async_wait(held[n], asio::deferred); }
  void finish(std::size_t n) { of[n].notify_one(); }
  bool is_free() const { return held[0].owns_lock() && held[1].owns_lock(); }

  std::array<asio_sync::async_mutex, 2> mutex;
  std::array<asio_sync::async_condition, 2> of;
  std::array<lock_type, 2> held;
};

struct predicates : conditions {
  using conditions::conditions;
  auto begin(std::size_t n) {
    return of[n].async_wait(
        held[n], [this, n] { return is_true[n].load(); }, asio::deferred);
  }
  void finish(std::size_t n) {
    of[n].notify_one();  // in vain
    is_true[n] = true;
    of[n].notify_one();
  }

  std::array<std::atomic<bool>, 2> is_true{};
};

struct monitors {
  using monitor_type = asio_sync::async_monitor<bool>;

  explicit monitors(asio::io_context& context)
      : of{monitor_type(context), monitor_type(context)} {}
  void finish(std::size_t n) {
    of[n].async_invoke([](bool& is_ready) { is_ready = true; }, asio::detached);
  }
  static bool is_free() { return true; }

  std::array<monitor_type, 2> of;
};

struct entries : monitors {
  explicit entries(asio::io_context& context)
      : monitors(context), held{of[0].try_enter(), of[1].try_enter()} {}
  auto begin(std::size_t n) { return of[n].async_enter(asio::deferred); }
  void finish(std::size_t n) { held[n] = {}; }

  std::array<monitor_type::entry, 2> held;
};

struct entries_when : monitors {
  using monitors::monitors;
  auto begin(std::size_t n) {
    return of[n].async_enter_when([](bool is_ready) { return is_ready; }, asio::deferred);
  }
};

struct functions : monitors {
  explicit functions(asio::io_context& context)
      : monitors(context),
        event{asio_sync::async_auto_reset_event(context),
              asio_sync::async_auto_reset_event(context)} {}
  auto begin(std::size_t n) {
    auto const waits = [this, n](bool&) -> asio::awaitable<void> {
      co_await event[n].async_wait(asio::use_awaitable);
    };
    return of[n].async_invoke(waits, asio::deferred);
  }
  void finish(std::size_t n) { event[n].set(); }

  std::array<asio_sync::async_auto_reset_event, 2> event;
};

struct joins {
  explicit joins(asio::io_context& context)
      : of{asio_sync::async_group(context), asio_sync::async_group(context)} {
    for (auto& group : of) group.add();
  }
  auto begin(std::size_t n) { return of[n].async_join(asio::deferred); }
  void finish(std::size_t n) { of[n].done(); }
  bool is_free() const { return of[0].pending() == 0 && of[1].pending() == 0; }

  std::array<asio_sync::async_group, 2> of;
};

struct tracked_operations : events<asio_sync::async_auto_reset_event> {
  explicit tracked_operations(asio::io_context& context) : events(context), group(context) {}
  auto begin(std::size_t n) { return of[n].async_wait(group.track(asio::deferred)); }

  asio_sync::async_group group;
};

struct runs : events<asio_sync::async_auto_reset_event> {
  explicit runs(asio::io_context& context)
      : events(context),
        by{asio_sync::async_enumerator(asio::make_strand(context)),
           asio_sync::async_enumerator(asio::make_strand(context))} {}
  // Made in the initiation, because steps cannot be copied.
  auto begin(std::size_t n) {
    auto const initiation = [this, n](auto handler) {
      by[n].async_run(steps(of[n], by[n]), std::move(handler));
    };
    return asio::async_initiate<asio::deferred_t const, void(std::exception_ptr)>(initiation,
                                                                                  asio::deferred);
  }
  static asio_sync::async_steps steps(asio_sync::async_auto_reset_event& event,
                                      asio_sync::async_enumerator& e) {
    event.async_wait(e.callback());
    co_yield 1;
  }

  std::array<asio_sync::async_enumerator, 2> by;
};

struct guarded_operations : mutexes {
  explicit guarded_operations(asio::io_context& context)
      : mutexes(context),
        event{asio_sync::async_auto_reset_event(context),
              asio_sync::async_auto_reset_event(context)} {}
  auto begin(std::size_t n) {
    return asio_sync::async_guarded(of[n], event[n].async_wait(asio::deferred), asio::deferred);
  }
  void finish(std::size_t n) {
    mutexes::finish(n);
    event[n].set();
  }

  std::array<asio_sync::async_auto_reset_event, 2> event;
};

// Each operation locks both mutexes of a pair.
struct pairs_of_locks {
  explicit pairs_of_locks(asio::io_context& context) : first(context), second(context) {}
  auto begin(std::size_t n) {
    return asio_sync::async_lock_all(std::tie(first.of[n], second.of[n]), asio::deferred);
  }
  void finish(std::size_t n) {
    first.finish(n);
    second.finish(n);
  }
  bool is_free() const { return first.is_free() && second.is_free(); }

  mutexes first, second;
};

// The kinds of groups.
struct unbound_group {
  template <class Operation>
  static auto bind(asio::io_context&, Operation operation) {
    return operation;
  }
  template <class Operation>
  static auto make(Operation first, Operation second) {
    return make_parallel_group(std::move(first), std::move(second));
  }
};

struct bound_group : unbound_group {
  template <class Operation>
  static auto bind(asio::io_context& context, Operation operation) {
    return asio::bind_executor(asio::make_strand(context), std::move(operation));
  }
};

template <class Group>
struct range_of : Group {
  template <class Operation>
  static auto make(Operation first, Operation second) {
    std::vector<Operation> range;
    range.push_back(std::move(first));
    range.push_back(std::move(second));
    return make_parallel_group(std::move(range));
  }
};

// The rounds of one subject in one kind of group.
template <class Subject, class Group>
class emission_rounds {
 public:
  explicit emission_rounds(unsigned rounds) : left_(rounds) {}

  void run() {
    asio::post(context_, [this] { begin(); });
    std::thread other([this] { context_.run(); });
    context_.run();
    other.join();
    BOOST_TEST(left_ == 0);
    BOOST_TEST(lost_ == 0);
  }

 private:
  // Begins a round, which is over when the group has completed, and both operations may have.
  void begin() {
    subject_.emplace(context_);
    parts_ = 3;
    auto const ends = [this](auto... results) {
      (release(std::move(results)), ...);
      end_part();
    };
    Group::make(operation(0), operation(1))
        .async_wait(wait_for_one(), asio::bind_executor(context_, ends));
    for (std::size_t n = 0; n < 2; ++n)
      asio::post(context_, [this, n] {
        subject_->finish(n);
        end_part();
      });
  }

  auto operation(std::size_t n) { return Group::bind(context_, subject_->begin(n)); }

  template <class Result>
  static void release(Result&& result) {
    [[maybe_unused]] auto const taken = std::move(result);
  }

  void end_part() {
    if (--parts_ != 0) return;
    if (!subject_->is_free()) ++lost_;
    if (--left_ != 0) asio::post(context_, [this] { begin(); });
  }

  asio::io_context context_;
  std::optional<Subject> subject_;
  std::atomic<int> parts_{0};
  unsigned left_;
  unsigned lost_ = 0;
};

template <class Subject>
void run_groups() {
  unsigned const rounds = asio_sync::test::number_from("ASIO_SYNC_STRESS_ROUNDS", 500);
  emission_rounds<Subject, unbound_group>(rounds).run();
  emission_rounds<Subject, bound_group>(rounds).run();
  emission_rounds<Subject, range_of<unbound_group>>(rounds).run();
  emission_rounds<Subject, range_of<bound_group>>(rounds).run();
}

using manual_reset_events = events<asio_sync::async_manual_reset_event>;
using auto_reset_events = events<asio_sync::async_auto_reset_event>;
using subjects =
    boost::mpl::list<mutexes, shared_mutexes, upgrades, keyed_mutexes, semaphores,
                     manual_reset_events, auto_reset_events, latches, barriers, mailboxes,
                     conditions, predicates, entries, entries_when, functions, joins,
                     tracked_operations, runs, guarded_operations, pairs_of_locks>;

}  // namespace emission_stress_test

BOOST_AUTO_TEST_SUITE(emission_stress_test)

BOOST_AUTO_TEST_CASE_TEMPLATE(R4_a_group_cancels_where_its_first_operation_completes, Subject,
                              subjects) {
  run_groups<Subject>();
}

BOOST_AUTO_TEST_SUITE_END()
