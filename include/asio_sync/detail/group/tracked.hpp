// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_GROUP_TRACKED_HPP
#define ASIO_SYNC_DETAIL_GROUP_TRACKED_HPP

// The completion token of an operation that a group counts, from the initiation to the handler.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/group/group_core.hpp>
#include <asio_sync/detail/group/tracked_place.hpp>
#include <asio_sync/detail/operation/handler_waiter.hpp>
#include <asio_sync/detail/operation/inner_handler.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/executor.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// In the slot of a handler, which cancels its operation, too, on any thread. It stays there after
// the end of the operation, keeps only the memory of that then, and does nothing.
class tracked_canceller {
 public:
  explicit tracked_canceller(tracked_operation& o) noexcept : operation_(o) {}

  // The operation may end meanwhile, and so may this.
  void operator()(asio::cancellation_type type) const {
    cancellable_operation kept(*operation_);
    if (!kept || kept->remembers(type)) return;
    cancellation{std::move(kept), type}();
  }

 private:
  kept_operation operation_;
};

// What the handler of a tracked operation stands in. The operation counts until the handler has
// returned, or was destroyed. IsOffered: it takes note of the first executor that its operation
// offers.
template <class Handler, bool IsOffered = false>
class tracked_handler {
 public:
  template <class Source>
  tracked_handler(tracked_operation& begun, Source&& handler)
      : operation_(&begun), handler_(std::in_place, static_cast<Source&&>(handler)) {
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
    if (operation_) operation_->is_over();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    auto const ending = std::move(operation_);  // after the handler's end
    ending->is_over();
    Handler handler(take());
    std::move(handler)(static_cast<Args&&>(args)...);
  }

  Handler const& inner() const noexcept { return *handler_; }
  tracked_operation& operation() const noexcept { return *operation_; }
  asio::cancellation_slot slot() const noexcept { return operation_->slot(); }

  template <class Candidate>
  void offer(Candidate const& ex) const noexcept {
    static_cast<tracked_operation_at<offered_place>&>(*operation_).place().offer(ex);
  }

 private:
  // What a move has left of it, or one that throws, goes at once.
  Handler take() {
    struct rest {
      std::optional<Handler>& handler;
      ~rest() { handler.reset(); }
    } const at_exit{handler_};
    return Handler(std::move(*handler_));
  }

  struct end_of {
    void operator()(tracked_operation* o) const noexcept { o->finish(); }
  };

  std::unique_ptr<tracked_operation, end_of> operation_;
  std::optional<Handler> handler_;
};

template <class Handler, bool IsOffered>
inline constexpr bool is_associated_as_inner<tracked_handler<Handler, IsOffered>> = true;

// The executor on which an initiation begins its operation; no_executor if it does not say, or
// says that of the system.
template <class Initiation>
struct executor_of_initiation {
  using type = no_executor;
};
template <class Initiation>
  requires requires(Initiation const& i) { i.get_executor(); }
struct executor_of_initiation<Initiation> {
  using said = std::decay_t<decltype(std::declval<Initiation const&>().get_executor())>;
  static constexpr bool is_one =
      asio::execution::is_executor<said>::value || asio::is_executor<said>::value;
  using type = std::conditional_t<is_one && !is_system_executor<said>, said, no_executor>;
};

// Returns whether an initiation still has the executor that it says.
template <class Initiation>
bool has_executor_now([[maybe_unused]] Initiation const& initiation) noexcept {
  if constexpr (initiation_may_lose_executor<Initiation>)
    return initiation.has_executor();
  else
    return true;
}

// Sources of executors, which know no handler.
template <class Initiation>
struct from_initiation {
  Initiation const& initiation;
  decltype(auto) operator()() const { return initiation.get_executor(); }
};
template <class Executor>
struct from_handler {
  Executor const& executor;
  Executor const& operator()() const noexcept { return executor; }
};

// Where an operation is to be cancelled: a coroutine where it was spawned; any other on the
// executor of its handler, else on that of its initiation, else on the first that it offers. The
// executor of use_future executes on the system's threads, so it is none to cancel on.
template <class Initiation, class Handler>
class tracked_beginning {
  using own = asio::associated_executor_t<Handler, no_executor>;
  using place = typename executor_of_initiation<Initiation>::type;

  static constexpr bool says = !std::is_same_v<place, no_executor>;
  static constexpr bool spawns = says && starts_coroutine<Initiation>;
  static constexpr bool brings =
      has_executor<Handler> && !is_promise_executor<own> && !is_system_executor<own>;

