// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_WAIT_LIST_HPP
#define ASIO_SYNC_DETAIL_CORE_WAIT_LIST_HPP

// What the cores say of a waiter: where it is, how it ended, and the lists that it is linked into.

#include <cstdint>
#include <utility>

namespace asio_sync::detail {

// Where a waiter is. Changes under the lock of its core, until it is decided.
enum class wait_state : std::uint8_t {
  fresh,    // not in the queue yet: the initiating thread's
  queued,   // in the queue: the core's
  decided,  // out of it for good: belongs to whoever took it out, then to its completion
  dropped   // it will never arrive; what it carried goes on, or has gone on
};

// How a wait ended. Undecided: not yet; a fresh waiter that is refused is marked with its outcome.
// Invalid: it was asked for what nobody can have. Failed: the value of the verdict has the reason;
// without a value, the phase of its barrier was broken. Deadlock: it would wait for another that
// waits for it. Not permitted: who asked does not hold what is needed. Four bits; the lowest is
// that of a grant.
enum class wait_outcome : std::uint8_t {
  undecided = 0,
  granted = 1,
  aborted = 2,
  timed_out = 4,
  closed = 6,
  invalid = 8,
  failed = 10,
  deadlock = 12,
  not_permitted = 14
};

// How an attempt or a wait ended, and a value of 60 bits that goes with it, in one register.
class verdict {
 public:
  constexpr verdict(wait_outcome outcome = wait_outcome::undecided,
                    std::uint64_t value = 0) noexcept
      : bits_(value << 4 | static_cast<std::uint64_t>(outcome)) {}

  constexpr wait_outcome outcome() const noexcept {
    return static_cast<wait_outcome>(bits_ & 0xf);
  }
  constexpr std::uint64_t value() const noexcept { return bits_ >> 4; }

  constexpr bool decided() const noexcept { return outcome() != wait_outcome::undecided; }
  constexpr bool granted() const noexcept { return (bits_ & 1) != 0; }

 private:
  std::uint64_t bits_;
};

// A first-in, first-out queue of nodes, linked through their members `next` and `prev`; any of
// them can leave it. Also the list in which a core hands out the waiters that it has decided.
template <class Node>
class wait_list {
 public:
  constexpr wait_list() = default;
  wait_list(wait_list const&) = delete;
  wait_list& operator=(wait_list const&) = delete;

  bool empty() const noexcept { return head_ == nullptr; }
  Node& front() const noexcept { return *head_; }
  Node& back() const noexcept { return *tail_; }

  static Node* following(Node const& node) noexcept { return node.next; }

  void push_back(Node& node) noexcept {
    node.next = nullptr;
    node.prev = tail_;
    (tail_ ? tail_->next : head_) = &node;
    tail_ = &node;
  }

  void push_front(Node& node) noexcept {
    node.next = head_;
    node.prev = nullptr;
    (head_ ? head_->prev : tail_) = &node;
    head_ = &node;
  }

  void erase(Node& node) noexcept {
    (node.prev ? node.prev->next : head_) = node.next;
    (node.next ? node.next->prev : tail_) = node.prev;
  }

  Node& pop_front() noexcept {
    Node& node = *head_;
    erase(node);
    return node;
  }

  // All of another list, behind those that are here.
  void append(wait_list& other) noexcept {
    if (other.empty()) return;
    other.head_->prev = tail_;
    (tail_ ? tail_->next : head_) = other.head_;
    tail_ = std::exchange(other.tail_, nullptr);
    other.head_ = nullptr;
  }

 private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
};

// What a transition has decided; `more`: it has stopped half-way, so that others get the lock.
template <class Node>
struct decided_list : wait_list<Node> {
  bool more = false;
};

}  // namespace asio_sync::detail

#endif
