// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_DESTINATION_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_DESTINATION_HPP

// Finds where a completion goes: rule R2.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/executor_route.hpp>
#include <asio_sync/detail/context/strand_rooms.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

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
    if (!plan_) return;
    w.way = plan_->build(w, memory, *this);
    w.way->size = plan_->size;
  }

  // Posted to `ex`, or to the Executor that it converts to; `runs_no_user_code` as in route.
  template <class Executor, class Given>
  static destination posted(Given const& ex, bool runs_no_user_code) {
    use_service(context_of(ex));
    return posted_unserved<Executor>(ex, runs_no_user_code);
  }

  // Posted to a context that has the service already.
  static destination posted_to_served(known_context const& context) {
    return posted_unserved<known_context>(context, true);
  }

  // Posted to `first`, or to the First that it converts to, and executed by `own` from there.
  template <class First, class Given, class Own>
  static destination relayed(Given const& first, Own const& own, bool runs_no_user_code) {
    using type = relayed_route<First, Own>;
    static constexpr plan p{sizeof(type), [](waiter& w, void* memory, destination const& to) {
                              return static_cast<route*>(::new (memory) type(
                                  w, First(to.template first<Given>()),
                                  *static_cast<Own const*>(to.own_), to.at_once_));
                            }};
    static_assert(alignof(type) == alignof(route), "an executor is aligned as pointers are");
    use_service(context_of(first));
    return {p, first, std::addressof(own), runs_no_user_code};
  }

 private:
  struct plan {
    std::uint32_t size;
    route* (*build)(waiter&, void*, destination const&);
  };

  template <class Executor, class Given>
  static destination posted_unserved(Given const& ex, bool runs_no_user_code) {
    constexpr bool runs_it_itself =
        std::is_same_v<Executor, known_context> || std::is_same_v<Executor, context_strand>;
    using type =
        executor_route<Executor, std::conditional_t<runs_it_itself, last_step, unknown_step>>;
    static constexpr plan p{sizeof(type), [](waiter& w, void* memory, destination const& to) {
                              return static_cast<route*>(::new (memory) type(
                                  w, Executor(to.template first<Given>()), to.at_once_));
                            }};
    static_assert(alignof(type) == alignof(route), "an executor is aligned as pointers are");
    return {p, ex, nullptr, runs_no_user_code};
  }

  template <class Executor>
  destination(plan const& p, Executor const& first, void const* own, bool at_once)
      : plan_(&p), own_(own), is_pool_(false), at_once_(at_once) {
    if constexpr (std::is_same_v<Executor, known_context>) {
      first_ = first.get();
      is_pool_ = first.is_pool();
    } else {
      first_ = std::addressof(first);
    }
  }

  static asio::execution_context& context_of(known_context const& context) {
    return *context.get();
  }
  template <class Executor>
  static asio::execution_context& context_of(Executor const& ex) {
    return asio::query(ex, asio::execution::context);
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
      return destination::posted<known_context>(context, true);
    } else if constexpr (is_context_strand<Executor>) {
      return destination::posted<context_strand>(ex, true);
    } else if constexpr (is_erased_strand<Executor>) {
      if constexpr (std::is_same_v<Executor, asio::strand<asio::any_io_executor>>)
        if (known_context::of_plain(ex.get_inner_executor()).get())
          return destination::posted<context_strand>(ex, true);
      return destination::posted<Executor>(ex, known_context::of(ex).get() != nullptr);
    } else if constexpr (has_known_context<Executor>) {
      return relayed(known_context(asio::query(ex, asio::execution::context)), ex);
    } else if constexpr (!needs_primitive<Executor>) {
      return destination::posted<Executor>(ex, false);
    } else {
      destination found;
      visit_executor(primitive_, [&](auto const& first) { found = relayed_by(first, ex); });
      return found;
    }
  }

  template <class Executor>
  static destination relayed(known_context const& context, Executor const& ex) {
    return destination::relayed<known_context>(context, ex, true);
  }

  template <class First, class Executor>
  static destination relayed_by(First const& first, Executor const& ex) {
    if constexpr (is_context_executor<First>)
      return relayed(known_context(asio::query(first, asio::execution::context)), ex);
    else if constexpr (is_context_strand<First>)
      return destination::relayed<context_strand>(first, ex, true);
    else
      return destination::relayed<First>(first, ex, false);
  }

  Primitive const& primitive_;
  known_context const& home_;
  destination result_;
};

// Whether `own` is at a glance the plain executor of an io_context which is the core's home.
template <class Own>
bool is_plainly_at_home([[maybe_unused]] core_base const& core, [[maybe_unused]] Own const& own) {
  if constexpr (is_any_executor<Own>) {
    auto const* const io = own.template target<io_executor>();
    return io && core.home().get() == &asio::query(*io, asio::execution::context);
  } else {
    return false;
  }
}

// The destination of a handler whose executor is `own`, of a primitive over `primitive`. Both have
// to outlive it.
template <class Own, class Primitive>
ASIO_SYNC_NOINLINE destination destination_of(core_base const& core, Own const& own,
                                              Primitive const& primitive) {
  using base = typename executing_base<Own>::type;
  if constexpr (is_any_executor<Own> && executes_as<Own, asio::any_io_executor>()) {
    if (is_plainly_at_home(core, own)) return {};
    return core.destination_of(static_cast<asio::any_io_executor const&>(own));
  } else if constexpr (is_context_executor<base>) {
    known_context const context(asio::query(own, asio::execution::context));
    if (core.home().get() == context.get()) return {};
    return core.destination_of(context);
  } else {
    return destination_finder(own, primitive, core.home()).result();
  }
}

// `stays`: a wait that is at home at its primitive is so wherever it goes. Otherwise it has a
// route also there.
template <class Core, class Own, class Primitive>
auto destination_of(Core const& core, Own const& own, Primitive const& primitive,
                    [[maybe_unused]] bool stays) {
  auto to = destination_of(core, own, primitive);
  if constexpr (std::is_same_v<decltype(to), destination>)
    if (!stays && to.size() == 0) to = destination::posted_to_served(core.home());
  return to;
}

}  // namespace asio_sync::detail

#endif
