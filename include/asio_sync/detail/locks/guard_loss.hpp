// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_GUARD_LOSS_HPP
#define ASIO_SYNC_DETAIL_LOCKS_GUARD_LOSS_HPP

// How a guarded operation is cancelled by the loss of its guard.

#include <asio_sync/detail/operation/cancellation_relay.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <utility>

namespace asio_sync::detail {

// A guard that can be lost while it is held.
template <class Held>
concept can_be_lost = requires(Held& held) {
  held.async_wait_lost(asio::deferred);
};

// Does nothing: this guard cannot be lost. The operation runs on the handler's executor.
template <class Held, class Executor>
class guard_loss {
 public:
  using executor_type = Executor;

  explicit guard_loss(Executor const&) noexcept {}

  static Executor const& executor(Executor const& of_handler) noexcept { return of_handler; }
  static error_code end(Held const&, error_code e) noexcept { return e; }
};

// Cancels the operation when the guard is lost. The operation runs on a strand, because the guard
// may be lost at any time. Only threads of the executor's context use the strand: the client's
// thread might come after the end of the context.
template <can_be_lost Held, class Executor>
class guard_loss<Held, Executor> {
  static_assert(is_postable<Executor> || is_promise_executor<Executor>,
                "an operation that is guarded at a server needs a handler whose executor a strand "
                "can be made over: one of a context or any_io_executor");

 public:
  using executor_type = asio::strand<Executor>;

  explicit guard_loss(Executor const& of_handler) : strand_(asio::make_strand(of_handler)) {}
  guard_loss(guard_loss const&) = delete;
  guard_loss& operator=(guard_loss const&) = delete;

  executor_type const& executor(Executor const&) const noexcept { return strand_; }

  // Called on the strand, before the operation begins. `relay` cancels the operation. Throws what
  // allocating and waiting throw.
  void watch(Held& held, std::shared_ptr<cancellation_relay> const& relay) {
    auto on_loss = [relay, strand = strand_](error_code e) {
      if (e) return;
      asio::dispatch(strand, [relay] { relay->cancel(asio::cancellation_type::terminal); });
    };
    held.async_wait_lost(asio::bind_executor(strand_.get_inner_executor(), std::move(on_loss)));
    is_watched_ = true;
  }

  // Returns the error that the handler gets: of the wait for the guard, or of the operation.
  error_code end(Held const& held, error_code e) const noexcept {
    return is_watched_ && !held ? make_error_code(error::lease_lost) : e;
  }

 private:
  executor_type strand_;
  bool is_watched_ = false;
};

}  // namespace asio_sync::detail

#endif
