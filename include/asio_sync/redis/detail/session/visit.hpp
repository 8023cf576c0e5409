// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_SESSION_VISIT_HPP
#define ASIO_SYNC_REDIS_DETAIL_SESSION_VISIT_HPP

#include <asio_sync/redis/detail/session/requests.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_sync::redis::detail {

class claim;

// Cuts the first string off a text of strings, each of which is its size, a colon and its bytes.
// Returns nothing if the text begins otherwise.
inline std::optional<std::string_view> cut_netstring(std::string_view& text) noexcept {
  std::size_t size = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  auto const digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || digits == text.size() || *end != ':') return std::nullopt;
  if (size > text.size() - digits - 1) return std::nullopt;
  std::string_view const word = text.substr(digits + 1, size);
  text.remove_prefix(digits + 1 + size);
  return word;
}

// The variables of a monitor, as the one who is inside sees them, and what it asks for when it
// leaves or waits.
class visit {
 public:
  // A part of a variable that a token is to own.
  struct part {
    std::shared_ptr<claim> owner;
    std::string variable, delta, condition;
    std::uint64_t counter = 0;  // of the token
  };

  // Begins anew with names and values, as the server tells them. Returns false, and changes
  // nothing, if the text is malformed.
  bool begin(std::string_view text) {
    variable_map told;
    while (!text.empty()) {
      auto const name = cut_netstring(text), value = name ? cut_netstring(text) : name;
      if (!value) return false;
      told.insert_or_assign(std::string(*name), variable{std::string(*value)});
    }
    variables_.swap(told);
    size_ = 0;
    for (auto const& [name, its] : variables_) size_ += size_of(name, its.value.size());
    notifications_.clear();
    parts_.clear();
    return true;
  }

  // Returns the value of a variable; null if there is none.
  std::string const* find(std::string_view name) const noexcept {
    auto const found = variables_.find(name);
    return found != variables_.end() ? &found->second.value : nullptr;
  }

  // Returns the size of all variables.
  std::size_t size() const noexcept { return size_; }

  // Returns the size of all variables, if one had a value of this size.
  std::size_t size_with(std::string_view name, std::size_t value) const noexcept {
    std::string const* const old = find(name);
    return size_ + size_of(name, value) - (old != nullptr ? size_of(name, old->size()) : 0);
  }

  // Returns the size of all variables, if a part of this one were owned, too. The part may make
  // the variable.
  std::size_t size_with_part(std::string_view name) const noexcept {
    return size_ + size_of(name, 17);  // digits and sign of a number below 2^53
  }

  void set(std::string_view name, std::string value) {
    std::size_t const size = size_with(name, value.size());
    auto const found = variables_.find(name);
    variable changed{std::move(value), true};
    if (found != variables_.end())
      found->second = std::move(changed);
    else
      variables_.emplace(name, std::move(changed));
    size_ = size;
  }

  // `most`: 0 is no limit.
  void notify(std::string condition, std::uint64_t most) {
    notifications_.push_back({std::move(condition), most});
  }

  void own(part each) {
    std::size_t const size = size_with_part(each.variable);
    parts_.push_back(std::move(each));
    size_ = size;
  }

  std::vector<part>& parts() noexcept { return parts_; }

  // True if the server is asked for anything.
  bool asks() const noexcept {
    for (auto const& [name, its] : variables_)
      if (its.is_changed) return true;
    return !notifications_.empty() || !parts_.empty();
  }

  // Adds the operations that the server is asked for.
  void write(request& out) const {
    for (auto const& [name, its] : variables_)
      if (its.is_changed) out.add("s").add(name).add(its.value);
    for (auto const& each : notifications_) out.add("n").add(each.condition).add(each.most);
    for (part const& each : parts_)
      out.add("o").add(each.variable).add(each.counter).add(each.delta).add(each.condition);
  }

 private:
  struct variable {
    std::string value;
    bool is_changed = false;
  };
  using variable_map = std::map<std::string, variable, std::less<>>;

  struct notification {
    std::string condition;
    std::uint64_t most;
  };

  // Some bytes more than the name and the value: the server tells the lengths of both.
  static constexpr std::size_t size_of(std::string_view name, std::size_t value) noexcept {
    return name.size() + value + 8;
  }

  variable_map variables_;
  std::size_t size_ = 0;  // of all variables
  std::vector<notification> notifications_;
  std::vector<part> parts_;
};

}  // namespace asio_sync::redis::detail

#endif
