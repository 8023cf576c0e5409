// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_TRACKED_HPP
#define ASIO_SYNC_DETAIL_OPERATION_TRACKED_HPP

// The completion token of an operation that a group counts, from the initiation to the handler.

#include <asio_sync/detail/context/group_core.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/system/errc.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_sync::detail {

// What a group gives to those that it counts: its core, and its executor.
template <class Executor>
struct group_access {
  group_core* core;
  Executor const* executor;
};

template <class Executor>
class tracked_operation_on final : public tracked_operation {
 public:
  // Counts it. Throws value_too_large, what allocating it throws, and what copying the executor
  // does.
  static tracked_operation_on& make(group_core& core, Executor const& ex) {
    struct allocation {
      pool_allocator<tracked_operation_on> memory{};
      tracked_operation_on* place = memory.allocate(1);
      ~allocation() {
        if (place) memory.deallocate(place, 1);
      }
    } of;
    auto& made = *::new (static_cast<void*>(of.place)) tracked_operation_on(core, ex);
    of.place = nullptr;
    if (made.begin()) return made;
    made.destroy();
    throw_error(boost::system::errc::value_too_large);
  }

  void cancel(asio::cancellation_type type) override {
    asio::dispatch(executor_, [kept = tracked_reference(*this), type] { kept->emit(type); });
  }

 private:
  tracked_operation_on(group_core& core, Executor const& ex)
      : tracked_operation(core), executor_(ex) {}
  ~tracked_operation_on() override = default;

  void destroy() noexcept override {
    pool_allocator<tracked_operation_on> memory;
    std::destroy_at(this);
    memory.deallocate(this, 1);
  }

  friend void std::destroy_at<tracked_operation_on>(tracked_operation_on*);

  Executor executor_;
};

