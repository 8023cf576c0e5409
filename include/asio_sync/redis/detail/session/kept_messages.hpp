// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_KEPT_MESSAGES_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_KEPT_MESSAGES_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace asio_sync::redis::detail {

// Answers and pushes in the order in which they have come, with all that they refer to. The
// commands that may be unanswered limit the answers; the memory for them limits the pushes.
class kept_messages {
 public:
  class message {
   public:
    explicit message(std::string_view push) : is_push_(true), text_(push) {}

    // Not for the answer to `open`.
    explicit message(answer const& a) : answer_(a) {
      if (auto const* const r = std::get_if<refusal>(&a)) text_ = r->text;
      if (auto const* const s = std::get_if<token_state>(&a)) text_ = s->variables.value_or("");
      if (auto const* const s = std::get_if<std::span<token_state const>>(&a))
        states_.assign(s->begin(), s->end());
      if (auto const* const found = std::get_if<inspection*>(&a)) found_ = std::move(**found);
    }

    bool is_push() const noexcept { return is_push_; }
    std::string_view push() const noexcept { return text_; }

    // Returns the answer, which refers to this object.
    answer const& get() noexcept {
      if (auto* const r = std::get_if<refusal>(&answer_)) r->text = text_;
      if (auto* const s = std::get_if<token_state>(&answer_); s && s->variables)
        s->variables = text_;
      if (auto* const s = std::get_if<std::span<token_state const>>(&answer_)) *s = states_;
      if (auto* const found = std::get_if<inspection*>(&answer_)) *found = &found_;
      return answer_;
    }

   private:
    bool is_push_ = false;
    answer answer_;
    std::string text_;
    std::vector<token_state> states_;
    inspection found_;
  };

  void add(answer const& a) { messages_.emplace_back(a); }

  // Returns false if there are too many pushes.
  bool add(std::string_view push) {
    pushed_ += sizeof(message) + push.size();
    if (pushed_ > most_pushed) return false;
    messages_.emplace_back(push);
    return true;
  }

  // Returns all, the oldest first, and keeps none.
  std::vector<message> take() noexcept {
    pushed_ = 0;
    return std::exchange(messages_, {});
  }

  void clear() noexcept { take(); }

 private:
  static constexpr std::size_t most_pushed = 32 * 1024 * 1024;

  std::vector<message> messages_;
  std::size_t pushed_ = 0;  // bytes for pushes
};

}  // namespace asio_sync::redis::detail

#endif
