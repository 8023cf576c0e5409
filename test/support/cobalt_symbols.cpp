// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the tests need of the library of Boost.Cobalt, of which Debian has the headers alone.

#include <boost/version.hpp>

#if BOOST_VERSION >= 108400

#include <boost/cobalt/detail/exception.hpp>
#include <boost/cobalt/this_thread.hpp>

#include <exception>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <utility>

namespace boost::cobalt {

namespace {

thread_local std::optional<executor> of_this_thread;

}  // namespace

namespace this_thread {

std::pmr::memory_resource* get_default_resource() noexcept {
  return std::pmr::get_default_resource();
}

bool has_executor() { return of_this_thread.has_value(); }

executor& get_executor(source_location const& at) {
  if (!of_this_thread) detail::throw_bad_executor(at);
  return *of_this_thread;
}

void set_executor(executor ex) noexcept { of_this_thread = std::move(ex); }

}  // namespace this_thread

namespace detail {

void throw_bad_executor(source_location const&) { throw std::logic_error("no executor"); }

std::exception_ptr moved_from_exception() {
  return std::make_exception_ptr(std::logic_error("moved from"));
}

std::exception_ptr completed_unexpected() {
  return std::make_exception_ptr(std::logic_error("completed unexpectedly"));
}

}  // namespace detail

}  // namespace boost::cobalt

#endif
