// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_WATCH_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_WATCH_HPP

// Whether the context of an executor that is kept has ended.

#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <memory>

namespace asio_sync::detail {

// Watches the context of an executor: the home of a core, which tells that core of its end, or
// another context that the library knows. The end of any other context goes unseen.
class context_watch {
 public:
  context_watch() noexcept {}

  // `home`: that of a core which outlives this. Throws what adding a service to the context
  // throws.
  template <class Executor>
  context_watch(known_context const& home, Executor const& ex) {
    if constexpr (has_execution_context<Executor>) {
      asio::execution_context const& context = asio::query(ex, asio::execution::context);
      if (home.get() == &context)
        context_ = {std::shared_ptr<void>(), &home};
      else
        watch(known_context::of(ex));
    }
  }

  bool has_ended() const noexcept { return context_ && !context_->get(); }

 private:
  ASIO_SYNC_NOINLINE void watch(known_context const& other) {
    if (other.get()) context_ = asio::use_service<wait_service>(*other.get()).watched();
  }

  std::shared_ptr<known_context const> context_;
};

}  // namespace asio_sync::detail

#endif
