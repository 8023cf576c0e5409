// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_COROUTINE_WAIT_HPP
#define ASIO_SYNC_DETAIL_OPERATION_COROUTINE_WAIT_HPP

// The wait of a coroutine: tries before it suspends, and resumes it with a verdict. Nothing here
// is compiled for each coroutine but the try and the result.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/slot_link.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// A waiter, in memory of the pool, whose handler comes once the coroutine is suspended.
template <class Core, class Handler>
class coroutine_waiter final : public Core::node {
  using node = typename Core::node;
  using asked_type = typename node::asked_type;

 public:
  // For a coroutine whose executor is `own`. Throws what finding and building the route throw.
  template <class Operation, class Executor>
  static coroutine_waiter& make(Core& core, Operation const& operation, Executor const& own) {
    bool const stays = operation.stays_at_home();
    if (!stays || !is_plainly_at_home(core, own))
      return make_routed(core, operation.asked(), own, operation.executor(), stays);
    return *::new (pool::allocate(front_of_route<coroutine_waiter>()))
        coroutine_waiter(core, operation.asked());
  }

  // Tries, for a coroutine that goes through its executor all the same: a grant can be withdrawn
  // until it arrives, so the slot is connected first. True if the wait is decided.
  template <class Operation>
  bool try_first(Operation const& operation, asio::cancellation_slot slot) {
    if constexpr (Core::gives_back) {
      unready fresh{this};
      connect_slot(slot);
      fresh.w = nullptr;
    }
    return decide_at_once(operation, *this);
  }

  // Gets it ready to queue; null, and it is gone, if its context is shutting down or this throws.
  coroutine_waiter* ready(asio::cancellation_slot slot, wait_limit limit) {
    unready fresh{this};
    if (!this->is_connected()) connect_slot(slot);
    if (!get_ready(*this, slot, limit)) return its_core().turn_away(*this), nullptr;
    return std::exchange(fresh.w, nullptr);
  }

  // The coroutine is suspended: queues, or goes on its way.
  ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN void launch(Handler&& handler) noexcept {
    ::new (static_cast<void*>(std::addressof(handler_))) Handler(std::move(handler));
    if (this->state != wait_state::decided && its_core().enter(*this)) return;
    decided_waits decided;
    decided.push_back(*this);
    decided.hand_out();
  }

  ~coroutine_waiter() {}  // whoever ends the waiter destroys the handler

 private:
  // Frees a waiter that has no handler yet.
  struct unready {
    coroutine_waiter* w;
    ~unready() {
      if (w) give_up(*w);
    }
  };

  ASIO_SYNC_COLD static void give_up(coroutine_waiter& w) noexcept {
    if (w.is_connected()) w.disconnect();
    if (w.service) w.service->detach(w);
    free(w);
  }

  coroutine_waiter(Core& c, asked_type&& asked) noexcept
      : node(&perform, &c, static_cast<asked_type&&>(asked)) {}

  template <class Executor, class Primitive>
  ASIO_SYNC_NOINLINE static coroutine_waiter& make_routed(Core& core, asked_type&& asked,
                                                          Executor const& own,
                                                          Primitive const& primitive, bool stays) {
    auto const to = destination_of(core, own, primitive, stays);
    void* const memory = pool::allocate(front_of_route<coroutine_waiter>() + to.size());
    auto* const self = ::new (memory) coroutine_waiter(core, static_cast<asked_type&&>(asked));
    to.build(*self, static_cast<std::byte*>(memory) + front_of_route<coroutine_waiter>());
    return *self;
  }

  Core& its_core() const noexcept { return static_cast<Core&>(*this->core); }

  static void free(coroutine_waiter& w) noexcept { pool::deallocate(&w, destroy_in_block(w)); }

  ASIO_SYNC_FLATTEN static void perform(waiter& w, waiter_action action) {
    auto& self = static_cast<coroutine_waiter&>(w);
    switch (action) {
      case waiter_action::complete: return self.complete();
      case waiter_action::connect: return;  // see connect_slot()
      case waiter_action::disconnect: return self.disconnect();
      case waiter_action::destroy: return static_cast<void>(ending(self).take());
    }
  }

  // Connects the slot of a wait that has no handler yet. Throws what that throws.
  void connect_slot([[maybe_unused]] asio::cancellation_slot slot) {
    if constexpr (has_slot<Handler>)
      if (slot.is_connected()) connect(*this, link_, slot);
  }

