// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_LOCKS_GUARD_LOSS_HPP
#define ASIO_SYNC_DETAIL_LOCKS_GUARD_LOSS_HPP

// How a guarded operation is cancelled: by its user, and by the loss of the guard.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace asio_sync::detail {

// Passes a cancellation on to the stage that runs: the wait or the operation.
// The link stands in the slot of the user's handler, and may be destroyed earlier or later than
// this.
class guarded_cancellation {
 public:
  ASIO_SYNC_NOINLINE void connect(asio::cancellation_slot slot) {
    link_ = &slot.template emplace<link>(*this);
  }
  void disconnect() noexcept {
    if (link_) link_->to = nullptr;
    link_ = nullptr;
  }

  asio::cancellation_slot slot() const noexcept {
    return link_ ? link_->stage.slot() : asio::cancellation_slot();
  }

 private:
  struct link {
    explicit link(guarded_cancellation& c) noexcept : to(&c) {}
    link(link const&) = delete;
    link& operator=(link const&) = delete;
    ~link() {
      if (to) to->link_ = nullptr;
    }

    // The stage may end the operation, and destroy the link: no access after the emission.
    void operator()(asio::cancellation_type_t type) {
      if (to) stage.emit(type);
    }

    guarded_cancellation* to;
    asio::cancellation_signal stage;
  };

  link* link_ = nullptr;
};

// A guard that can be lost while it is held.
template <class Held>
concept can_be_lost = requires(Held& held) {
  held.async_wait_lost(asio::deferred);
};

// Does nothing: this guard cannot be lost. The operation runs on the handler's executor, and has
// the user's slot.
template <class Held, class Executor>
class guard_loss {
 public:
  using executor_type = Executor;

  explicit guard_loss(Executor const&) noexcept {}

  static Executor const& executor(Executor const& of_handler) noexcept { return of_handler; }
  static asio::cancellation_slot slot(guarded_cancellation const& users) noexcept {
    return users.slot();
  }
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
  ~guard_loss() {
    if (stage_) stage_->has_ended = true;
  }

  executor_type const& executor(Executor const&) const noexcept { return strand_; }

  // Called on the way to the strand, before dispatch(). Throws what connecting the slot throws.
  void note_cancellation(guarded_cancellation const& users) {
    if (auto slot = users.slot(); slot.is_connected())
      slot.assign([this](asio::cancellation_type_t) { is_cancelled_ = true; });
  }

  // Returns the error if the operation is not to begin any more.
  error_code refusal(Held const& held) const noexcept {
    if (is_cancelled_) return asio::error::operation_aborted;
    return held ? error_code() : make_error_code(error::lease_lost);
  }

  // Called on the strand, before the operation begins. Returns what its slot belongs to. Throws
  // what allocating and waiting throw.
  std::shared_ptr<void> watch(Held& held, guarded_cancellation const& users) {
    auto const s = std::make_shared<stage>();
    auto on_loss = [s, strand = strand_](error_code e) {
      if (e) return;
      asio::dispatch(strand, [s] {
        if (!s->has_ended) s->signal.emit(asio::cancellation_type::terminal);
      });
    };
    held.async_wait_lost(asio::bind_executor(strand_.get_inner_executor(), std::move(on_loss)));
    if (auto slot = users.slot(); slot.is_connected())
      slot.assign([s](asio::cancellation_type_t type) {
        auto const kept = s;  // the emission may destroy this function
        kept->signal.emit(type);
      });
    stage_ = s;
    return s;
  }

  asio::cancellation_slot slot(guarded_cancellation const& users) const noexcept {
    return stage_ ? stage_->signal.slot() : users.slot();
  }

  // Returns the error that the handler gets: of the wait for the guard, or of the operation.
  error_code end(Held const& held, error_code e) const noexcept {
    return stage_ && !held ? make_error_code(error::lease_lost) : e;
  }

 private:
  struct stage {
    asio::cancellation_signal signal;
    std::atomic<bool> has_ended = false;  // an operation may be destroyed elsewhere
  };

  executor_type strand_;
  bool is_cancelled_ = false;  // on the way to the strand
  std::shared_ptr<stage> stage_;
};

}  // namespace asio_sync::detail

#endif
