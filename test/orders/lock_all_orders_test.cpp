// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Several mutexes at once, of two contexts, in every order of handlers. A world has one primitive,
// so these have a smaller one of their own.

#include "model/scheduler.hpp"
#include "support/test.hpp"

#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/detail/context/completion_queue.hpp>

namespace lock_all_orders {

using namespace asio_sync::test;

void require(bool holds, char const* what) {
  if (!holds) model::fail(what);
}

// One caller: which mutexes it names, and on which context.
struct caller {
  std::vector<std::size_t> mutexes;
  std::size_t context = 0;
  bool coroutine = false;
};

struct scenario {
  std::vector<caller> callers;
  std::optional<std::size_t> cancelled = {};  // at any time, this caller
  std::optional<std::size_t> closed = {};     // at any time, this mutex
  std::optional<std::size_t> ends = {};       // at any time, this context
};

class small_world {
 public:
  explicit small_world(scenario const& s) : plan_(s), callers_(s.callers.size()) {
    detail::immediate_budget::renew();
    for (auto& context : contexts_) context = std::make_unique<asio::io_context>();
    for (std::size_t i = 0; i != mutexes_.size(); ++i)
      mutexes_[i].emplace(*contexts_[i % contexts_.size()]);
  }

  // Whatever can happen is a choice, until nothing can; then nobody waits any more.
  void run() {
    for (;;) {
      std::vector<std::function<bool()>> possible = find();
      if (possible.empty()) {
        if (poll(0) || poll(1)) continue;
        return finish();
      }
      for (std::size_t i = 0; i != contexts_.size(); ++i)
        possible.emplace_back([this, i] { return poll(i); });
      auto const next = model::choose(static_cast<int>(possible.size()));
      // Where there is nothing to poll, what could follow does so without it, too.
      if (!possible[static_cast<std::size_t>(next)]()) return;
    }
  }

 private:
  using locks_type = std::vector<async_mutex::lock_type>;

  struct outcome {
    void operator()(error_code error, locks_type now) {
      ++calls;
      bool const all = std::ranges::all_of(now, [](auto const& l) { return l.owns_lock(); });
      require(error ? now.empty() : all, "some, and not all");
      locks = std::move(now);
    }

    int calls = 0;
    bool begun = false;          // newer Asio does not run a coroutine that was cancelled before
    std::weak_ptr<int> handler;  // for as long as there is one
    locks_type locks;
    asio::cancellation_signal signal;
  };

  // What can be done, besides to poll.
  std::vector<std::function<bool()>> find() {
    std::vector<std::function<bool()>> possible;
    if (begun_ != callers_.size()) possible.emplace_back([this] { return begin(begun_++); });
    for (outcome& each : callers_)
      if (!each.locks.empty()) possible.emplace_back([&each] { return each.locks.clear(), true; });
    if (plan_.cancelled && *plan_.cancelled < begun_)
      possible.emplace_back([this] {
        callers_[*std::exchange(plan_.cancelled, {})].signal.emit(
            asio::cancellation_type::terminal);
        return true;
      });
    if (plan_.closed)
      possible.emplace_back([this] {
        mutexes_[*std::exchange(plan_.closed, {})]->close();
        return true;
      });
    if (plan_.ends)
      possible.emplace_back([this] {
        contexts_[*std::exchange(plan_.ends, {})].reset();
        return true;
      });
    return possible;
  }

  bool begin(std::size_t number) {
    caller const& plan = plan_.callers[number];
    outcome& into = callers_[number];
    auto const& context = contexts_[plan.context];
    if (!context) return true;
    std::vector<async_mutex*> mutexes;
    for (std::size_t const i : plan.mutexes) mutexes.push_back(&*mutexes_[i]);
    auto const handler = std::make_shared<int>();
    into.handler = handler;
    into.begun = !plan.coroutine;
    if (plan.coroutine)
      asio::co_spawn(*context, lock(std::move(mutexes), into, handler),
                     asio::bind_cancellation_slot(into.signal.slot(), asio::detached));
    else
      async_lock_all(
          mutexes,
          asio::bind_cancellation_slot(
              into.signal.slot(),
              asio::bind_executor(*context, [&into, handler](error_code error, locks_type now) {
                into(error, std::move(now));
              })));
    return true;
  }

