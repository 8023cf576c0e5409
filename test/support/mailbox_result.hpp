// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_MAILBOX_RESULT_HPP
#define ASIO_SYNC_TEST_SUPPORT_MAILBOX_RESULT_HPP

#include <asio_sync/async_mailbox.hpp>

#include <boost/system/error_code.hpp>

#include <utility>

namespace asio_sync::test {

// What a completion of a mailbox's wait has brought.
struct mailbox_result {
  int calls = 0, destroyed = 0;
  boost::system::error_code error;
  mailbox_flags flags = 0;

  bool got(mailbox_flags f) const noexcept { return calls == 1 && !error && flags == f; }
  bool refused(boost::system::error_code e) const noexcept {
    return calls == 1 && error == e && flags == 0;
  }
  bool dropped() const noexcept { return calls == 0 && destroyed == 1; }
  bool waits() const noexcept { return calls == 0 && destroyed == 0; }
};

// A handler that notes it. Move-only.
class mailbox_handler {
 public:
  explicit mailbox_handler(mailbox_result& r) noexcept : result_(&r) {}
  mailbox_handler(mailbox_handler&& other) noexcept
      : result_(std::exchange(other.result_, nullptr)) {}
  mailbox_handler& operator=(mailbox_handler&&) = delete;
  ~mailbox_handler() {
    if (result_) ++result_->destroyed;
  }

  void operator()(boost::system::error_code error, mailbox_flags flags) {
    ++result_->calls;
    result_->error = error;
    result_->flags = flags;
  }

 private:
  mailbox_result* result_;
};

}  // namespace asio_sync::test

#endif
