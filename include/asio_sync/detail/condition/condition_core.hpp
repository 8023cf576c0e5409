// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONDITION_CONDITION_CORE_HPP
#define ASIO_SYNC_DETAIL_CONDITION_CONDITION_CORE_HPP

// The core of a condition, whose waits go through two queues: its own, and that of a mutex.

#include <asio_sync/detail/condition/condition_waiter.hpp>
#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/home_binding.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/condition_state.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace asio_sync::detail {

// Most waits belong to the context that is the home of the condition and of the mutex. Then both
// cores take them out when that ends, whichever queue they are in, and the mutex's holds the work
// that keeps it running. All others, and those with a deadline, are known to the service of their
// own context; each of the others holds work of it.
class condition_core : public home_binding<condition_core, condition_state<condition_traits>> {
  using queue = condition_state<condition_traits>;

 public:
  using node = condition_waiter;
  static constexpr bool moves_waits_on = true;
  static constexpr bool gives_back = false;  // a wait gives its notification back in ends()

  using home_binding::home_binding;

  void notify_one() noexcept {
    decide([&](decided_waits& decided) { queue::notify_one(decided); });
  }
  void notify_all() noexcept {
    decide([&](decided_waits& decided) { queue::notify_all(decided); });
  }

  std::size_t refuse_all(wait_outcome outcome) noexcept {
    return decide([&](decided_waits& decided) { return queue::refuse_all(outcome, decided); });
  }

  // A fresh wait lets go of its mutex and queues: true. False if it still has it, and is to
  // arrive: it is refused, or its predicate has not been looked at.
  bool enter(node& w) noexcept {
    bool const holds = take_lock(w);
    if (holds && (!w.request.predicate.call || w.request.predicate.has_looked)) return queue_up(w);
    conclude(w, holds ? wait_outcome::granted : wait_outcome::not_permitted, holds);
    return false;
  }

  // Decides a wait that does not queue.
  void conclude(node& w, verdict decided) noexcept {
    bool const holds = take_lock(w);
    conclude(w, decided.outcome(), holds);
  }

  // A wait has arrived on its executor. True if it is over: its lock is as the caller finds it.
  // False if it waits again; it may be gone. Throws what the predicate of a handler throws; the
  // wait is dropped then.
  bool ends(node& w) {
    bool const looks =
        !w.is_withdrawn() && w.request.predicate.call && w.holds() && !w.mutex->is_dead() &&
        (w.place.outcome == wait_outcome::granted || w.place.outcome == wait_outcome::timed_out);
    if (looks && !looks_and_ends(w)) return false;
    bool const goes_on = w.has_slot_state() && leaves_slot(w) && withdraw_notification(w);
    w.leave_initiation();
    leave_service(w);
    if (w.work == wait_work::guest && w.mutex) w.mutex->settle_work();
    give_lock_back(w);
    if (goes_on) notify_one();
    return true;
  }

  // ends() has given the notification back.
  static void withdraw(node&) noexcept {}

