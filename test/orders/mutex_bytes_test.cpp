// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The walks that the fuzzer has found worth keeping, and some at random.

#include "mutex_bytes.hpp"
#include "model/scheduler.hpp"
#include "support/random.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

using asio_sync::test::random_choice;

void walk(std::vector<std::uint8_t> const& bytes) {
  auto const found =
      model::replay("", [&bytes] { asio_sync::test::walk_by_bytes(bytes); }, {.quiet = true});
  BOOST_TEST(!found.failed, found.message);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mutex_bytes)

BOOST_AUTO_TEST_CASE(walks_that_are_kept) {
  int walks = 0;
  for (auto const& file : std::filesystem::directory_iterator(ASIO_SYNC_TEST_CORPUS)) {
    BOOST_TEST_INFO_SCOPE(file.path());
    std::ifstream in(file.path(), std::ios::binary);
    walk({std::istreambuf_iterator<char>(in), {}});
    ++walks;
  }
  BOOST_TEST(walks > 0);
}

BOOST_AUTO_TEST_CASE(walks_at_random) {
  unsigned const first = asio_sync::test::random_seed();
  for (unsigned seed = first; seed != first + 2000; ++seed) {
    BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
    random_choice random(seed);
    std::vector<std::uint8_t> bytes(random.below(200));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
    walk(bytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()
