// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_BEGINNING_HPP
#define ASIO_SYNC_DETAIL_OPERATION_BEGINNING_HPP

// How a wait begins, the same for handlers, immediate executors, coroutines and threads: the
// operation tries, and says what is refused at once; what is undecided gets ready and queues.

#include <asio_sync/detail/context/completions.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <initializer_list>
#include <string>

namespace asio_sync::detail {

using boost::system::error_code;

ASIO_SYNC_COLD inline error_code error_of(wait_outcome outcome) noexcept {
  switch (outcome) {
    case wait_outcome::aborted: return asio::error::operation_aborted;
    case wait_outcome::timed_out: return asio::error::timed_out;
    case wait_outcome::closed: return error::closed;
    case wait_outcome::broken: return error::broken_barrier;
    case wait_outcome::invalid:
      return boost::system::errc::make_error_code(boost::system::errc::invalid_argument);
    case wait_outcome::deadlock:
      return boost::system::errc::make_error_code(
          boost::system::errc::resource_deadlock_would_occur);
    case wait_outcome::not_permitted:
      return boost::system::errc::make_error_code(boost::system::errc::operation_not_permitted);
    case wait_outcome::granted:
    case wait_outcome::undecided: break;
  }
  return {};
}

// Throw an error of a synchronous function. The text has the name of the function and the reason:
// "asio_sync::async_mutex::unlock: not locked". Without memory for it they throw std::bad_alloc.
[[noreturn]] ASIO_SYNC_COLD inline void throw_invalid(char const* text) {
  using namespace boost::system;
  throw system_error(errc::make_error_code(errc::invalid_argument), text);
}

[[noreturn]] ASIO_SYNC_COLD inline void throw_not_permitted(char const* text) {
  using namespace boost::system;
  throw system_error(errc::make_error_code(errc::operation_not_permitted), text);
}

[[noreturn]] ASIO_SYNC_COLD inline void throw_too_large(char const* text) {
  using namespace boost::system;
  throw system_error(errc::make_error_code(errc::value_too_large), text);
}

// Makes the text of the reason and of the parts of the function's name: its classes, and its own.
[[noreturn]] ASIO_SYNC_COLD inline void throw_error(error_code error,
                                                    std::initializer_list<char const*> function,
                                                    char const* reason) {
  std::string text = "asio_sync";
  for (char const* const name : function) (text += "::") += name;
  throw boost::system::system_error(error, (text += ": ") += reason);
}

// Returns why a blocking function fails. `invalid`: what invalid_argument means there.
ASIO_SYNC_COLD inline char const* reason_of(wait_outcome outcome, char const* invalid) noexcept {
  switch (outcome) {
    case wait_outcome::aborted: return "cancelled, or the primitive was destroyed";
    case wait_outcome::closed: return "closed";
    case wait_outcome::broken:
      return "another participant has gone, or the completion function has thrown";
    case wait_outcome::deadlock: return "would block a thread that runs its own context";
    case wait_outcome::not_permitted: return "the lock does not own its mutex";
    case wait_outcome::invalid:
    case wait_outcome::granted:
    case wait_outcome::timed_out:
    case wait_outcome::undecided: break;
  }
  return invalid;
}

// Throws the error of a blocking function.
[[noreturn]] ASIO_SYNC_COLD inline void throw_outcome(wait_outcome outcome, char const* type,
                                                      char const* function,
                                                      char const* invalid = "") {
  throw_error(error_of(outcome), {type, function}, reason_of(outcome, invalid));
}

// In the handler's cancellation slot. The signal may be gone before the waiter: then it says so.
class slot_canceller {
 public:
  explicit slot_canceller(waiter& w) noexcept : waiter_(w) {
    waiter_.slot_state |= waiter::connected;
  }
  slot_canceller(slot_canceller const&) = delete;
  slot_canceller& operator=(slot_canceller const&) = delete;
  ~slot_canceller() { waiter_.slot_state &= waiter::withdrawn; }

  void operator()(asio::cancellation_type_t type) {
    if (type == asio::cancellation_type::none) return;
    waiter_.slot_state |= waiter::withdrawn;
    // The completion, on another thread, may clear the slot before this returns: no access after.
    waiter_.core->refuse(waiter_, wait_outcome::aborted);
  }

