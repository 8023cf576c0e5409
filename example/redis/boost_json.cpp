// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Boost.JSON for the programs that use it, without its library.

#include <boost/json/src.hpp>
