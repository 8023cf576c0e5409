// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_CANCELLATION_RELAY_HPP
#define ASIO_SYNC_DETAIL_OPERATION_CANCELLATION_RELAY_HPP

#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::detail {

// Passes the cancellation of a composed operation on to its stages, which begin one after the
// other and share one slot. The cancellation may come on any thread, and Asio does not let a
// signal be emitted while something is put into its slot. So a cancellation that comes during the
// initiation of a stage is remembered until the initiation has returned, and no stage begins after
// a cancellation. The operation owns the relay, together with the handler in the user's slot.
class cancellation_relay {
 public:
  // Creates the relay of an operation whose first stage is about to begin. Throws what allocating
  // throws.
  static std::shared_ptr<cancellation_relay> make() {
    return std::allocate_shared<cancellation_relay>(pool_allocator<cancellation_relay>());
  }

  // The same, connected to the user's slot. Null if that has no signal. Throws also what
  // connecting the slot throws.
  static std::shared_ptr<cancellation_relay> make(asio::cancellation_slot slot) {
    if (!slot.is_connected()) return nullptr;
    auto relay = make();
    slot.assign(canceller{relay});
    return relay;
  }

  // Returns the slot of the stages.
  asio::cancellation_slot slot() noexcept { return signal_.slot(); }

  // Prepares another stage. Returns false if the operation was cancelled: it ends then.
  bool begin_stage() noexcept {
    {
      std::lock_guard const guard(lock_);
      if (asked_ != asio::cancellation_type::none) return false;
      ++stage_;
      is_initiating_ = true;
    }
    signal_.slot().clear();  // nobody emits now
    return true;
  }

  // True if the operation was cancelled.
  bool is_cancelled() const noexcept {
    std::lock_guard const guard(lock_);
    return asked_ != asio::cancellation_type::none;
  }

  // Cancels the stage that runs.
  void cancel(asio::cancellation_type type) {
    {
      std::lock_guard const guard(lock_);
      if (has_ended_) return;
      asked_ |= type;
      if (is_initiating_) return;
    }
    signal_.emit(type);
  }

  // The operation completes: a cancellation does nothing from now on.
  void end() noexcept {
    std::lock_guard const guard(lock_);
    has_ended_ = true;
  }

  // The initiation of a stage, at whose end the stage may be over.
  class initiation {
   public:
    explicit initiation(std::shared_ptr<cancellation_relay> relay) noexcept
        : relay_(std::move(relay)), stage_(relay_ ? relay_->stage_ : 0) {}
    initiation(initiation const&) = delete;
    initiation& operator=(initiation const&) = delete;
    ~initiation() {
      if (relay_) relay_->has_begun(stage_);
    }

   private:
    std::shared_ptr<cancellation_relay> const relay_;
    std::uint32_t const stage_;
  };

 private:
  // In the user's slot.
  struct canceller {
    void operator()(asio::cancellation_type type) const {
      if (type == asio::cancellation_type::none) return;
      auto const kept = relay;  // the stage may end the operation, and destroy this
      kept->cancel(type);
    }

    std::shared_ptr<cancellation_relay> relay;
  };

  // Passes on what was asked for meanwhile, unless the next stage has begun. If that throws, the
  // stage goes on: the initiation has done its work.
  void has_begun(std::uint32_t stage) noexcept {
    asio::cancellation_type asked;
    {
      std::lock_guard const guard(lock_);
      if (stage_ != stage || has_ended_) return;
      is_initiating_ = false;
      asked = asked_;
    }
    if (asked == asio::cancellation_type::none) return;
    try {
      signal_.emit(asked);
    } catch (...) {
    }
  }

  mutable threading::lock_type lock_;
  bool is_initiating_ = true;
  bool has_ended_ = false;
  std::uint32_t stage_ = 1;
  asio::cancellation_type asked_ = asio::cancellation_type::none;
  asio::cancellation_signal signal_;
};

}  // namespace asio_sync::detail

#endif
