// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_QUESTION_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_QUESTION_HPP

#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_question.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace asio_sync::redis::detail {

// A question, as the hub and as the session know it.
class client_question final : public remote_question, public question {
 public:
  client_question(script asks, std::string object, std::string condition, std::uint64_t number)
      : remote_question(asks == script::signal),
        question(asks, std::move(object), std::move(condition), number) {}

  static client_question& of(question& q) noexcept { return static_cast<client_question&>(q); }
  static client_question& of(remote_question& q) noexcept {
    return static_cast<client_question&>(q);
  }
};

}  // namespace asio_sync::redis::detail

#endif
