// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_WAIT_LIST_HPP
#define ASIO_SYNC_DETAIL_CORE_WAIT_LIST_HPP

#include <cstdint>

namespace asio_sync::detail {

// Where a wait is. Changes under the lock of its core.
enum class wait_state : std::uint8_t {
  fresh,   // not in the queue yet: the initiating thread's
  queued,  // in the queue: the core's
  decided  // out of it for good, its outcome fixed: whose who took it out, then its completion's
};

// How a wait ended; in a fresh one, how it ends unless it is granted at once. Undecided: of what
// was tried and has to wait.
enum class wait_outcome : std::uint8_t { granted, aborted, timed_out, closed, undecided };

// A first-in, first-out queue of nodes, linked through their members `next` and `prev`; any of
// them can leave it. Also the list in which a core hands out the waits that it has decided.
template <class Node>
class wait_list {
 public:
  wait_list() = default;
  wait_list(wait_list const&) = delete;
  wait_list& operator=(wait_list const&) = delete;

  bool empty() const noexcept { return head_ == nullptr; }
  Node& front() const noexcept { return *head_; }

  static Node* following(Node const& node) noexcept { return node.next; }

  void push_back(Node& node) noexcept {
    node.next = nullptr;
    node.prev = tail_;
    (tail_ ? tail_->next : head_) = &node;
    tail_ = &node;
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

 private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
};

}  // namespace asio_sync::detail

#endif
