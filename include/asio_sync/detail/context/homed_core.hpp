// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP

// A core whose waits stand in one queue: the protocol between a core and the shell.

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

// The members of threads and lists that every core in core/ takes from the shell.
struct waiter_traits : threading {
  using node = waiter;
  using list = decided_waits;
  static void joined(waiter& w) noexcept { w.core->joined(w); }
  static void left(waiter& w, decided_waits& decided) noexcept { w.core->left(w, decided); }
};

// The shell calls these members of every core, in this order:
//
//   hold_for(w)          around the attempt of a fresh wait
//   conclude(w, verdict) the attempt has decided it; or
//   enter(w)             it queues; or
//   turn_away(w)         nobody will ever run its handler
//   ends(w)              a decided wait has arrived on its executor
//   withdraw(w)          its slot has cancelled it after its grant
//   arrive(verdict)      its outcome is final
//
// Derived: hides the members that it answers otherwise; also hold() and give_on().
// Waiter: the type of its waits, which tells what they ask for.
template <class Derived, class Core, class Waiter = waiter>
class homed_core : public home_binding<Derived, Core> {
  using base = home_binding<Derived, Core>;

 public:
  using node = Waiter;
  using base::base;

  // Raises what the core's raise() raises, and hands out the waits that are let go. What is
  // compiled into every caller is the case that nobody waits.
  template <class... Flags>
  ASIO_SYNC_INLINE void signal(Flags... set) noexcept {
    if (!this->try_raise(set...)) signal_waits(set...);
  }

  // Holds work for a guest: a wait that is at home here, and queues elsewhere first.
  void guest_joined() noexcept {
    std::lock_guard const guard(this->lock());
    this->work_.joined(this->home_);
  }
  // The guest was decided without having come to the queue here.
  void guest_left(decided_waits& decided) noexcept {
    std::lock_guard const guard(this->lock());
    this->work_.left(this->home_, decided);
  }
  // Under the lock: it has left the queue here.
  void guest_taken_out(decided_waits& decided) noexcept { this->work_.left(this->home_, decided); }

  // Decides a wait that does not queue.
  using Core::conclude;

  // Queues a fresh wait: true. False if it was decided on the spot.
  using Core::enter;

  // Returns whether a wait that has arrived on its executor is over; it may be gone otherwise.
  static bool ends(node& w) noexcept {
    w.leave_initiation();
    return true;
  }

  // Makes the outcome of a decided wait final. Then a grant that carries something is counted;
  // otherwise the core may be gone.
  verdict arrive(verdict decided, bool at_home) noexcept {
    if (at_home) this->settle_work();
    if (decided.granted()) return self().hold(decided);
    this->unref();
    return decided;
  }

  // Takes a grant that arrives over from its wait; a grant of a signal carries nothing.
  verdict hold(verdict granted) noexcept {
    this->unref();
    return granted;
  }

  // Gives the grant of a wait on, and refuses the wait: it was cancelled after its grant, and has
  // not arrived. A grant that carries nothing stays.
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

  // Gives the grant of a wait on, as if it had been dropped.
  void give_on(node& w, decided_waits& decided) noexcept {
    static_cast<void>(Core::drop(w, decided));
  }

  using core_base::refuse;
  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    if (!Core::refuse(w, outcome, decided)) return false;  // the core may be gone
    base::finish(*this, decided);
    this->settle_work();
    return true;
  }

  // Not those that wait for another core, and only come back through this one.
  std::size_t refuse_all(wait_outcome outcome) noexcept {
    return this->decide([&](decided_waits& decided) {
      std::size_t const refused =
          Core::refuse_if([&](waiter const& w) { return w.core == this; }, outcome, decided);
      this->settle_work();
      return refused;
    });
  }

  void pass_on(waiter& w) noexcept override {
    this->settle_work();  // while the waiter is counted
    if (w.outcome != wait_outcome::granted) return this->unref();
    drop_grant(w);
  }

  void leave_home(decided_waits& decided) noexcept override {
    Core::refuse_if([](waiter const& w) { return w.is_at_home(); }, wait_outcome::aborted,
                    decided);
    base::finish(*this, decided);
    this->settle_work();
  }

 protected:
  ~homed_core() override = default;

  // The grant of a decided wait goes on, because the wait will never arrive.
  void drop_grant(waiter& w) noexcept {
    decided_waits decided;
    if (this->drop(w, decided)) return this->destroy();
    base::finish(*this, decided);
    decided.hand_out();
  }

  bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) override {
    asio::execution_context& context = this->context_of(w);
    // What is known of an executor that the library does not know is what itself tells of work.
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

}  // namespace asio_sync::detail

#endif
