// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Under a sanitizer stackful coroutines switch by ucontext, so that the sanitizer is told. Not
// every build of Boost.Context has what that form of it needs; here it is.

#if defined(BOOST_USE_UCONTEXT)

#include <boost/context/fiber.hpp>

#include <cstddef>

namespace boost::context::detail {

namespace {

thread_local fiber_activation_record* current_record = nullptr;
thread_local std::size_t initializers = 0;

}  // namespace

fiber_activation_record_initializer::fiber_activation_record_initializer() noexcept {
  if (initializers++ == 0) current_record = new fiber_activation_record;
}

fiber_activation_record_initializer::~fiber_activation_record_initializer() {
  if (--initializers == 0) delete current_record;
}

fiber_activation_record*& fiber_activation_record::current() noexcept {
  thread_local fiber_activation_record_initializer initializer;
  return current_record;
}

}  // namespace boost::context::detail

#endif