  void disconnect() noexcept {
    if constexpr (has_slot<Handler>) link_.leave(*this);
  }

  // Frees the block before the coroutine is resumed.
  void complete() {
    if (!its_core().ends(*this)) return;
    if (this->has_slot_state()) leave_slot();
    verdict const decided =
        its_core().arrive(this->node::decided(), this->work == wait_work::home);
    Handler taken(ending(*this).take());
    taken(decided);
  }

  // A cancellation does not count any more; one that did takes the grant back.
  ASIO_SYNC_NOINLINE void leave_slot() {
    if (this->is_connected()) disconnect();
    if (this->is_withdrawn()) its_core().withdraw(*this);
  }

  // Destroys the handler, or what a move has left of it, and frees the memory.
  class ending {
   public:
    explicit ending(coroutine_waiter& self) noexcept : self_(&self) {}
    ending(ending const&) = delete;
    ending& operator=(ending const&) = delete;
    ~ending() {
      self_->handler_.~Handler();
      free(*self_);
    }

    Handler take() { return std::move(self_->handler_); }

   private:
    coroutine_waiter* self_;
  };

  [[no_unique_address]] std::conditional_t<has_slot<Handler>, slot_link, no_slot> link_;
  union {
    Handler handler_;
  };
};

// The waiter of an operation whose coroutine is about to be suspended; null if its context is
// shutting down, or has gone. Throws what making and preparing it throw.
template <class Waiter, class Operation, class Executor>
Waiter* prepare_wait(Operation const& operation, typename Operation::core_type& core,
                     Executor const& own, asio::cancellation_slot slot) {
  if (!operation.has_executor() && is_reached_by_primitive(own)) return nullptr;
  auto& w = Waiter::make(core, operation, own);
  // Not free a moment ago, unless only the budget is used up.
  if (!immediate_budget::available() && w.try_first(operation, slot)) return &w;
  return w.ready(slot, operation.limit());
}

template <class Waiter, class Operation, class Executor>
ASIO_SYNC_NOINLINE ASIO_SYNC_FLATTEN Waiter* prepare_apart(Operation const& operation,
                                                           typename Operation::core_type& core,
                                                           Executor const& own,
                                                           asio::cancellation_slot slot) {
  return prepare_wait<Waiter>(operation, core, own, slot);
}

// Handler resumes the coroutine.
template <class Operation, class Result, class Handler>
class awaitable_wait_of {
  using core_type = typename Operation::core_type;
  using waiter_type = coroutine_waiter<core_type, Handler>;

 public:
  ASIO_SYNC_INLINE awaitable_wait_of(Operation&& operation, Result result)
      : operation_(std::move(operation)), result_(result) {}

  // Whether there is nothing to wait for. Throws what the attempt throws.
  ASIO_SYNC_INLINE bool ready() noexcept(noexcept(operation_.try_in_coroutine())) {
    core_ = &operation_.core();
    verdict_ = immediate_budget::available() ? operation_.try_in_coroutine() : verdict();
    if (!was_ready()) return false;
    immediate_budget::use();
    return true;
  }

  bool was_ready() const noexcept { return verdict_.decided(); }
  verdict outcome() const noexcept { return verdict_; }

  ASIO_SYNC_INLINE auto result(verdict decided) const {
    return operation_.result(core_, decided, result_);
  }

  // Makes ready what can fail, while the coroutine can still catch it. What has been prepared is
  // launched.
  template <class Executor>
  void prepare(Executor const& own, asio::cancellation_slot slot) {
    if constexpr (Operation::has_common_part)
      waiter_ = prepare_apart<waiter_type>(operation_.common(), *core_, own, slot);
    else
      waiter_ = prepare_wait<waiter_type>(operation_, *core_, own, slot);
  }

  // Without a waiter the context is shutting down, or has gone: the handler, and the coroutine,
  // end here.
  void launch(Handler&& handler) noexcept {
    if (!waiter_) return static_cast<void>(Handler(std::move(handler)));
    waiter_->launch(std::move(handler));
  }

 private:
  Operation operation_;
  [[no_unique_address]] Result result_;
  verdict verdict_;
  core_type* core_;      // when the coroutine is resumed the primitive may be gone
  waiter_type* waiter_;  // once it is prepared
};

}  // namespace asio_sync::detail

#endif
