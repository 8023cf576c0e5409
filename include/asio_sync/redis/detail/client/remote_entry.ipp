// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_REMOTE_ENTRY_IPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_REMOTE_ENTRY_IPP

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/redis/detail/client/client_claim.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_entry.hpp>
#include <asio_sync/redis/detail/session/claim.hpp>
#include <asio_sync/redis/detail/session/visit.hpp>

#include <boost/system/errc.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The members of remote_entry.

namespace asio_sync::redis::detail {

[[noreturn]] inline void refuse_entry(boost::system::errc::errc_t why, char const* function,
                                      char const* text) {
  shell::throw_error(make_error_code(why), {"redis::async_monitor", "entry", function}, text);
}

// Returns the number that is the value of a variable.
inline std::int64_t number_in(visit const& v, std::string_view variable, char const* function) {
  std::string const* const value = v.find(variable);
  if (value == nullptr) return 0;
  std::int64_t number = 0;
  char const* const last = value->data() + value->size();
  auto const [end, error] = std::from_chars(value->data(), last, number);
  if (error != std::errc() || end != last || *value != std::to_string(number))
    refuse_entry(boost::system::errc::invalid_argument, function, "the value is not a number");
  return number;
}

visit& remote_entry::inside(char const* function, std::string_view name) const {
  if (!hold_) refuse_entry(boost::system::errc::operation_not_permitted, function, "not inside");
  if (name.empty() || name.size() > 512)
    refuse_entry(boost::system::errc::invalid_argument, function,
                 "the name has not 1 to 512 bytes");
  return *client_claim::of(*hold_.claim()).visit();
}

// Throws unless all variables are small enough to be sent at each entry.
inline void check_size(std::size_t size, char const* function) {
  if (size > std::size_t(1024 * 1024))
    refuse_entry(boost::system::errc::invalid_argument, function,
                 "the variables would be larger than 1 MB");
}

inline void set_in(visit& entered, std::string_view variable, std::string value,
                   char const* function) {
  std::size_t const size = entered.size_with(variable, value.size());
  if (size > entered.size()) check_size(size, function);
  entered.set(variable, std::move(value));
}

std::optional<std::string> remote_entry::get(std::string_view variable) const {
  std::string const* const value = inside("get", variable).find(variable);
  if (value == nullptr) return std::nullopt;
  return *value;
}

std::int64_t remote_entry::number(std::string_view variable) const {
  return number_in(inside("number", variable), variable, "number");
}

void remote_entry::set(std::string_view variable, std::string_view value) {
  set_in(inside("set", variable), variable, std::string(value), "set");
}

void remote_entry::set(std::string_view variable, std::int64_t value) {
  set_in(inside("set", variable), variable, std::to_string(value), "set");
}

void remote_entry::add(std::string_view variable, std::int64_t value) {
  visit& entered = inside("add", variable);
  std::int64_t const old = number_in(entered, variable, "add");
  using limits = std::numeric_limits<std::int64_t>;
  if (value > 0 ? old > limits::max() - value : old < limits::min() - value)
    refuse_entry(boost::system::errc::result_out_of_range, "add", "the sum has not 64 bits");
  set_in(entered, variable, std::to_string(old + value), "add");
}

void remote_entry::notify_one(std::string_view condition) {
  inside("notify_one", condition).notify(std::string(condition), 1);
}

void remote_entry::notify_all(std::string_view condition) {
  inside("notify_all", condition).notify(std::string(condition), 0);
}

owned remote_entry::add_owned(std::string_view variable, std::int64_t delta,
                              std::string_view condition) {
  constexpr std::int64_t most = std::int64_t(1) << 53;
  auto const is_small = [](std::int64_t n) { return -most < n && n < most; };
  visit& entered = inside("add_owned", variable);
  inside("add_owned", condition);
  std::int64_t const value = number_in(entered, variable, "add_owned");
  if (!is_small(delta) || !is_small(value) || !is_small(value + delta))
    refuse_entry(boost::system::errc::invalid_argument, "add_owned",
                 "a number is not between -2^53 and 2^53");
  check_size(entered.size_with_part(variable), "add_owned");
  auto const& its = static_cast<client_claim&>(*hold_.claim());
  claim_ref made(new client_claim(its.shared_handle()));
  std::shared_ptr<claim> const owner(
      &client_claim::of(*claim_ref::share(*made).release()),
      [](claim* c) { claim_ref const last(&client_claim::of(*c)); });
  entered.own({owner, std::string(variable), std::to_string(delta), std::string(condition)});
  return owned(hold(std::move(made)));
}

}  // namespace asio_sync::redis::detail

#endif
