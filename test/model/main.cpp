// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// Boost.Test's entry point, and the name by which a failing exploration is found again.

#define BOOST_TEST_MODULE model
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include "scheduler.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

namespace {

struct test_names {
  test_names() {
    model::test_name = [] { return boost::unit_test::framework::current_test_case().full_name(); };
  }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(test_names);
