// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_HELD_OPERATIONS_HPP
#define ASIO_SYNC_TEST_ORDERS_HELD_OPERATIONS_HPP

#include "support/executors.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/system/error_code.hpp>

#include <map>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_sync::test {

/// The operations of a context, which go on until a world ends them, and are destroyed with it, as
/// those of a socket are: void(error_code). Each has a number.
class held_operations : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;

  explicit held_operations(asio::execution_context& context) : service(context) {}

  static held_operations& of(asio::execution_context& context) {
    return asio::use_service<held_operations>(context);
  }

  /// Begins one. `home` runs handlers that have no executor; `works`: the handler's executor has
  /// work until it is called; `asked` is called when it is to cancel itself.
  template <class Handler, class Asked>
  void begin(unsigned number, asio::any_io_executor const& home, bool works, Handler&& handler,
             Asked asked) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    operations_.emplace(number, std::make_unique<operation_of<std::decay_t<Handler>>>(
                                    std::forward<Handler>(handler), home, works));
    if (slot.is_connected()) slot.assign(std::move(asked));
  }

  bool has(unsigned number) const { return operations_.contains(number); }

  /// Has its handler called on its executor.
  void complete(unsigned number, boost::system::error_code error) {
    auto const ended = take(number);
    ended->post(error);
  }

  /// Destroys its handler.
  void drop(unsigned number) { take(number); }

 private:
  struct operation {
    operation() = default;
    operation(operation const&) = delete;
    operation& operator=(operation const&) = delete;
    virtual ~operation() = default;
    virtual void post(boost::system::error_code error) = 0;
  };

  template <class Handler>
  class operation_of : public operation {
    using executor = asio::associated_executor_t<Handler, asio::any_io_executor>;
    // Such an executor has no context, and runs what it is given at once.
    static constexpr bool is_bare = std::is_same_v<executor, bare_executor>;

   public:
    operation_of(Handler&& h, asio::any_io_executor const& home, bool works)
        : handler_(std::move(h)), home_(home) {
      if (works) work_ = asio::prefer(where(), asio::execution::outstanding_work.tracked);
    }

    void post(boost::system::error_code error) override {
      auto slot = asio::get_associated_cancellation_slot(handler_);
      if (slot.is_connected()) slot.clear();
      auto const ex = asio::get_associated_executor(handler_, home_);
      auto call = [h = std::move(handler_), error]() mutable { std::move(h)(error); };
      if constexpr (is_bare)
        asio::post(home_, [ex, c = std::move(call)]() mutable { ex.execute(std::move(c)); });
      else
        asio::post(ex, std::move(call));
    }

   private:
    asio::any_io_executor where() const {
      if constexpr (is_bare)
        return home_;
      else
        return asio::get_associated_executor(handler_, home_);
    }

    Handler handler_;
    asio::any_io_executor home_, work_;
  };

  void shutdown() override { auto const destroyed = std::exchange(operations_, {}); }

  std::unique_ptr<operation> take(unsigned number) {
    return std::move(operations_.extract(number).mapped());
  }

  std::map<unsigned, std::unique_ptr<operation>> operations_;
};

}  // namespace asio_sync::test

#endif
