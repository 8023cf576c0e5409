// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_CLAIM_ANSWERS_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_CLAIM_ANSWERS_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/claim_table.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

// The answers that claims take.

namespace asio_sync::redis::detail {

inline bool claim_table::accept(time_point now, command const& front, answer const& a) noexcept {
  if (is_question(front)) return questions_.accept(front, a);
  auto const* const state = std::get_if<token_state>(&a);
  auto const* const number = std::get_if<std::int64_t>(&a);
  bool const asks = is_ask(front.what);
  if (asks ? state == nullptr || !may_answer(front, *state) : number == nullptr) return false;
  commands_.settle();
  if (!asks) apply_leave(front, *number);
  if (asks && front.of != nullptr) apply(now, *front.of, *state);
  return true;
}

inline void claim_table::apply(time_point now, claim& c, token_state const& s) noexcept {
  if (c.state_ == claim_state::holding) {
    if (s.where == standing::holds && s.number == c.fence_) return;
    note_lost_record(c);
    lose_hold(c, script::forget);
  } else if (is_pending(c)) {
    switch (s.where) {
      case standing::holds:
        if (!c.visit_ || s.variables) return hold(now, c, s.number);
        c.parked_ = false;
        return ask(c);  // the answer has the variables
      case standing::waits:
      case standing::parked: return wait(now, c, s);
      case standing::unknown:
        c.parked_ = false;
        if (!c.once_) return ask(c);
        return finish(c, s.hint ? failure::gated : failure::not_free);
    }
  }
}

inline void claim_table::apply_beat(time_point now, std::span<token_state const> states) noexcept {
  beats_.set(std::max(beats_.at(), now));
  auto state = states.begin();
  for (beat_schedule::token const& named : beats_.named()) {
    claim* const c = find(named.counter);
    bool const is_late =
        c && c->state_ == claim_state::asking && (state->where != standing::holds || c->visit_);
    if (c && !is_late) apply(now, *c, *state);
    ++state;
  }
}

inline void claim_table::apply_push(time_point now, push const& p) noexcept {
  claim* const c = find(p.counter);
  if (c == nullptr) return;
  if (p.is_grant) {
    if (is_pending(*c)) hold(now, *c, p.fence);
  } else if (c->fence_ == p.fence && c->end_ == failure::none) {
    bool const holds = c->state_ == claim_state::holding;
    if (!holds && c->state_ != claim_state::leaving) return;
    host_.report({session_event::kind::forced_release, c->object_.name});
    holds ? lose_hold(*c, script::forget) : void(c->end_ = failure::lease_lost);
  }
}

inline void claim_table::apply_leave(command const& of, std::int64_t result) noexcept {
  bool const held = of.what == script::forget || result >= 0 || of.again;
  failure const why = of.of->end_;
  if (of.what == script::exit) confirm_owned(*of.of);
  if (why != failure::none || held) return finish(*of.of, why);
  note_lost_record(*of.of);
  finish(*of.of, failure::lease_lost);
}

inline void claim_table::refuse(time_point now, command const& of, failure why) noexcept {
  if (is_question(of)) return questions_.refuse(of, why);
  commands_.settle();
  if (!is_current(of)) return;
  claim& c = *of.of;
  bool const ends_hold = of.what == script::exit || of.what == script::cond_wait;
  bool const is_lost = why == failure::lease_lost;
  if (ends_hold && is_lost && !of.again) note_lost_record(c);
  if (!ends_hold && !is_ask(of.what)) return forget_later(now, c, why);
  if (ends_hold) forget_owned(c);
  if (ends_hold && of.again && operates(c)) why = failure::outcome_unknown;
  bool const is_known = ends_hold ? !is_lost : of.again;
  if (!is_known) return finish(c, why);
  c.end_ = why;
  c.exits_ = false;
  c.state_ == claim_state::asking ? leave(c, script::forget) : depart(c, script::forget);
}

}  // namespace asio_sync::redis::detail

#endif
