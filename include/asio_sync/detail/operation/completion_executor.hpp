// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_COMPLETION_EXECUTOR_HPP
#define ASIO_SYNC_DETAIL_OPERATION_COMPLETION_EXECUTOR_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>

#include <boost/asio/execution.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

enum class completion_path {
  posted,    // to the handler's executor
  relayed,   // to the primitive's, and from there through the handler's own
  immediate  // the handler's immediate executor, from inside the initiating function
};

// Hands out the room of a block as the memory in which an executor keeps the completion.
template <class T>
struct room_allocator {
  using value_type = T;

  explicit room_allocator(void* r) noexcept : room(r) {}
  template <class U>
  room_allocator(room_allocator<U> const& other) noexcept : room(other.room) {}

  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= waiter::room_size && alignof(T) <= alignof(void*));
    return static_cast<T*>(room);
  }
  void deallocate(T*, std::size_t) noexcept {}

  friend bool operator==(room_allocator const&, room_allocator const&) noexcept = default;

  void* room;
};

// The same for a strand, which needs a second room for its invoker. That outlives the wait where
// the strand's service is shut down before the scheduler that holds the invoker: the wait is then
// dropped together with the invoker.
class strand_rooms {
 public:
  static constexpr std::size_t invoker_size = 80 + system_operation_size;

  explicit strand_rooms(waiter& wait) noexcept : wait_(wait) {}

  void* room() noexcept { return wait_.room(); }

  void* take_invoker_room() noexcept {
    invoker_waits_ = true;
    return invoker_;
  }

  void give_back_invoker_room() noexcept {
    invoker_waits_ = false;
    if (drop_postponed_) wait_.act(wait_, wait_action::drop);
  }

  bool postpone_drop() noexcept { return drop_postponed_ = invoker_waits_; }

 private:
  waiter& wait_;
  bool invoker_waits_ = false;
  bool drop_postponed_ = false;
  alignas(void*) std::byte invoker_[invoker_size];
};

template <class T>
struct strand_room_allocator {
  using value_type = T;

  explicit strand_room_allocator(strand_rooms& r) noexcept : rooms(&r) {}
  template <class U>
  strand_room_allocator(strand_room_allocator<U> const& other) noexcept : rooms(other.rooms) {}

  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= strand_rooms::invoker_size && alignof(T) <= alignof(void*));
    return static_cast<T*>(is_invoker() ? rooms->take_invoker_room() : rooms->room());
  }

  void deallocate(T*, std::size_t) noexcept {
    if (is_invoker()) rooms->give_back_invoker_room();
  }

  friend bool operator==(strand_room_allocator const&,
                         strand_room_allocator const&) noexcept = default;

  strand_rooms* rooms;

 private:
  // What queues in a strand is not one of the system's operations, whatever the strand runs on.
  static constexpr bool is_invoker() noexcept {
    return sizeof(T) > waiter::room_size - system_operation_size;
  }
};

struct no_rooms {
  explicit no_rooms(waiter&) noexcept {}
  bool postpone_drop() const noexcept { return false; }
};

// The executor of a completion, inside its wait. A wait whose work is its own holds it here until
// the completion is posted.
template <class Executor, completion_path Path>
class completion_executor {
 public:
  completion_executor(waiter& wait, Executor const& ex) : plain_(ex), rooms_(wait) {}
  completion_executor(completion_executor const&) = delete;
  completion_executor& operator=(completion_executor const&) = delete;
  ~completion_executor() {}  // end() comes first

  void end(waiter const& wait) noexcept {
    if (wait.work == wait_work::own)
      tracked_.~tracked_type();
    else
      plain_.~Executor();
  }

  // Before track().
  Executor const& plain() const noexcept { return plain_; }

  void track(waiter& wait) {
    tracked_type tracked(asio::prefer(plain_, asio::execution::outstanding_work.tracked));
    plain_.~Executor();
    ::new (static_cast<void*>(std::addressof(tracked_))) tracked_type(std::move(tracked));
    wait.work = wait_work::own;
  }

  // Posts the wait. It is gone, and this with it, before this returns, and also if this throws.
  template <class Wait>
  ASIO_SYNC_FLATTEN void execute(Wait& wait) {
    wait_runner<Wait> runner(wait);
    if (wait.work == wait_work::own) {
      tracked_type const keep(std::move(tracked_));
      post(asio::prefer(keep, asio::execution::outstanding_work.untracked), wait, runner);
    } else {
      Executor const ex(std::move(plain_));
      post(ex, wait, runner);
    }
  }

  // True if the wait cannot be dropped yet and will be told again.
  bool postpone_drop() noexcept { return rooms_.postpone_drop(); }

 private:
  using tracked_type = tracked_executor<Executor>;
  static constexpr bool has_two_rooms =
      is_context_strand<Executor> && Path != completion_path::immediate;

  template <class Plain, class Wait>
  void post(Plain const& ex, Wait& wait, wait_runner<Wait>& runner) {
    if constexpr (Path == completion_path::immediate)
      ex.execute(std::move(runner));
    else if constexpr (is_context_executor<Executor>)
      asio::require(ex, asio::execution::blocking.never,
                    asio::execution::allocator(room_allocator<std::byte>(wait.room())))
          .execute(std::move(runner));
    else if constexpr (is_context_strand<Executor>)
      asio::require(ex, asio::execution::blocking.never,
                    asio::execution::allocator(strand_room_allocator<std::byte>(rooms_)))
          .execute(std::move(runner));
    else
      asio::require(ex, asio::execution::blocking.never).execute(std::move(runner));
  }

  union {
    Executor plain_;
    tracked_type tracked_;
  };
  [[no_unique_address]] std::conditional_t<has_two_rooms, strand_rooms, no_rooms> rooms_;
};

}  // namespace asio_sync::detail

#endif