  static asio::awaitable<void> lock(std::vector<async_mutex*> mutexes, outcome& into,
                                    std::shared_ptr<int>) {
    into.begun = true;
    auto [error, now] = co_await async_lock_all(mutexes, asio::as_tuple(asio::deferred));
    into(error, std::move(now));
  }

  bool poll(std::size_t i) {
    if (!contexts_[i]) return false;
    contexts_[i]->restart();
    return contexts_[i]->poll_one() != 0;
  }

  void finish() {
    for (outcome const& each : callers_) {
      require(each.handler.expired(), "somebody waits in vain");
      require(each.calls <= 1, "completed twice");
    }
    bool const all_live = contexts_[0] && contexts_[1];
    for (std::size_t i = 0; i != callers_.size(); ++i) {
      bool const had_no_chance = !callers_[i].begun && plan_.cancelled == i;
      require(callers_[i].calls == 1 || had_no_chance || !all_live, "not completed");
    }
    for (auto const& mutex : mutexes_) {
      require(!mutex->is_locked(), "a lock stays held");
      require(mutex->waiters() == 0, "a wait stays queued");
    }
  }

  scenario plan_;
  std::vector<outcome> callers_;
  std::array<std::optional<async_mutex>, 3> mutexes_;  // in the order of their addresses
  std::array<std::unique_ptr<asio::io_context>, 2> contexts_;
  std::size_t begun_ = 0;
};

void explore(scenario const& s) {
#ifdef ASIO_SYNC_TEST_SANITIZED
  model::options const how{.max_runs = 5'000};  // each takes twenty times as long
#else
  model::options const how{.max_runs = 100'000};
#endif
  auto const found = model::explore(how, [&] { small_world(s).run(); });
  BOOST_TEST(!found.failed, found.message);
  BOOST_TEST_MESSAGE("orders: " << found.runs << " runs in " << found.seconds << " s");
}

}  // namespace lock_all_orders

BOOST_AUTO_TEST_SUITE(lock_all_orders)

BOOST_AUTO_TEST_CASE(R7_both_orders) {
  explore({.callers = {{{0, 1}, 0}, {{1, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 0}}});
}

BOOST_AUTO_TEST_CASE(R7_round_a_table) {
  explore({.callers = {{{0, 1}, 0, true}, {{1, 2}, 1, true}, {{2, 0}, 0, true}}});
}

BOOST_AUTO_TEST_CASE(R4_cancel_against_grant) {
  explore({.callers = {{{0, 1}, 0}, {{1, 0, 2}, 1}, {{2, 1}, 0}}, .cancelled = 1});
}

BOOST_AUTO_TEST_CASE(R4_cancel_against_grant_in_coroutines) {
  explore({.callers = {{{1}, 0}, {{2, 0, 1}, 1, true}, {{0, 1}, 0, true}}, .cancelled = 1});
}

BOOST_AUTO_TEST_CASE(R18_close_against_grant) {
  explore({.callers = {{{0, 1}, 0}, {{1, 0}, 1, true}, {{2, 1}, 0}}, .closed = 1});
}

BOOST_AUTO_TEST_CASE(R10_a_context_ends) {
  explore({.callers = {{{0, 1}, 0}, {{1, 0}, 1}, {{1, 2, 0}, 0, true}}, .ends = 0});
  explore({.callers = {{{0, 1}, 0}, {{1, 0}, 1, true}, {{1, 2}, 0}}, .ends = 1});
}

BOOST_AUTO_TEST_SUITE_END()
