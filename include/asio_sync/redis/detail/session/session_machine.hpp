// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_MACHINE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_SESSION_MACHINE_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/claim_table.hpp>
#include <asio_sync/redis/detail/session/command_queue.hpp>
#include <asio_sync/redis/detail/session/identity.hpp>
#include <asio_sync/redis/detail/session/kept_messages.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>
#include <asio_sync/redis/detail/session/states.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace asio_sync::redis::detail {

// The client's side of the protocol: it decides what to send, and what answers, pushes and the
// passing of time mean for claims. It does no I/O and reads no clock. One thread at a time uses
// it.
//
// After each call the caller sends what next() makes until next() returns false, and calls tick()
// at next_tick(). The caller reads the clock for each call, and for next() before any of the bytes
// can leave. Only a call that is not noexcept can find no memory; call fail() then.
//
// Each call first compares its time with the validity of the session. If that time is over, all
// holds are lost before the call does anything else, even if the call brings the answer that would
// have extended the session.
class session {
 public:
  using time_point = session_clock::time_point;
  using milliseconds = std::chrono::milliseconds;

  session(session_config config, session_host& host)
      : config_(std::move(config)), host_(host), identity_(host.new_client_id()) {}
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  // Begins to want a connection. Claims that have come before are served, too.
  void run() noexcept {
    enter(session_state::offline);
    refusing_ = failure::none;
    has_opened_ = false;
    attempts_ = told_refusals_ = 0;
  }

  // Ends the session without a word to the server. Waits stay, and are served by the next run.
  void stop() noexcept {
    if (state_ != session_state::stopped) conclude(failure::aborted, refusing_);
  }

  // Ends all holds and waits. Ends the run, if there is one, when the server has cleared them away
  // (`none`), or when the session has lapsed (`timed_out`).
  void shutdown(time_point now) noexcept;

  // Ends the run, and all claims, from now on at once.
  void end() noexcept {
    stop();
    refusing_ = failure::aborted;
    claims_.finish_all(failure::aborted);
    claims_.questions().finish_all(failure::aborted);
  }

  // Ends the run, and with the same error all operations until the next run.
  void fail(failure why, std::string_view text) noexcept {
    if (state_ == session_state::stopped) return;
    host_.report({session_event::kind::server_error, text, {}, why});
    conclude(why, why);
  }

  void acquire(time_point now, claim& c) noexcept {
    observe(now);
    claims_.add(c);
    if (refusing_ != failure::none) claims_.finish(c, refusing_);
  }

  // Begins a wait on a condition: gives back what another claim holds, which finishes at once, but
  // has to live until this returns.
  void wait(time_point now, claim& c, claim& held) noexcept {
    observe(now);
    failure why = refusing_;
    std::uint64_t const fence = held.fence();
    if (why == failure::none && !claims_.take_over(c, held)) why = failure::lease_lost;
    claims_.add(c);
    if (why == failure::none) return claims_.add_owned(c, fence);
    claims_.refuse_owned(held, why);
    claims_.finish(c, why);
  }

  // Leaves a monitor: has the server do what the visit asks for, and gives the hold back. The host
  // knows the claims that are to own parts of variables, and each finishes. The claim has to live
  // until this returns, even if it finishes.
  void exit(time_point now, claim& c) noexcept {
    observe(now);
    claims_.exit(c);
  }

  // Has a wait on a condition end without a notification. It is granted all the same.
  void recall(time_point now, claim const& c) noexcept {
    std::uint64_t const counter = c.counter();
    observe(now);
    claims_.recall(counter);
  }

  // Asks a question until it is answered, or until a time, and then only while the session runs.
  void ask(time_point now, question& q, time_point until) noexcept {
    observe(now);
    question_table& questions = claims_.questions();
    questions.add(q, until);
    if (refusing_ != failure::none) return questions.finish_all(refusing_);
    if (state_ == session_state::stopped) questions.finish_limited(failure::aborted);
  }

  // Gives a hold back. A claim that waits is forgotten. Does nothing if the claim has finished, or
  // if it finishes because the session has lapsed.
  void release(time_point now, claim const& c) noexcept { leave(now, c, script::release); }

  // Gives a claim up in any state; otherwise like release().
  void forget(time_point now, claim const& c) noexcept { leave(now, c, script::forget); }

  // A connection is subscribed to the channel of client_id(), and knows the scripts.
  void connected(time_point now);

  void disconnected(time_point now, std::string_view why, failure error = {}) noexcept {
    observe(now);
    if (is_connected(state_)) lose_connection(why, error);
  }

  // A connection could not be made, or was lost before its handshake was complete.
  void connect_failed(time_point now, std::string_view why, failure error = {}) noexcept {
    observe(now);
    if (state_ != session_state::stopped) lose_connection(why, error);
  }

  // The server has refused the handshake of a connection.
  void refused(time_point now, std::string_view why, failure error) noexcept {
    observe(now);
    if (state_ != session_state::stopped) refuse_client(why, error);
  }

  // Makes the next request. Returns false if there is nothing to send now.
  bool next(time_point now, request& out);

