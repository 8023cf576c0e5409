// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The FIFO core against a naive model, by random operations on one thread.

#include "permit_state_model.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>

#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace permit_model;

// The threading of the platform, so that this runs at full speed.
template <bool Exclusive>
struct walk_traits {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using guarded = T;
  using lock_type = std::mutex;
  using node = permit_model::node;
  using list = asio_sync::detail::decided_list<node>;
  static constexpr bool exclusive = Exclusive;
  static constexpr std::size_t batch = 2;
  static permits weight(node const& wait) noexcept { return Exclusive ? 1 : wait.weight; }
  static void joined(node& wait) noexcept { ++wait.known->joined; }
  static void left(node& wait, list&) noexcept { ++wait.known->left; }
};

template <bool Exclusive>
class walk {
  using traits = walk_traits<Exclusive>;
  using core_type = asio_sync::detail::permit_state<traits>;

 public:
  explicit walk(unsigned seed)
      : random_(seed),
        max_(Exclusive ? 1 : below(5) + 1),
        free_(max_),
        core_(std::make_unique<core_type>(max_, max_)) {}

  void run() {
    for (int i = 0; i < 200; ++i) {
      step();
      compare();
    }
    end();
  }

 private:
  permits below(permits n) { return std::uniform_int_distribution<permits>(0, n - 1)(random_); }

  void step() {
    switch (below(11)) {
      case 0:
      case 1:
      case 2: return start();
      case 3: return try_acquire();
      case 4:
      case 5: return give_back();
      case 6:
      case 7: return below(2) ? deliver() : drop();
      case 8:
        if (queued_.empty()) return;
        return cancel(queued_[below(static_cast<permits>(queued_.size()))]);
      case 9: return Exclusive ? change_holder() : misuse();
      default:
        if (below(10) == 0) return below(2) ? close() : cancel_heavy();
    }
  }

  // --- The operations, on both ---

  void start() {
    waits_.push_back(std::make_unique<node>(nobody(), Exclusive ? 1 : below(max_) + 1));
    node& wait = *waits_.back();
    wait.known = &known_;
    bool const once = below(8) == 0;
    bool const granted = !closed_ && queued_.empty() && wait.weight <= free_;
    bool const tried = below(2) == 0 && core_->try_acquire(wait.weight, true);
    if (tried) {
      core_->conclude(wait, wait_outcome::granted);
    } else {
      if (once) core_->refuse(wait, wait_outcome::timed_out, decided_);  // a mark
      BOOST_REQUIRE(core_->enter(wait) == (!granted && !closed_ && !once));
    }
    if (granted) {
      free_ -= wait.weight;
      expect(wait, wait_outcome::granted);
    } else if (closed_ || once) {
      expect(wait, closed_ ? wait_outcome::closed : wait_outcome::timed_out);
    } else {
      queued_.push_back(&wait);
    }
  }

  void try_acquire() {
    permits const n = Exclusive ? 1 : below(max_) + 1;
    bool const counted = below(2) == 0;
    bool const possible = !closed_ && queued_.empty() && n <= free_;
    BOOST_REQUIRE(core_->try_acquire(n, counted) == possible);
    if (!possible) return;
    if constexpr (!Exclusive)
      if (!counted) BOOST_REQUIRE(core_->write_off(n));
    free_ -= n;
    held_.push_back({n, counted});
  }

  void give_back() {
    if (held_.empty()) return misuse();
    auto const at = held_.begin() + below(static_cast<permits>(held_.size()));
    auto const [n, counted] = *at;
    held_.erase(at);
    BOOST_REQUIRE(release(n, counted));
    free_ += n;
    let_in();
  }

  bool release(permits n, bool counted) {
    if constexpr (Exclusive)
      return core_->try_release_uncontended(counted) || core_->release(counted, decided_);
    else if (counted)
      return core_->try_release_uncontended(n) || core_->release(n, decided_);
    else
      return core_->supply(n, decided_);
  }

  // Gives back what is not held, or not in that way.
  void misuse() {
    bool const counted = below(2) == 0;
    if constexpr (!Exclusive) {
      BOOST_REQUIRE(!core_->supply(max_ - free_ + 1, decided_));
    } else if (!is_held(counted)) {
      BOOST_REQUIRE(!release(1, counted));
    }
  }

  // A grant on its way is a guard's already.
  bool is_held(bool counted) const {
    return free_ == 0 && (held_.empty() ? counted : held_.front().counted == counted);
  }

  // A guard's hold becomes a member's, or the other way round.
  void change_holder() {
    bool const counted = below(2) == 0;
    if constexpr (Exclusive) {
      if (held_.empty() && !counted) return;  // nobody's to change
      bool const possible = is_held(!counted);
      BOOST_REQUIRE(core_->count_holder(counted) == possible);
      if (possible) held_.front().counted = counted;
    }
  }

  void cancel(node* wait) {
    BOOST_REQUIRE(core_->refuse(*wait, wait_outcome::aborted, decided_));
    std::erase(queued_, wait);
    expected_.push_back({wait, wait_outcome::aborted});
    let_in();
  }