 public:
  static constexpr bool is_offered = !says && !brings;

  // Whether the operation has an executor of its own, whatever its type holds.
  static constexpr bool always_has_place =
      brings && !spawns ? !is_erased<own>
                        : says && !is_erased<place> && !initiation_may_lose_executor<Initiation>;

  template <class Access>
  static tracked_operation& begin(Access const& group, Initiation const& initiation,
                                  Handler const& handler) {
    group_core& core = *group.core;
    context_watch const& home = *group.home;
    if constexpr (brings && !spawns) {
      using at = tracked_operation_at<own_place<own, false>>;
      if constexpr (says && answers_with_candidate<own>)
        if (has_executor_now(initiation))
          return at::make(core, home,
                          from_handler<own>{
                              asio::get_associated_executor(handler, initiation.get_executor())});
      return at::make(
          core, home,
          from_handler<own>{asio::get_associated_executor(handler, asio::system_executor())});
    } else {
      if constexpr (says)
        if (has_executor_now(initiation))
          return tracked_operation_at<own_place<place, spawns>>::make(
              core, home, from_initiation<Initiation>{initiation});
      return tracked_operation_at<offered_place>::make(core, home);
    }
  }
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
  static constexpr bool executor_may_end = initiation_may_lose_executor<Initiation>;
  bool has_executor() const noexcept { return has_executor_now(initiation_); }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) && {
    using handler_type = std::decay_t<Handler>;
    using beginning = tracked_beginning<Initiation, handler_type>;
    tracked_handler<handler_type, beginning::is_offered> tracked(
        beginning::begin(group_, initiation_, handler), static_cast<Handler&&>(handler));
    using groups =
        std::conditional_t<beginning::always_has_place, no_place, optional_groups_place<Executor>>;
    initiation_of<groups> const begins(tracked.operation(), group_);
    std::move(initiation_)(std::move(tracked), static_cast<Args&&>(args)...);
  }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    tracked_initiation copy = *this;
    std::move(copy)(static_cast<Handler&&>(handler), static_cast<Args&&>(args)...);
  }

 private:
  // While it lives, an operation is being initiated. At the end, when the group may be gone, the
  // operation is cancelled, if that was asked for meanwhile.
  template <class GroupsPlace>
  class initiation_of {
   public:
    initiation_of(tracked_operation& o, group_access<Executor> const& group)
        : operation_(cancellable_operation::kept_by_handler(o)), groups_(group, o) {}
    initiation_of(initiation_of const&) = delete;
    initiation_of& operator=(initiation_of const&) = delete;
    ~initiation_of() {
      asio::cancellation_type const asked = operation_->has_begun();
      if (asked != asio::cancellation_type::none) cancel(asked);
    }

   private:
    // What this throws is not for the caller of the initiation, which has done its work.
    ASIO_SYNC_COLD void cancel(asio::cancellation_type type) noexcept {
      try {
        if (operation_->has_place())
          operation_->cancel(type);
        else
          groups_.run({operation_, type});
      } catch (...) {  // it goes on
      }
    }

    cancellable_operation operation_;
    [[no_unique_address]] GroupsPlace groups_;
  };

  group_access<Executor> group_;
  Initiation initiation_;
};

template <class Executor, class Initiation>
inline constexpr bool starts_coroutine<tracked_initiation<Executor, Initiation>> =
    starts_coroutine<Initiation>;

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

template <class Handler, class Candidate>
struct associated_executor<asio_sync::detail::tracked_handler<Handler, true>, Candidate> {
  using handler_type = asio_sync::detail::tracked_handler<Handler, true>;
  using type = associated_executor_t<Handler, Candidate>;
  static decltype(auto) get(handler_type const& h) noexcept {
    return associated_executor<Handler, Candidate>::get(h.inner());
  }
  static decltype(auto) get(handler_type const& h, Candidate const& c) noexcept {
    h.offer(c);
    return associated_executor<Handler, Candidate>::get(h.inner(), c);
  }
};

template <class Handler, bool IsOffered, class Slot>
struct associated_cancellation_slot<asio_sync::detail::tracked_handler<Handler, IsOffered>, Slot> {
  using handler_type = asio_sync::detail::tracked_handler<Handler, IsOffered>;
  using type = cancellation_slot;
  static type get(handler_type const& h) noexcept { return h.slot(); }
  static type get(handler_type const& h, Slot const&) noexcept { return h.slot(); }
};

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
