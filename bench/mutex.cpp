// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

namespace asio_sync::bench {

namespace {

template <class Token>
void add_sections(catalogue& all, reactor r, std::string const& name,
                  std::type_identity<Token> token) {
  for (std::size_t const k : competitors) {
    std::string const path = name + "/" + std::to_string(k);
    all["W4/" + path + "/mutex" + r] = {section_count(k),
                                        [=] { return sections<mutex_lock>(r, token, k); }};
  }
  all["W10/contended/" + name + "/timed" + r] = {
      section_count(64), [=] { return sections<timed_mutex_lock>(r, token, 64); }};
  for (std::size_t const k : {2, 64}) {
    std::string const path = name + "/" + std::to_string(k);
    all["W5/" + path + "/mutex" + r] = {
        threaded_sections, [=] { return sections_of_two_threads<mutex_lock>(r, token, k); }, true};
  }
  all["W5b/" + name + "/mutex" + r] = {
      threaded_sections, [=] { return sections_of_two_contexts<mutex_lock>(r, token); }, true};
}

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

void add_mutex_workloads(catalogue& all) {
  all["W1/mutex"] = {4096, [] { return try_lock_loop<mutex_lock>(); }};
  for (reactor const r : reactors) {
    add_handlers(all, r);
    for_all_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/mutex" + r] = {4096, [=] { return free_lock<mutex_lock>(r, token); }};
    });
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W10/free/" + name + "/timed" + r] = {
          4096, [=] { return free_lock<timed_mutex_lock>(r, token); }};
      add_sections(all, r, name, token);
    });
  }
}

}  // namespace asio_sync::bench
