// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_RESULT_HPP
#define ASIO_SYNC_DETAIL_OPERATION_RESULT_HPP

// The form in which an outcome reaches a handler, or a coroutine that did not need one: plain, or
// as the token adapters as_tuple and redirect_error give it.

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/inner_handler.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/system/system_error.hpp>

#include <tuple>
#include <utility>

namespace asio_sync::detail {

// Grant: the type of what is granted, if anything is.
struct plain_result {
  template <class... Grant>
  using signature = void(error_code, Grant...);

  template <class Handler, class... Grant>
  void complete(Handler&& handler, error_code error, Grant&&... grant) const {
    std::forward<Handler>(handler)(error, std::forward<Grant>(grant)...);
  }

  template <class... Grant>
  auto value(error_code error, Grant&&... grant) const {
    if (error) throw boost::system::system_error(error);
    return only(std::forward<Grant>(grant)...);
  }

  static void only() noexcept {}
  template <class Grant>
  static Grant only(Grant&& grant) noexcept {
    return std::forward<Grant>(grant);
  }
};

struct tuple_result {
  template <class... Grant>
  using signature = void(std::tuple<error_code, Grant...>);

  template <class Handler, class... Grant>
  void complete(Handler&& handler, error_code error, Grant&&... grant) const {
    std::forward<Handler>(handler)(value(error, std::forward<Grant>(grant)...));
  }

  template <class... Grant>
  std::tuple<error_code, Grant...> value(error_code error, Grant&&... grant) const {
    return {error, std::forward<Grant>(grant)...};
  }
};

struct redirected_result {
  template <class... Grant>
  using signature = void(Grant...);

  template <class Handler, class... Grant>
  void complete(Handler&& handler, error_code error, Grant&&... grant) const {
    target = error;
    std::forward<Handler>(handler)(std::forward<Grant>(grant)...);
  }

  template <class... Grant>
  auto value(error_code error, Grant&&... grant) const {
    target = error;
    return plain_result::only(std::forward<Grant>(grant)...);
  }

  error_code& target;
};

// The signature of a completion, and the type that a coroutine gets.
template <class Result, class Grant>
struct completion_types {
  using signature = typename Result::template signature<Grant>;
  using value = decltype(std::declval<Result const&>().value(error_code(), std::declval<Grant>()));
};
template <class Result>
struct completion_types<Result, void> {
  using signature = typename Result::template signature<>;
  using value = decltype(std::declval<Result const&>().value(error_code()));
};

// Gives the outcome to a handler in the form of the result.
template <class Result, class Handler>
struct result_handler {
  [[no_unique_address]] Result result;
  Handler handler;

  template <class... Grant>
  void operator()(error_code error, Grant&&... grant) {
    result.complete(std::move(handler), error, std::forward<Grant>(grant)...);
  }

  Handler const& inner() const noexcept { return handler; }
};

template <class Result, class Handler>
inline constexpr bool is_associated_as_inner<result_handler<Result, Handler>> = true;

}  // namespace asio_sync::detail

#endif
