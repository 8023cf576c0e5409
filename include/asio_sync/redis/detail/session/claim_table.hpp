// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_CLAIM_TABLE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_CLAIM_TABLE_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/beat_schedule.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/command_queue.hpp>
#include <asio_sync/redis/detail/session/due_heap.hpp>
#include <asio_sync/redis/detail/session/questions.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace asio_sync::redis::detail {

// The claims of a session that have not finished: their states, their commands, and the beats that
// name them; and its questions. It knows nothing of connections, and needs no memory.
class claim_table {
 public:
  using time_point = session_clock::time_point;
  using milliseconds = std::chrono::milliseconds;

  claim_table(session_config const& config, session_host& host)
      : host_(host), max_hold_(config.max_hold), beats_(config.ttl / 3) {}

  std::size_t size() const noexcept { return claims_.size(); }
  command_queue& commands() noexcept { return commands_; }
  command_queue const& commands() const noexcept { return commands_; }
  beat_schedule& beats() noexcept { return beats_; }
  beat_schedule const& beats() const noexcept { return beats_; }

  question_table& questions() noexcept { return questions_; }

  // Returns when wake() has something to do.
  time_point wake_time() const noexcept {
    return std::min(wakes_.earliest(), questions_.wake_time());
  }

  // Registers a claim under a token of its own.
  void add(claim& c) noexcept {
    insert(c);
    ask(c);
  }

  // Has a claim that is added next give back the hold of another one, which is not in the table
  // any more. Returns false if that does not hold.
  bool take_over(claim& c, claim& held) noexcept {
    if (held.state_ != claim_state::holding) return false;
    c.from_ = held.counter_;
    c.from_fence_ = held.fence_;
    c.from_recalled_ = held.recalled_;
    c.visit_.swap(held.visit_);
    finish(held, failure::none);
    return true;
  }

  // Adds the claims that own parts of variables as soon as the server has executed the command of
  // this one, which ends the hold with this fence.
  void add_owned(claim& c, std::uint64_t fence) noexcept {
    if (!c.visit_) return;
    c.owned_from_ = counter_ + 1;
    for (visit::part& each : c.visit_->parts()) {
      insert(*each.owner);
      each.counter = counter_;
      each.owner->fence_ = fence;
      each.owner->sent_ = true;
      enter(*each.owner, claim_state::asking);
    }
    c.owned_upto_ = counter_;
  }

  // Ends the claims that were to own parts of variables, and have not been added.
  void refuse_owned(claim& c, failure why) noexcept {
    if (!c.visit_) return;
    for (visit::part const& each : c.visit_->parts()) host_.finished(*each.owner, why);
  }

  // Leaves a monitor.
  void exit(claim& c) noexcept {
    if (c.state_ != claim_state::holding) return refuse_owned(c, failure::lease_lost);
    add_owned(c, c.fence_);
    c.exits_ = true;
    c.sent_ = false;
    depart(c, script::exit);
  }

  // Has the claim with this counter end with the hold, but without a notification.
  void recall(std::uint64_t counter) noexcept {
    claim* const c = find(counter);
    if (c == nullptr) return;
    c->recalled_ = true;
    if (c->state_ == claim_state::waiting && c->parked_) ask(*c);
  }

  // Gives up the claim with this counter, if there is one that has not finished. `release` is for
  // a hold.
  void leave(std::uint64_t counter, script how) noexcept {
    claim* const c = find(counter);
    if (c != nullptr) leave(*c, c->state_ == claim_state::holding ? how : script::forget);
  }

  // Queues `release` or `forget`. A claim that the server cannot know finishes at once.
  void leave(claim& c, script how) noexcept {
    if (c.state_ == claim_state::leaving || c.state_ == claim_state::finished) return;
    commands_.withdraw(c);
    if (!c.sent_ && c.from_ == 0) return finish(c, failure::none);
    forget_owned(c);
    depart(c, how);
  }

  void finish(claim& c, failure why) noexcept {
    commands_.remove(c);
    enter(c, claim_state::finished);
    c.token_ = claims_.extract(c.counter_);
    host_.finished(c, why);
  }

  void finish_all(failure why) noexcept {
    for_each([&](claim& c) { finish(c, why); });
  }

  // Ends all holds, waits and questions, but not the claims that are leaving, and not what the
  // server is still to be told.
  void abort_all() noexcept {
    questions_.finish_limited(failure::aborted);
    for_each([this](claim& c) {
      if (c.state_ == claim_state::leaving) return;
      bool const held = c.state_ == claim_state::holding;
      if (held) host_.lost(c);
      finish(c, held ? failure::lease_lost : failure::aborted);
    });
  }

