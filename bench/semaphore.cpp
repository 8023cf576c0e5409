// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/semaphore_lock.hpp>

namespace asio_sync::bench {

void add_semaphore_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    all["W6/1000/semaphore" + r] = {1000,
                                    [=] { return queue_and_drain<semaphore_lock<1>>(r, 1000); }};
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W7/" + name + "/semaphore" + r] = {
          section_count(64), [=] { return sections<semaphore_lock<8>>(r, token, 64); }};
    });
  }
}

}  // namespace asio_sync::bench
