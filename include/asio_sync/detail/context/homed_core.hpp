// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP

// The protocol between a core and the shell, and the base of the cores whose waits stand in one
// queue, with the default of each member. Read operation.hpp first.
//
// A core counts those who may still touch it: the primitive is one, every decided wait is one
// until it has arrived or was dropped, and a guard is one. So it outlives the primitive as long as
// somebody needs it. The last unref() ends it.
//
// A wait goes through these states: fresh (its initiating thread owns it), queued (the core owns
// it, under its lock), decided (whoever took it out of the queue owns it, then its completion). It
// then arrives on its executor, or is dropped: its completion was destroyed and will never run.
// The shell calls these members of every core, in this order:
//
//   hold_for(w)           before the attempt of a fresh wait               beginning.hpp
//   conclude(w, verdict)  after an attempt that has decided the wait; or   beginning.hpp
//   enter(w)              to queue the wait; or                            beginning.hpp
//   turn_away(w)          if the handler's context is shutting down        beginning.hpp
//   ends(w)               on the handler's executor: the wait arrives      handler_waiter.hpp
//   withdraw(w)           if the slot has cancelled the wait meanwhile     handler_waiter.hpp
//   arrive(verdict)       to make the outcome final                        handler_waiter.hpp
//
// coroutine_wait.hpp and thread_wait.hpp call the same members for their waits; a thread calls
// enter() and arrive() only. The shell calls the virtual functions through core_base, at any time:
//
//   make_known(w, time)   before a wait with a route or a deadline queues  beginning.hpp
//   cancel(w)             if the slot cancels the wait
//   expire(w)             if its time is up
//   evict(w)              if the context of the wait shuts down            wait_service.hpp
//   leave_home(), forget_home(), let_executor_go()
//                         in this order, if the home shuts down            wait_service.hpp
//   pass_on(w)            if a decided wait was dropped                    completion_queue.hpp
//
// Primitives call signal(), refuse_all(), close() and abandon(); guards call release().

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/home_binding.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <mutex>
#include <optional>

namespace asio_sync::detail {

// The traits that every core in core/ takes from the shell: locks, atomics, lists, and the calls
// for a wait that has joined or left the queue.
struct waiter_traits : threading {
  using node = waiter;
  using list = decided_waits;
  static void joined(waiter& w) noexcept { w.core->joined(w); }
  static void left(waiter& w, decided_waits& decided) noexcept { w.core->left(w, decided); }
};

// Derived: the final core. It hides the members whose default does not fit, and may hide hold()
// and give_on(), too, which this class calls. Core: the class from core/ that decides which wait
// is next. Waiter: the type of the waits, with their requests.
template <class Derived, class Core, class Waiter = waiter>
class homed_core : public home_binding<Derived, Core> {
  using base = home_binding<Derived, Core>;

 public:
  using node = Waiter;
  using base::base;

  // Calls raise() of an event or a latch, and hands out the waits that it releases. Compiles only
  // the case that nobody waits into its callers.
  template <class... Flags>
  ASIO_SYNC_INLINE void signal(Flags... set) noexcept {
    if (!this->try_raise(set...)) signal_waits(set...);
  }

  // A guest is a wait on a condition: it is at home here, too, queues at the condition first, and
  // comes to the queue here later. The next three hold work of the home for it meanwhile.

  // Holds work for a guest that has queued at its condition.
  void guest_joined() noexcept {
    std::lock_guard const guard(this->lock());
    this->work_.joined(this->home_);
  }
  // Releases the work for a guest that was decided before it came to the queue here.
  void guest_left(decided_waits& decided) noexcept {
    std::lock_guard const guard(this->lock());
    this->work_.left(this->home_, decided);
  }
  // Releases the work for a guest that has left the queue here. Under the lock.
  void guest_taken_out(decided_waits& decided) noexcept { this->work_.left(this->home_, decided); }

  // Decides a wait that does not queue.
  using Core::conclude;

  // Queues a fresh wait, and returns true; the waiter may be gone then. Returns false if the wait
  // was decided on the spot: the caller hands it out.
  using Core::enter;

  // Returns true if a wait that has arrived on its executor is over. Otherwise it has queued
  // again, and the waiter may be gone.
  static bool ends(node& w) noexcept {
    w.leave_initiation();
    return true;
  }

