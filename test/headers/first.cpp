// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <asio_sync.hpp>

// Both translation units hold everything; what is not inline is there twice and does not link.
boost::system::error_category const* category_in_second();

int main() { return category_in_second() == &asio_sync::error_category() ? 0 : 1; }
