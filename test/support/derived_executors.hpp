// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_DERIVED_EXECUTORS_HPP
#define ASIO_SYNC_TEST_SUPPORT_DERIVED_EXECUTORS_HPP

// Executors that are derived from those of Asio and are not these: what runs goes through an
// execute() of their own.

#include "support/executors.hpp"

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <type_traits>
#include <utility>

namespace asio_sync::test {

namespace asio = boost::asio;

// One that notes what runs through it.
template <class Base = asio::io_context::executor_type>
class derived_executor : public Base {
 public:
  derived_executor(Base const& base, execution_log& log) noexcept : Base(base), log_(&log) {}

  template <class Property>
  requires asio::can_require<Base, Property>::value auto require(Property const& p) const {
    return rewrapped(asio::require(static_cast<Base const&>(*this), p));
  }
  template <class Property>
  requires asio::can_prefer<Base, Property>::value auto prefer(Property const& p) const {
    return rewrapped(asio::prefer(static_cast<Base const&>(*this), p));
  }

  template <class Function>
  void execute(Function&& f) const {
    Base::execute(log_->wrap(std::forward<Function>(f)));
  }

 private:
  template <class Other>
  derived_executor<std::decay_t<Other>> rewrapped(Other&& other) const noexcept {
    return {std::forward<Other>(other), *log_};
  }

  execution_log* log_;
};

// The same, and it does not tell of whom it is made.
class private_executor : asio::io_context::executor_type {
  using base = asio::io_context::executor_type;

 public:
  private_executor(base const& b, execution_log& log) noexcept : base(b), log_(&log) {}

  private_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return asio::query(static_cast<base const&>(*this), asio::execution::context);
  }

  template <class Function>
  void execute(Function&& f) const {
    asio::require(static_cast<base const&>(*this), asio::execution::blocking.never)
        .execute(log_->wrap(std::forward<Function>(f)));
  }

  friend bool operator==(private_executor const& a, private_executor const& b) noexcept {
    return static_cast<base const&>(a) == static_cast<base const&>(b) && a.log_ == b.log_;
  }

 private:
  execution_log* log_;
};

}  // namespace asio_sync::test

#endif
