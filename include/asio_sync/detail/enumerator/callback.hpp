// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_ENUMERATOR_CALLBACK_HPP
#define ASIO_SYNC_DETAIL_ENUMERATOR_CALLBACK_HPP

// The completion token of an operation that an enumerator's steps begin, and its handler.

#include <asio_sync/detail/context/context_watch.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/enumerator/enumerator_run.hpp>
#include <asio_sync/detail/operation/post_keeper.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace asio_sync::detail {

// The first of the arguments that an operation completes with, so many as there are results;
// nothing where there are fewer.
template <class Results, class Signature>
struct kept_arguments;
template <class... Results, class R, class... Args>
struct kept_arguments<std::tuple<Results...>, R(Args...)> {
  static constexpr bool are_enough = sizeof...(Results) <= sizeof...(Args);

  template <class Indices>
  struct at;
  template <std::size_t... I>
  struct at<std::index_sequence<I...>> {
    using type = std::tuple<std::decay_t<std::tuple_element_t<I, std::tuple<Args...>>>...>;
  };
  struct none {
    using type = std::monostate;
  };
  using type =
      typename std::conditional_t<are_enough, at<std::index_sequence_for<Results...>>, none>::type;
};
template <class Results, class R, class... Args>
struct kept_arguments<Results, R(Args...) noexcept> : kept_arguments<Results, R(Args...)> {};
template <class Results, class R, class... Args>
struct kept_arguments<Results, R(Args...)&> : kept_arguments<Results, R(Args...)> {};
template <class Results, class R, class... Args>
struct kept_arguments<Results, R(Args...) &&> : kept_arguments<Results, R(Args...)> {};

// How well arguments fit what is kept of a signature.
enum class fit : unsigned char { none, narrows, converts, same };

template <class Kept, class... Args>
inline constexpr fit fit_of = fit::none;
template <class... Kept, class... Args>
  requires(sizeof...(Kept) == sizeof...(Args) && (std::is_constructible_v<Kept, Args> && ...))
inline constexpr fit fit_of<std::tuple<Kept...>, Args...> =
    (std::is_same_v<Kept, std::decay_t<Args>> && ...)                          ? fit::same
    : (requires(Args && ... args) { (Kept{static_cast<Args&&>(args)}, ...); }) ? fit::converts
                                                                               : fit::narrows;

// Cancels an operation.
class callback_signal {
 public:
  asio::cancellation_slot slot() noexcept { return signal_.slot(); }
  void emit() { signal_.emit(asio::cancellation_type::terminal); }

 private:
  asio::cancellation_signal signal_;
};

// Cancels a coroutine, unless the context of its executor has ended. Outlives the operation until
// the executor has run what the coroutine has posted.
template <class Executor>
class coroutine_signal {
 public:
  explicit coroutine_signal(Executor const& ex)
      : shared_(std::allocate_shared<shared>(pool_allocator<shared>(), ex)) {}

  asio::cancellation_slot slot() noexcept { return shared_->signal.slot(); }

  void emit() {
    if (shared_->watch.has_ended()) return;
    shared_->signal.emit(asio::cancellation_type::terminal);
    post_keeper(shared_->executor, shared_);
  }

 private:
  struct shared {
    explicit shared(Executor const& ex) : executor(ex), watch(ex) {}

    Executor executor;
    context_watch watch;
    asio::cancellation_signal signal;
  };

  std::shared_ptr<shared> shared_;
};

// The operation with its results, and with what it has completed with until that is delivered: the
// steps, to which the results may belong, may be running, or have ended.
template <class Executor, class Results, class Signal, class... Signatures>
class callback_operation;

