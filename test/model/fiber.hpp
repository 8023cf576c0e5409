// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_FIBER_HPP
#define ASIO_SYNC_TEST_MODEL_FIBER_HPP

#include <cxxabi.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define ASIO_SYNC_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASIO_SYNC_MODEL_ASAN 1
#endif
#endif

#ifdef ASIO_SYNC_MODEL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace model::detail {

/// A stack and what runs on it.
///
/// A switch is a bare `jump_fcontext`: `boost::context::fiber` makes a stack ready anew for each
/// function, whereas a fiber here lasts for millions of runs and is handed a new body in each. Its
/// loop therefore never returns. The stack comes from the heap, so that a leak checker looks for
/// pointers in the fibers that a failing run has left standing.
class fiber {
 public:
  /// The stack that the program itself runs on.
  fiber() = default;

  /// A new stack on which `loop`, which must not return, starts with the first switch.
  explicit fiber(std::function<void()> loop)
      : loop_{std::move(loop)}, memory_{new std::byte[stack_size]}, size_{stack_size} {
    bottom_ = memory_.get();
    context_ = boost::context::detail::make_fcontext(memory_.get() + size_, size_, &fiber::enter);
  }

  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Leaves this fiber, which must be the running one, for `to`; returns when switched back to.
  void switch_to(fiber& to) {
    // The exceptions in flight belong to the stack, the runtime keeps them by thread.
    void* globals = abi::__cxa_get_globals();
    exceptions saved;
    std::memcpy(&saved, globals, sizeof saved);
    hop here{this, &to};
    start_switch(to);
    arrived(boost::context::detail::jump_fcontext(to.context_, &here), fake_stack_);
    std::memcpy(globals, &saved, sizeof saved);
  }

 private:
  static constexpr std::size_t stack_size = 256 * 1024;

  // The head of `__cxa_eh_globals`, as the Itanium C++ ABI lays it out.
  struct exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  struct hop {
    fiber* from;
    fiber* to;
  };

  static void enter(boost::context::detail::transfer_t transfer) {
    fiber& self = *static_cast<hop*>(transfer.data)->to;
    arrived(transfer, nullptr);
    const exceptions none;
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), &none, sizeof none);
    self.loop_();
    std::abort();
  }

  // Only whoever arrives learns where the one that it comes from can be resumed.
  static void arrived(boost::context::detail::transfer_t transfer, void* fake_stack) {
    fiber& from = *static_cast<hop*>(transfer.data)->from;
    from.context_ = transfer.fctx;
#ifdef ASIO_SYNC_MODEL_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, &from.bottom_, &from.size_);
#else
    static_cast<void>(fake_stack);
#endif
  }

  void start_switch([[maybe_unused]] fiber& to) {
#ifdef ASIO_SYNC_MODEL_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_, to.bottom_, to.size_);
#endif
  }

  std::function<void()> loop_;
  std::unique_ptr<std::byte[]> memory_;
  boost::context::detail::fcontext_t context_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  void* fake_stack_ = nullptr;
};

}  // namespace model::detail

#endif