  // Ends all holds, because the session has ended. Claims that wait ask the next one, with their
  // tickets.
  void forsake() noexcept {
    commands_.clear();
    for_each([this](claim& c) {
      bool const held = c.state_ == claim_state::holding;
      if (held) host_.lost(c);
      if (c.end_ != failure::none) return finish(c, c.end_);
      if (operates(c) && c.sent_) return finish(c, failure::outcome_unknown);
      if (held || c.state_ == claim_state::leaving || operates(c) || c.weight_ == 0)
        return finish(c, failure::lease_lost);
      c.sent_ = c.parked_ = false;
      c.from_ = 0;
      ask(c);
    });
    questions_.ask_again();
  }

  // Asks for what is due: `acquire` after OOM, `forget` after an error, and holds that have lasted
  // too long. Ends questions that have lasted too long.
  void wake(time_point now) noexcept {
    questions_.wake(now);
    while (wakes_.earliest() <= now) {
      claim& c = wakes_.front();
      wakes_.erase(c);
      if (c.state_ == claim_state::asking) {
        ask(c);
      } else if (c.state_ == claim_state::leaving) {
        depart(c, script::forget);
      } else {
        host_.report({session_event::kind::held_too_long, c.object_.name, max_hold_});
        lose_hold(c, script::release);
      }
    }
  }

  // Returns true if the server has lost the record of a hold since the last call.
  bool take_lost_record() noexcept { return std::exchange(lost_record_, false); }

  // --- Answers ---

  // Takes the variables of a monitor that an answer or a push grants, before the grant itself.
  // Returns false if they are missing or malformed.
  bool begin_visit(claim* c, std::optional<std::string_view> variables) {
    if (c == nullptr || !c->visit_ || !is_pending(*c)) return true;
    return variables && c->visit_->begin(*variables);
  }
  bool begin_visit(command const& front, answer const& a) {
    auto const* const state = std::get_if<token_state>(&a);
    bool const grants = is_ask(front.what) && state != nullptr && state->where == standing::holds;
    return !grants || begin_visit(front.of, state->variables);
  }
  bool begin_visit(push const& p) {
    return !p.is_grant || begin_visit(find(p.counter), p.variables);
  }

  // Takes the answer of the first command, which is that of a claim or a question. Returns false
  // if it belongs to another script.
  bool accept(time_point now, command const& front, answer const& a) noexcept;

  // Takes the state of a claim at the server.
  void apply(time_point now, claim& c, token_state const& s) noexcept;

  // Takes the states of the claims that the last beat has named. A claim that asks has an answer
  // of its own to come.
  void apply_beat(time_point now, std::span<token_state const> states) noexcept;

  // Takes a push. A grant that has come before, or that nobody waits for any more, is ignored: the
  // command that gives the claim up is behind it. So is the loss of what the claim does not hold.
  void apply_push(time_point now, push const& p) noexcept;

  // Takes the answer of `release`, `exit` or `forget`. If the command has been sent before, the
  // server may have executed it without our seeing the answer.
  void apply_leave(command const& of, std::int64_t result) noexcept;

  // Takes the error that the first command is answered with. It counts unless a later command of
  // the claim has replaced this one. A claim that the server may know is forgotten before it ends.
  void refuse(time_point now, command const& of, failure why) noexcept;

  // True if no later command, nor a grant, has replaced a command of a claim.
  static bool is_current(command const& of) noexcept {
    return of.of != nullptr && (!is_ask(of.what) || of.of->state_ == claim_state::asking);
  }

  // Returns the object of the claim that has sent a command; null if there is none.
  static object const* object_of(command const& c) noexcept {
    return c.of != nullptr ? &c.of->object_ : nullptr;
  }

  // Repeats a command by which a claim asks, and for which the server had no memory.
  void ask_later(time_point now, command const& of) noexcept {
    if (is_current(of)) repeat_later(now, *of.of);
  }

 private:
  void insert(claim& c) noexcept {
    c.counter_ = ++counter_;
    c.token_.key() = c.counter_;
    claims_.insert(std::move(c.token_));
  }

  // Calls f for each claim that waits for the command of this one to own something.
  template <class Function>
  void for_each_owned(claim& c, Function f) noexcept {
    for (auto counter = c.owned_from_; counter <= c.owned_upto_; ++counter) {
      claim* const owned = find(counter);
      if (owned && owned->state_ == claim_state::asking) f(*owned);
    }
    c.owned_upto_ = 0;
  }

