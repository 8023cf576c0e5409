// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_ANSWER_READER_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_ANSWER_READER_HPP

#include <asio_sync/redis/detail/link/inspection_reader.hpp>
#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/beat_schedule.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/wire/resp.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace asio_sync::redis::detail {

// Reads the messages of a server as the answers of scripts (doc/redis-protocol.md).
class answer_reader {
 public:
  answer_reader() { states_.reserve(beat_schedule::max_tokens); }

  // Returns `malformed` for a message that no such script answers. The answer refers to the
  // message and to this object, until the next call. Throws what the memory for an inspection
  // throws.
  answer read(script what, resp::value message) {
    if (message.type() == resp::kind::error) return refusal{message.text()};
    switch (what) {
      case script::open: return read_opened(message);
      case script::beat: return read_states(message);
      case script::acquire:
      case script::cond_wait:
      case script::unwait:
        if (!read_single_state(message)) break;
        return states_.front();
      case script::release:
      case script::exit:
      case script::forget:
      case script::shutdown:
      case script::force:
      case script::signal:
        if (message.type() == resp::kind::number) return message.number();
        break;
      case script::inspect:
        found_ = {};
        if (inspection_reader::read(message, found_)) return &found_;
    }
    return malformed{};
  }

 private:
  static constexpr std::int64_t most = std::int64_t(1) << 53;     // a ticket or fence is smaller
  static constexpr std::int64_t longest = std::int64_t(1) << 32;  // a time in ms is not longer

  static answer read_opened(resp::value message) noexcept {
    if (message.type() != resp::kind::array || message.size() != 3) return malformed{};
    auto at = message.begin();
    resp::value const is_new = *at, epoch = *++at, gate = *++at;
    if (is_new.type() != resp::kind::number || epoch.type() != resp::kind::string ||
        epoch.text().empty() || gate.type() != resp::kind::number || gate.number() > longest)
      return malformed{};
    opened o{is_new.number() == 0, epoch.text(), std::nullopt};
    if (gate.number() >= 0) o.gate = std::chrono::milliseconds(gate.number());
    return o;
  }

  answer read_states(resp::value message) noexcept {
    if (!read_into_states(message)) return malformed{};
    return std::span<token_state const>(states_);
  }

  bool read_into_states(resp::value message) noexcept {
    states_.clear();
    if (message.type() != resp::kind::array || message.size() % 3 != 0 ||
        message.size() > 3 * beat_schedule::max_tokens)
      return false;
    for (auto at = message.begin(), end = message.end(); at != end; ++at) {
      resp::value const state = *at, number = *++at, hint = *++at;
      if (!read_state(state, number, hint)) return false;
    }
    return true;
  }

  // Reads the state of one token. The variables of a monitor follow a grant.
  bool read_single_state(resp::value message) noexcept {
    states_.clear();
    bool const has_variables = message.size() == 4;
    if (message.type() != resp::kind::array || (message.size() != 3 && !has_variables))
      return false;
    auto at = message.begin();
    resp::value const state = *at, number = *++at, hint = *++at;
    if (!read_state(state, number, hint)) return false;
    if (!has_variables) return true;
    resp::value const variables = *++at;
    if (variables.type() != resp::kind::string || states_.front().where != standing::holds)
      return false;
    states_.front().variables = variables.text();
    return true;
  }

  bool read_state(resp::value state, resp::value number, resp::value hint) noexcept {
    for (resp::value const each : {state, number, hint})
      if (each.type() != resp::kind::number) return false;
    if (state.number() < -1 || state.number() > 2 || number.number() < 0 ||
        number.number() >= most || hint.number() > longest)
      return false;
    token_state s;
    static constexpr standing places[] = {standing::unknown, standing::waits, standing::holds,
                                          standing::parked};
    s.where = places[state.number() + 1];
    s.number = static_cast<std::uint64_t>(number.number());
    if (hint.number() >= 0) s.hint = std::chrono::milliseconds(hint.number());
    states_.push_back(s);
    return true;
  }

  std::vector<token_state> states_;
  inspection found_;
};

// Returns the text that was published, or nothing if the push is of another kind.
inline std::optional<std::string_view> read_published(resp::value push) noexcept {
  if (push.type() != resp::kind::push || push.size() != 3) return std::nullopt;
  auto at = push.begin();
  resp::value const what = *at, text = *++ ++at;
  if (what.text() != "message" || text.type() != resp::kind::string) return std::nullopt;
  return text.text();
}

// True if the push says that the server has emptied a database. Of single keys it says nothing,
// because the handshake asks for none.
inline bool is_emptying(resp::value push) noexcept {
  return push.type() == resp::kind::push && push.size() == 2 &&
         (*push.begin()).text() == "invalidate";
}

}  // namespace asio_sync::redis::detail

#endif
