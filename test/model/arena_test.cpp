// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the checker finds out about memory.

#include "arena.hpp"
#include "policy.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

namespace {

using model::options;

bool mentions(const model::result& found, const char* text) {
  return found.failed && found.message.find(text) != std::string::npos;
}

struct node {
  model::atomic<int> word{0};
  int plain = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checker_memory)

BOOST_AUTO_TEST_CASE(finds_a_use_after_free) {
  const auto free_against = [](auto use) {
    return [use] {
      node* shared = model::make<node>();
      model::threads([&] { use(*shared); },
                     [&] {
                       if (shared->word.load() == 0) {
                         model::destroy(shared);
                       }
                     });
      if (model::alive(shared)) {
        model::destroy(shared);
      }
    };
  };
  const auto found = model::explore({.quiet = true}, free_against([](node& n) { n.word = 1; }));
  BOOST_TEST(mentions(found, "use after free by thread 0 in store"));
  const auto plain = free_against([](node& n) { model::access(&n)->plain = 1; });
  BOOST_TEST(mentions(model::explore({.quiet = true}, plain), "use after free"));
  const auto asleep = free_against([](node& n) { n.word.wait(0); });
  BOOST_TEST(mentions(model::explore({.quiet = true}, asleep), "use after free"));
  const auto notify = free_against([](node& n) { n.word.notify_one(); });
  BOOST_TEST(mentions(model::explore({.quiet = true}, notify), "use after free"));
  BOOST_TEST(model::explore({.notify_by_address = true}, notify).complete);
}

BOOST_AUTO_TEST_CASE(finds_a_lock_freed_under_who_waits_for_it) {
  const auto found = model::explore({.quiet = true}, [] {
    auto* lock = model::make<model::spin_lock>();
    model::threads([&] { lock->lock(), model::destroy(lock); }, [&] { lock->lock(); });
  });
  BOOST_TEST(mentions(found, "use after free by thread 1 in lock"));
}

BOOST_AUTO_TEST_CASE(finds_leaks_and_wrong_frees) {
  struct owner : model::tracked {};
  const options quiet{.quiet = true};
  const auto leak = [] { model::make<node>(); };
  const auto lost = [] { new owner; };
  const auto kept = [] { delete new owner; };
  const auto twice = [] {
    node* gone = model::make<node>();
    model::destroy(gone);
    model::detail::deallocate(gone, alignof(node));
  };
  const auto foreign = [] {
    int never = 0;
    model::destroy(&never);
  };
  BOOST_TEST(mentions(model::explore(quiet, leak), "leak: 1 of 1"));
  BOOST_TEST(mentions(model::explore(quiet, lost), "leak"));
  BOOST_TEST(model::explore(kept).complete);
  BOOST_TEST(mentions(model::explore(quiet, twice), "double free"));
  BOOST_TEST(mentions(model::explore(quiet, foreign), "never allocated"));
}

#ifndef ASIO_SYNC_MODEL_ASAN
BOOST_AUTO_TEST_CASE(finds_a_plain_write_after_free) {
  const auto found = model::explore({.quiet = true}, [] {
    node* gone = model::make<node>();
    model::destroy(gone);
    *static_cast<volatile int*>(&gone->plain) = 1;
  });
  BOOST_TEST(mentions(found, "was written to"));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
