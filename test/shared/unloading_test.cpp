// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// A library that is unloaded. The contexts in which it has waited have ended before.

#include "shared/sides.hpp"

#include <boost/test/unit_test.hpp>

#include <thread>

using asio_sync::test::plugin;

namespace {

char const* const file = ASIO_SYNC_TEST_UNLOADED;  // a copy, that no other test has used

}  // namespace

BOOST_AUTO_TEST_SUITE(unloading_test)

// Leaves no memory behind, or the leak sanitizer says so.
BOOST_AUTO_TEST_CASE(R17_library_is_unloaded_once_the_threads_that_used_it_have_ended) {
  for (int i = 0; i < 3; ++i) {
    plugin const loaded(file);
    std::thread([&] { BOOST_TEST(loaded.get().exercise()); }).join();
  }
  BOOST_TEST(!plugin::is_loaded(file));
}

BOOST_AUTO_TEST_CASE(R17_thread_that_has_used_the_library_keeps_it_loaded) {
  std::thread([] {
    for (int i = 0; i < 3; ++i) {
      plugin const loaded(file);
      BOOST_TEST(loaded.get().exercise());
    }
    BOOST_TEST(plugin::is_loaded(file));
  }).join();  // the blocks that the thread has kept go back here, by code of the library
}

BOOST_AUTO_TEST_SUITE_END()
