// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Has libFuzzer look for walks through the world of a mutex that end in a difference between it
// and its model, or in what a sanitizer reports.

#include "orders/mutex_bytes.hpp"
#include "orders/mutex_world.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace asio_sync::test {

void violated(std::string const& text) {
  std::cerr << "fuzz: " << text << std::endl;
  std::abort();
}

}  // namespace asio_sync::test

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  asio_sync::test::walk_by_bytes({data, size});
  return 0;
}
