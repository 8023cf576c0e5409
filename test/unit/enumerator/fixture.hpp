// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_UNIT_ENUMERATOR_FIXTURE_HPP
#define ASIO_SYNC_TEST_UNIT_ENUMERATOR_FIXTURE_HPP

#include "support/test.hpp"
#include "unit/group/operations.hpp"

#include <asio_sync/async_enumerator.hpp>

namespace asio_sync::test {

// Counts how often a local of the steps was destroyed.
class local {
 public:
  explicit local(int& destroyed) noexcept : destroyed_(&destroyed) {}
  local(local const&) = delete;
  local& operator=(local const&) = delete;
  ~local() { ++*destroyed_; }

 private:
  int* destroyed_;
};

// What a run has completed with: "" if it has not, "end", an error of Asio's or the standard's by
// its number, or what was thrown.
class run_result {
 public:
  void operator()(std::exception_ptr e) {
    ++count;
    text = "end";
    try {
      if (e) std::rethrow_exception(e);
    } catch (boost::system::system_error const& error) {
      code = error.code();
      text = "error";
    } catch (std::exception const& error) {
      text = error.what();
    }
  }

  bool is(boost::system::error_code error) const {
    return count == 1 && text == "error" && code == error;
  }
  bool ended() const { return count == 1 && text == "end"; }
  bool is_outstanding() const { return count == 0; }

  int count = 0;
  std::string text;
  boost::system::error_code code;
};

struct enumerator_fixture {
  boost::asio::io_context context, other;
  std::optional<async_enumerator> of{context};
  async_enumerator& e = *of;
  stopped first, second;
  run_result result;
  int steps = 0;
  int destroyed = 0;
  boost::system::error_code const aborted = boost::asio::error::operation_aborted;

  // A handler that notes the result.
  auto note() {
    return [this](std::exception_ptr thrown) { result(thrown); };
  }

  void poll() { test::poll(context, other); }

  // Notes its steps, of which there are two, with both operations in between.
  async_steps wait_for_both(int wanted = 2) {
    local const noted(destroyed);
    ++steps;
    first(of->callback());
    second(of->callback());
    co_yield wanted;
    ++steps;
  }
};

}  // namespace asio_sync::test

#endif
