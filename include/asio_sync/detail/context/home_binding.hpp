// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_HOME_BINDING_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_HOME_BINDING_HPP

// Binds a core to its home, the context of the primitive's executor.

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

// Derived: the class that make() creates.
template <class Derived, class Core>
class home_binding : public core_base, public Core {
 public:
  template <class... Args>
  home_binding(void* primitive, known_context const& home, bool plain, Args... args) noexcept
      : core_base(primitive, home, plain), Core(args...) {}

  // Creates a core. Throws what allocating it, or adding the service to the executor's context,
  // throws. Args: of the core.
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

  // Runs a transition of the core, and hands out the waits that it has decided.
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

  // Refuses the queued waits, and from now on all.
  void close() noexcept {
    decide([&](decided_waits& decided) {
      Core::close(decided);
      settle_work();
    });
  }

  // Ends the primitive. The core ends with it, or with the last count.
  void abandon() noexcept {
    wait_service::disown(*this);
    decide([&](decided_waits& decided) {
      Core::abandon(decided);
      settle_work();
    });
    unref();
  }

  // Keeps the core while a fresh wait tries, if the attempt may end the primitive: true, and
  // unref() follows.
  static constexpr bool hold_for(waiter&) noexcept { return false; }

  // Returns true if others wait for the wait to come: its coming stands, whatever becomes of it.
  static constexpr bool is_participant(waiter const&) noexcept { return false; }

  // Nobody will ever run the handler of a fresh wait.
  static void turn_away(waiter&) noexcept {}

  // Returns whether this thread runs the home. Under the lock, because the home may be about to
  // end.
  bool home_runs_here() const noexcept {
    std::lock_guard const guard(this->lock());
    return home_.running_in_this_thread();
  }

  void forget_home() noexcept override {
    std::lock_guard const guard(this->lock());
    home_.reset();
  }

  ASIO_SYNC_NOINLINE void unref() noexcept {
    if (this->forget()) core_base::end(*this);
  }

 protected:
  ~home_binding() override = default;

  void destroy() noexcept override {
    auto* const core = static_cast<Derived*>(this);
    this->~home_binding();
    pool_allocator<Derived>().deallocate(core, 1);
  }

  // Goes on with a transition that has stopped half-way: the waits that it has decided keep the
  // core. Otherwise the core may be gone.
  static void finish([[maybe_unused]] home_binding& core, decided_waits& decided) noexcept {
    if constexpr (Core::in_batches)
      while (decided.more) core.settle_more(decided);
  }

 private:
  ASIO_SYNC_COLD void leave_work() noexcept final {
    std::lock_guard const guard(this->lock());
    work_.settle();
  }

  destination destination_of(asio::any_io_executor const& own) const final {
    return destination_finder(own, own, home_).result();
  }

  destination destination_of(known_context const& other) const final {
    return destination::posted<known_context>(other, true);
  }
};

}  // namespace asio_sync::detail

#endif
