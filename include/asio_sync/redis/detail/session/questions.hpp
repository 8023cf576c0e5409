// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_QUESTIONS_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_QUESTIONS_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/command_queue.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/session_host.hpp>

#include <algorithm>
#include <cstdint>
#include <list>
#include <utility>
#include <variant>

namespace asio_sync::redis::detail {

// The questions of a session that are not answered. It needs no memory.
class question_table {
 public:
  using time_point = session_clock::time_point;

  question_table(command_queue& commands, session_host& host) : commands_(commands), host_(host) {}

  // Returns when wake() has something to do.
  time_point wake_time() const noexcept { return wake_; }

  // Asks a question until it is answered, or until a time; without that one, in every run.
  void add(question& q, time_point until) noexcept {
    q.due_ = until;
    wake_ = std::min(wake_, until);
    asked_.splice(asked_.end(), q.place_);
    ask(q);
  }

  // Ends the questions whose time is up.
  void wake(time_point now) noexcept {
    wake_ = time_point::max();
    for_each([&](question& q) {
      if (q.due_ <= now) return finish(q, failure::timed_out);
      wake_ = std::min(wake_, q.due_);
    });
  }

  // Asks all questions again: the session has ended, and the queue of commands is empty.
  void ask_again() noexcept {
    for_each([this](question& q) { ask(q); });
  }

  void finish_all(failure why) noexcept {
    for_each([&](question& q) { finish(q, why); });
  }

  // Ends the questions that have a time.
  void finish_limited(failure why) noexcept {
    for_each([&](question& q) {
      if (q.due_ != time_point::max()) finish(q, why);
    });
  }

  // Takes the answer of the first command. Returns false if it belongs to another script. If the
  // command has been sent before, the server may have executed it without our seeing the answer.
  bool accept(command const& of, answer const& a) noexcept {
    auto const* const found = std::get_if<inspection*>(&a);
    auto const* const number = std::get_if<std::int64_t>(&a);
    if (of.what == script::inspect ? found == nullptr : number == nullptr) return false;
    bool const is_done = of.what != script::force || *number != 0 || of.again;
    settle(of, is_done ? failure::none : failure::not_held, found != nullptr ? *found : nullptr);
    return true;
  }

  // Takes the error that the first command is answered with.
  void refuse(command const& of, failure why) noexcept { settle(of, why, nullptr); }

 private:
  void ask(question& q) noexcept {
    q.order_ = ++last_;
    commands_.push(q);
  }

  void settle(command const& of, failure why, inspection* found) noexcept {
    commands_.settle();
    if (of.asks != nullptr) finish(*of.asks, why, found);
  }

  void finish(question& q, failure why, inspection* found = nullptr) noexcept {
    commands_.remove(q);
    q.place_.splice(q.place_.end(), asked_, q.place_at_);
    host_.answered(q, why, found);
  }

  // Calls f for each question; f may finish it.
  template <class Function>
  void for_each(Function f) {
    for (auto at = asked_.begin(); at != asked_.end();) f(**(at++));
  }

  command_queue& commands_;
  session_host& host_;
  std::list<question*> asked_;
  time_point wake_ = time_point::max();
  std::uint64_t last_ = 0;  // the order of the last question
};

}  // namespace asio_sync::redis::detail

#endif
