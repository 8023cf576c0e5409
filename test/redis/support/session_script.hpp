// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_SESSION_SCRIPT_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_SESSION_SCRIPT_HPP

#include "support/test.hpp"

#include <asio_sync/redis/detail/session/session.hpp>

#include <charconv>

// A session, and a server that is a script: a test says what the server answers, and compares what
// the session sends and tells, as text.
namespace session_script {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;
using milliseconds = std::chrono::milliseconds;

inline token_state holds(std::uint64_t fence,
                         std::optional<std::string_view> variables = std::nullopt) {
  return {standing::holds, fence, std::nullopt, variables};
}
inline token_state waits(std::uint64_t ticket, std::optional<milliseconds> hint = std::nullopt) {
  return {standing::waits, ticket, hint, std::nullopt};
}
inline token_state parked(std::uint64_t ticket) {
  return {standing::parked, ticket, std::nullopt, std::nullopt};
}
inline token_state unknown() { return {}; }

inline std::string_view text_of(failure f) {
  constexpr std::string_view texts[] = {"none",
                                        "not_free",
                                        "gated",
                                        "not_held",
                                        "aborted",
                                        "timed_out",
                                        "lease_lost",
                                        "outcome_unknown",
                                        "kind_mismatch",
                                        "version",
                                        "configuration",
                                        "access_denied",
                                        "unsupported_server",
                                        "not_a_master",
                                        "evicting_policy",
                                        "no_memory",
                                        "server_error",
                                        "protocol_error"};
  return texts[static_cast<std::size_t>(f)];
}

inline std::string text_of(session_event const& e) {
  constexpr std::string_view kinds[] = {
      "connected", "connect_failed", "disconnected", "session_lost", "late",        "gated",
      "data_lost", "too_long",       "forced",       "record_lost",  "server_error"};
  std::string text(kinds[static_cast<std::size_t>(e.what)]);
  if (e.what == session_event::kind::connect_failed) text += ' ' + std::to_string(e.attempt);
  if (e.time != 0ms) text += ' ' + std::to_string(e.time.count()) + " ms";
  if (e.error != failure::none) text.append(" ").append(text_of(e.error));
  return text;
}

// Writes the operations of a request, from an argument on.
inline std::string operations_of(request const& r, std::size_t i) {
  std::string text;
  while (i < r.size()) {
    text += ',';
    for (auto const end = i + (r[i] == "o" ? 5 : 3); i != end; ++i) text.append(" ").append(r[i]);
  }
  return text;
}

// Writes a request without its constants: the prefix, the lifetimes, and the generation and the
// epoch of acquire and beat.
inline std::string text_of(request const& r) {
  auto const at = [&r](std::size_t i) { return std::string(r[i]); };
  switch (r.what()) {
    case script::open: {
      std::string text = "open " + at(9) + ' ' + at(1) + " gen " + at(2);
      return at(10).empty() ? text : text + " old " + at(10);
    }
    case script::beat: {
      std::string text = "beat";
      for (std::size_t i = 7; i < r.size();) {
        text += ' ' + at(i++) + ':';
        for (std::size_t n = std::stoul(at(i++)); n != 0; --n)
          text += at(i++) + (n == 1 ? "" : ",");
      }
      return text;
    }
    case script::acquire: {
      std::string text = "acquire " + at(4) + ' ' + at(1) + ':' + at(5);
      if (at(10) == "1") text += " try";
      return at(11) == "0" ? text : text + " ticket " + at(11);
    }
    case script::release:
      return "release " + at(2) + ' ' + at(1) + ':' + at(3) + (at(4) == "1" ? " pass" : "");
    case script::forget: {
      std::string text = "forget " + at(2) + ' ' + at(1) + ':' + at(3);
      return r.size() > 4 ? text + ',' + at(4) : text;
    }
    case script::shutdown: return "shutdown " + at(1);
    case script::inspect: return "inspect " + at(2);
    case script::force: return "force " + at(2) + ' ' + at(3);
    case script::cond_wait: {
      std::string text = "cond_wait " + at(4) + ' ' + at(1) + ':' + at(5) + " from " + at(6);
      text += " fence " + at(7) + " on " + at(8) + (at(9) == "1" ? " recalled" : "");
      return text + (at(10) == "1" ? " pass" : "") + operations_of(r, 11);
    }
    case script::exit:
      return "exit " + at(4) + ' ' + at(1) + ':' + at(5) + " fence " + at(6) +
             (at(7) == "1" ? " pass" : "") + operations_of(r, 8);
    case script::unwait: return "unwait " + at(4) + ' ' + at(1) + ':' + at(5);
    case script::signal: return "signal " + at(2) + ' ' + at(3) + " on " + at(4) + ' ' + at(5);
  }
  return {};
}

class fixture : public session_host {
  std::string told_;
  char next_id_ = 'a';
  std::map<std::string, object> objects_;
  std::deque<claim> claims_;
  std::deque<question> questions_;

 public:
  explicit fixture(session_config config = {}) : s(config, *this) { s.run(); }

  // --- What the session has sent and told since the last call ---

  std::string sent() {
    std::string text;
    for (request r; s.next(now, r);) append(text, text_of(r));
    return text;
  }
  std::string told() { return std::exchange(told_, {}); }

  // --- The server and the link ---

  void connect() { s.connected(now); }
  void cut() { s.disconnected(now, "cut"); }
  void answer(asio_sync::redis::detail::answer a) { s.answered(now, a); }
  void answer_beat(std::vector<token_state> states) {
    answer(std::span<token_state const>(states));
  }
  void answer_number(std::int64_t n) { answer(n); }
  void refuse(std::string_view text) { answer(refusal{text}); }
  void opens(std::string_view epoch = "e", std::optional<milliseconds> gate = std::nullopt) {
    s.answered(now, opened{false, epoch, gate});
  }
  void resumes(std::string_view epoch = "e") {
    s.answered(now, opened{true, epoch, std::nullopt});
  }
  void push(std::string_view text) { s.pushed(now, text); }
  void empty() { s.emptied(now); }