  void cancel_heavy() {
    auto const heavy = [](node const& wait) { return wait.weight > 1; };
    auto const count = core_->refuse_if(heavy, wait_outcome::aborted, decided_);
    refuse_if(heavy, wait_outcome::aborted, count);
  }

  void close() {
    core_->close(decided_);
    closed_ = true;
    refuse_if([](node const&) { return true; }, wait_outcome::closed, queued_.size());
  }

  node* take_arriving() {
    if (arriving_.empty()) return nullptr;
    auto const at = arriving_.begin() + below(static_cast<permits>(arriving_.size()));
    node* const wait = *at;
    arriving_.erase(at);
    return wait;
  }

  void deliver() {
    node* const wait = take_arriving();
    if (!wait) return;
    if (wait->outcome != wait_outcome::granted) return count_down();
    BOOST_REQUIRE(!core_->is_dead());
    if (!Exclusive) count_down();  // the permits are counts of their own
    held_.push_back({wait->weight, true});
  }

  void drop() {
    node* const wait = take_arriving();
    if (!wait) return;
    if (wait->outcome != wait_outcome::granted) return count_down();
    BOOST_REQUIRE(!core_->drop(*wait, decided_));
    free_ += wait->weight;
    let_in();
  }

  void count_down() { BOOST_REQUIRE(!core_->count_down()); }

  // Which a wait lets go that arrives when the primitive has gone.
  static permits counts_of(node const& wait) {
    return !Exclusive && wait.outcome == wait_outcome::granted ? 1 + wait.weight : 1;
  }

  // The primitive goes: everything left is let go, and the core with the last of it.
  void end() {
    core_->abandon(decided_);
    refuse_if([](node const&) { return true; }, wait_outcome::aborted, queued_.size());
    compare();
    bool last = core_->count_down();
    for (auto const& [n, counted] : held_) {
      if (!counted) continue;
      BOOST_REQUIRE(!last && core_->is_dead());
      BOOST_REQUIRE(!release(n, true));
      last = core_->count_down(n);
    }
    while (node* const wait = take_arriving()) {
      BOOST_REQUIRE(!last);
      if (wait->outcome == wait_outcome::granted && below(2) == 0)
        last = core_->drop(*wait, decided_);
      else
        last = core_->count_down(counts_of(*wait));
    }
    BOOST_REQUIRE(last);
  }

  // --- The naive model ---

  struct permit {
    permits count;
    bool counted;
  };
  struct end_of_wait {
    node* wait;
    wait_outcome outcome;
  };

  void expect(node& wait, wait_outcome outcome) {
    BOOST_REQUIRE(wait.outcome == outcome);
    arriving_.push_back(&wait);
  }

  void let_in() {
    while (!queued_.empty() && queued_.front()->weight <= free_) {
      free_ -= queued_.front()->weight;
      expected_.push_back({queued_.front(), wait_outcome::granted});
      queued_.pop_front();
    }
  }

  template <class Predicate>
  void refuse_if(Predicate which, wait_outcome outcome, std::size_t count) {
    for (node* wait : queued_)
      if (which(*wait)) expected_.push_back({wait, outcome});
    BOOST_REQUIRE(std::erase_if(queued_, [&](node* wait) { return which(*wait); }) == count);
    let_in();
  }

  void compare() {
    while (decided_.more) core_->settle_more(decided_);
    for (auto const& [wait, outcome] : expected_) {
      BOOST_REQUIRE(!decided_.empty());
      BOOST_REQUIRE(&decided_.pop_front() == wait);
      expect(*wait, outcome);
    }
    expected_.clear();
    BOOST_REQUIRE(decided_.empty());
    BOOST_REQUIRE(core_->waiters() == queued_.size());
    BOOST_REQUIRE(known_.joined - known_.left == static_cast<int>(queued_.size()));
    BOOST_REQUIRE(core_->available() == free_);
    BOOST_REQUIRE(core_->is_closed() == closed_);
  }

  static operation& nobody() {
    static operation none;
    return none;
  }

  std::mt19937 random_;
  permits const max_;
  permits free_;
  bool closed_ = false;
  std::deque<node*> queued_;
  std::vector<node*> arriving_;
  std::vector<permit> held_;
  std::vector<end_of_wait> expected_;
  std::vector<std::unique_ptr<node>> waits_;
  typename traits::list decided_;
  record known_;
  std::unique_ptr<core_type> core_;
};

unsigned first_seed() {
  char const* const text = std::getenv("ASIO_SYNC_TEST_SEED");
  return text ? static_cast<unsigned>(std::stoul(text)) : 1;
}

template <bool Exclusive>
void many_walks() {
  for (unsigned seed = first_seed(), end = seed + 3000; seed != end; ++seed) {
    BOOST_TEST_CONTEXT("ASIO_SYNC_TEST_SEED=" << seed) { walk<Exclusive>(seed).run(); }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_state_walk)

BOOST_AUTO_TEST_CASE(R7_exclusive_as_the_naive_model) { many_walks<true>(); }
BOOST_AUTO_TEST_CASE(R7_weighted_as_the_naive_model) { many_walks<false>(); }

BOOST_AUTO_TEST_SUITE_END()
