// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_TRACKED_HPP
#define ASIO_SYNC_DETAIL_OPERATION_TRACKED_HPP

// The completion token of an operation that a group counts, from the initiation to the handler.

#include <asio_sync/detail/context/group_core.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_sync::detail {

// What a group gives to those that it counts: its core, and its executor.
template <class Executor>
struct group_access {
  group_core* core;
  Executor const* executor;
  bool has_home;  // at first

  // Null once its context has gone, where that is known.
  Executor const* usable() const noexcept {
    return has_home && !core->home().get() ? nullptr : executor;
  }
};

// Where an operation is cancelled: on the executor of its handler;
template <class Executor>
class own_executor {
 public:
  explicit own_executor(Executor const& ex) : executor_(ex) {}

  void end() noexcept { executor_.reset(); }
  Executor const* get(void const*) const noexcept { return std::addressof(*executor_); }

 private:
  std::optional<Executor> executor_;
};

// else on that of the group, which is the group's own affair.
template <class Executor>
struct groups_executor {
  explicit groups_executor(Executor const&) noexcept {}

  static void end() noexcept {}
  static Executor const* get(void const* groups) noexcept {
    return static_cast<Executor const*>(groups);
  }
};

template <class Where>
class tracked_operation_on final : public tracked_operation {
 public:
  // Counts it. Throws value_too_large, what allocating it throws, and what copying the executor
  // does.
  template <class Executor>
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
    made.release_executor();
    throw_too_large("asio_sync::async_group::track: too much is counted");
  }

  void cancel(asio::cancellation_type type, void const* groups) override {
    if (auto const* const ex = where_.get(groups))
      asio::dispatch(*ex, [kept = cancellable_operation(*this), type] { kept->emit(type); });
  }

 private:
  template <class Executor>
  tracked_operation_on(group_core& core, Executor const& ex)
      : tracked_operation(core), where_(ex) {}
  ~tracked_operation_on() override = default;

  void end_executor() noexcept override { where_.end(); }

  void destroy() noexcept override {
    pool_allocator<tracked_operation_on> memory;
    this->~tracked_operation_on();
    memory.deallocate(this, 1);
  }

  [[no_unique_address]] Where where_;
};

