// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_BEGINNING_HPP
#define ASIO_SYNC_DETAIL_OPERATION_BEGINNING_HPP

// How a wait begins, the same for handlers, immediate executors, coroutines and threads: the
// operation tries, and says what is refused at once; what is undecided gets ready and queues.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <type_traits>

namespace asio_sync::detail {

// As the core's: for a wait that begins now. Apart, as most need it not.
ASIO_SYNC_NOINLINE inline bool make_known(waiter& w, wait_limit limit) {
  if (!limit.timed()) return w.core->make_known(w, {});
  return w.core->make_known(w, limit.deadline());
}

// Gets a fresh waiter ready to queue. False if nobody will ever run its handler. Throws what
// connecting the slot, and what making the service, its timer and room for the deadline throw.
inline bool get_ready(waiter& w, asio::cancellation_slot slot, wait_limit limit) {
  if (slot.is_connected() && !w.is_connected()) w.act(w, waiter_action::connect);
  if (w.way || limit.timed()) return make_known(w, limit);
  w.work = wait_work::home;  // most are: nothing more to do
  return true;
}

// Names a wait in the output of Asio's handler tracking, which asks the executor for its context.
template <class Operation>
void track(Operation const& operation, waiter& w) {
  if constexpr (tracks_handlers)
    if (!operation.has_executor()) return;
  operation.track(w);
}

// Tries, and tells a fresh waiter what that has decided. False if it is undecided.
template <class Operation>
bool decide_at_once(Operation const& operation, typename Operation::node& w) noexcept {
  auto& core = operation.core();  // the attempt of a participant may end the primitive
  bool const held = core.hold_for(w);
  verdict const decided = operation.tried(w);
  if (decided.decided()) core.conclude(w, decided);
  if (held) core.unref();
  return decided.decided();
}

struct no_scope {
  explicit no_scope(waiter&) noexcept {}
};
template <class Core>
using scope_of_initiation =
    std::conditional_t<Core::node::has_initiation, initiation_scope, no_scope>;

// A waiter that was decided where it began goes out. Lets out what its executor throws; not that
// of a participant, whose coming stands.
template <class Core>
void start(typename Core::node& w) {
  [[maybe_unused]] scope_of_initiation<Core> const scope(w);
  if (!Core::is_participant(w)) return completion_queue::start(w);
  decided_waits decided;
  decided.push_back(w);
  decided.hand_out();
}

// Destroys a fresh waiter with its handler, if its initiation throws.
struct unready_waiter {
  waiter* w;
  ~unready_waiter() {
    if (!w) return;
    if (w->service) w->service->detach(*w);
    if (w->is_connected()) w->act(*w, waiter_action::disconnect);
    w->act(*w, waiter_action::destroy);
  }
};

// Connects the slot of a waiter that has not tried yet. When it throws the waiter has gone.
ASIO_SYNC_NOINLINE inline void connect_first(waiter& w) {
  unready_waiter fresh{&w};
  w.act(w, waiter_action::connect);
  fresh.w = nullptr;
}

// The wait of a handler that has to queue. When it throws the waiter has gone.
template <class Core>
void queue(Core& core, typename Core::node& w, asio::cancellation_slot slot, wait_limit limit) {
  unready_waiter fresh{&w};
  if (!get_ready(w, slot, limit)) return core.turn_away(w);
  fresh.w = nullptr;
  if (core.enter(w)) return;
  if (w.service) w.service->detach(w);
  start<Core>(w);
}

// Begins the wait of a handler. When it throws the waiter has gone.
template <class Operation>
ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN void begin(Operation const& operation,
                                                typename Operation::node& w,
                                                asio::cancellation_slot slot) {
  track(operation, w);
  if constexpr (Operation::core_type::gives_back)
    if (slot.is_connected()) connect_first(w);  // a grant at once can be withdrawn, too
  if (!decide_at_once(operation, w)) return queue(operation.core(), w, slot, operation.limit());
  start<typename Operation::core_type>(w);
}

}  // namespace asio_sync::detail

#endif
