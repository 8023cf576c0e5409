// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_HOMED_CORE_HPP

// A core bound to Asio: knows its home context and hands out what it decides.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/core_kinds.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace asio_sync::detail {

// Waiter: what its waits are, which tells what they ask for.
template <class Core, class Waiter = waiter>
class homed_core : public core_base, public Core {
 public:
  using node = Waiter;

  // Throws what allocating it, or adding the service to the executor's context, throws.
  template <class Executor, class... Args>
  static homed_core* make(void* primitive, Executor const& ex, Args... args) {
    refuse_ts_executor<Executor>();
    known_context const home = known_context::of(ex);
    bool const plain = known_context::of_plain(ex).get() != nullptr;
    wait_service* const service =
        home.get() ? &asio::use_service<wait_service>(*home.get()) : nullptr;
    pool_allocator<homed_core> memory;
    auto* const core =
        ::new (static_cast<void*>(memory.allocate(1))) homed_core(primitive, home, plain, args...);
    if (service) service->adopt(*core);
    return core;
  }

  // Runs a transition of the core, and hands out what that has decided.
  template <class Transition>
  auto decide(Transition transition) noexcept {
    struct transition_of {
      homed_core& core;
      decided_waits decided{};
      ~transition_of() {
        finish(core, decided);
        decided.hand_out();
      }
    } of{*this};
    return transition(of.decided);
  }

  // Raises what the core's raise() raises, and hands out whom that lets go. What is compiled into
  // every caller is the case that nobody waits.
  template <class... Flags>
  ASIO_SYNC_INLINE void signal(Flags... set) noexcept {
    if (!this->try_raise(set...)) signal_waits(set...);
  }

  // Holds work for a guest: a wait that is at home here, and queues elsewhere first.
  void guest_joined() noexcept {
    std::lock_guard const guard(this->lock());
    work_.joined(home_);
  }
  // The guest was decided without having come to the queue here.
  void guest_left(decided_waits& decided) noexcept {
    std::lock_guard const guard(this->lock());
    work_.left(home_, decided);
  }
  // Under the lock: it has left the queue here.
  void guest_taken_out(decided_waits& decided) noexcept { work_.left(home_, decided); }

  // Decides a waiter that does not queue.
  void conclude(node& w, verdict decided) noexcept {
    if constexpr (borrows<Waiter>)
      if (decided.outcome() != wait_outcome::not_permitted) w.borrow();
    Core::conclude(w, decided);
  }

  // Queues a fresh waiter: true. False if it was decided on the spot. A participant that is the
  // last has let go the others then.
  bool enter(node& w) noexcept {
    if constexpr (borrows<Waiter>) w.borrow();
    if constexpr (has_participants<Core>)
      return decide([&](decided_waits& decided) { return Core::enter(w, decided); });
    else
      return Core::enter(w);
  }

  // While a fresh participant tries, the core is counted, as those whom it lets go may end the
  // primitive: true, and unref() follows.
  bool hold_for(node& w) noexcept {
    bool const comes = is_participant(w);
    if constexpr (has_participants<Core>)
      if (comes) this->count_up();
    return comes;
  }

  // Nobody will ever run the handler of a fresh waiter. That a participant has come stands, and
  // what a guard would have lent is let go, as by any handler that is dropped.
  void turn_away([[maybe_unused]] node& w) noexcept {
    if constexpr (borrows<Waiter>) {
      conclude(w, wait_outcome::aborted);
      pass_on(w);
    }
    if constexpr (has_participants<Core>)
      if (is_participant(w)) decide([&](decided_waits& decided) { Core::come(decided); });
  }

  // Once one has come, that stands, whatever becomes of its wait.
  static bool is_participant(node const& w) noexcept {
    if constexpr (has_participants<Core>)
      return Core::is_participant(w);
    else
      return false;
  }

  // Gives a lock back or on; false if it was not held in that way, counted or not, or the
  // primitive is dead. What is compiled into every caller is the free case.
  template <class... Mode>
  bool release(bool counted, Mode... mode) noexcept requires is_locked<Core> {
    return this->try_release_uncontended(counted, mode...) || release_contended(counted, mode...);
  }

