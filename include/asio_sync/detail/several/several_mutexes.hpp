// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SEVERAL_SEVERAL_MUTEXES_HPP
#define ASIO_SYNC_DETAIL_SEVERAL_SEVERAL_MUTEXES_HPP

// A caller names several mutexes together. They are used through their public members alone.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/locks/guard_access.hpp>
#include <asio_sync/detail/locks/permit_cores.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_sync::detail {

// Keeps the core of a mutex of any kind, which knows if the mutex has been destroyed or closed. A
// mutex of another library counts as alive and open.
class kept_core {
 public:
  template <class Mutex>
  explicit kept_core(Mutex& mutex) noexcept {
    using lock_type = typename Mutex::lock_type;
    if constexpr (requires(lock_type const& lock) { guard_access::core_of(lock); }) {
      auto* const core = guard_access::core_of(lock_type(mutex, std::defer_lock));
      core->count_up();
      core_ = core;
      functions_ = &functions_of<std::remove_pointer_t<decltype(core)>>;
    }
  }
  kept_core(kept_core&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), functions_(other.functions_) {}
  kept_core& operator=(kept_core&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(functions_, other.functions_);
    return *this;
  }
  ~kept_core() {
    if (core_) functions_->let_go(core_);
  }

  bool is_dead() const noexcept { return core_ && functions_->is_dead(core_); }
  bool is_closed() const noexcept { return core_ && functions_->is_closed(core_); }

 private:
  struct functions {
    bool (*is_dead)(void const* core) noexcept;
    bool (*is_closed)(void const* core) noexcept;
    void (*let_go)(void* core) noexcept;
  };
  template <class Core>
  static constexpr functions functions_of{
      [](void const* core) noexcept { return static_cast<Core const*>(core)->is_dead(); },
      [](void const* core) noexcept { return static_cast<Core const*>(core)->is_closed(); },
      [](void* core) noexcept { static_cast<Core*>(core)->unref(); }};

  void* core_ = nullptr;
  functions const* functions_ = nullptr;
};

// Tells the address of a mutex, and its index among the caller's mutexes.
struct lock_place {
  void const* address;
  std::size_t index;
  kept_core core;
};

// Converts to the lock of a mutex. The lock is empty if the mutex, or one before it, is not free.
template <class Mutex>
struct tried_lock {
  using lock_type = typename Mutex::lock_type;

  ASIO_SYNC_INLINE operator lock_type() const {
    if (!all) return lock_type();
    lock_type lock(mutex, std::try_to_lock);
    if constexpr (requires { guard_access::holds(lock); })
      all = guard_access::holds(lock);  // the mutex is not destroyed during this call
    else
      all = lock.owns_lock();
    return lock;
  }

  Mutex& mutex;
  bool& all;
};

template <class...>
struct first_mutex {
  using executor_type = asio::system_executor;
  static constexpr bool is_type_of_all = false;
};
template <class Mutex, class... Mutexes>
struct first_mutex<Mutex, Mutexes...> {
  using executor_type = typename Mutex::executor_type;
  static constexpr bool is_type_of_all = (std::is_same_v<Mutex, Mutexes> && ...);
};

// Refers to the mutexes of a tuple. Their types may differ.
template <class... Mutex>
class tied_mutexes {
 public:
  using executor_type = typename first_mutex<Mutex...>::executor_type;
  using token_executor = executor_type;  // its default token is the operation's
  using locks_type = std::tuple<typename Mutex::lock_type...>;
  using places_type = std::array<lock_place, sizeof...(Mutex)>;

  // Copies the references one by one: a copy of the whole tuple has to wait for the stores of its
  // parts.
  explicit tied_mutexes(std::tuple<Mutex&...> const& mutexes) noexcept
      : mutexes_(std::apply([](Mutex&... mutex) { return std::tie(mutex...); }, mutexes)) {}
  tied_mutexes(tied_mutexes const& other) noexcept : tied_mutexes(other.mutexes_) {}
  tied_mutexes& operator=(tied_mutexes const&) = delete;
  ~tied_mutexes() = default;

  executor_type get_executor() const noexcept {
    if constexpr (sizeof...(Mutex) == 0)
      return {};
    else
      return std::get<0>(mutexes_).get_executor();
  }

  locks_type no_locks() const noexcept { return {}; }

  places_type places() const noexcept {
    std::size_t index = 0;
    return std::apply(
        [&](Mutex&... mutex) {
          return places_type{lock_place{std::addressof(mutex), index++, kept_core(mutex)}...};
        },
        mutexes_);
  }

