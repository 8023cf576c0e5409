// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "exploration.hpp"

#include "model/scheduler.hpp"
#include "world.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace asio_sync::test {

void violated(std::string const& text) { model::fail(text); }

namespace {

// One run: whatever can happen is a choice, until nothing can.
class one_run {
 public:
  one_run(std::string_view subject, scenario const& s)
      : world_(world_of(subject)), left_(s.once), drops_(s.drops) {
    for (operation const& op : s.before) world_->perform(op);
  }

  void go_on() {
    for (;;) {
      std::vector<operation> const possible = find();
      if (possible.empty()) break;
      operation const next = possible[model::choose(static_cast<int>(possible.size()))];
      if (next.what == verb::drop) --drops_;
      if (auto const at = std::find(left_.begin(), left_.end(), next); at != left_.end())
        left_.erase(at);
      if (!world_->perform(next)) break;  // What could follow does so without it, too.
    }
    world_->finish(true);
  }

 private:
  std::vector<operation> find() const {
    std::vector<operation> possible;
    auto const add = [&possible](operation const& op) {
      if (std::find(possible.begin(), possible.end(), op) == possible.end())
        possible.push_back(op);
    };
    for (operation const& op : left_)
      if (world_->allows(op)) add(op);
    if (auto const served = world_->way_on()) add(*served);
    for (std::uint8_t c = 0; c < world::contexts; ++c) {
      if (world_->busy(c)) possible.push_back({verb::poll, c});
      for (std::size_t i = 0; i < world_->queued(c); ++i) {
        auto const item = static_cast<std::uint8_t>(i);
        possible.push_back({verb::run, c, item});
        if (drops_ > 0) possible.push_back({verb::drop, c, item});
      }
    }
    return possible;
  }

  std::unique_ptr<world> world_;
  std::vector<operation> left_;
  unsigned drops_;
};

}  // namespace

void explore(std::string_view subject, scenario const& s) {
#ifdef ASIO_SYNC_TEST_SANITIZED
  model::options const how{.max_runs = 5'000};  // each takes twenty times as long
#else
  model::options const how;
#endif
  auto const found = model::explore(how, [&] { one_run(subject, s).go_on(); });
  BOOST_TEST(!found.failed, found.message);
  BOOST_TEST_MESSAGE("orders: " << found.runs << " runs in " << found.seconds << " s");
}

}  // namespace asio_sync::test