  // Returns the script that the next answer belongs to.
  std::optional<script> expects() const noexcept {
    if (!commands().has_unanswered()) return std::nullopt;
    return commands().first_unanswered().what;
  }

  void answered(time_point now, answer const& a);

  // The server has emptied a database, perhaps ours, before it sent what comes next.
  void emptied(time_point now) noexcept {
    observe(now);
    confirm();
  }

  void pushed(time_point now, std::string_view text);

  void tick(time_point now) noexcept {
    observe(now);
    if (now >= claims_.wake_time()) claims_.wake(now);
  }

  time_point next_tick() const noexcept {
    time_point const lapse = has_session(state_) ? valid_until_ : time_point::max();
    time_point const beat = may_beat() ? claims_.beats().at() : time_point::max();
    return std::min({lapse, beat, claims_.wake_time()});
  }

  session_state state() const noexcept { return state_; }
  std::string const& client_id() const noexcept { return identity_.client_id(); }

  // Returns the time at which the session lapses unless a beat is acknowledged before.
  time_point valid_until() const noexcept { return valid_until_; }

  // Returns the number of claims that have not finished.
  std::size_t size() const noexcept { return claims_.size(); }

 private:
  command_queue& commands() noexcept { return claims_.commands(); }
  command_queue const& commands() const noexcept { return claims_.commands(); }

  void enter(session_state next) noexcept {
    assert(is_legal({state_, next}));
    state_ = next;
  }

  void report(session_event::kind what, std::string_view text, milliseconds time = {}) noexcept {
    host_.report({what, text, time});
  }

  // True if commands other than `open` may be sent.
  bool may_send() const noexcept {
    return state_ == session_state::open ||
           (state_ == session_state::confirming && !commands().awaits_open());
  }

  bool may_beat() const noexcept { return may_send() && !beat_sent_ && !leaving_; }

  // The host may end the claim when it finishes.
  void leave(time_point now, claim const& c, script how) noexcept {
    std::uint64_t const counter = c.counter();
    observe(now);
    claims_.leave(counter, how);
  }

  void extend(time_point from) noexcept {
    valid_until_ = from + config_.ttl - config_.margin;
    host_.extended(valid_until_);
  }

  void observe(time_point now) noexcept {
    if (has_session(state_) && now >= valid_until_)
      lose_session("no beat was acknowledged in time", session_state::offline);
  }

  void reconnect(std::string_view why, failure error) noexcept {
    host_.disconnect(error);
    lose_connection(why, error);
  }

  // Has the server confirm the session, on the same connection. session.hpp says how.
  void confirm() noexcept {
    if (state_ == session_state::open && !is_gone_ && !only_shuts_down())
      enter(session_state::confirming);
  }

  // True if no command but `shutdown` is left. Its answer is about what the server has now, so it
  // counts without a confirmation, and there may be no session to confirm behind it.
  bool only_shuts_down() const noexcept {
    bool const is_alone =
        !commands().has_unanswered() || commands().first_unanswered().what == script::shutdown;
    return leaving_ && is_alone && !commands().has_ready();
  }

  // Has the commands that are unanswered sent again, on whatever connection is there then.
  void repeat_unanswered() noexcept {
    commands().requeue();
    kept_.clear();
    beat_sent_ = shutdown_sent_ = false;
  }

  void lose_connection(std::string_view why, failure error, bool tells = true) noexcept;
  void refuse_client(std::string_view why, failure error) noexcept;
  void lose_session(std::string_view why, session_state next) noexcept;
  void lose_refused_session(std::string_view why) noexcept;
  void change_identity(std::string_view why);
  void forsake() noexcept;
  void conclude(failure result, failure waits) noexcept;

  bool write_command(time_point now, request& out);
  void write_open(time_point now, request& out);
  void write_beat(time_point now, request& out);

  void take(time_point now, command front, answer const& a);
  void take(time_point now, push const& p);
  void keep(command const& front, answer const& a);
  void take_kept(time_point now);
  bool accept(time_point now, command const& front, answer const& a);
  void accept_open(time_point now, time_point sent, opened const& a);
  void refuse(time_point now, command const& front, refusal const& r);
  void refuse_own(script what, failure why, refusal const& r) noexcept;

  session_config const config_;
  session_host& host_;
  session_state state_ = session_state::stopped;
  bool leaving_ = false;              // shutdown() has been called
  bool is_gone_ = false;              // while leaving: the server knows no such session
  failure refusing_ = failure::none;  // later claims finish with it at once
  bool has_opened_ = false;           // a session, since run()

  // Since run() and since the last connection that stood: how many attempts have failed, and a bit
  // for each error with which a server has refused one.
  unsigned attempts_ = 0, told_refusals_ = 0;

  identity identity_;
  time_point valid_until_{};

  claim_table claims_{config_, host_};
  kept_messages kept_;  // while the server is to confirm the session
  bool beat_sent_ = false, shutdown_sent_ = false;
};

