// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/claim_answers.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>
#include <asio_sync/redis/detail/session/session_machine.hpp>
#include <asio_sync/redis/detail/session/states.hpp>

#include <cstdint>
#include <span>
#include <variant>

// The answers that a session takes.

namespace asio_sync::redis::detail {

inline void session::answered(time_point now, answer const& a) {
  observe(now);
  if (!commands().has_unanswered()) return;
  command const front = commands().first_unanswered();
  if (auto const* const r = std::get_if<refusal>(&a)) return refuse(now, front, *r);
  if (!accept(now, front, a))
    reconnect("the answer is not one of this command", failure::protocol_error);
}

// Returns false if the answer belongs to another script.
inline bool session::accept(time_point now, command const& front, answer const& a) {
  auto const* const open = std::get_if<opened>(&a);
  auto const* const states = std::get_if<std::span<token_state const>>(&a);
  auto const* const number = std::get_if<std::int64_t>(&a);
  switch (front.what) {
    case script::open:
      if (open == nullptr || open->resumed != (state_ == session_state::resuming)) return false;
      commands().settle();
      accept_open(now, front.sent, *open);
      return true;
    case script::beat:
      if (states == nullptr || states->size() != claims_.beats().named().size()) return false;
      commands().settle();
      beat_sent_ = false;
      extend(front.sent);
      claims_.apply_beat(now, *states);
      return true;
    case script::shutdown:
      if (number == nullptr) return false;
      commands().settle();
      shutdown_sent_ = false;
      if (*number == 0) conclude(failure::none, failure::aborted);
      return true;
    default: return claims_.begin_visit(front, a) && claims_.accept(now, front, a);
  }
}

// A session that is resumed is not extended: only a beat does that.
inline void session::accept_open(time_point now, time_point sent, opened const& a) {
  if (a.resumed && a.epoch != identity_.epoch())
    return lose_session("the server has lost its data", session_state::opening);
  bool const data_lost = !identity_.epoch().empty() && a.epoch != identity_.epoch();
  if (!a.resumed) {
    identity_.begin_session(a.epoch);
    extend(sent);
  }
  enter(session_state::open);
  claims_.name_all(now);
  report(session_event::kind::connected, {});
  if (data_lost) report(session_event::kind::data_lost, {});
  if (a.gate) report(session_event::kind::gated, {}, *a.gate);
}

inline void session::refuse(time_point now, command const& front, refusal const& r) {
  auto const [what, why] = consequence_of(r.code());
  bool const asks = is_ask(front.what), opens = front.what == script::open;
  bool const is_own = opens || front.what == script::beat || front.what == script::shutdown;
  switch (what) {
    case reaction::fail_client: return fail(why, r.text);
    case reaction::fail_operation:
      if (why == failure::server_error && opens) return fail(r.reason(), r.text);
      if (why == failure::server_error ||
          (asks && why != failure::lease_lost && claim_table::is_current(front)))
        host_.report(
            {session_event::kind::server_error, r.text, {}, why, claim_table::object_of(front)});
      if (is_own) break;
      return claims_.refuse(now, front, why);
    case reaction::ask_later:
      if (!asks) break;
      commands().settle();
      return claims_.ask_later(now, front);
    case reaction::lose_session:
      if (!has_session(state_)) break;
      claim_table::deny(front);
      return lose_refused_session(r.text);
    case reaction::change_identity: return change_identity(r.text);
    case reaction::reconnect: break;
  }
  reconnect(r.text);
}

}  // namespace asio_sync::redis::detail

#endif