  // Calls f with the mutex and its lock. f may move or destroy this object.
  template <class Function>
  void visit(std::size_t index, locks_type& locks, Function f) const {
    visit(index, locks, f, std::index_sequence_for<Mutex...>());
  }

  // Locks the mutexes up to the first that is not free. True if all are locked.
  ASIO_SYNC_FLATTEN bool try_all(std::optional<locks_type>& locks) const {
    bool all = true;
    std::apply(
        [&](Mutex&... mutex) {
          locks.emplace(tried_lock<Mutex>{mutex, all}...);
        },
        mutexes_);
    return all;
  }

  bool any_closed() const noexcept {
    return std::apply([](Mutex&... mutex) { return (mutex.is_closed() || ...); }, mutexes_);
  }

 private:
  template <class Function, std::size_t... I>
  void visit(std::size_t index, locks_type& locks, Function& f, std::index_sequence<I...>) const {
    if constexpr (first_mutex<Mutex...>::is_type_of_all) {  // f is compiled once
      auto* mutex = std::addressof(std::get<0>(mutexes_));
      auto* lock = std::addressof(std::get<0>(locks));
      static_cast<void>(((index == I && (mutex = std::addressof(std::get<I>(mutexes_)),
                                         lock = std::addressof(std::get<I>(locks)), true)) ||
                         ...));
      f(*mutex, *lock);
    } else {
      static_cast<void>(
          ((index == I && (f(std::get<I>(mutexes_), std::get<I>(locks)), true)) || ...));
    }
  }

  std::tuple<Mutex&...> mutexes_;
};

// Refers to the mutexes of a range, which have one type. An empty range has the system's executor.
template <class Mutex>
class listed_mutexes {
 public:
  using token_executor = typename Mutex::executor_type;
  using executor_type =
      std::conditional_t<std::is_constructible_v<token_executor, asio::system_executor>,
                         token_executor, asio::any_io_executor>;
  using locks_type = std::vector<typename Mutex::lock_type>;
  using places_type = std::vector<lock_place>;

  explicit listed_mutexes(std::vector<Mutex*> mutexes)
      : mutexes_(std::make_shared<std::vector<Mutex*> const>(std::move(mutexes))) {}

  executor_type get_executor() const {
    if (mutexes_->empty()) return executor_type(asio::system_executor());
    return executor_type(mutexes_->front()->get_executor());
  }

  locks_type no_locks() const { return locks_type(mutexes_->size()); }

  places_type places() const {
    places_type result;
    result.reserve(mutexes_->size());
    for (Mutex* mutex : *mutexes_) result.push_back({mutex, result.size(), kept_core(*mutex)});
    return result;
  }

  template <class Function>
  void visit(std::size_t index, locks_type& locks, Function f) const {
    f(*(*mutexes_)[index], locks[index]);
  }

  bool try_all(std::optional<locks_type>& locks) const {
    locks.emplace().reserve(mutexes_->size());
    bool all = true;
    for (Mutex* mutex : *mutexes_) locks->push_back(tried_lock<Mutex>{*mutex, all});
    return all;
  }

  bool any_closed() const noexcept {
    return std::ranges::any_of(*mutexes_, [](Mutex* mutex) { return mutex->is_closed(); });
  }

 private:
  std::shared_ptr<std::vector<Mutex*> const> mutexes_;
};

// Returns the mutex that an element of a range is, points to, or wraps.
template <class Each>
auto& mutex_in(Each& each) noexcept {
  if constexpr (requires { *each; })
    return *each;
  else
    return static_cast<std::unwrap_reference_t<std::remove_cv_t<Each>>&>(each);
}

template <class... Mutex>
tied_mutexes<Mutex...> mutexes_of(std::tuple<Mutex&...> const& mutexes) noexcept {
  return tied_mutexes<Mutex...>(mutexes);
}

template <std::ranges::input_range Range>
auto mutexes_of(Range&& range) {
  using each = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  using mutex = std::remove_reference_t<decltype(mutex_in(std::declval<each&>()))>;
  std::vector<mutex*> mutexes;
  if constexpr (std::ranges::sized_range<Range>) mutexes.reserve(std::ranges::size(range));
  for (auto&& one : range) mutexes.push_back(std::addressof(mutex_in(one)));
  return listed_mutexes<mutex>(std::move(mutexes));
}

template <class Several>
using mutexes_in = decltype(mutexes_of(std::declval<Several>()));
template <class Several>
using locks_of = typename mutexes_in<Several>::locks_type;

template <class Several>
concept several_mutexes = requires {
  typename locks_of<Several>;
};

}  // namespace asio_sync::detail

#endif
