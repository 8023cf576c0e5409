// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_EVENT_RESULT_HPP
#define ASIO_SYNC_TEST_SUPPORT_EVENT_RESULT_HPP

#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace asio_sync::test {

// How often what happened to the handlers of waits, on whatever thread.
struct outcomes {
  std::atomic<std::size_t> granted = 0, refused = 0, dropped = 0;

  std::size_t all() const noexcept { return granted + refused + dropped; }
};

// A handler that is counted once, when it is called or destroyed uncalled. It lets go at once what
// its completion carries. Move-only.
class counted_handler {
 public:
  explicit counted_handler(outcomes& o) noexcept : outcomes_(&o) {}
  counted_handler(counted_handler&& other) noexcept
      : outcomes_(std::exchange(other.outcomes_, nullptr)) {}
  counted_handler& operator=(counted_handler&&) = delete;
  ~counted_handler() {
    if (outcomes_) ++outcomes_->dropped;
  }

  template <class... Carried>
  void operator()(boost::system::error_code error, Carried...) {
    outcomes& o = *std::exchange(outcomes_, nullptr);
    ++(error ? o.refused : o.granted);
  }

 private:
  outcomes* outcomes_;
};

}  // namespace asio_sync::test

#endif