// Has every operation of the group cancelled. `groups`: its executor, if its context lives. Throws
// the first of what that throws, after the last.
inline void cancel_operations(group_core& core, void const* groups, asio::cancellation_type type) {
  std::vector<cancellable_operation> operations;
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
  for (cancellable_operation const& operation : operations) try {
      if (!operation->remembers(type)) operation->cancel(type, groups);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  if (thrown) std::rethrow_exception(thrown);
}

// At the end of its initiation, which has done its work: what this throws is not for its caller.
inline void cancel_if_asked(cancellable_operation const& operation, void const* groups) noexcept {
  asio::cancellation_type const asked = operation->has_begun();
  if (asked == asio::cancellation_type::none) return;
  try {
    operation->cancel(asked, groups);
  } catch (...) {  // it goes on
  }
}

// In the slot of a handler, which cancels its operation, too. The operation may end meanwhile, and
// so may this.
class tracked_canceller {
 public:
  explicit tracked_canceller(tracked_operation& o) noexcept : operation_(o) {
    operation_.retain();
    operation_.slot_connected = true;
  }
  tracked_canceller(tracked_canceller const&) = delete;
  tracked_canceller& operator=(tracked_canceller const&) = delete;
  ~tracked_canceller() {
    operation_.slot_connected = false;
    operation_.release();
  }

  void operator()(asio::cancellation_type type) const {
    struct keeping {
      tracked_operation& operation;
      explicit keeping(tracked_operation& o) noexcept : operation(o) { o.retain(); }
      ~keeping() { operation.release(); }
    } const kept(operation_);
    kept.operation.emit(type);
  }

 private:
  tracked_operation& operation_;
};

// What the handler of a tracked operation stands in. The operation counts until the handler has
// returned, or was destroyed.
template <class Handler>
class tracked_handler {
 public:
  template <class Executor, class Source>
  tracked_handler(group_access<Executor> group, Source&& handler)
      : operation_(&begin(group, handler)),
        handler_(std::in_place, static_cast<Source&&>(handler)) {
    auto own = slot_of(*handler_);
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
    if (operation_) is_over(*operation_);
  }

  template <class... Args>
  void operator()(Args&&... args) {
    auto const ending = std::move(operation_);  // after the handler's end
    is_over(*ending);
    Handler handler(std::move(*handler_));
    handler_.reset();  // a move may have left something in it
    std::move(handler)(static_cast<Args&&>(args)...);
  }

  Handler const& handler() const noexcept { return *handler_; }
  tracked_operation& operation() const noexcept { return *operation_; }
  asio::cancellation_slot slot() const noexcept { return operation_->slot(); }

 private:
  struct end_of {
    void operator()(tracked_operation* o) const noexcept { o->end(); }
  };

  void is_over(tracked_operation& operation) const {
    operation.is_over();
    if (operation.slot_connected) slot_of(*handler_).clear();
  }

  // The executor of use_future executes on the system's threads, so it is none to cancel on.
  template <class Executor>
  static tracked_operation& begin(group_access<Executor> group, Handler const& handler) {
    using own = asio::associated_executor_t<Handler, Executor>;
    if constexpr (is_promise_executor<own> || !has_executor<Handler>)
      return tracked_operation_on<groups_executor<Executor>>::make(*group.core, *group.executor);
    else
      return tracked_operation_on<own_executor<own>>::make(
          *group.core, asio::get_associated_executor(handler, *group.executor));
  }

  std::unique_ptr<tracked_operation, end_of> operation_;
  std::optional<Handler> handler_;
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
    tracked_handler<std::decay_t<Handler>> tracked(group_, static_cast<Handler&&>(handler));
    initiation_of const begins(tracked.operation(), group_.usable());
    std::move(initiation_)(std::move(tracked), static_cast<Args&&>(args)...);
  }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    tracked_initiation copy = *this;
    std::move(copy)(static_cast<Handler&&>(handler), static_cast<Args&&>(args)...);
  }

 private:
  // While it lives, an operation is being initiated.
  class initiation_of {
   public:
    initiation_of(tracked_operation& o, Executor const* groups) : operation_(o) {
      if (groups) groups_ = *groups;
    }
    initiation_of(initiation_of const&) = delete;
    initiation_of& operator=(initiation_of const&) = delete;
    ~initiation_of() { cancel_if_asked(operation_, groups_ ? std::addressof(*groups_) : nullptr); }

   private:
    cancellable_operation operation_;
    std::optional<Executor> groups_;  // the group may end meanwhile
  };

  group_access<Executor> group_;
  Initiation initiation_;
};

// What track() returns.
template <class Executor, class Token>
struct tracked_token {
  group_access<Executor> group;
  Token token;
};

// The token in one that is given as Raw: moved from only if that is.
template <class Raw, class Token>
using token_of_value =
    std::conditional_t<std::is_const_v<std::remove_reference_t<Raw>>, Token const, Token>;
template <class Raw, class Token>
using token_as = std::conditional_t<std::is_lvalue_reference_v<Raw>, token_of_value<Raw, Token>&,
                                    token_of_value<Raw, Token>>;

// What some of Beast's initiating functions ask for, where the token has it.
template <class Result>
struct tracked_return_type {};
template <class Result>
  requires requires { typename Result::return_type; }
struct tracked_return_type<Result> {
  using return_type = typename Result::return_type;
};

}  // namespace asio_sync::detail

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

template <class Executor, class Token, class... Signatures>
class async_result<asio_sync::detail::tracked_token<Executor, Token>, Signatures...>
    : public asio_sync::detail::tracked_return_type<async_result<Token, Signatures...>> {
 public:
  template <class Initiation, class RawToken, class... Args>
  static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args)
      -> decltype(async_initiate<asio_sync::detail::token_as<RawToken, Token>, Signatures...>(
          std::declval<
              asio_sync::detail::tracked_initiation<Executor, std::decay_t<Initiation>>>(),
          token.token, static_cast<Args&&>(args)...)) {
    using initiation_type =
        asio_sync::detail::tracked_initiation<Executor, std::decay_t<Initiation>>;
    return async_initiate<asio_sync::detail::token_as<RawToken, Token>, Signatures...>(
        initiation_type(token.group, static_cast<Initiation&&>(initiation)), token.token,
        static_cast<Args&&>(args)...);
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
