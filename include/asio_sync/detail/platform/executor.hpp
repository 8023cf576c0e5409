// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_EXECUTOR_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_EXECUTOR_HPP

// Which executors the library knows, and what an executor is under the types that hide it.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/is_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

using io_executor = asio::io_context::executor_type;
using pool_executor = asio::thread_pool::executor_type;

template <class Executor>
using tracked_executor = std::decay_t<
    typename asio::prefer_result<Executor, asio::execution::outstanding_work_t::tracked_t>::type>;

// The executors of an io_context or a thread_pool, whatever properties they have been given.
template <class Executor>
inline constexpr bool is_context_executor = false;
template <class Allocator, std::uintptr_t Bits>
inline constexpr bool is_context_executor<asio::io_context::basic_executor_type<Allocator, Bits>> =
    true;
template <class Allocator, unsigned Bits>
inline constexpr bool
    is_context_executor<asio::thread_pool::basic_executor_type<Allocator, Bits>> = true;

// The executors of the system's own threads, where nothing is kept apart from anything else.
template <class Executor>
inline constexpr bool is_system_executor = false;
template <class Blocking, class Relationship, class Allocator>
inline constexpr bool
    is_system_executor<asio::basic_system_executor<Blocking, Relationship, Allocator>> = true;

// The same of what an executor holds under its type, if it is erased.
template <class Executor>
concept is_erased = requires(Executor const& ex) {
  ex.template target<asio::system_executor>();
};
template <class Executor>
bool holds_system_executor(Executor const& ex) noexcept {
  if constexpr (is_erased<Executor>)
    return ex.template target<asio::system_executor>() != nullptr;
  else
    return is_system_executor<Executor>;
}

// The strands that a hand-off reaches without memory and without a throw.
template <class Executor>
inline constexpr bool is_context_strand = std::is_same_v<Executor, asio::strand<io_executor>> ||
                                          std::is_same_v<Executor, asio::strand<pool_executor>>;

template <class Executor>
inline constexpr bool is_erased_strand = false;
template <class Inner>
inline constexpr bool is_erased_strand<asio::strand<Inner>> = requires(Inner const& inner) {
  inner.template target<io_executor>();
};

// The class that an executor has its execute() from.
struct probe_function {
  void operator()() {}
};
template <class Class, class Function>
Class class_of_member(Function Class::*);

template <class Executor>
struct execute_owner {
  using type = Executor;
};
template <class Executor>
  requires requires { class_of_member(&Executor::template execute<probe_function>); }
struct execute_owner<Executor> {
  using type = decltype(class_of_member(&Executor::template execute<probe_function>));
};

// any_io_executor and its kind, and what is derived from them without an execute() of its own.
template <class Executor>
inline constexpr bool is_any_executor =
    std::is_same_v<typename execute_owner<Executor>::type,
                   typename execute_owner<asio::any_io_executor>::type>;

// An executor that is derived from a known one (to have a default token of its own, say) is as
// good as that one, unless it has an execute() or a require() of its own.
template <class Executor, class Base>
consteval bool executes_as() {
  if constexpr (!std::derived_from<Executor, Base>)
    return false;
  else
    return std::is_same_v<
        decltype(asio::require(std::declval<Executor const&>(), asio::execution::blocking.never)),
        decltype(asio::require(std::declval<Base const&>(), asio::execution::blocking.never))>;
}

template <class Executor, class Owner = typename execute_owner<Executor>::type>
struct executing_base {
  using type = Executor;
};
template <class Executor, class Owner>
  requires((is_context_executor<Owner> || is_context_strand<Owner>)&&  //
           executes_as<Executor, Owner>())
struct executing_base<Executor, Owner> {
  using type = Owner;
};

template <class Executor>
concept has_execution_context = requires(Executor const& ex) {
  { asio::query(ex, asio::execution::context) } -> std::convertible_to<asio::execution_context&>;
};