  // The same, where the free case has just failed.
  template <class... Mode>
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN bool release_contended(
      bool counted, Mode... mode) noexcept requires is_locked<Core> {
    decided_waits decided;
    bool const held = Core::release(counted, mode..., decided);
    finish(*this, decided);
    decided.hand_out();
    return held;
  }

  // A counted holder lets go, whether the primitive lives or not.
  template <class... Mode>
  ASIO_SYNC_NOINLINE void release_counted(Mode... mode) noexcept requires is_locked<Core> {
    if (!release(true, mode...)) unref();
  }

  // Gives back or on n of many permits, which somebody holds, whether the primitive lives or not.
  ASIO_SYNC_INLINE void release_held(std::uint64_t n) noexcept requires hands_out_many<Core> {
    if (!this->try_release_uncontended(n)) release_held_contended(n);
  }

  // Adds n permits that nobody holds; false if that is too many.
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN bool supply(std::uint64_t n) noexcept requires
      hands_out_many<Core> {
    return decide([&](decided_waits& decided) { return Core::supply(n, decided); });
  }

  // n permits that somebody holds will not come back, whether the primitive lives or not.
  void write_off(std::uint64_t n) noexcept requires hands_out_many<Core> {
    if (!Core::write_off(n)) unref(n);
  }

  // Whether an initiation that throws has something to give back.
  static constexpr bool has_initiations = borrows<Waiter>;

  using core_base::refuse;
  bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept override {
    if (!Core::refuse(w, outcome, decided)) return false;  // the core may be gone
    finish(*this, decided);
    settle_work();
    return true;
  }

  // Not those that wait for another core, and only come back through this one.
  std::size_t refuse_all(wait_outcome outcome) noexcept {
    return decide([&](decided_waits& decided) {
      std::size_t const refused =
          Core::refuse_if([&](waiter const& w) { return w.core == this; }, outcome, decided);
      settle_work();
      return refused;
    });
  }

  void close() noexcept {
    decide([&](decided_waits& decided) {
      Core::close(decided);
      settle_work();
    });
  }

  // The primitive ends. The core ends with it, or with the last that is counted.
  void abandon() noexcept {
    wait_service::disown(*this);
    decide([&](decided_waits& decided) {
      Core::abandon(decided);
      settle_work();
    });
    unref();
  }

  // A decided waiter arrives: its outcome is final. A grant that carries something stays counted;
  // otherwise the core may be gone.
  verdict arrive(verdict decided, bool at_home) noexcept {
    if (at_home) settle_at_home();
    if constexpr (Core::carries)
      if (decided.granted()) return hold(decided);
    unref();
    return decided;
  }

  // Before a waiter arrives that was cancelled after its grant: the grant goes on as if it had
  // been dropped, an upgrade's as if it had been downgraded, and the waiter is refused. A grant
  // that carries nothing stays.
  ASIO_SYNC_COLD void withdraw([[maybe_unused]] node& w) noexcept {
    if constexpr (Core::gives_back) {
      if (w.outcome != wait_outcome::granted || !Core::gives_back_of(w)) return;
      this->count_up();  // for the refusal, which arrives
      decided_waits decided;
      if (!downgrades(w, decided)) static_cast<void>(Core::drop(w, decided));
      w.outcome = wait_outcome::aborted;
      finish(*this, decided);
      decided.hand_out();
    }
  }

  void pass_on(waiter& w) noexcept override {
    settle_work();  // while the waiter is counted
    decided_waits decided;
    if constexpr (borrows<Waiter>)
      if (initiation_scope::is_on_for(static_cast<node&>(w)) && static_cast<node&>(w).give_back())
        return w.outcome == wait_outcome::granted ? undo_grant(decided) : unref();
    if (w.outcome != wait_outcome::granted && !has_borrowed(static_cast<node&>(w).decided()))
      return unref();
    if (this->drop(w, decided)) return destroy();
    finish(*this, decided);
    decided.hand_out();
  }

  void settle_at_home() noexcept final {
    restart_timer_if_failed();
    settle_work();
  }

  void leave_home(decided_waits& decided) noexcept override {
    Core::refuse_if([](waiter const& w) { return w.is_at_home(); }, wait_outcome::aborted,
                    decided);
    finish(*this, decided);
    settle_work();
  }

