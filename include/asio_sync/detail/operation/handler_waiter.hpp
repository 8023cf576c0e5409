// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_HANDLER_WAITER_HPP
#define ASIO_SYNC_DETAIL_OPERATION_HANDLER_WAITER_HPP

// The waiter of a handler, in one block of memory with the handler and the route. This is the code
// of a wait that the compiler instantiates anew for each type of handler.
//
// start_wait() calls make(); begin() and begin_immediately() take the waiter into the queue or to
// its executor. Everybody else knows it as a `waiter`, and calls it through `act`, see perform().
// doc/wait-states.md has the states of a wait: D is delivered, X is dropped.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/destination.hpp>
#include <asio_sync/detail/context/slot_link.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/executor.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/query.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// Stands for the cancellation slot of a handler that has none.
struct no_slot {};

// True if the type of a handler associates a cancellation slot.
template <class Handler>
inline constexpr bool has_slot =
    !std::is_same_v<asio::associated_cancellation_slot_t<Handler, no_slot>, no_slot>;

// Returns the slot of a handler. Without the explicit default, Asio up to Boost 1.81 does not find
// the slot of a handler in a std::reference_wrapper.
template <class Handler>
asio::cancellation_slot slot_of(Handler const& handler) noexcept {
  return asio::get_associated_cancellation_slot(handler, asio::cancellation_slot());
}

// True if the type of a handler associates an executor.
template <class Handler>
inline constexpr bool has_executor =
    !std::is_same_v<asio::associated_executor_t<Handler, no_executor>, no_executor>;

// True if a handler can run only while the primitive's executor lives: the handler has no executor
// of its own, or its completion reaches its executor only through the primitive's.
template <class Handler>
bool needs_executor([[maybe_unused]] Handler const& handler) {
  using own = asio::associated_executor_t<Handler, no_executor>;
  if constexpr (is_any_executor<own>)
    return is_reached_by_primitive(asio::get_associated_executor(handler, no_executor()));
  else
    return !has_executor<Handler> || needs_primitive<typename executing_base<own>::type>;
}

// Allocates blocks with a copy of a handler's allocator. The copy outlives the handler, so that
// the block can be freed after the handler has been moved out.
template <std::size_t Alignment, class Allocator>
class block_memory {
  struct alignas(Alignment) unit {
    std::byte bytes[Alignment];
  };
  using traits = typename std::allocator_traits<Allocator>::template rebind_traits<unit>;

 public:
  explicit block_memory(Allocator const& a) : allocator_(a) {}

  void* allocate(std::size_t bytes) {
    return std::to_address(traits::allocate(allocator_, units(bytes)));
  }
  void deallocate(void* memory, std::size_t bytes) noexcept {
    using pointer = typename traits::pointer;
    traits::deallocate(allocator_,
                       std::pointer_traits<pointer>::pointer_to(*static_cast<unit*>(memory)),
                       units(bytes));
  }

 private:
  static constexpr std::size_t units(std::size_t bytes) noexcept {
    return (bytes + Alignment - 1) / Alignment;
  }

  typename traits::allocator_type allocator_;
};

// Allocates blocks from the pool, for handlers whose allocator is std::allocator.
template <std::size_t Alignment, class T>
  requires(Alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)  //
class block_memory<Alignment, std::allocator<T>> {
 public:
  explicit block_memory(std::allocator<T> const&) noexcept {}
  static void* allocate(std::size_t bytes) { return pool::allocate(bytes); }
  static void deallocate(void* memory, std::size_t bytes) noexcept {
    pool::deallocate(memory, bytes);
  }
};

// Returns the offset of the route in a block: the route stands behind the waiter.
template <class Waiter>
constexpr std::size_t front_of_route() noexcept {
  return (sizeof(Waiter) + alignof(route) - 1) / alignof(route) * alignof(route);
}

// Destroys the waiter and its route, and returns the size of their block in bytes.
template <class Waiter>
std::size_t destroy_in_block(Waiter& w) noexcept {
  std::size_t size = front_of_route<Waiter>();
  if (w.way) {
    size += w.way->size;
    w.way->destroy(w);
  }
  std::destroy_at(&w);
  return size;
}

// The waiter of a handler. Delivery: the `delivery` of an operation, see operation.hpp.
template <class Delivery, class Handler>
class handler_waiter final : public Delivery::core_type::node {
  using core_type = typename Delivery::core_type;
  using node = typename core_type::node;
  using grant_type = typename Delivery::grant;
  using memory = block_memory<std::max(alignof(Handler), alignof(node)),
                              std::decay_t<asio::associated_allocator_t<Handler>>>;

 public:
  using asked_type = typename node::asked_type;

