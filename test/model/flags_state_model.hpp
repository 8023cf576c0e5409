// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_FLAGS_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_FLAGS_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/flags_state.hpp>

/// The flags under the checker: many, as a mailbox has them, or the one of an auto-reset event.
namespace flags_model {

using asio_sync::detail::flags, asio_sync::detail::flags_request, asio_sync::detail::verdict;
using core_model::explore, core_model::kept, core_model::one_of, core_model::wait_outcome;

struct node : core_model::wait_of<node> {
  node(core_model::completion& o, flags_request r) : wait_of(o), request(r) {}

  model::plain<flags_request> request;
};

// Whom the flags do not satisfy keeps nobody out: those who come later may well be served first.
struct mailbox_traits : core_model::traits_of<node, asio_sync::detail::decided_list<node>> {
  static flags_request request(node const& wait) noexcept { return wait.request; }
  static void told(node& wait, flags got) noexcept {
    wait.request = flags_request{got, false, request(wait).takes};
  }
};

// Strictly first come, first served.
struct event_traits : core_model::traits_of<node> {
  static constexpr flags_request request() noexcept { return {1, false, true}; }
  static constexpr flags_request request(node const&) noexcept { return request(); }
  static void told(node&, flags) noexcept {}
};

/// A wait, and what it asks for.
class operation : public core_model::completion {
 public:
  explicit operation(flags_request r = event_traits::request()) : request_(r) {}

  /// The thread's own wait, before it is started.
  node& make() {
    wait = model::make<node>(*this, request_);
    return *wait;
  }

  node* wait = nullptr;
  flags got = 0;  // with the completion

 private:
  flags_request request_;
};

template <class Traits>
class primitive : public core_model::primitive<asio_sync::detail::flags_state<Traits>, operation> {
  using base = core_model::primitive<asio_sync::detail::flags_state<Traits>, operation>;

 public:
  using base::core;

  explicit primitive(flags up = 0) : base(up) {}

  /// As an asynchronous operation starts: tried without the lock, then queued.
  void start(operation& op) {
    verdict const at_once = core().try_wait(Traits::request(op.make()));
    if (at_once.decided()) return conclude(op, at_once);
    if (core().is_closed()) return conclude(op, wait_outcome::closed);
    this->enter(op);
  }

  void raise(flags set) {
    if (core().try_raise(set)) return;
    typename base::list decided;
    core().raise(set, decided);
    this->complete(decided);
  }

  flags take(flags set) { return core().take(set); }

  /// What is tried without a wait: by a loop that polls, or by a coroutine.
  flags try_wait(flags_request request) {
    return static_cast<flags>(core().try_wait(request).value());
  }

  flags up() { return core().up(); }

  std::size_t waiters() { return core().waiters(); }

  /// The completion runs; true if it was granted.
  bool finish(operation& op) {
    op.await_post();
    flags const told = Traits::request(*op.wait).set;
    bool const granted = base::deliver(op);
    op.got = granted ? told : 0;
    return granted;
  }

  /// The same; it was granted.
  flags require(operation& op) {
    model::check(finish(op), "it is released");
    return op.got;
  }

  /// Delivers it if it has come; true if it has got a flag, now or before.
  bool has_got(operation& op) {
    if (op.wait && op.is_posted()) finish(op);
    return op.got != 0;
  }

  /// The last check: nobody waits, and it is freed with the primitive.
  void end() {
    this->check_idle();
    this->abandon();
    this->check_gone();
  }

 private:
  void conclude(operation& op, verdict decided) {
    core().conclude(*op.wait, decided);
    op.post();
  }
};

using mailbox = primitive<mailbox_traits>;

/// One flag, which all waits take.
class event : public primitive<event_traits> {
 public:
  static constexpr flags flag = event_traits::request().set;

  explicit event(bool set = false) : primitive(set ? flag : 0) {}

  void set() { raise(flag); }
  bool reset() { return take(flag) != 0; }
  bool is_set() { return up() != 0; }
};

// --- What waits ask for ---

constexpr flags_request any(flags set) { return {set, false, false}; }
constexpr flags_request all(flags set) { return {set, true, false}; }
constexpr flags_request take_any(flags set) { return {set, false, true}; }
constexpr flags_request take_all(flags set) { return {set, true, true}; }

}  // namespace flags_model

#endif