  void forget_home() noexcept override {
    std::lock_guard const guard(this->lock());
    home_.reset();
  }

  // Whether this thread runs the home. Under the lock, as the home may be about to end.
  bool home_runs_here() const noexcept {
    std::lock_guard const guard(this->lock());
    return home_.running_in_this_thread();
  }

  ASIO_SYNC_NOINLINE void unref() noexcept {
    if (this->forget()) core_base::end(*this);
  }

  // Lets go of so many counts.
  ASIO_SYNC_NOINLINE void unref(std::uint64_t n) noexcept {
    if (this->forget(n)) core_base::end(*this);
  }

 protected:
  template <class... Args>
  homed_core(void* primitive, known_context const& home, bool plain, Args... args) noexcept
      : core_base(primitive, home, plain), Core(args...) {}
  ~homed_core() override = default;

  bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) override {
    asio::execution_context& context = this->context_of(w);
    // What is known of an executor that the library does not know is what itself tells of work.
    bool const at_home = home_.get() == &context && (!w.way || w.way->at_once);
    if (at_home) w.work = wait_work::home;
    if (at_home && !deadline) return true;
    auto& known_to = asio::use_service<wait_service>(context);
    if (!at_home) w.way->track(w);
    return known_to.attach(w, deadline);
  }

  void settle_work() noexcept {
    if (work_.has_surplus()) leave_work();
  }

 private:
  template <class... Flags>
  ASIO_SYNC_NOINLINE void signal_waits(Flags... set) noexcept {
    decide([&](decided_waits& decided) { Core::raise(set..., decided); });
  }

  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN void release_held_contended(
      std::uint64_t n) noexcept requires hands_out_many<Core> {
    if (!decide([&](decided_waits& decided) { return Core::release(n, decided); })) unref(n);
  }

  // True if the waiter was upgraded, which ends with that.
  bool downgrades([[maybe_unused]] node const& w,
                  [[maybe_unused]] decided_waits& decided) noexcept {
    if constexpr (borrows<Waiter>)
      if (w.borrowed) return static_cast<void>(Core::downgrade(decided)), true;
    return false;
  }

  static bool has_borrowed([[maybe_unused]] verdict decided) noexcept {
    if constexpr (borrows<Waiter>)
      return Waiter::has_borrowed(decided);
    else
      return false;
  }

  // A grant arrives. The count of a lock or a key passes to the holder; permits are their own.
  verdict hold(verdict granted) noexcept {
    bool const lost = this->is_dead();
    if constexpr (hands_out_many<Core>)
      unref(lost ? granted.value() + 1 : 1);
    else if (lost && !has_borrowed(granted))
      end_hold(granted);
    return lost ? verdict(wait_outcome::aborted) : granted;
  }

  // Of a wait that has borrowed, whose caller has the hold as before.
  void undo_grant(decided_waits& decided) noexcept requires borrows<Waiter> {
    static_cast<void>(Core::downgrade(decided));
    finish(*this, decided);
    decided.hand_out();
  }

  // Of a dead primitive.
  void end_hold([[maybe_unused]] verdict granted) noexcept {
    if constexpr (hands_out_keys<Core>)
      release_key(*this, Core::held_by(granted));
    else
      unref();
  }

  // Where a transition has stopped half-way: those that it has decided keep the core. Otherwise
  // that may be gone.
  static void finish([[maybe_unused]] homed_core& core, decided_waits& decided) noexcept {
    if constexpr (Core::in_batches)
      while (decided.more) core.settle_more(decided);
  }

  ASIO_SYNC_COLD void leave_work() noexcept {
    std::lock_guard const guard(this->lock());
    work_.settle();
  }

  destination destination_of(asio::any_io_executor const& own) const final {
    return destination_finder(own, own, home_).result();
  }

  destination destination_of(known_context const& other) const final {
    return destination::posted<known_context>(other, true);
  }

  void restart_timer() noexcept final {
    if (wait_service* const known_to = this->service()) known_to->restart_timer();
  }

  void destroy() noexcept override {
    pool_allocator<homed_core> memory;
    this->~homed_core();
    memory.deallocate(this, 1);
  }
};

}  // namespace asio_sync::detail

#endif
