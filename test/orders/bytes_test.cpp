// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The walks that the fuzzer has found worth keeping, and some at random.

#include "bytes.hpp"
#include "model/scheduler.hpp"
#include "support/random.hpp"
#include "support/test.hpp"
#include "world.hpp"

#include <filesystem>

namespace bytes {

using namespace asio_sync::test;

void walk(std::string_view subject, std::vector<std::uint8_t> const& bytes) {
  auto const found =
      model::replay("", [&] { asio_sync::test::walk_by_bytes(subject, bytes); }, {.quiet = true});
  BOOST_TEST(!found.failed, found.message);
}

}  // namespace bytes

BOOST_AUTO_TEST_SUITE(bytes)

BOOST_AUTO_TEST_CASE(walks_that_are_kept) {
  for (std::string_view const subject : subjects) {
    auto const folder = std::filesystem::path(ASIO_SYNC_TEST_CORPUS) / subject;
    int walks = 0;
    for (auto const& file : std::filesystem::directory_iterator(folder)) {
      BOOST_TEST_INFO_SCOPE(file.path());
      std::ifstream in(file.path(), std::ios::binary);
      walk(subject, {std::istreambuf_iterator<char>(in), {}});
      ++walks;
    }
    BOOST_TEST(walks > 0, "no walks in " << folder);
  }
}

BOOST_AUTO_TEST_CASE(walks_at_random) {
  unsigned const first = asio_sync::test::random_seed();
  for (std::string_view const subject : subjects) {
    for (unsigned seed = first; seed != first + 2000; ++seed) {
      BOOST_TEST_INFO_SCOPE(subject << ": ASIO_SYNC_TEST_SEED=" << seed);
      random_choice random(seed);
      std::vector<std::uint8_t> bytes(random.below(200));
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
      walk(subject, bytes);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