inline void session::shutdown(time_point now) noexcept {
  observe(now);
  if (leaving_) return;
  if (state_ == session_state::stopped) return end();
  if (!has_session(state_)) return conclude(failure::none, failure::aborted);
  leaving_ = true;
  refusing_ = failure::aborted;
  claims_.abort_all();
}

inline void session::connected(time_point now) {
  observe(now);
  if (state_ != session_state::offline && state_ != session_state::suspended) return;
  identity_.begin_generation();
  if (state_ == session_state::offline) return enter(session_state::opening);
  enter(session_state::resuming);
}

// The session goes on: its commands are sent again when another connection has resumed it.
inline void session::lose_connection(std::string_view why, failure error, bool tells) noexcept {
  using kind = session_event::kind;
  bool const stood = state_ == session_state::open || state_ == session_state::confirming;
  if (is_connected(state_)) {
    enter(state_ == session_state::opening ? session_state::offline : session_state::suspended);
    repeat_unanswered();
  }
  if (!stood) ++attempts_;
  if (tells)
    host_.report({.what = stood ? kind::disconnected : kind::connect_failed,
                  .text = why,
                  .error = error,
                  .attempt = attempts_});
}

// Before the first session of a run a refusal is final: the settings are wrong. Behind it a
// refusal is an outage, because the server after a fail-over may be another one. A replica always
// is.
inline void session::refuse_client(std::string_view why, failure error) noexcept {
  if (!has_opened_ && error != failure::not_a_master) return fail(error, why);
  unsigned const refusal = 1u << static_cast<unsigned>(error);
  bool const is_new = (std::exchange(told_refusals_, told_refusals_ | refusal) & refusal) == 0;
  host_.disconnect(error);
  lose_connection(why, error, is_new);
}

inline void session::lose_session(std::string_view why, session_state next) noexcept {
  report(session_event::kind::session_lost, why);
  if (leaving_) return conclude(failure::timed_out, failure::aborted);
  if (is_connected(state_) && !is_connected(next)) host_.disconnect(failure::lease_lost);
  forsake();
  enter(next);
}

// The server knows no such session. A shutdown goes on, because tokens may be left.
inline void session::lose_refused_session(std::string_view why) noexcept {
  bool const opens = state_ != session_state::open;
  if (!leaving_) return lose_session(why, opens ? session_state::opening : session_state::offline);
  is_gone_ = true;
  commands().settle();
  if (!opens) return;
  repeat_unanswered();
  enter(session_state::open);
}

// Another client has this session, or the name of it.
inline void session::change_identity(std::string_view why) {
  std::string id = host_.new_client_id();
  if (has_session(state_))
    lose_session(why, session_state::offline);
  else
    reconnect(why, failure::server_error);
  identity_.change(std::move(id));
}

inline void session::forsake() noexcept {
  host_.extended(time_point::min());
  if (has_session(state_)) identity_.end_session();
  beat_sent_ = shutdown_sent_ = is_gone_ = false;
  kept_.clear();
  claims_.forsake();
}

// Ends the run, and all waits unless `waits` is `none`.
inline void session::conclude(failure result, failure waits) noexcept {
  if (is_connected(state_)) host_.disconnect(result);
  forsake();
  enter(session_state::stopped);
  leaving_ = false;
  refusing_ = waits;
  if (waits != failure::none) claims_.finish_all(waits);
  if (waits != failure::none) claims_.questions().finish_all(waits);
  claims_.questions().finish_limited(failure::aborted);
  host_.ended(result);
}

inline bool session::next(time_point now, request& out) {
  tick(now);
  if (may_send() && write_command(now, out)) return true;
  if (!is_connected(state_) || state_ == session_state::open || commands().awaits_open())
    return false;
  write_open(now, out);
  return true;
}

// Returns false if no command but `open` is to be sent now.
inline bool session::write_command(time_point now, request& out) {
  if (may_beat() && now >= claims_.beats().at()) {
    write_beat(now, out);
    commands().send_own(script::beat, now);
    beat_sent_ = true;
  } else if (commands().has_ready()) {
    identity_.write(out, config_, commands().first_ready());
    if (!commands().has_room(out.wire_size())) return false;
    commands().send(now, out.wire_size());
  } else if (leaving_ && !shutdown_sent_ && state_ == session_state::open) {
    identity_.write_shutdown(out, config_);
    commands().send_own(script::shutdown, now);
    shutdown_sent_ = true;
  } else {
    return false;
  }
  return true;
}

inline void session::write_open(time_point now, request& out) {
  bool const is_new = state_ == session_state::opening;
  if (is_new) identity_.begin_attempt();
  if (state_ == session_state::confirming) identity_.begin_generation();
  identity_.write_open(out, config_, !is_new);
  commands().send_own(script::open, now);
}

inline void session::write_beat(time_point now, request& out) {
  auto const late = now - claims_.beats().at();
  if (late > config_.margin)
    report(session_event::kind::late_heartbeat, {},
           std::chrono::duration_cast<milliseconds>(late));
  claims_.beats().begin(now);
  identity_.write_beat(out, config_, claims_.beats());
}

}  // namespace asio_sync::redis::detail

#endif