  // After ends(): nothing of the wait is needed here any more.
  verdict arrive(verdict decided, bool) noexcept {
    unref();
    return decided;
  }

  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    return queue::refuse(of(w).place, outcome, decided);
  }

  void evict(waiter& w, decided_waits& decided) noexcept override {
    queue::evict(of(w).place, decided);
  }

  // What notify_one() had for it goes to another wait, and so does the mutex.
  void pass_on(waiter& waiting) noexcept override {
    node& w = of(waiting);
    bool const notified_alone = w.place.notified_alone && w.place.outcome == wait_outcome::granted;
    leave_service(w);
    if (initiation_scope::is_on_for(w)) {
      w.lock_at_end = w.request.lock;
      give_lock_back(w);
    } else if (mutex_core* const mutex = w.mutex) {
      mutex->pass_on(w);
      mutex->unref();
    } else if (w.result != wait_outcome::undecided) {  // its handler's move has thrown
      mutex_hold const given_back = w.request.of_lock->take(w.lock_at_end);
      if (given_back.holds) given_back.mutex->release_counted();
    }
    if (notified_alone) notify_one();
    unref();
  }

  void leave_home(decided_waits& decided) noexcept override {
    queue::evict_if([](node const& w) { return w.is_at_home(); }, decided);
  }

 protected:
  ~condition_core() override = default;

 private:
  static node& of(waiter& w) noexcept { return static_cast<node&>(w); }

  void track(node& w) const {
    if (w.way) {
      w.way->track(w);
      if (w.request.predicate.call) w.work = wait_work::kept;
    } else {
      w.work = wait_work::guest;
    }
  }

  // From here on the wait has what its lock had, and keeps both cores. False if that was nothing.
  bool take_lock(node& w) noexcept {
    if (w.work == wait_work::home) w.work = wait_work::guest;
    mutex_hold const taken = w.request.of_lock->take(w.request.lock);
    w.mutex = taken.mutex;
    if (w.mutex) w.mutex->count_up();
    this->count_up();
    return taken.holds;
  }

  // Back to whom it belongs: what has become of the mutex meanwhile decides how.
  static void give_lock_back(node& w) noexcept {
    mutex_core* const mutex = std::exchange(w.mutex, nullptr);
    bool const dead = mutex && mutex->is_dead();
    bool const holds = w.holds() && !dead;
    w.result = holds ? w.place.outcome : w.holds() ? wait_outcome::aborted : w.outcome;
    if (!mutex) return;
    if (!holds) mutex->unref();  // of a grant that is void, or of what was refused
    w.request.of_lock->put(w.lock_at_end, {dead ? nullptr : mutex, holds});
    mutex->unref();
  }

  // Ends without having queued, or without having queued again; lets go of the mutex if the
  // condition has ended.
  void conclude(node& w, wait_outcome outcome, bool holds) const noexcept {
    bool const lets_go = outcome == wait_outcome::closed || outcome == this->ended_as();
    bool const keeps = holds && !lets_go;
    w.place.outcome = outcome;
    if (w.mutex && !keeps) {
      w.mutex->conclude(w, outcome);
      if (holds) w.mutex->release_counted();
    } else {
      w.state = wait_state::decided;
      w.outcome = keeps ? wait_outcome::granted : outcome;
    }
  }

  // Of a wait that holds its mutex.
  bool queue_up(node& w) noexcept {
    mutex_core& mutex = *w.mutex;
    w.leave_initiation();
    wait_outcome const refused = queue::enter(w.place);
    if (refused != wait_outcome::undecided) return conclude(w, refused, true), false;
    mutex.release_counted();  // the wait may get it back, and be gone, at once
    return true;
  }

  bool queue_up_again(node& w) noexcept {
    if (w.work == wait_work::guest) w.service = nullptr;  // where the completion was
    return queue_up(w);
  }

  // Calls the predicate. True if that ends the wait, which holds the mutex, unless the predicate
  // has destroyed that.
  bool looks_and_ends(node& w) {
    condition_predicate const& predicate = w.request.predicate;
    try {
      if (!predicate.call(predicate.where))
        return w.place.outcome == wait_outcome::timed_out || w.mutex->is_dead() ||
               !queue_up_again(w);
    } catch (...) {
      if (!predicate.thrown) {
        completion_queue::drop(w);
        throw;
      }
      *predicate.thrown = std::current_exception();
    }
    w.place.outcome = wait_outcome::granted;
    return true;
  }

  // Takes leave of the slot: the wait is over. Returns true if the slot has cancelled it.
  static bool leaves_slot(node& w) noexcept {
    if (w.is_connected()) w.act(w, waiter_action::disconnect);
    return w.is_withdrawn();
  }

  // Refuses a wait that was cancelled after it was notified, or before its predicate was looked
  // at; the cancellation has left its mark, unless the time was up before. True if notify_one()
  // had notified it alone: that goes on.
  static bool withdraw_notification(node& w) noexcept {
    if (w.place.outcome != wait_outcome::granted || !w.holds() || w.mutex->is_dead()) return false;
    w.place.outcome = w.request.predicate.call ? w.place.mark : wait_outcome::aborted;
    return w.place.notified_alone;
  }

  // One that might have queued again does not.
  static void leave_service(node& w) noexcept {
    if (w.work != wait_work::kept) return;
    w.work = wait_work::own;
    if (w.service) w.service->detach(w);
  }

  void taken_out(waiter& w, decided_waits& decided) noexcept override {
    if (w.work == wait_work::guest) of(w).mutex->guest_taken_out(decided);
  }

  bool make_known(waiter& waiting, std::optional<steady_clock::time_point> deadline) override {
    node& w = of(waiting);
    asio::execution_context& context = this->context_of(w);
    wait_service& known_to =
        &context == home_.get() ? *this->service() : asio::use_service<wait_service>(context);
    track(w);
    return known_to.attach(w, deadline);
  }
};

}  // namespace asio_sync::detail

#endif
