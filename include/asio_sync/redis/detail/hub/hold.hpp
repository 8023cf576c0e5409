// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_HOLD_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_HOLD_HPP

#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/result.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace asio_sync::redis::detail {

// Holds a claim that was granted, for a guard, and gives the claim back when it is destroyed.
class hold {
 public:
  hold() noexcept = default;

  explicit hold(claim_ref&& c) noexcept : claim_(std::move(c)) {}

  // Takes over the claim of a wait that was granted; empty if there is nothing in the grant.
  explicit hold(verdict granted) noexcept : claim_(remote_claim::in(granted)) {
    if (claim_ && claim_->is_empty()) claim_ = {};
  }

  hold(hold&&) noexcept = default;
  hold& operator=(hold&& other) noexcept {
    hold(std::move(other)).swap(*this);
    return *this;
  }
  ~hold() {
    if (claim_) give_back();
  }

  void swap(hold& other) noexcept { std::swap(claim_, other.claim_); }

  // True if there is something to give back, lost or not.
  explicit operator bool() const noexcept { return static_cast<bool>(claim_); }

  bool owns() const noexcept { return claim_ && claim_->holds(); }

  std::uint64_t weight() const noexcept { return claim_ ? claim_->weight() : 0; }
  std::uint64_t fence() const noexcept { return owns() ? claim_->fence() : 0; }
  std::chrono::steady_clock::time_point expires_at() const noexcept {
    return owns() ? claim_->expires_at() : std::chrono::steady_clock::time_point::min();
  }

  // Returns the place of the claim, for a wait on a condition.
  claim_ref& claim() noexcept { return claim_; }
  claim_ref const& claim() const noexcept { return claim_; }

  // Returns the primitive; null if there is none any more.
  void* primitive() const noexcept {
    return claim_ ? claim_->handle().primitive.load(std::memory_order_acquire) : nullptr;
  }

  // Gives the claim back, and settles `end` when that is done.
  void give_back(std::shared_ptr<result> end = nullptr, bool exits = false) noexcept {
    claim_ref const given = std::move(claim_);
    given->give_back(std::move(end), exits);
  }

  // Gives the claim back, and completes when the server has answered. The operation has the claim
  // from now on. `exits`: see remote_claim::give_back().
  template <class Token>
  auto async_give_back(char const* type, char const* function, Token&& token, bool exits = false) {
    auto end = std::make_shared<result>(executor());
    auto const given = std::make_shared<hold>();
    swap(*given);
    try {
      return initiate_result(
          std::move(end),
          [given, exits, is_empty = !*given](std::shared_ptr<result> const& r) -> verdict {
            if (is_empty) return wait_outcome::not_permitted;
            if (*given) given->give_back(r, exits);
            return wait_outcome::undecided;
          },
          type, function, static_cast<Token&&>(token));
    } catch (...) {
      swap(*given);
      throw;
    }
  }

  // Completes when the hold is lost.
  template <class Token>
  auto async_wait_lost(char const* type, Token&& token) {
    auto client = claim_ ? claim_->handle().client : nullptr;
    bool const may_begin = client && !client->is_forked();
    return initiate_result(
        may_begin ? claim_->loss() : std::make_shared<result>(executor()),
        [client = std::move(client)](std::shared_ptr<result> const&) -> verdict {
          if (!client) return wait_outcome::not_permitted;
          return client->forked();
        },
        type, "async_wait_lost", static_cast<Token&&>(token));
  }

 private:
  // Returns the executor of handlers that have none.
  asio::any_io_executor executor() const {
    if (claim_) return claim_->handle().living_executor();
    return asio::system_executor();
  }

  claim_ref claim_;
};

}  // namespace asio_sync::redis::detail

#endif