  // True if the command that ends a hold asks for operations, or leaves a monitor.
  static bool operates(claim const& c) noexcept {
    return c.exits_ || (c.from_ != 0 && c.visit_ && c.visit_->asks());
  }

  // The server has executed the command of this claim.
  void confirm_owned(claim& c) noexcept {
    for_each_owned(c, [this](claim& owned) {
      enter(owned, claim_state::holding);
      host_.granted(owned);
    });
  }

  // The command has been refused or given up: the server need not have executed it.
  void forget_owned(claim& c) noexcept {
    for_each_owned(c, [this](claim& owned) {
      owned.end_ = failure::lease_lost;
      leave(owned, script::forget);
    });
  }

  // The server has executed `cond_wait` if that was the last command.
  void arrive(claim& c) noexcept {
    if (std::exchange(c.from_, 0) != 0) confirm_owned(c);
  }

  static bool is_question(command const& c) noexcept {
    return c.what == script::inspect || c.what == script::force || c.what == script::signal;
  }

  // True if a server may answer so to a claim that asks: a wait is in the queue at least, and not
  // parked any more after `unwait`.
  static bool may_answer(command const& ask, token_state const& s) noexcept {
    if (ask.what == script::unwait) return s.where != standing::parked;
    return s.where != standing::unknown || ask.of == nullptr || ask.of->once_;
  }

  claim* find(std::uint64_t counter) const noexcept {
    auto const found = claims_.find(counter);
    return found != claims_.end() ? found->second : nullptr;
  }

  static bool is_pending(claim const& c) noexcept {
    return c.state_ == claim_state::asking || c.state_ == claim_state::waiting;
  }

  // Calls f for each claim; f may finish it.
  template <class Function>
  void for_each(Function f) {
    for (auto at = claims_.begin(); at != claims_.end();) f(*(at++)->second);
  }

  void enter(claim& c, claim_state next) noexcept {
    wakes_.erase(c);
    if (c.state_ == next) return;
    if (c.state_ == claim_state::waiting) beats_.remove_waiter(c);
    if (c.state_ == claim_state::holding) beats_.remove_holder(c);
    if (next == claim_state::waiting) beats_.add_waiter(c);
    if (next == claim_state::holding) beats_.add_holder(c);
    c.state_ = next;
  }

  void ask(claim& c) noexcept {
    enter(c, claim_state::asking);
    bool const unwaits = c.parked_ && c.recalled_;
    commands_.push(c, c.from_ != 0 ? script::cond_wait
                      : unwaits    ? script::unwait
                                   : script::acquire);
    c.asked_->again = c.sent_;
  }

  void depart(claim& c, script how) noexcept {
    enter(c, claim_state::leaving);
    commands_.push(c, how);
  }

  void repeat_later(time_point now, claim& c) noexcept {
    c.delay_ = std::clamp(2 * c.delay_, milliseconds(50), milliseconds(2000));
    wakes_.set(c, now + c.delay_);
  }

  // The server has refused to end the token.
  void forget_later(time_point now, claim& c, failure why) noexcept {
    if (c.end_ == failure::none) c.end_ = why;
    host_.failed(c, c.end_);
    repeat_later(now, c);
  }

  void wait(time_point now, claim& c, token_state const& s) noexcept {
    enter(c, claim_state::waiting);
    arrive(c);
    c.parked_ = s.where == standing::parked;
    c.ticket_ = c.parked_ ? 0 : s.number;
    c.delay_ = {};
    if (c.parked_ && c.recalled_) return ask(c);
    beats_.expect(c, now, s.hint);
  }

  void hold(time_point now, claim& c, std::uint64_t fence) noexcept {
    commands_.withdraw(c);
    enter(c, claim_state::holding);
    arrive(c);
    c.parked_ = false;
    c.delay_ = {};
    c.fence_ = fence;
    if (max_hold_ > milliseconds::zero()) wakes_.set(c, now + max_hold_);
    host_.granted(c);
  }

  void note_lost_record(claim const& c) noexcept {
    host_.report({session_event::kind::record_lost, c.object_.name});
    lost_record_ = true;
  }

  void lose_hold(claim& c, script how) noexcept {
    c.end_ = failure::lease_lost;
    host_.lost(c);
    leave(c, how);
  }

  session_host& host_;
  milliseconds const max_hold_;
  claim_map claims_;
  std::uint64_t counter_ = 0;  // of the last claim
  command_queue commands_;
  question_table questions_{commands_, host_};
  beat_schedule beats_;
  due_heap<claim> wakes_;  // the claims that wake() is for
  bool lost_record_ = false;
};

}  // namespace asio_sync::redis::detail

#endif
