// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_CLAIM_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_CLAIM_HPP

#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/due_heap.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/session/rotation.hpp>
#include <asio_sync/redis/detail/session/session_clock.hpp>
#include <asio_sync/redis/detail/session/visit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace asio_sync::redis::detail {

class claim;
class question;

// By the counters of their tokens.
using claim_map = std::map<std::uint64_t, claim*>;

// A command of a claim, or of the session itself, that is queued or unanswered.
struct command {
  script what = script::open;
  claim* of = nullptr;  // null if the session itself, or a claim that has ended, has sent it
  session_clock::time_point sent{};
  bool queued = true;        // it is to be sent
  bool again = false;        // it, or one by which its owner has asked, has been sent before
  bool undone = false;       // the answer that is kept says that it has changed nothing
  std::size_t cost = 0;      // while it is unanswered; see command_queue
  question* asks = nullptr;  // null if it is none's, or that of one that has ended
};

struct object;

// The claims of an object that wait, or those that hold. A round names each of them once.
struct claim_group {
  object* about = nullptr;
  rotation<claim> claims{};
  std::uint64_t named = 0;  // the last beat that has named one of them
  rotation_place<claim_group> place{};

  // Of claims that wait.
  session_clock::time_point turn = session_clock::time_point::max();  // of the next round
  due_place<claim_group> due{};  // the turn, or a time for which the server has asked
};

// An object that claims are about. It outlives them.
struct object {
  std::string name, kind;
  std::uint64_t version = 1, capacity = 1;

  bool has_variables() const noexcept { return kind == "monitor"; }

  // The session's own.
  claim_group waiters{}, holders{};
};

// The session's view of a claim.
enum class claim_state : std::uint8_t {
  fresh,   // the session has not seen it
  asking,  // `acquire`, `cond_wait` or `unwait` is to be sent, or is unanswered; of what is owned,
           // the command by which another claim makes it
  waiting,  // it is in the queue of the object, or parked on a condition
  holding,
  leaving,  // `release`, `exit` or `forget` is to be sent, or is unanswered
  finished  // the session has forgotten it
};

// One operation on an object: a token, and room for all that the session will ever store about it,
// so that only the creation of a claim needs memory. The operation creates the claim before it
// queues its wait, and shares it with the session until session_host::finished() is called.
class claim {
 public:
  // A claim without a weight owns a part of a variable of a monitor, from the end of a visit on.
  explicit claim(object& about, std::uint64_t weight = 1, bool once = false)
      : object_(about),
        weight_(weight),
        once_(once),
        visit_(about.has_variables() && weight != 0 ? std::make_unique<detail::visit>() : nullptr),
        room_(2) {
    claim_map one;
    one.emplace(0, this);
    token_ = one.extract(one.begin());
  }

  // One that begins as a wait on a condition of the object.
  claim(object& about, std::string condition, std::uint64_t weight) : claim(about, weight) {
    condition_ = std::move(condition);
  }
  claim(claim const&) = delete;
  claim& operator=(claim const&) = delete;

  claim_state state() const noexcept { return state_; }

  // Returns the counter of the token; 0 before the session knows the claim.
  std::uint64_t counter() const noexcept { return counter_; }

  // Returns the fence of the last grant.
  std::uint64_t fence() const noexcept { return fence_; }

  // Returns what the holder of a monitor sees and asks for; its own between the grant and the
  // command that ends the hold. Null for the claims of other objects.
  detail::visit* visit() noexcept { return visit_.get(); }

  // The session's own.
  rotation_place<claim> place{};  // among the waiters or holders of the object
  due_place<claim> due{};         // to ask again after OOM, or to take back a hold

  // Adds the arguments of a command that is about the claim.
  void write(request& out, script what) const {
    out.add(object_.name).add(counter_);
    if (what == script::acquire) {
      out.add(object_.kind).add(object_.version).add(object_.capacity).add(weight_);
      out.add(once_ ? "1" : "0").add(ticket_);
    } else if (what == script::cond_wait) {
      out.add(from_)
          .add(from_fence_)
          .add(condition_)
          .add(flag(recalled_))
          .add(flag(from_recalled_));
      if (visit_) visit_->write(out);
    } else if (what == script::exit) {
      out.add(fence_).add(flag(recalled_));
      visit_->write(out);
    } else if (what == script::release) {
      out.add(flag(recalled_));
    } else if (what == script::forget && from_ != 0) {
      out.add(from_).add(flag(from_recalled_));
    }
  }

 private:
  friend class claim_table;
  friend class command_queue;
  friend class beat_schedule;

  static std::string_view flag(bool is_set) noexcept { return is_set ? "1" : "0"; }

  object& object_;
  std::uint64_t const weight_;
  bool const once_;  // it does not queue
  claim_state state_ = claim_state::fresh;
  bool sent_ = false;            // the server may know the token
  failure end_ = failure::none;  // the reason for which it is leaving, if that is not its user
  std::uint64_t counter_ = 0;
  std::uint64_t ticket_ = 0;  // 0: none yet
  std::uint64_t fence_ = 0;

  // A wait on a condition gives a hold back, and ends with another one.
  std::string condition_;
  std::uint64_t from_ = 0;  // the token of the hold, until `cond_wait` is answered; then 0
  std::uint64_t from_fence_ = 0;
  bool from_recalled_ = false;
  bool parked_ = false;
  bool recalled_ = false;  // it ends without a notification, and passes one that it has on

  std::unique_ptr<detail::visit> visit_;
  bool exits_ = false;                             // `exit` is to be sent, or is unanswered
  std::uint64_t owned_from_ = 1, owned_upto_ = 0;  // the tokens that its command makes

  std::chrono::milliseconds delay_{0};  // before it asks again after the last OOM

  claim_map::node_type token_;  // while the session does not know the claim
  std::list<command> room_;     // for the command that asks, and for `release` or `forget`
  std::list<command>::iterator asked_{};  // the last one that asked
};

// A command that is no claim's, and room for all that the session will ever store about it. The
// operation shares it with the session until session_host::answered() is called.
class question {
 public:
  // `number`: the fence of the holder that `force` is about; the number of the waits that `signal`
  // notifies, 0 for all.
  question(script what, std::string object, std::string condition = {}, std::uint64_t number = 0)
      : what_(what),
        object_(std::move(object)),
        condition_(std::move(condition)),
        number_(number) {}
  question(question const&) = delete;
  question& operator=(question const&) = delete;

  // Adds the arguments.
  void write(request& out) const {
    out.add(object_);
    if (what_ == script::signal) out.add(order_).add(condition_);
    if (what_ != script::inspect) out.add(number_);
  }

 private:
  friend class question_table;
  friend class command_queue;

  script const what_;
  std::string const object_;
  std::string const condition_;
  std::uint64_t const number_;
  std::uint64_t order_ = 0;  // it grows from each question of a session to the next one
  bool sent_ = false;        // the server may know it
  session_clock::time_point due_{};

  std::list<question*> place_{this};  // while the session does not know it
  std::list<question*>::iterator const place_at_ = place_.begin();
  std::list<command> room_{1};
  std::list<command>::iterator const command_ = room_.begin();
};

}  // namespace asio_sync::redis::detail

#endif
