// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_CONDITION_WAITS_HPP
#define ASIO_SYNC_TEST_ORDERS_CONDITION_WAITS_HPP

#include "operation.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_sync::test {

namespace of_condition {

using lock_type = async_mutex::lock_type;
using result = std::tuple<boost::system::error_code, lock_type>;

inline result whole(std::tuple<boost::system::error_code> alone) {
  return {std::get<0>(alone), lock_type()};
}
inline result whole(result&& all) { return std::move(all); }

template <class Operation>
asio::awaitable<result> awaited(Operation operation) {
  co_return whole(co_await std::move(operation));
}

}  // namespace of_condition

/// Begins the wait that `kind` says, for the condition or the mutex, with a time or without. To a
/// coroutine all of them bring a lock, and those that refer to the caller's an empty one.
template <class Token, class... Time>
auto begin_condition_wait(async_condition& condition, async_mutex& mutex,
                          async_mutex::lock_type& lock, std::function<bool()> const& looks,
                          unsigned kind, Token&& token, Time... t) {
  auto const wait_with = [&](auto&& with, auto... also) {
    using lock_argument = decltype(with);
    if constexpr (sizeof...(t) == 0)
      return condition.async_wait(static_cast<lock_argument>(with), also...,
                                  std::forward<Token>(token));
    else
      return condition.async_wait_for(static_cast<lock_argument>(with), t..., also...,
                                      std::forward<Token>(token));
  };
  auto const lock_mutex = [&] {
    if constexpr (sizeof...(t) == 0)
      return mutex.async_lock(std::forward<Token>(token));
    else
      return mutex.async_lock_for(t..., std::forward<Token>(token));
  };
  auto const begun = [](auto begin) {
    if constexpr (std::is_void_v<decltype(begin())>)
      begin();
    else
      return of_condition::awaited(begin());
  };
  switch (kind) {
    case for_condition: return begun([&] { return wait_with(lock); });
    case for_condition | looking: return begun([&] { return wait_with(lock, looks); });
    case for_condition | carrying: return begun([&] { return wait_with(std::move(lock)); });
    case for_condition | carrying | looking:
      return begun([&] { return wait_with(std::move(lock), looks); });
    default: return begun(lock_mutex);
  }
}

}  // namespace asio_sync::test

#endif