// Has every operation of the group cancelled. Throws the first of what that throws, after the
// last.
inline void cancel_operations(group_core& core, asio::cancellation_type type) {
  std::vector<tracked_reference> operations;
  std::size_t n = 0;
  do {
    operations.clear();
    operations.reserve(n);
    n = 0;
    core.visit([&](tracked_operation& o) {
      if (++n <= operations.capacity()) operations.emplace_back(o);
    });
  } while (n > operations.capacity());
  std::exception_ptr thrown;
  for (tracked_reference const& operation : operations) try {
      operation->cancel(type);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  if (thrown) std::rethrow_exception(thrown);
}

// In the slot of a handler, which cancels its operation, too.
class tracked_canceller {
 public:
  explicit tracked_canceller(tracked_operation& o) noexcept : operation_(o) {
    operation_->slot_connected = true;
  }
  tracked_canceller(tracked_canceller const&) = delete;
  tracked_canceller& operator=(tracked_canceller const&) = delete;
  ~tracked_canceller() { operation_->slot_connected = false; }

  void operator()(asio::cancellation_type type) const { operation_->emit(type); }

 private:
  tracked_reference operation_;
};

// What the handler of a tracked operation stands in. The operation counts until the handler has
// returned, or was destroyed.
template <class Handler>
class tracked_handler {
 public:
  template <class Executor, class Source>
  tracked_handler(group_access<Executor> group, Source&& handler)
      : operation_(&begin(group, handler)), handler_(static_cast<Source&&>(handler)) {
    auto own = asio::get_associated_cancellation_slot(handler_);
    if (own.is_connected()) own.template emplace<tracked_canceller>(*operation_);
  }

  // Where the handler's move throws, the other one has lost nothing.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as the handler's
  tracked_handler(tracked_handler&& other) noexcept(std::is_nothrow_move_constructible_v<Handler>)
      : handler_(std::move(other.handler_)) {
    operation_ = std::move(other.operation_);
  }
  tracked_handler& operator=(tracked_handler&&) = delete;

  ~tracked_handler() {
    if (operation_) operation_->is_over();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    auto const ending = std::move(operation_);  // after the handler's end
    ending->is_over();
    if (ending->slot_connected) asio::get_associated_cancellation_slot(handler_).clear();
    Handler handler(std::move(handler_));
    std::move(handler)(static_cast<Args&&>(args)...);
  }

  Handler const& handler() const noexcept { return handler_; }
  asio::cancellation_slot slot() const noexcept { return operation_->slot(); }

 private:
  struct end_of {
    void operator()(tracked_operation* o) const noexcept { o->end(); }
  };

  // On its executor the operation is cancelled: the handler's, else the group's. That of
  // use_future is none to do so, as it executes on the system's threads.
  template <class Executor>
  static tracked_operation& begin(group_access<Executor> group, Handler const& handler) {
    using own = asio::associated_executor_t<Handler, Executor>;
    if constexpr (is_promise_executor<own>)
      return tracked_operation_on<Executor>::make(*group.core, *group.executor);
    else
      return tracked_operation_on<own>::make(
          *group.core, asio::get_associated_executor(handler, *group.executor));
  }

  std::unique_ptr<tracked_operation, end_of> operation_;
  Handler handler_;
};

// Of an initiation that has an executor: that. Operations ask for it.
template <class Initiation>
class initiation_executor {};

template <class Initiation>
  requires requires { typename Initiation::executor_type; }
class initiation_executor<Initiation> {
 public:
  using executor_type = typename Initiation::executor_type;
};

// The initiation of a tracked operation: what async_initiate is given.
template <class Executor, class Initiation>
class tracked_initiation : public initiation_executor<Initiation> {
 public:
  template <class Source>
  tracked_initiation(group_access<Executor> group, Source&& initiation)
      : group_(group), initiation_(static_cast<Source&&>(initiation)) {}

  auto get_executor() const noexcept requires requires(Initiation const& i) { i.get_executor(); }
  { return initiation_.get_executor(); }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) && {
    std::move(initiation_)(tracked(static_cast<Handler&&>(handler)), static_cast<Args&&>(args)...);
  }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    Initiation copy = initiation_;
    std::move(copy)(tracked(static_cast<Handler&&>(handler)), static_cast<Args&&>(args)...);
  }

 private:
  template <class Handler>
  auto tracked(Handler&& handler) const {
    return tracked_handler<std::decay_t<Handler>>(group_, static_cast<Handler&&>(handler));
  }

  group_access<Executor> group_;
  Initiation initiation_;
};

// What track() returns.
template <class Executor, class Token>
struct tracked_token {
  group_access<Executor> group;
  Token token;
};

}  // namespace asio_sync::detail

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

template <class Executor, class Token, class... Signatures>
class async_result<asio_sync::detail::tracked_token<Executor, Token>, Signatures...> {
 public:
  template <class Initiation, class RawToken, class... Args>
  static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args) {
    using initiation_type =
        asio_sync::detail::tracked_initiation<Executor, std::decay_t<Initiation>>;
    return async_initiate<
        std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, Token const, Token>,
        Signatures...>(initiation_type(token.group, static_cast<Initiation&&>(initiation)),
                       token.token, static_cast<Args&&>(args)...);
  }
};

template <template <class, class> class Associator, class Handler, class DefaultCandidate>
struct associator<Associator, asio_sync::detail::tracked_handler<Handler>, DefaultCandidate>
    : Associator<Handler, DefaultCandidate> {
  static auto get(asio_sync::detail::tracked_handler<Handler> const& h) noexcept {
    return Associator<Handler, DefaultCandidate>::get(h.handler());
  }
  static auto get(asio_sync::detail::tracked_handler<Handler> const& h,
                  DefaultCandidate const& c) noexcept {
    return Associator<Handler, DefaultCandidate>::get(h.handler(), c);
  }
};

template <class Handler, class Slot>
struct associated_cancellation_slot<asio_sync::detail::tracked_handler<Handler>, Slot> {
  using type = cancellation_slot;
  static type get(asio_sync::detail::tracked_handler<Handler> const& h) noexcept {
    return h.slot();
  }
  static type get(asio_sync::detail::tracked_handler<Handler> const& h, Slot const&) noexcept {
    return h.slot();
  }
};

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
