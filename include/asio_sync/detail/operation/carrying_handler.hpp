// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_CARRYING_HANDLER_HPP
#define ASIO_SYNC_DETAIL_OPERATION_CARRYING_HANDLER_HPP

// The handler of a composed operation that holds locks meanwhile.

#include <asio_sync/detail/operation/inner_handler.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// Where nobody calls it, what is carried ends before the handler does: the destructor of that may
// wait for those who come next. Asio's composed operation destroys its handler first of all.
template <class Handler, class Carried>
struct carrying_handler {
  Handler handler;
  Carried carried;

  template <class... Args>
  void operator()(Args&&... args) {
    static_cast<Handler&&>(handler)(std::forward<Args>(args)...);
  }

  Handler const& inner() const noexcept { return handler; }
};

template <class Handler, class Carried>
inline constexpr bool is_associated_as_inner<carrying_handler<Handler, Carried>> = true;

template <class Carried, class Source>
carrying_handler<std::decay_t<Source>, Carried> carrying(Source&& handler, Carried carried) {
  return {static_cast<Source&&>(handler), std::move(carried)};
}

// What a composed operation carries.
template <class Self>
auto& carried_by(Self& self) noexcept {
  return self.handler_.carried;  // where Asio's associators find it, too
}

}  // namespace asio_sync::detail

#endif
