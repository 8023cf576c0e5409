// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Tells the checker the name by which Boost.Test finds a failing exploration again.

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
