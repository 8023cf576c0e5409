// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

namespace asio_sync::bench {

namespace {

void add_handlers(catalogue& all, reactor r) {
  all["W2/mutex" + r] = {4096, [=] { return handler_chain<mutex_lock>(r); }};
  all["W10/handler/timed" + r] = {4096, [=] { return handler_chain<timed_mutex_lock>(r); }};
  for (std::size_t const n : {1000, 4000, 10000, 1000000})
    all["W6/" + std::to_string(n) + "/mutex" + r] = {
        n, [=] { return queue_and_drain<mutex_lock>(r, n); }};
  all["W5b/to and fro/mutex" + r] = {threaded_sections, [=] { return to_and_fro<mutex_lock>(r); },
                                     true};
  all["W10/queue/timed" + r] = {1000, [=] { return queue_and_drain<timed_mutex_lock>(r, 1000); }};
}

}  // namespace

void add_handler_workloads(catalogue& all) {
  all["W1/mutex"] = {4096, [] { return try_lock_loop<mutex_lock>(); }};
  for (reactor const r : reactors) add_handlers(all, r);
}

}  // namespace asio_sync::bench
