// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_CLAIM_OPERATION_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_CLAIM_OPERATION_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_sync::redis::detail {

// Refuses the locks of the standard, which would drop the guards of the mutex.
struct locked_by_own_guard {
  template <class Never = void>
  static void unlock() {
    static_assert(!std::is_void_v<Never>,
                  "a mutex at a server is locked by its own guard: auto lock = mutex.lock();");
  }
  template <class Never = void>
  static void unlock_shared() {
    unlock<Never>();
  }
};

// The base of the primitives: a core here, and an object at the server.
template <class Executor>
class remote_primitive : shell::primitive<Executor, remote_core> {
  using base = shell::primitive<Executor, remote_core>;

 public:
  using executor_type = Executor;

  executor_type get_executor() const noexcept { return base::executor(); }

  std::size_t cancel() { return core().cancel_all(wait_outcome::aborted); }
  void close() noexcept { core().close(); }
  bool is_closed() const noexcept { return core().is_closed(); }
  std::size_t waiters() const noexcept { return core().waiters(); }

 protected:
  // `type`: as in the texts of exceptions; `kind`: the server's name of it.
  remote_primitive(void* self, Executor const& ex, client& c, char const* type, char const* kind,
                   std::string name, std::uint64_t capacity)
      : base(self, ex, hub_of(c)),
        handle_(make_handle(hub_of(c), ex, type, kind, std::move(name), capacity)) {
    handle_->primitive.store(self, std::memory_order_release);
  }
  ~remote_primitive() { handle_->primitive.store(nullptr, std::memory_order_release); }

  using base::core;
  using base::executor;

  // Blocks the calling thread for one attempt.
  template <class Grant>
  Grant try_in_thread(std::ptrdiff_t weight, char const* function) {
    return in_thread<Grant>(weight, shell::no_limit(), function, attempt::tries);
  }

  // How a completion's guard is made of a grant. Grant: made of a hold.
  template <class Grant>
  struct delivery_of {
    using core_type = remote_core;
    using grant = Grant;
    static grant make(core_type&, verdict granted) noexcept { return grant(hold(granted)); }
  };

  // A claim of some weight: how long it may wait, and what becomes of it if it must not.
  template <class Grant>
  class claim_operation : public shell::operation_base<claim_operation<Grant>, Executor,
                                                       delivery_of<Grant>, shell::wait_limit> {
   public:
    claim_operation(remote_primitive& p, std::ptrdiff_t weight, shell::wait_limit limit,
                    attempt how, char const* function) noexcept
        : claim_operation::operation_base(limit),
          primitive_(&p),
          weight_(weight),
          how_(how == attempt::waits && limit.expired() ? attempt::times_out : how),
          function_(function) {}

    Executor const& executor() const noexcept { return primitive_->base::executor(); }
    remote_core& core() const noexcept { return primitive_->core(); }

    // The answer to an attempt does not take longer than any other.
    shell::wait_limit limit() const noexcept {
      return how_ == attempt::waits
                 ? this->limit_
                 : shell::wait_limit(shell::wait_limit::after(core().client().command_timeout()));
    }

    claim_ref asked() const {
      if (!needs_claim()) return {};
      return remote_claim::make(primitive_->handle_, static_cast<std::uint64_t>(weight_), how_);
    }

    verdict try_now() const noexcept {
      if (weight_ < 0 || weight_ > primitive_->capacity()) return wait_outcome::invalid;
      if (core().is_closed()) return wait_outcome::closed;
      if (weight_ == 0) return wait_outcome::granted;
      return core().client().refusal();
    }

    // Names it in the output of Asio's handler tracking.
    void track(shell::waiter& w) const {
      shell::track_creation(executor(), w, primitive_->handle_->type, core().primitive(),
                            function_);
    }

   private:
    bool needs_claim() const noexcept { return weight_ > 0 && weight_ <= primitive_->capacity(); }

    remote_primitive* primitive_;
    std::ptrdiff_t weight_;
    attempt how_;
    char const* function_;
  };

  template <class Grant, class Token>
  auto initiate(std::ptrdiff_t weight, shell::wait_limit limit, attempt how, char const* function,
                Token&& token) {
    return shell::initiate_wait(claim_operation<Grant>(*this, weight, limit, how, function),
                                static_cast<Token&&>(token));
  }

  // Blocks the calling thread. The grant is empty if the time was up, or if an attempt was not
  // granted; throws if an attempt has had no answer.
  template <class Grant>
  Grant in_thread(std::ptrdiff_t weight, shell::wait_limit limit, char const* function,
                  attempt how = attempt::waits) {
    std::shared_ptr<handle> const object = handle_;  // this may be gone afterwards
    verdict const decided =
        shell::wait_in_thread(claim_operation<Grant>(*this, weight, limit, how, function));
    if (decided.granted()) return Grant(hold(decided));
    if (how == attempt::waits && decided.outcome() == wait_outcome::timed_out) return Grant();
    throw_refusal(*object, decided, function);
  }

  std::ptrdiff_t capacity() const noexcept {
    return static_cast<std::ptrdiff_t>(handle_->capacity);
  }

  std::shared_ptr<handle> const& shared_handle() const noexcept { return handle_; }

 private:
  std::shared_ptr<handle> handle_;
};

}  // namespace asio_sync::redis::detail

#endif
