// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_PRIMITIVE_HPP
#define ASIO_SYNC_DETAIL_OPERATION_PRIMITIVE_HPP

// What all primitives share: how they are made, and how they end.

#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/thread_wait.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/execution_context.hpp>

#include <concepts>

namespace asio_sync::detail {

template <class Context, class Executor>
concept context_for = std::convertible_to<Context&, asio::execution_context&> &&
    std::constructible_from<Executor, typename Context::executor_type>;

// Core: a homed_core. It is there until the primitive's end, and perhaps longer.
template <class Executor, class Core>
class primitive {
 protected:
  // `self`: the primitive itself, as whose address it is known. Args: of the core.
  template <class... Args>
  primitive(void* self, Executor const& ex, Args... args)
      : executor_(ex), core_(Core::make(self, executor_, args...)) {}

  ~primitive() { core_->abandon(); }

  Executor const& executor() const noexcept { return executor_; }
  Core& core() const noexcept { return *core_; }

 private:
  Executor executor_;
  Core* core_;
};

// Blocks the calling thread until the operation is granted; not granted if the time was up first.
// Any other outcome is thrown as an error of the type's function. `invalid`: what invalid_argument
// means there.
template <class Operation>
verdict granted_in_thread(Operation const& operation, char const* type, char const* function,
                          char const* invalid = "") {
  verdict const decided = wait_in_thread(operation);
  if (!decided.granted() && decided.outcome() != wait_outcome::timed_out)
    throw_refusal(decided, type, function, invalid);
  return decided;
}

}  // namespace asio_sync::detail

#endif