  // Loses the connection, and resumes the session on another one.
  void reconnect() {
    cut();
    connect();
    sent();
    resumes();
    told();
  }

  // Sends what is to be sent; then again on another connection.
  void send_twice() {
    sent();
    reconnect();
    sent();
    answer_beat({});
    told();
  }

  // Loses the connection, and the session before there is another one.
  void lapse() {
    cut();
    told();
    after(6000ms);
    s.tick(now);
  }

  // Loses the session, and opens the next one.
  void lose_session() {
    lapse();
    told();
    connect();
    sent();
    opens();
    told();
  }

  // Opens a session, with a first beat.
  void open() {
    connect();
    sent();
    opens();
    sent();
    answer_beat({});
    told();
  }

  // --- The client ---

  // Claims have the numbers of their tokens. One that the session has not seen has the number in
  // which it was made.
  claim& acquire(std::string const& name, bool once = false) {
    auto const made = objects_.try_emplace(name, object{name, "mutex"}).first;
    claims_.emplace_back(made->second, 1, once);
    s.acquire(now, claims_.back());
    return claims_.back();
  }

  // Acquires an object that is free.
  claim& hold(std::string const& name, std::uint64_t fence) {
    claim& c = acquire(name);
    sent();
    answer(holds(fence));
    told();
    return c;
  }

  // Waits for an object that somebody holds.
  claim& wait(std::string const& name, std::uint64_t ticket) {
    claim& c = acquire(name);
    sent();
    answer(waits(ticket));
    told();
    return c;
  }

  claim& claim_of(std::size_t number) { return claims_[number - 1]; }

  // Begins a wait on a condition, with what another claim holds.
  claim& wait_on(std::string const& name, std::string const& condition, claim& held) {
    claims_.emplace_back(objects_.at(name), condition, 1);
    s.wait(now, claims_.back(), held);
    return claims_.back();
  }

  // Enters a monitor that nobody uses, with variables as the server writes them.
  claim& enter(std::string const& name, std::uint64_t fence, std::string_view variables = "") {
    objects_.try_emplace(name, object{name, "monitor"});
    claim& c = acquire(name);
    sent();
    answer(holds(fence, variables));
    told();
    return c;
  }

  // Adds a part of a variable of a monitor that is to be owned.
  claim& own(claim& inside, std::string const& name, std::string variable, std::string delta,
             std::string condition) {
    claim& c = claims_.emplace_back(objects_.at(name), 0);
    inside.visit()->parts().push_back({std::shared_ptr<claim>(std::shared_ptr<claim>(), &c),
                                       std::move(variable), std::move(delta),
                                       std::move(condition)});
    return c;
  }

  // Waits on the condition "c" after a hold with another claim, until the server has answered.
  claim& park(std::string const& name, std::uint64_t fence) {
    claim& c = wait_on(name, "c", hold(name, fence));
    sent();
    answer(parked(fence + 1));
    told();
    return c;
  }

  question& notify(std::string const& name, std::string const& condition, std::uint64_t most) {
    questions_.emplace_back(script::signal, name, condition, most);
    s.ask(now, questions_.back(), session_clock::time_point::max());
    return questions_.back();
  }

  // Asks a question, for at most a second. Questions have numbers from 1 on.
  question& inspect(std::string const& name) {
    return ask(questions_.emplace_back(script::inspect, name));
  }
  question& force(std::string const& name, std::uint64_t fence) {
    return ask(questions_.emplace_back(script::force, name, "", fence));
  }
  question& ask(question& q) {
    s.ask(now, q, now + 1000ms);
    return q;
  }

  void after(milliseconds time) { now += time; }

  bool ends_claims = false;  // the only one, when it has finished

  session_clock::time_point now{std::chrono::hours(1)};
  session s;

 private:
  static void append(std::string& text, std::string const& more) {
    text += text.empty() ? more : "; " + more;
  }

  std::string number(claim const& c) const {
    if (c.counter() != 0) return std::to_string(c.counter());
    for (std::size_t i = 0; i != claims_.size(); ++i)
      if (&claims_[i] == &c) return std::to_string(i + 1);
    return std::to_string(claims_.size());  // it is being emplaced
  }

  void granted(claim& c) noexcept override {
    append(told_, "granted " + number(c) + " fence " + std::to_string(c.fence()));
  }
  void lost(claim& c) noexcept override { append(told_, "lost " + number(c)); }
  void failed(claim& c, failure why) noexcept override {
    append(told_, "failed " + number(c) + ' ' + std::string(text_of(why)));
  }
  void finished(claim& c, failure why) noexcept override {
    append(told_, "finished " + number(c) + ' ' + std::string(text_of(why)));
    if (ends_claims) claims_.clear();
  }
  void answered(question& q, failure why, asio_sync::redis::inspection* found) noexcept override {
    std::size_t n = 0;
    while (&questions_[n] != &q) ++n;
    append(told_, "answered " + std::to_string(n + 1) + ' ' + std::string(text_of(why)) +
                      (found != nullptr ? " found" : ""));
  }
  void report(session_event const& e) noexcept override { append(told_, text_of(e)); }
  void disconnect(failure) noexcept override { append(told_, "disconnect"); }
  void ended(failure why) noexcept override {
    append(told_, "ended " + std::string(text_of(why)));
  }
  std::string new_client_id() override { return std::string(1, next_id_++); }
};

}  // namespace session_script

#endif
