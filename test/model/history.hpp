// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_HISTORY_HPP
#define ASIO_SYNC_TEST_MODEL_HISTORY_HPP

#include "order.hpp"
#include "scheduler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace model::detail {

/// The threads that have seen a store, or made it, each with the moment when it first did.
class witnesses {
 public:
  using order = std::memory_order;

  witnesses() { since_.fill(never); }

  /// The running thread sees the store.
  void add(order how) {
    in_total_order_ |= how == order::seq_cst;
    if (standpoint* const self = here()) {
      std::uint32_t& first = since_[static_cast<std::size_t>(self->thread) + 1];
      first = std::min(first, self->tick());
    }
  }

  /// True if a load by the thread may return nothing older: some thread has seen the store, and
  /// that happens before the load, or comes before it in the total order of `seq_cst`.
  bool are_known_to(const standpoint& self, order how) const {
    bool known = in_total_order_ && how == order::seq_cst;
    for (std::size_t i = 0; i < since_.size(); ++i) {
      known |= self.seen.includes(static_cast<int>(i) - 1, since_[i]);
    }
    return known;
  }

 private:
  static constexpr std::uint32_t never = ~std::uint32_t{0};

  std::array<std::uint32_t, max_threads + 1> since_;
  bool in_total_order_ = false;
};

/// The last stores to an atomic. Their modification order is the order of the steps that made
/// them.
///
/// A load may return one that is older than the newest, unless the thread knows it to be
/// overwritten. So a thread never goes back, and a load sees every store that happens before it.
/// Which store a load returns is a choice. A read-modify-write takes the newest.
///
/// The standard allows more: here no load returns the value of a later step's store (load
/// buffering), and no store comes before an earlier step's (2+2W).
template <class T>
class history {
 public:
  using order = std::memory_order;

  explicit history(T first) { push(first, {}, order::relaxed); }

  T newest() const { return at(0).value; }

  /// How many stores before the newest one a load returns. `unlike`: another value than this one.
  int choose(order how, const T* unlike = nullptr) const {
    if (!may_read_stale()) {
      return 0;
    }
    std::uint32_t candidates = 1;
    for (int back = 1; back < std::min(count_, depth); ++back) {
      if (at(back - 1).seen.are_known_to(*here(), how)) {
        break;
      }
      if (unlike == nullptr || !same(at(back).value, *unlike)) {
        candidates |= std::uint32_t{1} << back;
      }
    }
    return candidates == 1 ? 0 : choose_stale(candidates);
  }

  /// Reads what was stored so many stores before the newest.
  T read(int back, order how) const {
    const store& from = at(back);
    from.seen.add(how);
    from.handed.acquire(how);
    return from.value;
  }

  /// A store ends what earlier ones hand on.
  void write(T value, order how) { push(value, {}, how); }

  /// A read-modify-write goes on with it.
  T update(T value, order how) {
    const T old = read(0, how);
    push(value, at(0).handed, how);
    return old;
  }

  /// Compares representations, as `std::atomic` does.
  static bool same(const T& left, const T& right) noexcept {
    return std::memcmp(&left, &right, sizeof(T)) == 0;
  }

 private:
  struct store {
    T value{};
    handed_on handed;
    mutable witnesses seen;
  };

  static constexpr int depth = 4;

  const store& at(int back) const { return stores_[(count_ - 1 - back) % depth]; }

  void push(T value, const handed_on& handed, order how) {
    store& fresh = stores_[count_++ % depth];
    fresh = {value, handed, {}};
    fresh.seen.add(how);
    fresh.handed.add(how);
  }

  std::array<store, depth> stores_;
  int count_ = 0;
};

}  // namespace model::detail

#endif
