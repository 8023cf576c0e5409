// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_TRACKED_PLACE_HPP
#define ASIO_SYNC_DETAIL_OPERATION_TRACKED_PLACE_HPP

// Where the operations of a group are cancelled.

#include <asio_sync/detail/context/context_watch.hpp>
#include <asio_sync/detail/context/group_core.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
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
};

// What cancels an operation on an executor.
struct cancellation {
  cancellable_operation operation;
  asio::cancellation_type type;

  void operator()() const { operation->emit(type); }
};

// Where an operation is cancelled: on an executor of its own. A coroutine is not cancelled before
// its first step has been taken, as Asio's do not complete then (its issue 1452): by a post, which
// comes behind that.
template <class Executor, bool IsCoroutine>
class own_place {
 public:
  // Source: returns the executor.
  template <class Source>
  own_place(group_core const& core, Source const& source) : executor_(source()) {
    try {
      watch_ = context_watch(core.home(), executor_);
    } catch (...) {
      end();
      throw;
    }
  }
  ~own_place() {}

  void end() noexcept { std::destroy_at(std::addressof(executor_)); }

  bool is_known() const noexcept { return !holds_system_executor(executor_); }

  void run(cancellation&& cancels) const {
    if (watch_.has_ended()) return;
    if constexpr (IsCoroutine)
      asio::post(executor_, std::move(cancels));
    else
      asio::dispatch(executor_, std::move(cancels));
  }

 private:
  context_watch watch_;
  union {
    Executor executor_;
  };
};

// Else on the first executor that the operation offers to its handler, which has none. By a post:
// it may be a coroutine whose initiation is wrapped.
class offered_place {
 public:
  explicit offered_place(group_core const& core) noexcept : home_(&core.home()) {}

  template <class Candidate>
  void offer(Candidate const& ex) noexcept {
    if constexpr (std::is_constructible_v<asio::any_io_executor, Candidate const&>) {
      if (!is_taken_.load(std::memory_order_relaxed) && !holds_system_executor(ex)) take(ex);
    }
  }

  void end() noexcept { executor_ = asio::any_io_executor(); }

  bool is_known() const noexcept { return is_there_.load(std::memory_order_acquire); }

  void run(cancellation&& cancels) const {
    if (!watch_.has_ended()) asio::post(executor_, std::move(cancels));
  }

 private:
  template <class Candidate>
  void take(Candidate const& ex) noexcept {
    if (is_taken_.exchange(true, std::memory_order_relaxed)) return;
    try {
      watch_ = context_watch(*home_, ex);
      executor_ = asio::any_io_executor(ex);
      is_there_.store(true, std::memory_order_release);
    } catch (...) {  // then it is cancelled on the group's
    }
  }

  known_context const* home_;
  context_watch watch_;
  asio::any_io_executor executor_;
  threading::atomic<bool> is_taken_{false};
  threading::atomic<bool> is_there_{false};
};

// Else on the group's: this is a copy, as the group may end while it is used.
template <class Executor>
class groups_place {
 public:
  // Of nothing once the context has gone, where that is known.
  explicit groups_place(group_access<Executor> const& group) {
    if (group.has_home && !group.core->home().get()) return;
    executor_ = *group.executor;
    watch_ = context_watch(group.core->home(), *executor_);
  }

  void run(cancellation&& cancels) const {
    if (executor_ && !watch_.has_ended()) asio::dispatch(*executor_, std::move(cancels));
  }

 private:
  std::optional<Executor> executor_;
  context_watch watch_;
};

// Stands in for that where an operation has a place of its own.
struct no_place {
  template <class Access>
  explicit no_place(Access const&) noexcept {}
  static void run(cancellation&&) noexcept {}
};

template <class Place>
class tracked_operation_at final : public tracked_operation {
 public:
  // Counts it. Throws value_too_large, what allocating it throws, and what copying the executor
  // does.
  template <class... Source>
  ASIO_SYNC_NOINLINE static tracked_operation& make(group_core& core, Source const&... source) {
    struct allocation {
      pool_allocator<tracked_operation_at> memory{};
      tracked_operation_at* place = memory.allocate(1);
      ~allocation() {
        if (place) memory.deallocate(place, 1);
      }
    } of;
    auto& made = *::new (static_cast<void*>(of.place)) tracked_operation_at(core, source...);
    of.place = nullptr;
    if (made.begin()) return made;
    made.release_executor();
    throw_too_large("asio_sync::async_group::track: too much is counted");
  }

  Place& place() noexcept { return place_; }

  bool has_place() const noexcept override { return place_.is_known(); }

  void cancel(asio::cancellation_type type) override {
    place_.run({cancellable_operation(*this), type});
  }

 private:
  template <class... Source>
  explicit tracked_operation_at(group_core& core, Source const&... source)
      : tracked_operation(core), place_(core, source...) {}
  ~tracked_operation_at() override = default;

  void end_executor() noexcept override { place_.end(); }

  void destroy() noexcept override {
    pool_allocator<tracked_operation_at> memory;
    this->~tracked_operation_at();
    memory.deallocate(this, 1);
  }

  Place place_;
};

// An operation that is to be cancelled: on an executor of its own, or on the group's.
struct listed_operation {
  explicit listed_operation(tracked_operation& o) noexcept
      : operation(o), has_place(o.has_place()) {}

  kept_operation operation;
  bool has_place;
};

inline std::vector<listed_operation> operations_in(group_core& core) {
  std::vector<listed_operation> operations;
  std::size_t n = 0;
  do {
    operations.clear();
    operations.reserve(n);
    n = 0;
    core.visit([&](tracked_operation& o) {
      if (++n <= operations.capacity()) operations.emplace_back(o);
    });
  } while (n > operations.capacity());
  return operations;
}

// Calls f with each of the operations that has a place, or has none, and can be cancelled now.
// Each is kept with its executor for just so long: what the others do may end their contexts.
template <class Function>
void ask(std::vector<listed_operation> const& operations, bool have_place,
         asio::cancellation_type type, std::exception_ptr& thrown, Function f) {
  for (listed_operation const& listed : operations) try {
      if (listed.has_place != have_place) continue;
      cancellable_operation operation(*listed.operation);
      if (operation && !operation->remembers(type)) f(std::move(operation));
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
}

// Has every operation of the group cancelled. Throws the first of what that throws, after the
// last. Once the first operation may know, the group may be gone. The copy of its executor goes
// before any code runs that may end the context of that.
template <class Executor>
void cancel_operations(group_access<Executor> group, asio::cancellation_type type) {
  std::vector<listed_operation> const operations = operations_in(*group.core);
  std::exception_ptr thrown;
  {
    groups_place<Executor> const groups(group);
    ask(operations, false, type, thrown, [&](cancellable_operation&& operation) {
      groups.run({std::move(operation), type});
    });
  }
  ask(operations, true, type, thrown,
      [type](cancellable_operation const& operation) { operation->cancel(type); });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace asio_sync::detail

#endif
