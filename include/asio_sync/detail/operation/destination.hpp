// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_DESTINATION_HPP
#define ASIO_SYNC_DETAIL_OPERATION_DESTINATION_HPP

// Finds where a completion goes: rule R2.

#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/executor_route.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace asio_sync::detail {

// The plain executor of the primitive's home, or a route that is still to be built behind the
// waiter. Refers to the executors that it was found from.
class destination {
 public:
  // The home.
  destination() noexcept : plan_(nullptr) {}

  // How many bytes it takes behind the waiter.
  std::size_t size() const noexcept { return plan_ ? plan_->size : 0; }

  void build(waiter& w, void* memory) const noexcept {
    if (plan_) w.way = plan_->build(w, memory, *this);
  }

  // Posted to `ex`; `runs_no_user_code` as in route.
  template <class Executor>
  static destination posted(Executor const& ex, bool runs_no_user_code) {
    using step =
        std::conditional_t<std::is_same_v<Executor, known_context> || is_context_strand<Executor>,
                           last_step, unknown_step>;
    using type = executor_route<Executor, step>;
    static constexpr plan p{sizeof(type), [](waiter& w, void* memory, destination const& to) {
                              return static_cast<route*>(::new (memory) type(
                                  w, to.template first<Executor>(), to.at_once_));
                            }};
    static_assert(alignof(type) == alignof(route), "an executor is aligned as pointers are");
    return {p, ex, nullptr, runs_no_user_code};
  }

  // Posted to `first`, and executed by `own` from there.
  template <class First, class Own>
  static destination relayed(First const& first, Own const& own, bool runs_no_user_code) {
    using type = relayed_route<First, Own>;
    static constexpr plan p{
        sizeof(type), [](waiter& w, void* memory, destination const& to) {
          return static_cast<route*>(::new (memory) type(
              w, to.template first<First>(), *static_cast<Own const*>(to.own_), to.at_once_));
        }};
    static_assert(alignof(type) == alignof(route), "an executor is aligned as pointers are");
    return {p, first, std::addressof(own), runs_no_user_code};
  }

 private:
  struct plan {
    std::size_t size;
    route* (*build)(waiter&, void*, destination const&);
  };

  template <class Executor>
  destination(plan const& p, Executor const& first, void const* own, bool at_once)
      : plan_(&p), own_(own), is_pool_(false), at_once_(at_once) {
    if constexpr (std::is_same_v<Executor, known_context>) {
      first_ = first.get();
      is_pool_ = first.is_pool();
      use_service(*first.get());
    } else {
      first_ = std::addressof(first);
      use_service(asio::query(first, asio::execution::context));
    }
  }

  // Handlers that are dropped when the context ends are destroyed before it has gone.
  static void use_service(asio::execution_context& context) {
    asio::use_service<wait_service>(context);
  }

  template <class Executor>
  decltype(auto) first() const noexcept {
    if constexpr (std::is_same_v<Executor, known_context>)
      return known_context(*static_cast<asio::execution_context*>(const_cast<void*>(first_)),
                           is_pool_);
    else
      return *static_cast<Executor const*>(first_);
  }

  plan const* plan_;
  void const* first_;  // an executor, or the context
  void const* own_;
  bool is_pool_;
  bool at_once_;
};

// The destination of a handler whose executor is `own`, of a primitive over `primitive`. Both have
// to outlive it.
template <class Own, class Primitive>
class destination_finder {
 public:
  destination_finder(Own const& own, Primitive const& primitive, known_context const& home)
      : primitive_(primitive), home_(home) {
    static_assert(asio::execution::is_executor<Own>::value,
                  "executors of the networking TS, such as io_context::strand, are not supported: "
                  "bind the handler to an asio::strand or another standard executor");
    visit_executor(own, [this](auto const& ex) { result_ = direct(ex); });
  }

  destination const& result() const noexcept { return result_; }

 private:
  template <class Executor>
  destination direct(Executor const& ex) const {
    if constexpr (is_context_executor<Executor>) {
      known_context const context(asio::query(ex, asio::execution::context));
      if (home_.get() == context.get()) return {};
      return destination::posted(context, true);
    } else if constexpr (is_context_strand<Executor>) {
      return destination::posted(ex, true);
    } else if constexpr (is_erased_strand<Executor>) {
      return destination::posted(ex, known_context::of(ex).get() != nullptr);
    } else if constexpr (has_known_context<Executor>) {
      return destination::relayed(known_context(asio::query(ex, asio::execution::context)), ex,
                                  true);
    } else if constexpr (is_postable<Executor>) {
      return destination::posted(ex, false);
    } else {
      destination found;
      visit_executor(primitive_, [&](auto const& first) { found = relayed(first, ex); });
      return found;
    }
  }

  template <class First, class Executor>
  static destination relayed(First const& first, Executor const& ex) {
    if constexpr (is_context_executor<First>)
      return destination::relayed(known_context(asio::query(first, asio::execution::context)), ex,
                                  true);
    else
      return destination::relayed(first, ex, is_context_strand<First>);
  }

  Primitive const& primitive_;
  known_context const& home_;
  destination result_;
};

template <class Own, class Primitive>
ASIO_SYNC_NOINLINE destination destination_of(Own const& own, Primitive const& primitive,
                                              known_context const& home) {
  return destination_finder<Own, Primitive>(own, primitive, home).result();
}

}  // namespace asio_sync::detail

#endif
