// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_ORDER_HPP
#define ASIO_SYNC_TEST_MODEL_ORDER_HPP

#include "scheduler.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

/// What has happened before what, by the memory orders that the code asks for.
///
/// A memory order that is too weak shows as a race: two threads use a `plain` variable, and
/// nothing orders them but luck. Where a run may read stale values, it shows as one of these, too:
/// see history.hpp.
namespace model::detail {

inline constexpr std::size_t max_threads = 7;

/// How far into each thread somebody has seen. Thread -1 is the scenario.
class moment {
 public:
  std::uint32_t& operator[](int thread) { return ticks_[static_cast<std::size_t>(thread) + 1]; }
  std::uint32_t operator[](int thread) const {
    return ticks_[static_cast<std::size_t>(thread) + 1];
  }

  void join(const moment& other) {
    for (std::size_t i = 0; i < ticks_.size(); ++i) {
      ticks_[i] = ticks_[i] < other.ticks_[i] ? other.ticks_[i] : ticks_[i];
    }
  }

  bool includes(int thread, std::uint32_t tick) const { return tick <= (*this)[thread]; }

  bool includes(const moment& other) const {
    bool all = true;
    for (std::size_t i = 0; i < ticks_.size(); ++i) {
      all &= other.ticks_[i] <= ticks_[i];
    }
    return all;
  }

 private:
  std::array<std::uint32_t, max_threads + 1> ticks_{};
};

/// Where a thread is, and what has happened before that.
struct standpoint {
  moment seen;
  int thread = -1;

  std::uint32_t& tick() { return seen[thread]; }
};

/// Of the running thread; null outside of an exploration.
standpoint* here();

/// What an atomic or a lock hands on, from those who release to those who acquire.
class handed_on {
 public:
  using order = std::memory_order;

  void acquire(order how) const {
    standpoint* const self = is(how, order::acquire) ? here() : nullptr;
    if (self != nullptr) {
      self->seen.join(before_);
    }
  }

  /// By a store, which ends what others have released.
  void replace(order how) {
    before_ = {};
    add(how);
  }

  /// By a read-modify-write, which goes on with it.
  void add(order how) {
    standpoint* const self = is(how, order::release) ? here() : nullptr;
    if (self != nullptr) {
      before_.join(self->seen);
      ++self->tick();
    }
  }

 private:
  static constexpr bool is(order how, order wanted) {
    return how == wanted || how == order::acq_rel || how == order::seq_cst;
  }

  moment before_;
};

/// Who has used a variable that is not atomic.
class uses {
 public:
  void read(const void* variable) {
    standpoint* const self = here();
    if (self == nullptr) {
      return;
    }
    require_not_freed(variable);
    require(self->seen.includes(writer_, written_), "reads", *self);
    readers_[self->thread] = self->tick();
  }

  void write(const void* variable) {
    standpoint* const self = here();
    if (self == nullptr) {
      return;
    }
    require_not_freed(variable);
    require(self->seen.includes(writer_, written_) && self->seen.includes(readers_), "writes",
            *self);
    readers_ = {};
    writer_ = self->thread;
    written_ = self->tick();
  }

 private:
  void require(bool ordered, const char* what, const standpoint& self) const {
    if (!ordered) {
      fail("data race: thread " + std::to_string(self.thread) + ' ' + what +
           " what another thread uses, and nothing orders them");
    }
  }

  int writer_ = -1;
  std::uint32_t written_ = 0;
  moment readers_;
};

}  // namespace model::detail

namespace model {

/// A point that one thread reaches, and others ask about. Neither is a step, nor does it order
/// anything.
class milestone {
 public:
  /// The order of the steps tells until the run reads a stale value. From then on a thread had
  /// come to the point only if that happens before the question.
  class answer {
   public:
    operator bool() const { return detail::has_read_stale() ? happens_before_ : comes_before_; }

   private:
    friend milestone;

    bool comes_before_ = false;
    bool happens_before_ = false;
  };

  milestone() = default;
  milestone(const milestone&) = delete;
  milestone& operator=(const milestone&) = delete;

  void reach() {
    reached_ = true;
    if (detail::standpoint* const self = detail::here()) {
      by_ = self->thread;
      at_ = self->tick();
    }
  }

  answer is_reached() const {
    answer now;
    now.comes_before_ = reached_;
    now.happens_before_ = reached_ && detail::here() && detail::here()->seen.includes(by_, at_);
    return now;
  }

 private:
  bool reached_ = false;
  int by_ = -1;
  std::uint32_t at_ = 0;
};

/// A variable that is not atomic. Using it is no step; it fails the run to use it after it was
/// freed, or where another thread uses it, one of them writes, and neither use happens before the
/// other.
template <class T>
class plain {
 public:
  explicit plain(T value = T()) : value_(value) { uses_.write(this); }
  plain(const plain&) = delete;
  plain& operator=(const plain& other) { return *this = T(other); }

  operator T() const {
    uses_.read(this);
    return value_;
  }

  plain& operator=(T value) {
    uses_.write(this);
    value_ = value;
    return *this;
  }

  plain& operator+=(T delta) { return *this = static_cast<T>(value_ + delta); }
  plain& operator-=(T delta) { return *this = static_cast<T>(value_ - delta); }
  plain& operator++() { return *this += 1; }
  plain& operator--() { return *this -= 1; }

  T operator->() const requires std::is_pointer_v<T> { return *this; }

 private:
  T value_;
  mutable detail::uses uses_;
};

/// A list or a tree that is not atomic, without its nodes: looked after like a `plain` variable.
template <class Container>
class plain_container {
 public:
  bool empty() const { return read().empty(); }
  auto& front() const { return read().front(); }
  auto& back() const { return read().back(); }
  void push_back(auto& node) { write().push_back(node); }
  void push_front(auto& node) { write().push_front(node); }
  auto& pop_front() { return write().pop_front(); }
  void erase(auto& node) { write().erase(node); }
  /// The place that it returns may be written to.
  auto& find(const auto&... what) { return write().find(what...); }
  operator Container&() { return write(); }

 private:
  const Container& read() const {
    uses_.read(this);
    return container_;
  }

  Container& write() {
    uses_.write(this);
    return container_;
  }

  Container container_;
  mutable detail::uses uses_;
};

}  // namespace model

#endif
