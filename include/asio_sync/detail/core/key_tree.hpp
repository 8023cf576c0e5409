// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_KEY_TREE_HPP
#define ASIO_SYNC_DETAIL_CORE_KEY_TREE_HPP

#include <cstddef>

namespace asio_sync::detail {

// Entries by the bits of their hashes: a digital search tree (Coffman and Eve; Knuth 6.3). On each
// floor one more bit says where to go on, and every node is an entry. So it needs no memory but
// theirs, is never rebuilt, and what has gone leaves nothing behind. It is no deeper than a hash
// has bits, and as many entries more as have the same hash.
//
// Entry: `hash`, which stays the same; `below[2]`, the tree's.
template <class Entry>
class key_tree {
 public:
  constexpr key_tree() = default;
  key_tree(key_tree const&) = delete;
  key_tree& operator=(key_tree const&) = delete;

  // The place of the entry that has this hash, and of which `is_it` is true; or the empty place
  // where it belongs. Lets out what `is_it` throws.
  template <class Predicate>
  Entry*& find(std::size_t hash, Predicate const& is_it) {
    Entry** place = &root_;
    for (std::size_t bits = hash; *place; bits >>= 1) {
      Entry& found = **place;
      if (found.hash == hash && is_it(found)) break;
      place = &found.below[bits & 1];
    }
    return *place;
  }

  // Any entry from below can take the place of the one that leaves.
  void erase(Entry& entry) noexcept {
    Entry*& place = find(entry.hash, [&](Entry const& other) { return &other == &entry; });
    Entry** last = &place;
    while ((*last)->below[0] || (*last)->below[1]) last = &(*last)->below[!(*last)->below[0]];
    Entry& heir = **last;
    *last = nullptr;
    if (&heir == &entry) return;
    heir.below[0] = entry.below[0];
    heir.below[1] = entry.below[1];
    place = &heir;
  }

 private:
  Entry* root_ = nullptr;
};

}  // namespace asio_sync::detail

#endif
