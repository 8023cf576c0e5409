// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_POST_KEEPER_HPP
#define ASIO_SYNC_DETAIL_OPERATION_POST_KEEPER_HPP

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace asio_sync::detail {

// Keeps an object until an executor has run what was posted to it before. A coroutine of Asio that
// is cancelled may post the signal to its executor, with a reference to the handler in its slot:
// `kept` owns that handler. If the executor throws, for want of memory, the object is kept for
// ever, because the signal may have been posted before.
template <class Executor, class Kept>
void post_keeper(Executor const& ex, Kept kept) noexcept {
  union owner {
    explicit owner(Kept&& k) noexcept : object(std::move(k)) {}
    ~owner() {}
    Kept object;
  } own(std::move(kept));
  try {
    asio::post(ex, [copy = own.object] {});
    std::destroy_at(std::addressof(own.object));
  } catch (...) {
  }
}

}  // namespace asio_sync::detail

#endif
