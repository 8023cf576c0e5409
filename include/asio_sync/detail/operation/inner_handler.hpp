// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_INNER_HANDLER_HPP
#define ASIO_SYNC_DETAIL_OPERATION_INNER_HANDLER_HPP

// Handlers that have another handler inside, and the same executor, allocator and slot.

#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/associator.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::detail {

// True for a handler type with a member function `inner()`, which returns another handler: that
// says all that is associated with the outer one, but for what the outer type says itself.
template <class Handler>
inline constexpr bool is_associated_as_inner = false;

template <class Handler>
concept associated_as_inner = is_associated_as_inner<Handler>;

template <class Handler>
using inner_handler = std::remove_cvref_t<decltype(std::declval<Handler const&>().inner())>;

}  // namespace asio_sync::detail

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

template <template <class, class> class Associator, asio_sync::detail::associated_as_inner Handler,
          class DefaultCandidate>
struct associator<Associator, Handler, DefaultCandidate>
    : Associator<asio_sync::detail::inner_handler<Handler>, DefaultCandidate> {
  using of_inner = Associator<asio_sync::detail::inner_handler<Handler>, DefaultCandidate>;
  static auto get(Handler const& h) noexcept { return of_inner::get(h.inner()); }
  static auto get(Handler const& h, DefaultCandidate const& c) noexcept {
    return of_inner::get(h.inner(), c);
  }
};

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
