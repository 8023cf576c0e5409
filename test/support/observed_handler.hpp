// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_OBSERVED_HANDLER_HPP
#define ASIO_SYNC_TEST_SUPPORT_OBSERVED_HANDLER_HPP

#include <boost/system/error_code.hpp>

#include <functional>
#include <utility>

namespace asio_sync::test {

// What became of a handler.
struct fate {
  int called = 0;
  int destroyed = 0;
  boost::system::error_code error;
  bool owned = false;

  bool granted() const noexcept { return called == 1 && !error && owned; }
  bool refused(boost::system::error_code e) const noexcept {
    return called == 1 && error == e && !owned;
  }
  bool dropped() const noexcept { return called == 0 && destroyed == 1; }
  bool waits() const noexcept { return called == 0 && destroyed == 0; }
};

// A handler whose fate is noted, and which can do something when it is destroyed. The lock that it
// is called with, if any, is let go when it returns.
class observed_handler {
 public:
  explicit observed_handler(fate& f, std::function<void()> at_end = {})
      : fate_(&f), at_end_(std::move(at_end)) {}
  observed_handler(observed_handler&& other) noexcept
      : fate_(std::exchange(other.fate_, nullptr)), at_end_(std::move(other.at_end_)) {}
  observed_handler& operator=(observed_handler&&) = delete;
  ~observed_handler() {
    if (!fate_) return;
    ++fate_->destroyed;
    if (at_end_) at_end_();
  }

  template <class Lock>
  void operator()(boost::system::error_code error, Lock lock) {
    ++fate_->called;
    fate_->error = error;
    fate_->owned = static_cast<bool>(lock);
  }
  void operator()(boost::system::error_code error) { (*this)(error, !error); }

 private:
  fate* fate_;
  std::function<void()> at_end_;
};

}  // namespace asio_sync::test

#endif
