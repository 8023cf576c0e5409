// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The table of a keyed mutex against a map.

#include "support/random.hpp"
#include "support/test.hpp"

#include <asio_sync/detail/core/key_tree.hpp>

BOOST_AUTO_TEST_SUITE(key_tree_test)

BOOST_AUTO_TEST_CASE(finds_what_it_has_whatever_was_erased) {
  struct entry {
    int key;
    std::size_t hash;
    entry* below[2] = {};
  };
  for (std::size_t const hashes : {std::size_t(1), std::size_t(3), ~std::size_t(0)}) {
    asio_sync::detail::key_tree<entry> tree;
    std::map<int, std::unique_ptr<entry>> model;
    asio_sync::test::random_choice choice(7);
    auto const hash_of = [&](int key) {
      return std::size_t(key) * std::size_t(0x9e3779b97f4a7c15) % hashes;
    };
    auto const find = [&](int key) -> entry*& {
      return tree.find(hash_of(key), [key](entry const& e) { return e.key == key; });
    };
    for (int i = 0; i < 20'000; ++i) {
      int const key = static_cast<int>(choice.below(100));
      auto const known = model.find(key);
      entry*& found = find(key);
      BOOST_REQUIRE((found == (known == model.end() ? nullptr : known->second.get())));
      if (found) {
        tree.erase(*found);
        model.erase(known);
      } else {
        auto made = std::make_unique<entry>(entry{key, hash_of(key)});
        found = made.get();
        model.emplace(key, std::move(made));
      }
    }
    for (auto const& [key, known] : model) BOOST_TEST(find(key) == known.get());
  }
}

BOOST_AUTO_TEST_SUITE_END()