template <class Executor, class... Results, class Signal, class... Signatures>
class callback_operation<Executor, std::tuple<Results&...>, Signal, Signatures...> final
    : public steps_operation {
  using results = std::tuple<Results&...>;
  template <class Signature>
  using arguments = kept_arguments<results, Signature>;
  static_assert(sizeof...(Signatures) > 1 || (arguments<Signatures>::are_enough && ...),
                "an operation completes with fewer arguments than callback() has results");

 public:
  // Source: what the signal is made of.
  template <class... Source>
  ASIO_SYNC_NOINLINE static callback_operation& make(Executor const& ex, results const& r,
                                                     Source const&... source) {
    struct allocation {
      pool_allocator<callback_operation> memory{};
      callback_operation* place = memory.allocate(1);
      ~allocation() {
        if (place) memory.deallocate(place, 1);
      }
    } of;
    auto& made = *::new (static_cast<void*>(of.place)) callback_operation(ex, r, source...);
    of.place = nullptr;
    return made;
  }

  Executor const& executor() const noexcept { return executor_; }
  asio::cancellation_slot slot() noexcept { return signal_.slot(); }

  void cancel() noexcept override {
    try {
      signal_.emit();
    } catch (...) {
    }
  }

  // Keeps as many arguments as there are results, if there are.
  template <class... Args>
  void keep(Args&&... args) noexcept {
    if constexpr (sizeof...(Results) <= sizeof...(Args)) {
      try {
        keep_first(std::index_sequence_for<Results...>(),
                   std::forward_as_tuple(static_cast<Args&&>(args)...));
      } catch (...) {
        failure_ = std::current_exception();
      }
    }
  }

  void deliver() override {
    if (failure_) std::rethrow_exception(failure_);
    std::visit([this](auto& kept) { this->assign(std::index_sequence_for<Results...>(), kept); },
               kept_);
  }

 private:
  template <class... Source>
  callback_operation(Executor const& ex, results const& r, Source const&... source)
      : executor_(ex), results_(r), signal_(source...) {}
  ~callback_operation() override = default;

  void destroy() noexcept override {
    pool_allocator<callback_operation> memory;
    this->~callback_operation();
    memory.deallocate(this, 1);
  }

  // That of the signatures which the arguments fit best, the first of equals.
  template <class... Args>
  static constexpr std::size_t fitting() {
    constexpr fit fits[] = {fit_of<typename arguments<Signatures>::type, Args...>...};
    return static_cast<std::size_t>(std::max_element(std::begin(fits), std::end(fits)) - fits);
  }

  template <std::size_t... I, class Arguments>
  void keep_first(std::index_sequence<I...>, Arguments&& all) {
    constexpr std::size_t to = 1 + fitting<std::tuple_element_t<I, std::decay_t<Arguments>>...>();
    kept_.template emplace<to>(std::get<I>(static_cast<Arguments&&>(all))...);
  }

  // Of several signatures, one that does not fit the results is dropped.
  template <std::size_t... I, class Kept>
  void assign(std::index_sequence<I...>, Kept& kept) {
    if constexpr (!std::is_same_v<Kept, std::monostate>) {
      constexpr bool fits = (std::is_assignable_v<Results&, std::tuple_element_t<I, Kept>> && ...);
      static_assert(fits || sizeof...(Signatures) > 1,
                    "what an operation completes with cannot be assigned to callback()'s results");
      if constexpr (fits)
        (static_cast<void>(std::get<I>(results_) = std::get<I>(static_cast<Kept&&>(kept))), ...);
    }
  }

  Executor executor_;
  results results_;
  Signal signal_;
  std::variant<std::monostate, typename arguments<Signatures>::type...> kept_;
  std::exception_ptr failure_;
};

// What the operation calls when it has completed.
template <class Operation, class Executor>
class callback_handler {
 public:
  using executor_type = Executor;
  using allocator_type = pool_allocator<std::byte>;
  using cancellation_slot_type = asio::cancellation_slot;

  explicit callback_handler(Operation& o) noexcept : operation_(&o) {}

  executor_type get_executor() const noexcept { return operation_->executor(); }
  allocator_type get_allocator() const noexcept { return {}; }
  cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->slot(); }

  template <class... Args>
  void operator()(Args&&... args) {
    Operation& done = *operation_;
    auto const run = done.run;
    if (!run) return;
    static_cast<void>(operation_.release());
    done.keep(static_cast<Args&&>(args)...);
    run->arrive(done);
  }

 private:
  struct lost {
    void operator()(Operation* o) const noexcept {
      if (auto const& run = o->run) run->drop(*o);
      o->release();
    }
  };

  std::unique_ptr<Operation, lost> operation_;
};

// What callback() returns. It refers to the enumerator's parts.
template <class Executor, class... Results>
struct callback_token {
  Executor const* executor;
  enumerator_core const* core;
  std::tuple<Results&...> results;
};

// Tells the run that the initiating function of an operation is over.
class callback_beginning {
 public:
  explicit callback_beginning(steps_operation& o) noexcept : operation_(o) { o.retain(); }
  callback_beginning(callback_beginning const&) = delete;
  callback_beginning& operator=(callback_beginning const&) = delete;
  ~callback_beginning() {
    if (auto const& run = operation_.run) run->begun(operation_, thrown_);
    operation_.release();
  }

  void has_not_thrown() noexcept { thrown_ = false; }

 private:
  steps_operation& operation_;
  bool thrown_ = true;
};

}  // namespace asio_sync::detail

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

template <class Executor, class... Results, class... Signatures>
class async_result<asio_sync::detail::callback_token<Executor, Results...>, Signatures...> {
 public:
  using return_type = void;  // some of Beast's initiating functions ask for it

  template <class Initiation, class Token, class... Args>
  static void initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    if constexpr (asio_sync::detail::starts_coroutine<std::decay_t<Initiation>>) {
      auto const ex = initiation.get_executor();
      using signal = asio_sync::detail::coroutine_signal<std::remove_const_t<decltype(ex)>>;
      begin(operation<signal>::make(*token.executor, token.results, ex), token,
            static_cast<Initiation&&>(initiation), static_cast<Args&&>(args)...);
    } else {
      using signal = asio_sync::detail::callback_signal;
      begin(operation<signal>::make(*token.executor, token.results), token,
            static_cast<Initiation&&>(initiation), static_cast<Args&&>(args)...);
    }
  }

 private:
  template <class Signal>
  using operation = asio_sync::detail::callback_operation<Executor, std::tuple<Results&...>,
                                                          Signal, Signatures...>;

  template <class Operation, class Token, class Initiation, class... Args>
  static void begin(Operation& o, Token const& token, Initiation&& initiation, Args&&... args) {
    if (auto run = token.core->current(); run && run->begin(o)) o.run = std::move(run);
    asio_sync::detail::callback_beginning beginning(o);
    static_cast<Initiation&&>(initiation)(
        asio_sync::detail::callback_handler<Operation, Executor>(o), static_cast<Args&&>(args)...);
    beginning.has_not_thrown();
  }
};

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