  // Returns the final outcome of a decided wait, and takes over its count: that of a granted lock
  // becomes the guard's; any other is released, and the core may be gone then. `at_home`: the wait
  // had work of the home.
  verdict arrive(verdict decided, bool at_home) noexcept {
    if (at_home) this->settle_work();
    if (decided.granted()) return self().hold(decided);
    this->unref();
    return decided;
  }

  // Takes a grant that arrives over from its wait. By default it releases the count, because the
  // grant of a signal carries nothing. Cores whose grants carry something hide this.
  verdict hold(verdict granted) noexcept {
    this->unref();
    return granted;
  }

  // Gives the grant of a wait on to others, and refuses the wait, because its slot has cancelled
  // it after the grant and before it arrived. A grant that carries nothing stays a grant.
  ASIO_SYNC_COLD void withdraw([[maybe_unused]] node& w) noexcept {
    if constexpr (Core::gives_back) {
      if (w.outcome != wait_outcome::granted || !Core::gives_back_of(w)) return;
      this->count_up();  // for the refusal, which arrives
      decided_waits decided;
      self().give_on(w, decided);
      w.outcome = wait_outcome::aborted;
      base::finish(*this, decided);
      decided.hand_out();
    }
  }

  // Gives the grant of a wait on to others, like the grant of a dropped wait.
  void give_on(node& w, decided_waits& decided) noexcept {
    static_cast<void>(Core::drop(w, decided));
  }

  // Refuses a wait. Returns true if it was queued, and is in the list. A fresh wait is marked, and
  // enter() refuses it; a decided wait stays as it is.
  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    if (!Core::refuse(w, outcome, decided)) return false;  // the core may be gone
    base::finish(*this, decided);
    this->settle_work();
    return true;
  }

  // Refuses all queued waits, and returns their number. Leaves out waits on conditions, which only
  // get their mutex back in this queue.
  std::size_t refuse_all(wait_outcome outcome) noexcept {
    return this->decide([&](decided_waits& decided) {
      std::size_t const refused =
          Core::refuse_if([&](waiter const& w) { return w.core == this; }, outcome, decided);
      this->settle_work();
      return refused;
    });
  }

  // Passes the grant of a dropped wait on to others, or releases the count of a refused wait.
  void pass_on(waiter& w) noexcept override {
    this->settle_work();  // while the waiter is counted
    if (w.outcome != wait_outcome::granted) return this->unref();
    drop_grant(w);
  }

  // Refuses the queued waits that are at home, because the home shuts down. Under the lock of the
  // wait_service.
  void leave_home(decided_waits& decided) noexcept override {
    Core::refuse_if([](waiter const& w) { return w.is_at_home(); }, wait_outcome::aborted,
                    decided);
    base::finish(*this, decided);
    this->settle_work();
  }

 protected:
  ~homed_core() override = default;

  // Gives the grant of a dropped wait on to others, and ends the core if that was the last count.
  void drop_grant(waiter& w) noexcept {
    decided_waits decided;
    if (this->drop(w, decided)) return this->destroy();
    base::finish(*this, decided);
    decided.hand_out();
  }

  // Makes a fresh wait known to the wait_service of its context, if it is not at home or has a
  // deadline. A wait that is not at home takes work of its own context. Returns false if the
  // context is shutting down. Throws what making the service, its timer and room for the deadline
  // throws.
  bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) override {
    asio::execution_context& context = this->context_of(w);
    // A route that is not `at_once` leads to an executor that the library does not know, and that
    // has to hold its own work: such a wait is not at home, even if the context is the home.
    bool const at_home = this->home_.get() == &context && (!w.way || w.way->at_once);
    if (at_home) w.work = wait_work::home;
    if (at_home && !deadline) return true;
    auto& known_to = asio::use_service<wait_service>(context);
    if (!at_home) w.way->track(w);
    return known_to.attach(w, deadline);
  }

 private:
  template <class... Flags>
  ASIO_SYNC_NOINLINE void signal_waits(Flags... set) noexcept {
    this->decide([&](decided_waits& decided) { Core::raise(set..., decided); });
  }

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

// A core that hides nothing: the grants of its waits carry nothing, or only a value.
template <class Core, class Waiter = waiter>
class signalling_core final : public homed_core<signalling_core<Core, Waiter>, Core, Waiter> {
 public:
  using homed_core<signalling_core, Core, Waiter>::homed_core;

 private:
  ~signalling_core() override = default;
};

}  // namespace asio_sync::detail

#endif
