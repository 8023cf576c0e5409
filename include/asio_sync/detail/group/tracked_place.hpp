// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_GROUP_TRACKED_PLACE_HPP
#define ASIO_SYNC_DETAIL_GROUP_TRACKED_PLACE_HPP

// Where the operations of a group are cancelled.

#include <asio_sync/detail/context/context_watch.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/group/group_core.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/post_keeper.hpp>
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
  context_watch const* home;
};

// What cancels an operation on an executor.
struct cancellation {
  cancellable_operation operation;
  asio::cancellation_type type;

  void operator()() const {
    operation->emit(type);
    operation->keep();
  }
};

// Where an operation is cancelled: on an executor of its own.
template <class Executor, bool IsCoroutine>
class own_place {
 public:
  // Source: returns the executor.
  template <class Source>
  own_place(context_watch const& home, Source const& source) : executor_(source()) {
    try {
      watch_ = context_watch(home, executor_);
    } catch (...) {
      reset();
      throw;
    }
  }
  ~own_place() {}

  void reset() noexcept { std::destroy_at(std::addressof(executor_)); }

  bool is_known() const noexcept { return !holds_system_executor(executor_); }

  // By a post, which comes behind the first step of a coroutine: Asio's coroutines do not complete
  // if they are cancelled before (its issue 1452).
  void run(cancellation&& cancels) const {
    if (watch_.has_ended()) return;
    if constexpr (IsCoroutine)
      asio::post(executor_, std::move(cancels));
    else
      asio::dispatch(executor_, std::move(cancels));
  }

  void keep([[maybe_unused]] tracked_operation& o) const noexcept {
    if constexpr (IsCoroutine)
      if (is_known() && !watch_.has_ended()) post_keeper(executor_, cancellable_operation(o));
  }

 private:
  context_watch watch_;
  union {
    Executor executor_;
  };
};

// Else on the first executor that the operation offers to its handler, which has none. It may be a
// coroutine whose initiation is wrapped.
class offered_place {
 public:
  explicit offered_place(context_watch const& home) noexcept : watch_(home) {}

  template <class Candidate>
  void offer(Candidate const& ex) noexcept {
    if constexpr (std::is_constructible_v<asio::any_io_executor, Candidate const&>) {
      if (!is_taken_.load(std::memory_order_relaxed) && !holds_system_executor(ex)) take(ex);
    }
  }

  void reset() noexcept { executor_ = asio::any_io_executor(); }

  bool is_known() const noexcept { return is_there_.load(std::memory_order_acquire); }

  void run(cancellation&& cancels) const {
    if (!watch_.has_ended()) asio::post(executor_, std::move(cancels));
  }

  void keep(tracked_operation& o) const noexcept {
    if (is_known() && !watch_.has_ended()) post_keeper(executor_, cancellable_operation(o));
  }

 private:
  template <class Candidate>
  void take(Candidate const& ex) noexcept {
    if (is_taken_.exchange(true, std::memory_order_relaxed)) return;
    try {
      watch_ = context_watch(watch_, ex);
      executor_ = asio::any_io_executor(ex);
      is_there_.store(true, std::memory_order_release);
    } catch (...) {  // then it is cancelled on the group's
    }
  }

  context_watch watch_;  // of the group's, until there is an executor
  asio::any_io_executor executor_;
  threading::atomic<bool> is_taken_{false};
  threading::atomic<bool> is_there_{false};
};

// Else on the group's: this is a copy, as the group may end while it is used.
template <class Executor>
class groups_place {
 public:
  // Of nothing once the context has gone, where that is known.
  explicit groups_place(group_access<Executor> const& group) : watch_(*group.home) {
    if (!watch_.has_ended()) executor_ = *group.executor;
  }

  void run(cancellation&& cancels) const {
    if (executor_ && !watch_.has_ended()) asio::dispatch(*executor_, std::move(cancels));
  }

 private:
  std::optional<Executor> executor_;
  context_watch watch_;
};

// The same, if the operation has none of its own when it begins.
template <class Executor>
class optional_groups_place {
 public:
  optional_groups_place(group_access<Executor> const& group, tracked_operation const& operation) {
    if (!operation.has_place()) place_.emplace(group);
  }

  void run(cancellation&& cancels) const {
    if (place_) place_->run(std::move(cancels));
  }

 private:
  std::optional<groups_place<Executor>> place_;
};

// Stands in for that where an operation always has a place of its own.
struct no_place {
  template <class Access>
  no_place(Access const&, tracked_operation const&) noexcept {}
  static void run(cancellation&&) noexcept {}
};

template <class Place>
class tracked_operation_at final : public tracked_operation {
 public:
  // Counts it. Throws value_too_large, what allocating it throws, and what copying the executor
  // does.
  template <class... Source>
  ASIO_SYNC_NOINLINE static tracked_operation& make(group_core& core, context_watch const& home,
                                                    Source const&... source) {
    struct allocation {
      pool_allocator<tracked_operation_at> memory{};
      tracked_operation_at* place = memory.allocate(1);
      ~allocation() {
        if (place) memory.deallocate(place, 1);
      }
    } of;
    auto& made = *::new (static_cast<void*>(of.place)) tracked_operation_at(core, home, source...);
    of.place = nullptr;
    if (made.begin()) return made;
    throw_too_large("asio_sync::async_group::track: too much is counted");
  }

  Place& place() noexcept { return place_; }

  bool has_place() const noexcept override { return place_.is_known(); }

  void cancel(asio::cancellation_type type) override {
    place_.run({cancellable_operation(*this), type});
  }

  void keep() noexcept override { place_.keep(*this); }

 private:
  template <class... Source>
  tracked_operation_at(group_core& core, context_watch const& home, Source const&... source)
      : tracked_operation(core), place_(home, source...) {}
  ~tracked_operation_at() override = default;

  void destroy_executor() noexcept override { place_.reset(); }

  void destroy() noexcept override {
    pool_allocator<tracked_operation_at> memory;
    this->~tracked_operation_at();
    memory.deallocate(this, 1);
  }

  Place place_;
};

// An operation that is to be cancelled, and whether that is done.
struct listed_operation {
  explicit listed_operation(tracked_operation& o) noexcept : operation(o) {}

  kept_operation operation;
  bool is_asked = false;
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

// Calls f with each of the operations that can be cancelled and was not asked; true: now it is.
// Each is kept with its executor for just so long: what the others do may end their contexts.
template <class Function>
void ask(std::vector<listed_operation>& operations, std::exception_ptr& thrown, Function f) {
  for (listed_operation& listed : operations) try {
      if (listed.is_asked) continue;
      cancellable_operation operation(*listed.operation);
      listed.is_asked = !operation || f(std::move(operation));
    } catch (...) {
      listed.is_asked = true;
      if (!thrown) thrown = std::current_exception();
    }
}

// Has every operation of the group cancelled: first those that need the group's executor. Throws
// the first of what that throws, after the last. Once the first operation may know, the group may
// be gone. The copy of its executor goes before any code runs that may end the context of that.
template <class Executor>
void cancel_operations(group_access<Executor> group, asio::cancellation_type type) {
  std::vector<listed_operation> operations = operations_in(*group.core);
  std::exception_ptr thrown;
  {
    groups_place<Executor> const groups(group);
    ask(operations, thrown, [&](cancellable_operation&& operation) {
      if (operation->remembers(type)) return true;
      if (operation->has_place()) return false;
      groups.run({std::move(operation), type});
      return true;
    });
  }
  ask(operations, thrown, [type](cancellable_operation const& operation) {
    operation->cancel(type);
    return true;
  });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace asio_sync::detail

#endif
