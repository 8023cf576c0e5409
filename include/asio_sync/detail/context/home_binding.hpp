// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_HOME_BINDING_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_HOME_BINDING_HPP

// Binds a core to its primitive, and to its home, the context of the primitive's executor. All
// cores that waits queue in derive from home_binding: homed_core, and the cores of conditions.
//
// make() and abandon() are the beginning and the end of the primitive. In between, decide() runs
// each transition: Core, from core/, decides waits under its lock and puts them into a list, and
// decide() hands them out after the lock. So no user code runs under the lock. The wait_service of
// the home tells the core when the home's services shut down.

#include <asio_sync/detail/context/core_base.hpp>
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

#include <memory>
#include <mutex>
#include <new>

namespace asio_sync::detail {

// Derived: the class that make() creates. Core: the class from core/ that decides which wait is
// next.
template <class Derived, class Core>
class home_binding : public core_base, public Core {
 public:
  template <class... Args>
  home_binding(void* primitive, known_context const& home, bool plain, Args... args) noexcept
      : core_base(primitive, home, plain), Core(args...) {}

  // Creates the core of a primitive over `ex`, with the arguments of Core. The core has one count,
  // the primitive's. Throws what allocating, or adding the service to the executor's context,
  // throws.
  template <class Executor, class... Args>
  static Derived* make(void* primitive, Executor const& ex, Args... args) {
    refuse_ts_executor<Executor>();
    known_context const home = known_context::of(ex);
    bool const plain = known_context::of_plain(ex).get() != nullptr;
    wait_service* const service =
        home.get() ? &asio::use_service<wait_service>(*home.get()) : nullptr;
    pool_allocator<Derived> memory;
    auto* const core =
        ::new (static_cast<void*>(memory.allocate(1))) Derived(primitive, home, plain, args...);
    if (service) service->adopt(*core);
    return core;
  }

  // Calls a transition of the core with an empty list, and hands out the waits that are in the
  // list afterwards. Returns the result of the transition.
  template <class Transition>
  auto decide(Transition transition) noexcept {
    struct transition_of {
      home_binding& core;
      decided_waits decided{};
      ~transition_of() {
        finish(core, decided);
        decided.hand_out();
      }
    } of{*this};
    return transition(of.decided);
  }

  // Refuses the queued waits, and from now on every wait.
  void close() noexcept {
    decide([&](decided_waits& decided) {
      Core::close(decided);
      settle_work();
    });
  }

  // Ends the primitive: refuses the queued waits, and releases the primitive's count. The core
  // ends with its last count. The destructor of the primitive calls this.
  void abandon() noexcept {
    wait_service::disown(*this);
    decide([&](decided_waits& decided) {
      Core::abandon(decided);
      settle_work();
    });
    unref();
  }

  // The shell calls the next three members, see homed_core.hpp.

  // Returns true if it has counted the core, because the attempt of a fresh wait may end the
  // primitive. The caller calls unref() after the attempt.
  static constexpr bool hold_for(waiter&) noexcept { return false; }

  // True if the wait is an arrival that others wait for, at a barrier or a latch. The arrival
  // counts whatever becomes of the wait, so its initiation must not throw.
  static constexpr bool is_participant(waiter const&) noexcept { return false; }

  // Ends a fresh wait whose handler will never run, because its context is shutting down. The
  // waiter is destroyed after this.
  static void turn_away(waiter&) noexcept {}

  // True if this thread runs the home. Asks under the lock, because the home may be about to end.
  bool home_runs_here() const noexcept {
    std::lock_guard const guard(this->lock());
    return home_.running_in_this_thread();
  }

  // Forgets the home: its services have shut down, and none of its waits is queued any more.
  void forget_home() noexcept override {
    std::lock_guard const guard(this->lock());
    home_.reset();
  }

  // Releases a count, and ends the core if it was the last.
  ASIO_SYNC_NOINLINE void unref() noexcept {
    if (this->count_down()) core_base::free(*this);
  }

 protected:
  ~home_binding() override = default;

  // Destroys the core, and frees its memory.
  void destroy() noexcept override {
    auto* const core = static_cast<Derived*>(this);
    this->~home_binding();
    pool_allocator<Derived>().deallocate(core, 1);
  }

  // Goes on with a transition that has stopped half-way to give the lock to other threads; the
  // waits in the list keep the core until then. After any other transition the core may be gone.
  static void finish([[maybe_unused]] home_binding& core, decided_waits& decided) noexcept {
    if constexpr (Core::in_batches)
      while (decided.more) core.settle_more(decided);
  }

 private:
  // Releases the work of the home that no queued wait needs. settle_work() calls this.
  ASIO_SYNC_COLD void leave_work() noexcept final {
    std::lock_guard const guard(this->lock());
    work_.settle();
  }

  // Finds the way of a completion to the executor `own`, or to the plain executor of another
  // context.
  destination destination_of(asio::any_io_executor const& own) const final {
    return destination_finder(own, own, home_).result();
  }

  destination destination_of(known_context const& other) const final {
    return destination::posted<known_context>(other, true);
  }
};

}  // namespace asio_sync::detail

#endif
