// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_UNIT_GROUP_STRANDS_HPP
#define ASIO_SYNC_TEST_UNIT_GROUP_STRANDS_HPP

#include "support/test.hpp"

#include <asio_sync/async_group.hpp>

namespace asio_sync::test {

// A context that two threads run, and a group over it.
struct group_of_strands {
  using strand = asio::strand<asio::io_context::executor_type>;

  static constexpr int rounds = 20, sessions = 50;

  asio::io_context context;
  std::optional<async_group> group{std::in_place, context};
  int failures = 0;

  // Has operations begin on the two threads, each on a strand of its own, and cancels them from
  // this one while they go on, until all have ended.
  void cancels(std::function<void(strand const&)> const& begin, bool on_strand = true) {
    for (int round = 0; round != rounds; ++round) {
      context.restart();
      std::optional work(asio::make_work_guard(context));
      std::exception_ptr thrown[2];
      std::vector<std::thread> threads;
      for (auto& e : thrown)
        threads.emplace_back([&] {
          try {
            context.run();
          } catch (...) {
            e = std::current_exception();
          }
        });
      for (int i = 0; i != sessions; ++i) {
        strand const own = asio::make_strand(context);
        group->add();
        auto const begins = [&, own] {
          begin(own);
          group->done();
        };
        if (on_strand)
          asio::post(own, begins);
        else
          begins();
      }
      while (group->pending() != 0) group->cancel_pending();
      work.reset();
      for (auto& each : threads) each.join();
      for (auto const& e : thrown) failures += e != nullptr;
    }
    BOOST_TEST(failures == 0);
  }
};

}  // namespace asio_sync::test

#endif
