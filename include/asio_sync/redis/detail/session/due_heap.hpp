// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_DUE_HEAP_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_DUE_HEAP_HPP

#include <asio_sync/redis/detail/session/session_clock.hpp>

#include <cstdint>
#include <utility>

namespace asio_sync::redis::detail {

// A node of a heap has a member `due` of this type.
template <class Node>
struct due_place {
  session_clock::time_point at = session_clock::time_point::max();  // max: it is not in the heap
  std::uint64_t order = 0;
  Node* child = nullptr;
  Node* sibling = nullptr;
  Node* before = nullptr;  // the parent of a first child, else the sibling before
};

// Nodes by the times at which they are due, those of one time in the order in which they were set:
// a pairing heap (Fredman, Sedgewick, Sleator and Tarjan). Any node can leave it. It needs no
// memory, and logarithmic amortized time.
template <class Node>
class due_heap {
 public:
  using time_point = session_clock::time_point;

  // Returns when the first node is due; the end of time if there is none.
  time_point earliest() const noexcept { return root_ ? root_->due.at : time_point::max(); }

  Node& front() const noexcept { return *root_; }

  // Adds a node, or changes its time.
  void set(Node& n, time_point at) noexcept {
    erase(n);
    if (at == time_point::max()) return;
    n.due.at = at;
    n.due.order = ++order_;
    root_ = merge(root_, &n);
  }

  // Does nothing for a node that is not in the heap.
  void erase(Node& n) noexcept {
    if (n.due.at == time_point::max()) return;
    Node* const below = merge_siblings(n.due.child);
    if (root_ == &n) {
      root_ = below;
    } else {
      cut(n);
      root_ = merge(root_, below);
    }
    n.due = {};
  }

 private:
  static bool is_before(Node const& a, Node const& b) noexcept {
    return a.due.at != b.due.at ? a.due.at < b.due.at : a.due.order < b.due.order;
  }

  // Takes a node, with those below it, out of its siblings.
  static void cut(Node& n) noexcept {
    Node& before = *n.due.before;
    (before.due.child == &n ? before.due.child : before.due.sibling) = n.due.sibling;
    if (n.due.sibling) n.due.sibling->due.before = &before;
  }

  // Makes the root that is due later the first child of the other one.
  static Node* merge(Node* a, Node* b) noexcept {
    if (!a || !b) return a ? a : b;
    if (is_before(*b, *a)) std::swap(a, b);
    b->due.before = a;
    b->due.sibling = a->due.child;
    if (a->due.child) a->due.child->due.before = b;
    a->due.child = b;
    return a;
  }

  // Merges siblings in pairs, and then the pairs from the last one on.
  static Node* merge_siblings(Node* first) noexcept {
    Node* pairs = nullptr;  // linked in reverse order
    while (first) {
      Node* const second = first->due.sibling;
      Node* const rest = second ? second->due.sibling : nullptr;
      first->due.sibling = nullptr;
      if (second) second->due.sibling = nullptr;
      Node* const pair = merge(first, second);
      pair->due.sibling = pairs;
      pairs = pair;
      first = rest;
    }
    Node* root = nullptr;
    while (pairs) {
      Node* const pair = std::exchange(pairs, pairs->due.sibling);
      pair->due.sibling = nullptr;
      root = merge(root, pair);
    }
    return root;
  }

  Node* root_ = nullptr;
  std::uint64_t order_ = 0;  // of the last node
};

}  // namespace asio_sync::redis::detail

#endif
