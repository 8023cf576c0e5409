// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_ENTRY_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_ENTRY_HPP

#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_sync::redis {

/// A part of a variable of a monitor that this process owns: it is taken back when this is
/// destroyed, or when the session of the client ends, and then all waits on a condition are
/// notified. If somebody is inside the monitor then, that happens when the monitor is left.
///
/// Threads: one thread at a time, which need not be always the same.
class [[nodiscard]] owned {
 public:
  /// Owns nothing.
  [[nodiscard]] owned() noexcept = default;

  /// Moves do not throw, and leave one that owns nothing.
  owned(owned&&) noexcept = default;
  owned& operator=(owned&&) noexcept = default;

  /// Releases like `release()`.
  ~owned() = default;

  /// True from when the server has added the part, which is before the `async_leave` that adds it
  /// completes, and during such an `async_wait`; until the part is released, or the session is
  /// over, or may be over and the client does not know yet.
  [[nodiscard]] bool owns() const noexcept { return hold_.owns(); }

  /// Returns `owns()`.
  explicit operator bool() const noexcept { return owns(); }

  /// Has the server take the part back and notify, and does not wait for its answer. Owns nothing
  /// from now on. If the entry has not begun to leave or to wait, the part is never added; if the
  /// server has not answered yet, it may add the part first, and others may see it.
  void release() noexcept {
    if (hold_) hold_.give_back();
  }

  /// Exchanges what the two own.
  void swap(owned& other) noexcept { hold_.swap(other.hold_); }
  friend void swap(owned& a, owned& b) noexcept { a.swap(b); }

 private:
  friend detail::remote_entry;

  explicit owned(detail::hold&& h) noexcept : hold_(std::move(h)) {}

  detail::hold hold_;
};

namespace detail {

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

// A type that would be converted to a whole number without a word: also the class of an element of
// a std::vector<bool>.
template <class T>
concept no_whole_number = std::is_floating_point_v<T> ||
    is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t> ||
    std::conjunction_v<std::is_class<T>, std::is_convertible<T const&, std::int64_t>>;

/// Being inside a monitor at a server. Leaves it when it is destroyed: what was set, added and
/// notified is then discarded.
///
/// Names of variables and conditions have 1 to 512 bytes of any kind. Members that take a name
/// throw `boost::system::system_error` with `invalid_argument` for another one, and with
/// `operation_not_permitted` if the entry is empty.
///
/// Threads: an entry is used by one thread at a time, which need not be always the same.
class remote_entry {
 public:
  /// True while this is inside the monitor. It is false before anybody else can be inside: if the
  /// entry was lost, and also if the session may be over and the client does not know yet. The
  /// other members of a lost entry work as before; `async_leave` and `async_wait` say that it was.
  [[nodiscard]] bool owns() const noexcept { return hold_.owns(); }

  /// Returns `owns()`.
  explicit operator bool() const noexcept { return owns(); }

  /// Returns the fencing number of the entry, which is greater than that of every earlier entry of
  /// this monitor; 0 if this does not own.
  std::uint64_t fence() const noexcept { return hold_.fence(); }

  /// Returns the value of a variable, with what this entry has set and added; nothing if there is
  /// no such variable.
  ASIO_SYNC_COMPILED_ONCE std::optional<std::string> get(std::string_view variable) const;

  /// Returns the number that is the value of a variable; 0 if there is no such variable.
  ///
  /// Errors: throws also `invalid_argument` if the value is not a decimal number of 64 bits, as
  /// `set` writes it.
  ASIO_SYNC_COMPILED_ONCE std::int64_t number(std::string_view variable) const;

  /// Sets a variable when the entry leaves or waits: to any bytes, or to a number. Variables stay
  /// at the server for ever. All variables of a monitor go over the network at each entry.
  ///
  /// Errors: throws also `invalid_argument` if the names and values of all variables, and 8 bytes
  /// for each variable, would have more than 1 MB together.
  /// Exceptions: also what allocating throws; nothing has changed then.
  ASIO_SYNC_COMPILED_ONCE void set(std::string_view variable, std::string_view value);
  ASIO_SYNC_COMPILED_ONCE void set(std::string_view variable, std::int64_t value);
  void set(std::string_view variable, no_whole_number auto value) = delete;

  /// Adds to the number that is the value of a variable, when the entry leaves or waits.
  ///
  /// Errors: throws also `invalid_argument` if the value is not a number, or like `set`;
  /// `result_out_of_range` if the sum has more than 64 bits.
  /// Exceptions: also what allocating throws; nothing has changed then.
  ASIO_SYNC_COMPILED_ONCE void add(std::string_view variable, std::int64_t value);
  void add(std::string_view variable, no_whole_number auto value) = delete;

  /// Notifies, when the entry leaves or waits, the wait on a condition that has waited longest, of
  /// those that the server can reach; else the first of the others.
  ///
  /// Exceptions: also what allocating throws; nothing has changed then.
  ASIO_SYNC_COMPILED_ONCE void notify_one(std::string_view condition);

  /// Notifies all waits on a condition when the entry leaves or waits.
  ///
  /// Exceptions: also what allocating throws; nothing has changed then.
  ASIO_SYNC_COMPILED_ONCE void notify_all(std::string_view condition);

  /// Adds `delta` to a variable when the entry leaves or waits: a later `get` or `number` of this
  /// entry does not see it, and the result does not own before. When the result is released or
  /// destroyed, or its session ends, the server takes `delta` back, and notifies all waits on
  /// `condition`.
  ///
  /// Errors: throws also `invalid_argument` unless the value is a number, and `delta` and the sum
  /// are between -2^53 and 2^53, or like `set`.
  /// Exceptions: also what allocating throws; nothing has changed then.
  ASIO_SYNC_COMPILED_ONCE owned add_owned(std::string_view variable, std::int64_t delta,
                                          std::string_view condition);
  owned add_owned(std::string_view variable, no_whole_number auto delta,
                  std::string_view condition) = delete;

 protected:
  remote_entry() noexcept = default;
  remote_entry(remote_entry&&) noexcept = default;
  remote_entry& operator=(remote_entry&&) noexcept = default;
  ~remote_entry() = default;
  explicit remote_entry(hold&& h) noexcept : hold_(std::move(h)) {}

  hold hold_;

 private:
  // Returns the visit, for a member that takes a name.
  ASIO_SYNC_COMPILED_ONCE visit& inside(char const* function, std::string_view name) const;
};

}  // namespace detail
}  // namespace asio_sync::redis

#endif
