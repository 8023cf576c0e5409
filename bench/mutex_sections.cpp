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

}  // namespace

void add_section_workloads(catalogue& all) {
  for (reactor const r : reactors)
    for_plain_tokens(
        [&](std::string const& name, auto token) { add_sections(all, r, name, token); });
}

}  // namespace asio_sync::bench
