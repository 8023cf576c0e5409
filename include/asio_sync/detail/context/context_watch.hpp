// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_WATCH_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_WATCH_HPP

// Tells if the context of an executor that is kept has ended.

#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <memory>

namespace asio_sync::detail {

// Watches the context of an executor, if the library knows it. The end of any other context goes
// unseen.
class context_watch {
 public:
  context_watch() noexcept = default;

  // Throws what adding a service to the context throws, and what allocating does.
  template <class Executor>
  explicit context_watch(Executor const& ex) {
    watch(known_context::of(ex));
  }

  // Shares the watch `home`, if that watches the same context. Throws as above.
  template <class Executor>
  context_watch(context_watch const& home, Executor const& ex) {
    if constexpr (has_execution_context<Executor>)
      if (home.watches(asio::query(ex, asio::execution::context))) {
        context_ = home.context_;
        return;
      }
    watch(known_context::of(ex));
  }

  bool has_ended() const noexcept { return context_ && !context_->get(); }

 private:
  bool watches(asio::execution_context const& context) const noexcept {
    return context_ && context_->get() == &context;
  }

  ASIO_SYNC_NOINLINE void watch(known_context const& context) {
    if (context.get()) context_ = asio::use_service<wait_service>(*context.get()).watched();
  }

  std::shared_ptr<known_context const> context_;
};

}  // namespace asio_sync::detail

#endif
