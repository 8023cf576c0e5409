// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SHARED_SIDES_HPP
#define ASIO_SYNC_TEST_SHARED_SIDES_HPP

#include "shared/side.hpp"

#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <string>

extern "C" {
asio_sync::test::side const* asio_sync_test_side_program();
asio_sync::test::side const* asio_sync_test_side_default();  // shares what it can with the program
asio_sync::test::side const* asio_sync_test_side_hidden();   // -fvisibility=hidden
}

namespace asio_sync::test {

// A library that is loaded while the program runs, with nothing of its own visible to others, and
// nothing taken from them, neither the library's nor Asio's.
class plugin {
 public:
  explicit plugin(char const* file = ASIO_SYNC_TEST_PLUGIN)
      : handle_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    BOOST_REQUIRE_MESSAGE(handle_, ::dlerror());
  }
  plugin(plugin const&) = delete;
  plugin& operator=(plugin const&) = delete;
  ~plugin() { ::dlclose(handle_); }

  side const& get() const {
    void* const function = ::dlsym(handle_, "asio_sync_test_side_plugin");
    BOOST_REQUIRE(function);
    return *reinterpret_cast<side const* (*)()>(function)();
  }

  static bool is_loaded(char const* file) {
    void* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle) ::dlclose(handle);
    return handle != nullptr;
  }

 private:
  void* handle_;
};

// Calls test(one, other) for each two of the program, the libraries and the plugin.
template <class Test>
void for_each_two_sides(Test test) {
  plugin const loaded;
  side const* const sides[] = {asio_sync_test_side_program(), asio_sync_test_side_default(),
                               asio_sync_test_side_hidden(), &loaded.get()};
  for (side const* one : sides)
    for (side const* other : sides)
      if (one != other)
        BOOST_TEST_CONTEXT(std::string(one->name()) + ", " + other->name()) test(*one, *other);
}

}  // namespace asio_sync::test

#endif
