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
  if (auto const* const r = std::get_if<refusal>(&a))
    refuse(now, front, *r);
  else if (!accept(now, front, a))
    reconnect("the answer is not one of this command", failure::protocol_error);
  // A record that has gone may be the first sign of older data.
  if (claims_.take_lost_record() && state_ == session_state::open) confirm();
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
      for (token_state const& each : *states) identity_.see(each.number);
      claims_.apply_beat(now, *states);
      return true;
    case script::shutdown:
      if (number == nullptr) return false;
      commands().settle();
      shutdown_sent_ = false;
      if (*number == 0) conclude(failure::none, failure::aborted);
      return true;
    default:
      if (auto const* const state = std::get_if<token_state>(&a)) identity_.see(state->number);
      return claims_.begin_visit(front, a) && claims_.accept(now, front, a);
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
  has_opened_ = true;
  attempts_ = told_refusals_ = 0;
  claims_.beats().name_all(now);
  if (!a.resumed || !confirms_) report(session_event::kind::connected, {});
  confirms_ = false;
  if (data_lost) report(session_event::kind::data_lost, {});
  if (a.gate) report(session_event::kind::gated, {}, *a.gate);
}

inline void session::refuse(time_point now, command const& front, refusal const& r) {
  auto const [what, why] = consequence_of(r.code());
  bool const asks = is_ask(front.what), opens = front.what == script::open;
  bool const is_own = opens || front.what == script::beat || front.what == script::shutdown;
  switch (what) {
    case reaction::fail_client: return fail(why, r.text);
    case reaction::refuse_client: return refuse_client(r.text, why);
    case reaction::fail_operation:
      if (is_own) return refuse_own(front.what, why, r);
      if (why == failure::server_error || why == failure::access_denied ||
          (asks && why != failure::lease_lost && claim_table::is_current(front)))
        host_.report(
            {session_event::kind::server_error, r.text, {}, why, claim_table::object_of(front)});
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
    case reaction::reconnect: return reconnect(r.text, why);
  }
  reconnect(r.text, failure::server_error);
}

// Takes an error of `open`, `beat` or `shutdown` that would fail the operation of a claim.
inline void session::refuse_own(script what, failure why, refusal const& r) noexcept {
  bool const opens = what == script::open;
  if (opens && why == failure::version_mismatch) return fail(why, r.text);
  if (why == failure::access_denied) return refuse_client(r.text, why);
  if (opens && why == failure::server_error) return refuse_client(r.text, r.reason());
  reconnect(r.text, failure::server_error);
}

}  // namespace asio_sync::redis::detail

#endif