  // Creates a waiter, and the route to the destination `to` behind it, in memory of the handler's
  // allocator. Throws what allocating, and moving or copying the handler, throw.
  template <class Destination, class Source>
  static handler_waiter& make(core_type& core, asked_type asked, Destination const& to,
                              Source&& handler) {
    memory of(asio::get_associated_allocator(handler));
    struct allocation {
      memory& of;
      std::size_t size;
      void* place;
      ~allocation() {
        if (place) of.deallocate(place, size);
      }
    } block_of{of, front_of_route<handler_waiter>() + to.size(), nullptr};
    block_of.place = of.allocate(block_of.size);
    auto* const self = ::new (block_of.place)
        handler_waiter(core, static_cast<asked_type&&>(asked), static_cast<Source&&>(handler));
    to.build(*self, static_cast<std::byte*>(block_of.place) + front_of_route<handler_waiter>());
    block_of.place = nullptr;
    return *self;
  }

  asio::cancellation_slot slot() const {
    if constexpr (has_slot<Handler>) return slot_of(handler_);
    return {};
  }

  Handler& handler() noexcept { return handler_; }

 private:
  template <class Source>
  handler_waiter(core_type& c, asked_type&& asked, Source&& handler)
      : node(&perform, &c, static_cast<asked_type&&>(asked)),
        handler_(static_cast<Source&&>(handler)) {}

  // Does what a waiter_action asks for; `act` points here.
  static void perform(waiter& w, waiter_action action) {
    auto& self = static_cast<handler_waiter&>(w);
    if constexpr (has_slot<Handler>) {
      if (action == waiter_action::connect)
        return connect(self, self.link_, slot_of(self.handler_));
      if (action == waiter_action::disconnect) return self.link_.leave(self);
    }
    if (action == waiter_action::complete) return self.complete();
    self.destroy();
  }

  // Completes the wait (state D, delivered): runs on the handler's executor, once. If ends() is
  // false, the wait has queued again, and the waiter may be gone.
  void complete() {
    auto& to = static_cast<core_type&>(*this->core);
    if (!to.ends(*this)) return;
    tracked_completion tracking(*this);
    if constexpr (has_slot<Handler>)
      if (this->has_slot_state()) leave_slot(to);
    verdict const decided = this->decided();
    bool const at_home = this->work == wait_work::home;
    Handler taken = take(true);
    call(taken, to, to.arrive(decided, at_home), tracking);
  }

  // Calls the handler. Unless the outcome is granted, the core may be gone. The handler outlives
  // the grant, because the handler may own the primitive.
  static void call(Handler& taken, [[maybe_unused]] core_type& to, verdict decided,
                   tracked_completion& tracking) {
    bool const granted = decided.granted();
    error_code const error = granted ? error_code() : error_of(decided);
    tracking.begin(error);
    if constexpr (std::is_void_v<grant_type>) {
      static_cast<Handler&&>(taken)(error);
    } else {
      static_cast<Handler&&>(taken)(error, granted ? Delivery::make(to, decided) : grant_type());
    }
    tracking.end();
  }

  // Takes leave of the canceller, so that no cancellation counts from now on. If the slot has
  // cancelled the wait before, the core takes its grant back.
  void leave_slot(core_type& to) {
    if (this->is_connected()) link_.leave(*this);
    if (this->is_withdrawn()) to.withdraw(*this);
  }

  // Destroys the waiter and its handler without a call (state X, dropped). take() frees the block
  // before the handler is destroyed, because the handler may own what its allocator refers to. If
  // the handler's move throws, the handler is destroyed first.
  ASIO_SYNC_COLD void destroy() noexcept {
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
      static_cast<void>(take(false));
    } else {
      try {
        static_cast<void>(take(false));
      } catch (...) {  // it was destroyed in its place
      }
    }
  }

  // Moves the handler out and frees the block, even if the move throws. `arrives`: the wait is
  // being completed; if the move throws then, the grant of the wait is passed on.
  Handler take(bool arrives) {
    struct ending {
      handler_waiter& self;
      memory of{asio::get_associated_allocator(self.handler_)};  // one moved from may have none
      ~ending() {
        std::size_t const size = destroy_in_block(self);
        of.deallocate(&self, size);
      }
    } at_exit{*this};
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
      static_cast<void>(arrives);
      return Handler(static_cast<Handler&&>(handler_));
    } else {
      try {
        return Handler(static_cast<Handler&&>(handler_));
      } catch (...) {
        if (arrives) this->core->pass_on(*this);
        throw;
      }
    }
  }

  [[no_unique_address]] std::conditional_t<has_slot<Handler>, slot_link, no_slot> link_;
  Handler handler_;
};

}  // namespace asio_sync::detail

#endif
