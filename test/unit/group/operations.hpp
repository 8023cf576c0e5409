// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_UNIT_GROUP_OPERATIONS_HPP
#define ASIO_SYNC_TEST_UNIT_GROUP_OPERATIONS_HPP

#include "support/test.hpp"

namespace asio_sync::test {

// An operation whose end the test decides: completes with an error, a number and a text.
class stopped {
 public:
  using signature = void(boost::system::error_code, int, std::string);

  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  auto operator()(auto&& token) {
    namespace asio = boost::asio;
    return asio::async_initiate<decltype(token), signature>(
        [this](auto handler) {
          if (fails_to_begin) throw std::bad_alloc();
          if (while_it_begins) while_it_begins();
          slot_ = asio::get_associated_cancellation_slot(handler);
          if (slot_.is_connected())
            slot_.assign([this](asio::cancellation_type type) {
              cancelled_by = type;
              if (when_cancelled) when_cancelled();
              end(asio::error::operation_aborted);
            });
          auto const kept = std::make_shared<decltype(handler)>(std::move(handler));
          pending_ = [kept](boost::system::error_code error) {
            asio::dispatch(asio::get_associated_executor(*kept),
                           [kept, error] { std::move (*kept)(error, 7, "done"); });
          };
          if (ends_at_once) end();
        },
        token);
  }

  void end(boost::system::error_code error = {}) {
    auto const pending = std::exchange(pending_, nullptr);
    if (slot_.is_connected()) slot_.clear();
    pending(error);
  }
  void drop() { pending_ = nullptr; }
  bool is_pending() const { return static_cast<bool>(pending_); }

  bool fails_to_begin = false;
  bool ends_at_once = false;
  std::function<void()> while_it_begins;
  std::function<void()> when_cancelled;
  boost::asio::cancellation_type cancelled_by = boost::asio::cancellation_type::none;

 private:
  std::function<void(boost::system::error_code)> pending_;
  boost::asio::cancellation_slot slot_;
};

// Posts to a context, also in dispatch(), wherever that is called. Keeps an object.
class posting_executor {
 public:
  explicit posting_executor(boost::asio::io_context& context, std::shared_ptr<void> kept = nullptr)
      : context_(&context), kept_(std::move(kept)) {}

  posting_executor require(boost::asio::execution::blocking_t::never_t) const noexcept {
    return *this;
  }
  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
    return *context_;
  }
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  void execute(auto&& function) const {
    boost::asio::post(*context_, std::forward<decltype(function)>(function));
  }
  friend bool operator==(posting_executor const&, posting_executor const&) noexcept = default;

 private:
  boost::asio::io_context* context_;
  std::shared_ptr<void> kept_;
};

}  // namespace asio_sync::test

#endif
