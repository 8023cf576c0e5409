// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_RANDOM_HPP
#define ASIO_SYNC_TEST_SUPPORT_RANDOM_HPP

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace asio_sync::test {

// The number in an environment variable, or another.
inline unsigned number_from(char const* variable, unsigned otherwise) {
  char const* const text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

// Where a test's random numbers start: ASIO_SYNC_TEST_SEED, or anywhere. Printed, so that it is
// known of a test that hangs, too; one that fails says it with BOOST_TEST_INFO_SCOPE.
inline unsigned random_seed() {
  unsigned const seed = number_from("ASIO_SYNC_TEST_SEED", std::random_device()());
  std::cout << "ASIO_SYNC_TEST_SEED=" << seed << std::endl;
  return seed;
}

class random_choice {
 public:
  explicit random_choice(unsigned seed) : engine_(seed) {}

  // One of 0 to n - 1.
  unsigned below(unsigned n) { return static_cast<unsigned>(engine_() % n); }
  bool one_in(unsigned n) { return below(n) == 0; }
  unsigned seed() { return static_cast<unsigned>(engine_()); }

 private:
  std::mt19937 engine_;
};

}  // namespace asio_sync::test

#endif
