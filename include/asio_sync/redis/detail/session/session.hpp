// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/claim_answers.hpp>
#include <asio_sync/redis/detail/session/kept_messages.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>
#include <asio_sync/redis/detail/session/session_machine.hpp>
#include <asio_sync/redis/detail/session/states.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

// The answers that a session takes.

namespace asio_sync::redis::detail {

// --- Confirmation ---
//
// The data of the server may have become an older copy while the connection stands: the server
// has pushed `invalidate`, or has no record of a hold. Then the session is `confirming`:
//
// 1. It sends what is to be sent, but no `shutdown`, which would end the session; then
//    open(resume). Nothing follows before the answer.
// 2. It keeps all answers and pushes that come before the answer to `open`, in their order.
// 3. If `open` confirms the epoch, they count, as if they had come just now. Else the session is
//    lost, and they do not count. If the connection is lost before, they do not count either, and
//    their commands are sent again on the next one.
//
// A server executes the commands of a connection in their order, and its answers, its pushes and
// `invalidate` come in the order in which it has done all that. So it has executed `open` later
// than all that is kept, and `open` compares the data with the epoch: what is kept is of that
// data. The same holds for an `invalidate` that comes while the session is confirming, sent or
// not: the answer to `open` is behind it. So each answer to `open` lets all that was sent before
// it count, however often databases of others are emptied.

inline void session::answered(time_point now, answer const& a) {
  observe(now);
  if (!commands().has_unanswered()) return;
  command const front = commands().first_unanswered();
  bool const opens = front.what == script::open;
  if (state_ == session_state::confirming && !opens) return keep(front, a);
  take(now, front, a);
  if (!claims_.take_lost_record() || state_ != session_state::open) return;
  claims_.beats().name_all(now);
  // A record that has gone may be the first sign of older data, unless `open` was executed later.
  if (!opens) confirm();
}

// If the server knows no such session, or has no record of the hold, the command has changed
// nothing, whatever `open` is answered.
inline void session::keep(command const& front, answer const& a) {
  kept_.add(a);
  auto const* const r = std::get_if<refusal>(&a);
  auto const* const number = std::get_if<std::int64_t>(&a);
  consequence const follows = r != nullptr ? consequence_of(r->code()) : consequence{};
  bool const has_no_record = follows.why == failure::lease_lost ||
                             (front.what == script::release && number != nullptr && *number < 0);
  bool const forces_nothing = front.what == script::force && number != nullptr && *number == 0;
  commands().put_aside(has_no_record || forces_nothing || follows.what == reaction::lose_session);
}

inline void session::pushed(time_point now, std::string_view text) {
  observe(now);
  std::optional<push> const p = parse_push(text);
  if (!p || p->sid != identity_.sid() || p->epoch != identity_.epoch()) return;
  if (state_ == session_state::open) return take(now, *p);
  if (state_ == session_state::confirming && !kept_.add(text))
    reconnect("too much is pushed before `open` is answered", failure::server_error);
}

inline void session::take_kept(time_point now) {
  commands().restore();
  for (kept_messages::message& each : kept_.take()) {
    if (state_ != session_state::open) return;
    if (each.is_push())
      take(now, *parse_push(each.push()));
    else
      take(now, commands().first_unanswered(), each.get());
  }
}

inline void session::take(time_point now, push const& p) {
  if (!claims_.begin_visit(p)) return;
  identity_.see(p.fence);
  claims_.apply_push(now, p);
}

inline void session::take(time_point now, command front, answer const& a) {
  if (auto const* const r = std::get_if<refusal>(&a))
    refuse(now, front, *r);
  else if (!accept(now, front, a))
    reconnect("the answer is not one of this command", failure::protocol_error);
}

// Returns false if the answer belongs to another script.
inline bool session::accept(time_point now, command const& front, answer const& a) {
  auto const* const open = std::get_if<opened>(&a);
  auto const* const states = std::get_if<std::span<token_state const>>(&a);
  auto const* const number = std::get_if<std::int64_t>(&a);
  switch (front.what) {
    case script::open:
      if (open == nullptr || open->resumed == (state_ == session_state::opening)) return false;
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
  if (state_ == session_state::confirming) {
    enter(session_state::open);
    return take_kept(now);
  }
  bool const data_lost = !identity_.epoch().empty() && a.epoch != identity_.epoch();
  if (!a.resumed) {
    identity_.begin_session(a.epoch);
    extend(sent);
  }
  enter(session_state::open);
  has_opened_ = true;
  attempts_ = told_refusals_ = 0;
  claims_.beats().name_all(now);
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
      command_queue::deny(front);
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
