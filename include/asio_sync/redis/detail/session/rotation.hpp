// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_ROTATION_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_ROTATION_HPP

namespace asio_sync::redis::detail {

// A node of a rotation has a member `place` of this type.
template <class Node>
struct rotation_place {
  Node* before = nullptr;
  Node* behind = nullptr;
};

// A queue of nodes that any of them can leave, and a round that visits the nodes in their order. A
// node that joins during a round is the last one that the round visits. It needs no memory.
template <class Node>
class rotation {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  Node& front() const noexcept { return *first_; }

  void push_back(Node& n) noexcept {
    n.place = {last_, nullptr};
    (last_ ? last_->place.behind : first_) = &n;
    last_ = &n;
  }

  void erase(Node& n) noexcept {
    if (next_ == &n) next_ = n.place.behind;
    (n.place.before ? n.place.before->place.behind : first_) = n.place.behind;
    (n.place.behind ? n.place.behind->place.before : last_) = n.place.before;
  }

  // Begins a round.
  void restart() noexcept { next_ = first_; }

  // True if the round has visited all nodes, or has not begun.
  bool is_complete() const noexcept { return next_ == nullptr; }

  // Visits the next node of the round.
  Node& visit() noexcept {
    Node& n = *next_;
    next_ = n.place.behind;
    return n;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  Node* next_ = nullptr;  // that the round visits
};

}  // namespace asio_sync::redis::detail

#endif
