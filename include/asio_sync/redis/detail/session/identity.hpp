// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_IDENTITY_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_IDENTITY_HPP

#include <asio_sync/redis/detail/session/beat_schedule.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace asio_sync::redis::detail {

// The names and numbers by which the server knows a session, and the requests that have them.
class identity {
 public:
  explicit identity(std::string client_id) : client_id_(std::move(client_id)) {}

  std::string const& client_id() const noexcept { return client_id_; }
  std::string const& sid() const noexcept { return sid_; }
  std::string const& epoch() const noexcept { return epoch_; }

  // Another client speaks for the last session, which must therefore not be ended.
  void change(std::string client_id) noexcept {
    client_id_.swap(client_id);
    old_sid_.clear();
  }

  // What this session sends from now on is newer than what it has sent before.
  void begin_generation() noexcept { ++generation_; }

  // The server has answered a ticket or a fence in this epoch. A ticket can be of an earlier
  // epoch, because waits keep theirs; the server's counter may be below it.
  void see(std::uint64_t number) noexcept {
    if (number > earlier_) greatest_ = std::max(greatest_, number);
  }

  // Each attempt to open a session has an incarnation of its own, so that a late one hurts nobody.
  void begin_attempt() { sid_ = client_id_ + '.' + std::to_string(++incarnation_); }

  void begin_session(std::string_view epoch) {
    if (epoch_ != epoch) earlier_ = std::max(earlier_, std::exchange(greatest_, 0));
    epoch_ = epoch;
  }

  void end_session() noexcept { old_sid_.swap(sid_); }

  // --- Requests ---

  void write_open(request& out, session_config const& config, bool resumes) const {
    begin(out, script::open, config).add(generation_).add(epoch_).add(greatest_);
    out.add(config.ttl).add(config.max_ttl).add(config.gate ? "1" : "0").add(config.name);
    out.add(resumes ? "resume" : "new").add(resumes ? "" : old_sid_);
  }

  void write_beat(request& out, session_config const& config, beat_schedule const& beats) const {
    begin(out, script::beat, config).add(generation_).add(epoch_).add(greatest_);
    out.add(config.ttl).add("0");
    beats.write(out);
  }

  // Writes a command of a claim or a question.
  void write(request& out, session_config const& config, command const& of) const {
    begin(out, of.what, config);
    if (of.asks != nullptr) return of.asks->write(out);
    if (needs_session(of.what)) out.add(generation_).add(epoch_);
    of.of->write(out, of.what);
  }

  void write_shutdown(request& out, session_config const& config) const {
    begin(out, script::shutdown, config);
  }

 private:
  request& begin(request& out, script what, session_config const& config) const {
    return out.call(what).add(config.prefix).add(sid_);
  }

  std::string client_id_;
  std::string sid_;                // of the session, or of the attempt to open one
  std::string old_sid_;            // of the session before
  std::string epoch_;              // of the last session
  std::uint64_t greatest_ = 0;     // ticket or fence of that epoch
  std::uint64_t earlier_ = 0;      // greatest ticket or fence of the epochs before
  std::uint64_t incarnation_ = 0;  // of the last attempt
  std::uint64_t generation_ = 0;   // grows with each connection, and each confirmation
};

}  // namespace asio_sync::redis::detail

#endif
