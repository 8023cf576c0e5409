// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_CLAIM_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_CLAIM_HPP

#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace asio_sync::redis::detail {

// A handle with the object of its claims.
struct client_handle final : handle {
  client_handle(std::shared_ptr<hub> c, asio::any_io_executor ex, char const* t, char const* kind,
                std::string name, std::uint64_t n)
      : handle(std::move(c), std::move(ex), t, n), about{std::move(name), kind, 1, n} {}

  object about;  // used on the client's strand alone
};

// A claim, as the hub and as the session know it.
class client_claim final : public remote_claim, public claim {
 public:
  client_claim(std::shared_ptr<detail::handle> of, std::uint64_t weight, attempt how)
      : remote_claim(of, weight, how, nullptr),
        claim(static_cast<client_handle&>(*of).about, weight, how != attempt::waits) {}
  client_claim(std::shared_ptr<detail::handle> of, std::string condition, claim_ref& lock)
      : remote_claim(of, lock->weight(), attempt::waits, &lock),
        claim(static_cast<client_handle&>(*of).about, std::move(condition), lock->weight()) {}

  // Makes one that is to own a part of a variable.
  explicit client_claim(std::shared_ptr<detail::handle> of)
      : remote_claim(of, 0, attempt::waits, nullptr),
        claim(static_cast<client_handle&>(*of).about, 0) {}

  static client_claim& of(claim& c) noexcept { return static_cast<client_claim&>(c); }
  static client_claim& of(remote_claim& c) noexcept { return static_cast<client_claim&>(c); }
};

}  // namespace asio_sync::redis::detail

#endif
