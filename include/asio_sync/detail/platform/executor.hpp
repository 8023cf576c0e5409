// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_EXECUTOR_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_EXECUTOR_HPP

#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/config.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <concepts>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

using io_executor = asio::io_context::executor_type;
using pool_executor = asio::thread_pool::executor_type;

template <class Executor>
using tracked_executor = std::decay_t<
    typename asio::prefer_result<Executor, asio::execution::outstanding_work_t::tracked_t>::type>;

// The executors that a hand-off reaches without memory and without a throw: those of io_context
// and thread_pool, and strands of these.
template <class Executor>
inline constexpr bool is_context_executor =
    std::is_same_v<Executor, io_executor> || std::is_same_v<Executor, pool_executor>;

template <class Executor>
inline constexpr bool is_context_strand = false;
template <class Inner>
inline constexpr bool is_context_strand<asio::strand<Inner>> = is_context_executor<Inner>;

template <class Executor>
inline constexpr bool is_known_executor =
    is_context_executor<Executor> || is_context_strand<Executor>;

// any_io_executor and its kind.
template <class Executor>
concept erased_executor = requires(Executor const& ex) {
  ex.template target<io_executor>();
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

// Calls f with the executor of that type which `ex` is, is derived from (to have a default token
// of its own, say), or holds: true; false if there is none.
template <class Known, class Executor, class Function>
bool visit_as(Executor const& ex, Function& f) {
  if constexpr (std::is_base_of_v<Known, Executor>) {
    return f(static_cast<Known const&>(ex)), true;
  } else if constexpr (erased_executor<Executor>) {
    auto const* const target = ex.template target<Known>();
    return target && (f(*target), true);
  } else {
    return false;
  }
}

// Apart from the most common kind, so that what is inlined for that one stays small.
template <class Executor, class Function>
ASIO_SYNC_NOINLINE bool visit_other_known(Executor const& ex, Function& f) {
  return visit_as<asio::strand<io_executor>>(ex, f) || visit_as<pool_executor>(ex, f) ||
         visit_as<asio::strand<pool_executor>>(ex, f);
}

template <class Executor, class Function>
bool visit_known(Executor const& ex, Function&& f) {
  return visit_as<io_executor>(ex, f) || visit_other_known(ex, f);
}

template <class Executor>
decltype(auto) inner_executor(Executor const& ex) {
  if constexpr (is_context_strand<Executor>)
    return ex.get_inner_executor();
  else
    return ex;
}

// Finds where a completion is posted to for a handler whose executor is `own`: calls
// f(executor, relayed). Relayed: one cannot post to the handler's own executor, so the completion
// is posted to the primitive's, and from there executes the handler through its own.
template <class Own, class Primitive, class Function>
void visit_completion_executor(Own const& own, Primitive const& primitive, Function&& f) {
  static_assert(asio::execution::is_executor<Own>::value,
                "executors of the networking TS, such as io_context::strand, are not supported: "
                "bind the handler to an asio::strand or another standard executor");
  auto const post = [&](auto const& ex) { f(ex, std::false_type{}); };
  auto const relay = [&](auto const& ex) { f(ex, std::true_type{}); };
  if (visit_known(own, post)) return;
  if constexpr (is_postable<Own>)
    post(own);
  else if (!visit_known(primitive, relay))
    relay(primitive);
}

// Work of an io_context or a thread_pool: keeps its run() from returning.
class context_work {
 public:
  context_work() noexcept {}

  explicit context_work(io_executor const& ex)
      : kind_(kind::io), io_(asio::prefer(ex, asio::execution::outstanding_work.tracked)) {}
  explicit context_work(pool_executor const& ex)
      : kind_(kind::pool), pool_(asio::prefer(ex, asio::execution::outstanding_work.tracked)) {}

  context_work(context_work&& other) noexcept { take(other); }
  context_work& operator=(context_work&& other) noexcept {
    context_work old;
    old.take(*this);
    take(other);
    return *this;
  }

  ~context_work() {
    if (kind_ == kind::none) return;
    if (kind_ == kind::io)
      io_.~tracked_io();
    else
      pool_.~tracked_pool();
  }

  explicit operator bool() const noexcept { return kind_ != kind::none; }

 private:
  using tracked_io = tracked_executor<io_executor>;
  using tracked_pool = tracked_executor<pool_executor>;
  enum class kind : unsigned char { none, io, pool };

  // Into one that holds nothing. Nothing is left to destroy of an executor that was moved from.
  void take(context_work& other) noexcept {
    kind_ = std::exchange(other.kind_, kind::none);
    if (kind_ == kind::io)
      ::new (static_cast<void*>(std::addressof(io_))) tracked_io(std::move(other.io_));
    else if (kind_ == kind::pool)
      ::new (static_cast<void*>(std::addressof(pool_))) tracked_pool(std::move(other.pool_));
  }

  kind kind_ = kind::none;
  union {
    void* none_[2] = {};  // g++ would warn of what it thinks is read without having been written
    tracked_io io_;
    tracked_pool pool_;
  };
};

// An io_context or a thread_pool, or neither.
class known_context {
 public:
  known_context() = default;

  // That of a primitive's executor, strands and erasure looked through.
  template <class Executor>
  static known_context of(Executor const& ex) noexcept {
    known_context result;
    visit_known(ex, [&](auto const& known) { result.assign(inner_executor(known)); });
    return result;
  }

  asio::execution_context* get() const noexcept {
    return io_ ? static_cast<asio::execution_context*>(io_) : pool_;
  }

  context_work track() const noexcept {
    return io_ ? context_work(io_->get_executor()) : context_work(pool_->get_executor());
  }

  bool running_in_this_thread() const noexcept {
    if (io_) return io_->get_executor().running_in_this_thread();
    return pool_ && pool_->get_executor().running_in_this_thread();
  }

 private:
  void assign(io_executor const& ex) noexcept { io_ = &asio::query(ex, asio::execution::context); }
  void assign(pool_executor const& ex) noexcept {
    pool_ = &asio::query(ex, asio::execution::context);
  }

  asio::io_context* io_ = nullptr;
  asio::thread_pool* pool_ = nullptr;
};

// Whether this thread runs handlers of the executor's context: for io_context, thread_pool, and
// strands of these, erased or not; false where that cannot be known.
template <class Executor>
bool runs_in_this_thread(Executor const& ex) noexcept {
  if constexpr (requires { ex.get_inner_executor(); }) {
    return runs_in_this_thread(ex.get_inner_executor());
  } else {
    if constexpr (erased_executor<Executor>)
      if (auto const* strand = ex.template target<asio::strand<asio::any_io_executor>>())
        return runs_in_this_thread(*strand);
    return known_context::of(ex).running_in_this_thread();
  }
}

}  // namespace asio_sync::detail

#endif
