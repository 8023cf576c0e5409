// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"

#include <asio_sync/version.hpp>

#include <system_error>

namespace error_test {

using namespace asio_sync::test;

constexpr error all[] = {error::closed, error::broken_barrier, error::lease_lost,
                         error::kind_mismatch, error::version_mismatch};

// Stands for the copy of the category that another shared library has.
asio_sync::detail::error_category const another_copy;

}  // namespace error_test

BOOST_AUTO_TEST_SUITE(error_test)

BOOST_AUTO_TEST_CASE(converts_to_an_error_code_that_is_set) {
  static_assert(std::is_convertible_v<error, error_code>);
  static_assert(noexcept(make_error_code(error::closed)));
  for (error e : all) {
    error_code const code = e;
    BOOST_TEST(code.failed());
    BOOST_TEST(code.value() == static_cast<int>(e));
    BOOST_TEST((code == e));
    BOOST_TEST((code != error_code()));
  }
  BOOST_TEST(static_cast<int>(error::closed) == 1);
}

BOOST_AUTO_TEST_CASE(category_has_the_name_of_the_library) {
  BOOST_TEST(asio_sync::error_category().name() == std::string("asio_sync"));
  BOOST_TEST((error_code(error::closed).category() == asio_sync::error_category()));
}

BOOST_AUTO_TEST_CASE(copies_of_the_category_compare_equal) {
  BOOST_TEST((another_copy == asio_sync::error_category()));
  BOOST_TEST((error_code(1, another_copy) == error::closed));
  BOOST_TEST((error_code(1, boost::system::generic_category()) != error::closed));
}

BOOST_AUTO_TEST_CASE(every_error_has_a_message_of_its_own) {
  std::set<std::string> messages;
  char buffer[64];
  for (error e : all) {
    error_code const code = e;
    BOOST_TEST(!code.message().empty());
    BOOST_TEST(code.message() == code.message(buffer, sizeof buffer));
    messages.insert(code.message());
  }
  BOOST_TEST(messages.size() == std::size(all));
  BOOST_TEST(messages.count(error_code(0, asio_sync::error_category()).message()) == 0u);
  BOOST_TEST(messages.count(error_code(99, asio_sync::error_category()).message()) == 0u);
}

BOOST_AUTO_TEST_CASE(converts_to_the_error_code_of_the_standard) {
  std::error_code const code = make_error_code(error::closed);
  BOOST_TEST(code.value() == 1);
  BOOST_TEST(code.category().name() == std::string("asio_sync"));
  BOOST_TEST(code.message() == make_error_code(error::closed).message());
}

BOOST_AUTO_TEST_CASE(is_thrown_as_a_system_error) {
  BOOST_CHECK_EXCEPTION(throw boost::system::system_error(error::broken_barrier),
                        boost::system::system_error,
                        [](auto const& e) { return e.code() == error::broken_barrier; });
}

BOOST_AUTO_TEST_CASE(version_is_its_three_parts) {
  static_assert(asio_sync::version / 10'000 == asio_sync::version_major);
  static_assert(asio_sync::version / 100 % 100 == asio_sync::version_minor);
  static_assert(asio_sync::version % 100 == asio_sync::version_patch);
  BOOST_TEST(asio_sync::version > 0);
}

BOOST_AUTO_TEST_SUITE_END()
