// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Has libFuzzer look for walks through the world of a primitive that end in a difference between
// it and its model, or in what a sanitizer reports. `--subject=NAME` says of which; libFuzzer
// leaves alone what begins so.

#include "orders/bytes.hpp"
#include "orders/world.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace {

std::string_view subject = asio_sync::test::subjects.front();

}  // namespace

namespace asio_sync::test {

void violated(std::string const& text) {
  std::cerr << "fuzz: " << text << std::endl;
  std::abort();
}

}  // namespace asio_sync::test

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view option = "--subject=";
  for (int i = 1; i < *count; ++i)
    if (std::string_view const argument = (*arguments)[i]; argument.starts_with(option))
      subject = argument.substr(option.size());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  asio_sync::test::walk_by_bytes(subject, {data, size});
  return 0;
}
