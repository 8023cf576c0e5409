// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/http_workload.hpp>
#include <example/http_server.hpp>

namespace asio_sync::bench {

void add_http_workloads(catalogue& all) {
  all["http/primitives"] = http_requests<http_server::server>();
}

}  // namespace asio_sync::bench
