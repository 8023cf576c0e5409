// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_COMMAND_QUEUE_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_COMMAND_QUEUE_HPP

#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <utility>

namespace asio_sync::redis::detail {

// The commands that are unanswered, in the order in which they were sent, and the commands of
// claims and questions that are to be sent. What is unanswered is limited, so that a beat never
// has much before it; the commands of the session itself do not count. A command whose answer is
// kept counts as unanswered until that answer is taken. The queue moves nodes between lists, and
// needs no memory.
class command_queue {
 public:
  using time_point = session_clock::time_point;

  bool has_ready() const noexcept { return !ready_.empty(); }

  command const& first_ready() const noexcept { return ready_.front(); }

  // True if the first of them, with a size in bytes, may be sent now.
  bool has_room(std::size_t size) const noexcept {
    return cost_ == 0 || cost_ + cost_of(ready_.front(), size) <= most_cost;
  }

  bool has_unanswered() const noexcept { return !unanswered_.empty(); }
  command const& first_unanswered() const noexcept { return unanswered_.front(); }

  // True if `open` is unanswered. Nothing is sent behind it.
  bool awaits_open() const noexcept {
    return has_unanswered() && unanswered_.back().what == script::open;
  }

  // Queues a command of a claim.
  void push(claim& c, script what) noexcept {
    auto const at = c.room_.begin();
    *at = {what, &c};
    ready_.splice(ready_.end(), c.room_, at);
    if (is_ask(what)) c.asked_ = at;
  }

  // Takes back the command by which a claim asks, if it has not been sent on this connection. The
  // claim has no other command here.
  void withdraw(claim& c) noexcept {
    if (c.room_.size() < 2 && c.asked_->queued) c.room_.splice(c.room_.end(), ready_, c.asked_);
  }

  // Removes a claim that may ask here, but has no other command.
  void remove(claim& c) noexcept {
    withdraw(c);
    if (c.room_.size() < 2) c.asked_->of = nullptr;
  }

  // Queues the command of a question.
  void push(question& q) noexcept {
    *q.command_ = {.what = q.what_, .again = q.sent_, .asks = &q};
    ready_.splice(ready_.end(), q.room_, q.command_);
  }

  // Removes a question.
  void remove(question& q) noexcept {
    if (!q.room_.empty()) return;
    if (q.command_->queued) return q.room_.splice(q.room_.end(), ready_, q.command_);
    q.command_->asks = nullptr;
  }

  // Moves the first command, with its size in bytes, to the unanswered ones.
  void send(time_point now, std::size_t size) noexcept {
    command& front = ready_.front();
    if (front.of != nullptr) front.of->sent_ = true;
    if (front.asks != nullptr) front.asks->sent_ = true;
    front.queued = false;
    front.sent = now;
    front.cost = cost_of(front, size);
    cost_ += front.cost;
    unanswered_.splice(unanswered_.end(), ready_, ready_.begin());
  }

  // Adds a command of the session itself to the unanswered ones.
  void send_own(script what, time_point now) noexcept {
    own_.front() = {what, nullptr, now, false};
    unanswered_.splice(unanswered_.end(), own_, own_.begin());
  }

  // Removes the first unanswered command.
  void settle() noexcept { settle(unanswered_); }

  // The server says that a command has changed nothing. If the owner has sent one before, that one
  // may have been executed.
  static void deny(command const& c) noexcept {
    if (c.again) return;
    if (c.of != nullptr) c.of->sent_ = false;
    if (c.asks != nullptr) c.asks->sent_ = false;
  }

  // Puts the first unanswered command aside: its answer is kept. `undone`: the answer says that
  // the command has changed nothing, so sending it again is sending it for the first time.
  void put_aside(bool undone) noexcept {
    unanswered_.front().undone = undone;
    if (undone) deny(unanswered_.front());
    kept_.splice(kept_.end(), unanswered_, unanswered_.begin());
  }

  // Makes the commands whose answers are kept the first unanswered ones.
  void restore() noexcept { unanswered_.splice(unanswered_.begin(), kept_); }

  // Queues the unanswered commands of claims and questions again, of each claim only the newest.
  // Answers that are kept do not count.
  void requeue() noexcept {
    restore();
    auto const at = ready_.begin();
    while (!unanswered_.empty()) {
      command& front = unanswered_.front();
      bool const is_wanted = front.asks != nullptr ||
                             (front.of != nullptr &&
                              (!is_ask(front.what) || front.of->state_ == claim_state::asking));
      if (!is_wanted) {
        settle();
      } else {
        front.queued = true;
        front.again |= !std::exchange(front.undone, false);
        cost_ -= std::exchange(front.cost, 0);
        ready_.splice(at, unanswered_, unanswered_.begin());
      }
    }
  }

  void clear() noexcept {
    restore();
    while (!unanswered_.empty()) settle(unanswered_);
    while (!ready_.empty()) settle(ready_);
  }

 private:
  // A command costs as many bytes as it has, but at least so much that 256 of them reach the
  // limit, or 16 whose answers may have a monitor's variables: a server closes a connection on
  // which too much waits to be read. 32 exits reach the limit: the server remembers 64 at least,
  // and does not know one again that it has forgotten.
  static constexpr std::size_t most_cost = 64 * 1024;
  static constexpr std::size_t least_cost = most_cost / 256, least_exit_cost = most_cost / 32,
                               least_large_cost = most_cost / 16;

  static std::size_t cost_of(command const& c, std::size_t size) noexcept {
    bool const is_large = is_ask(c.what) && c.of != nullptr && c.of->visit_ != nullptr;
    return std::max(size, is_large                 ? least_large_cost
                          : c.what == script::exit ? least_exit_cost
                                                   : least_cost);
  }

  void settle(std::list<command>& from) noexcept {
    command& front = from.front();
    cost_ -= front.cost;
    auto& room = front.of != nullptr     ? front.of->room_
                 : front.asks != nullptr ? front.asks->room_
                                         : own_;
    if (&room == &own_ && own_.size() == own_rooms)
      return from.pop_front();  // of one that has ended
    room.splice(room.end(), from, from.begin());
  }

  static constexpr std::size_t own_rooms = 3;  // for `beat`, `shutdown` and `open`

  std::list<command> ready_, unanswered_;
  std::list<command> kept_;  // their answers are kept; they are older than the unanswered ones
  std::list<command> own_{own_rooms};
  std::size_t cost_ = 0;  // of the unanswered ones, and of those whose answers are kept
};

}  // namespace asio_sync::redis::detail

#endif