 private:
  waiter& waiter_;
};

ASIO_SYNC_NOINLINE inline void connect(waiter& w, asio::cancellation_slot slot) {
  slot.template emplace<slot_canceller>(w);
}

// As the core's: for a wait that begins now. Apart, as most need it not.
ASIO_SYNC_NOINLINE inline bool make_known(waiter& w, wait_limit limit) {
  if (!limit.timed()) return w.core->make_known(w, {});
  return w.core->make_known(w, limit.deadline());
}

// Gets a fresh waiter ready to queue. False if nobody will ever run its handler. Throws what
// connecting the slot, and what making the service, its timer and room for the deadline throw.
inline bool get_ready(waiter& w, asio::cancellation_slot slot, wait_limit limit) {
  if (slot.is_connected() && !w.is_connected()) connect(w, slot);
  if (w.way || limit.timed()) return make_known(w, limit);
  w.work = wait_work::home;  // most are: nothing more to do
  w.core->restart_timer_if_failed();
  return true;
}

// Operations whose executor may have gone, with its context: handlers that need it will never be
// run then, and are destroyed.
template <class Operation>
concept may_have_no_executor = requires(Operation const& operation) {
  operation.has_executor();
};

template <class Operation>
bool executor_is_there([[maybe_unused]] Operation const& operation) noexcept {
  if constexpr (may_have_no_executor<Operation>)
    return operation.has_executor();
  else
    return true;
}

// Names a wait in the output of Asio's handler tracking, which asks the executor for its context.
template <class Operation>
void track(Operation const& operation, waiter& w) {
  if constexpr (tracks_handlers)
    if (!executor_is_there(operation)) return;
  operation.track(w);
}

// An operation whose waiter has tried when it was made: it asks for what it has got already.
template <class Operation>
concept tries_early = requires(Operation const& operation,
                               typename Operation::delivery::core_type::node& w) {
  operation.tried(w);
};

// Tries, and tells a fresh waiter what that has decided. False if it is undecided.
template <class Operation>
bool decide_at_once(Operation const& operation,
                    typename Operation::delivery::core_type::node& w) noexcept {
  auto& core = operation.core();  // the attempt of a participant may end the primitive
  bool const held = core.hold_for(w);
  verdict decided;
  if constexpr (tries_early<Operation>)
    decided = operation.tried(w);
  else
    decided = operation.try_now();
  if (decided.decided()) core.conclude(w, decided);
  if (held) core.unref();
  return decided.decided();
}

struct no_scope {
  explicit no_scope(waiter&) noexcept {}
};
template <class Core>
using scope_of_initiation = std::conditional_t<Core::has_initiations, initiation_scope, no_scope>;

// A waiter that was decided where it began goes out. Lets out what its executor throws; not that
// of a participant, whose coming stands.
template <class Core>
void start(typename Core::node& w) {
  [[maybe_unused]] scope_of_initiation<Core> const scope(w);
  if (!Core::is_participant(w)) return completions::start(w);
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
ASIO_SYNC_NOINLINE inline void connect_first(waiter& w, asio::cancellation_slot slot) {
  unready_waiter fresh{&w};
  connect(w, slot);
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

// Begins the wait of a handler. Operation: `core()`; `limit()`; `asked()`, what the waiter asks
// the core for; `try_now()`, which takes what is free and says what is refused at once; and
// `track()`, for Asio's handler tracking. Where asked() tries already, `tried(waiter)` says what
// that has come to, and both may throw. When it throws the waiter has gone.
template <class Operation>
ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN void begin(Operation const& operation,
                                                typename Operation::delivery::core_type::node& w,
                                                asio::cancellation_slot slot) {
  track(operation, w);
  if constexpr (Operation::delivery::core_type::gives_back)
    if (slot.is_connected()) connect_first(w, slot);  // a grant at once can be withdrawn, too
  if (!decide_at_once(operation, w)) return queue(operation.core(), w, slot, operation.limit());
  start<typename Operation::delivery::core_type>(w);
}

}  // namespace asio_sync::detail

#endif
