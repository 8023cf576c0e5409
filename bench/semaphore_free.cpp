// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/semaphore_lock.hpp>

namespace asio_sync::bench {

void add_free_semaphore_workloads(catalogue& all) {
  for (reactor const r : reactors)
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/semaphore" + r] = {
          4096, [=] { return free_lock<semaphore_lock<1>>(r, token); }};
    });
}

}  // namespace asio_sync::bench