// Whether a completion can be posted to the executor itself. A future's own cannot: posting to it
// would start the system's thread pool.
template <class Executor>
inline constexpr bool is_postable =
    asio::can_require<Executor, asio::execution::blocking_t::never_t>::value&&
        has_execution_context<Executor> &&
    !is_promise_executor<Executor>;

// Executors of the networking TS, which lack what a primitive needs. Their member is asked for
// first: is_executor derives from the type, and would ask about a primitive while that is copied.
template <class Executor>
concept counts_its_work = requires(Executor const& ex) {
  ex.on_work_started();
};
template <class Executor>
concept ts_executor = counts_its_work<Executor> && asio::is_executor<Executor>::value &&
    !asio::execution::is_executor<Executor>::value;

template <class Executor>
constexpr void refuse_ts_executor() {
  static_assert(
      asio::execution::is_executor<Executor>::value && is_postable<Executor>,
      "a primitive needs a standard executor with blocking.never and a context; those of "
      "the networking TS, such as io_context::strand, are not supported");
}

// Stands where a constructor that is given one would need an executor.
template <class TsExecutor, class Executor>
Executor const& instead_of() {
  refuse_ts_executor<TsExecutor>();
  return instead_of<TsExecutor, Executor>();
}

// Whether the type of an executor says that its context is an io_context or a thread_pool.
template <class Executor, class Context>
concept has_context = requires(Executor const& ex) {
  { asio::query(ex, asio::execution::context) } -> std::convertible_to<Context&>;
};
template <class Executor>
concept has_known_context =
    has_context<Executor, asio::io_context> || has_context<Executor, asio::thread_pool>;

// Whether completions reach an executor of that type, which hides no other, from the executor of
// the primitive only.
template <class Executor>
inline constexpr bool needs_primitive = !has_known_context<Executor> && !is_postable<Executor>;

// Calls f with the executor of that type which the erased `ex` holds: true; false if it does not.
template <class Known, class Executor, class Function>
bool visit_target(Executor const& ex, Function& f) {
  auto const* const target = ex.template target<Known>();
  return target && (f(*target), true);
}

// The same for whatever Asio puts into an erased executor. Apart from the commonest.
template <class Executor, class Function>
ASIO_SYNC_NOINLINE bool visit_other_target(Executor const& ex, Function& f) {
  return visit_target<asio::strand<io_executor>>(ex, f) || visit_target<pool_executor>(ex, f) ||
         visit_target<asio::strand<pool_executor>>(ex, f) ||
         visit_target<asio::strand<asio::any_io_executor>>(ex, f) ||
         visit_target<tracked_executor<io_executor>>(ex, f) ||
         visit_target<tracked_executor<pool_executor>>(ex, f);
}

// Calls f with what `ex` is under its type: the executor that it is derived from, or holds.
template <class Executor, class Function>
void visit_executor(Executor const& ex, Function&& f) {
  if constexpr (is_any_executor<Executor>) {
    if (visit_target<io_executor>(ex, f) || visit_other_target(ex, f)) return;
    f(ex);
  } else {
    f(static_cast<typename executing_base<Executor>::type const&>(ex));
  }
}

// Whether completions reach `own` from the executor of the primitive only.
template <class Own>
bool is_reached_by_primitive(Own const& own) {
  bool result = false;
  visit_executor(own,
                 [&](auto const& ex) { result = needs_primitive<std::decay_t<decltype(ex)>>; });
  return result;
}

// True if this thread is running the executor, and the executor can tell.
template <class Executor>
ASIO_SYNC_NOINLINE bool is_running(Executor const& ex) {
  bool running = false;
  visit_executor(ex, [&](auto const& inner) {
    if constexpr (requires { static_cast<bool>(inner.running_in_this_thread()); })
      running = inner.running_in_this_thread();
  });
  return running;
}

}  // namespace asio_sync::detail

#endif
