// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

namespace asio_sync::bench {

void add_free_lock_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    for_all_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/mutex" + r] = {4096, [=] { return free_lock<mutex_lock>(r, token); }};
    });
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W10/free/" + name + "/timed" + r] = {
          4096, [=] { return free_lock<timed_mutex_lock>(r, token); }};
    });
  }
}

}  // namespace asio_sync::bench
