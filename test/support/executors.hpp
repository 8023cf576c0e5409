// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_EXECUTORS_HPP
#define ASIO_SYNC_TEST_SUPPORT_EXECUTORS_HPP

// Executors of the tests' own: one that proves where a handler ran, and some that are awkward in
// one respect each.

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace asio_sync::test {

namespace asio = boost::asio;

// What an executor was asked to do, and whether the code that asks runs inside it.
class execution_log {
 public:
  int executed() const noexcept { return executed_; }
  bool runs_here() const noexcept { return current == this; }

  // Called within execute(), and within the other functions of the executor.
  std::function<void()> on_execute;
  std::function<void()> on_property;

  template <class Function>
  auto wrap(Function&& f) {
    ++executed_;
    if (on_execute) on_execute();
    return [this, f = std::forward<Function>(f)]() mutable {
      scope const running(*this);
      std::move(f)();
    };
  }

  void property_used() {
    if (on_property) on_property();
  }

 private:
  struct scope {
    explicit scope(execution_log& log) noexcept : outer(std::exchange(current, &log)) {}
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;
    ~scope() { current = outer; }
    execution_log* outer;
  };

  static inline thread_local execution_log* current = nullptr;
  std::atomic<int> executed_ = 0;
};

// Another executor, with a log of what ran through it. Of a type that the library cannot know.
template <class Inner = asio::io_context::executor_type>
class tracking_executor {
 public:
  tracking_executor(Inner const& inner, execution_log& log) noexcept : inner_(inner), log_(&log) {}

  template <class Property>
  requires asio::can_require<Inner, Property>::value auto require(Property const& p) const {
    log_->property_used();
    return rewrapped(asio::require(inner_, p));
  }

  template <class Property>
  requires asio::can_prefer<Inner, Property>::value auto prefer(Property const& p) const {
    log_->property_used();
    return rewrapped(asio::prefer(inner_, p));
  }

  template <class Property>
  // NOLINTNEXTLINE(readability-const-return-type): that of the other executor, const or not
  requires asio::can_query<Inner, Property>::value decltype(auto) query(Property const& p) const {
    return asio::query(inner_, p);
  }

  template <class Function>
  void execute(Function&& f) const {
    inner_.execute(log_->wrap(std::forward<Function>(f)));
  }

  friend bool operator==(tracking_executor const& a, tracking_executor const& b) noexcept {
    return a.inner_ == b.inner_ && a.log_ == b.log_;
  }
  friend bool operator!=(tracking_executor const& a, tracking_executor const& b) noexcept {
    return !(a == b);
  }

 private:
  template <class Other>
  tracking_executor<std::decay_t<Other>> rewrapped(Other&& other) const noexcept {
    return {std::forward<Other>(other), *log_};
  }

  Inner inner_;
  execution_log* log_;
};

// Promises blocking.never and runs what it is given at once all the same.
class inline_executor {
 public:
  explicit inline_executor(asio::execution_context& context) noexcept : context_(&context) {}

  inline_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }

  template <class Function>
  void execute(Function&& f) const {
    std::decay_t<Function> own(std::forward<Function>(f));
    std::move(own)();
  }

  friend bool operator==(inline_executor const&, inline_executor const&) noexcept = default;

 private:
  asio::execution_context* context_;
};

// Destroys at once what it is given to run; of a context all the same.
class dropping_executor {
 public:
  explicit dropping_executor(asio::io_context& context) noexcept : context_(&context) {}

  dropping_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  template <class Function>
  void execute(Function&& f) const {
    std::decay_t<Function> const dropped(std::forward<Function>(f));
  }
  friend bool operator==(dropping_executor const&, dropping_executor const&) noexcept = default;

 private:
  asio::io_context* context_;
};

// Throws on demand, in the place that `plan` says.
class throwing_executor {
 public:
  enum class plan { nothing, execute, require, prefer };

  throwing_executor(asio::io_context& context, plan& p) noexcept : context_(&context), plan_(&p) {}

  throwing_executor require(asio::execution::blocking_t::never_t) const {
    fail_if(plan::require);
    return *this;
  }
  throwing_executor prefer(asio::execution::outstanding_work_t::tracked_t) const {
    return with_work(true);
  }
  throwing_executor prefer(asio::execution::outstanding_work_t::untracked_t) const {
    return with_work(false);
  }
  asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t) const noexcept {
    if (tracked_) return asio::execution::outstanding_work.tracked;
    return asio::execution::outstanding_work.untracked;
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }

  template <class Function>
  void execute(Function&& f) const {
    fail_if(plan::execute);
    asio::require(context_->get_executor(), asio::execution::blocking.never)
        .execute(std::forward<Function>(f));
  }

  friend bool operator==(throwing_executor const&, throwing_executor const&) noexcept = default;

 private:
  void fail_if(plan place) const {
    if (*plan_ == place) throw std::runtime_error("the executor throws");
  }

  throwing_executor with_work(bool tracked) const {
    fail_if(plan::prefer);
    throwing_executor result(*this);
    result.tracked_ = tracked;
    return result;
  }

  asio::io_context* context_;
  plan* plan_;
  bool tracked_ = false;
};

// Runs inline and has nothing besides execute(): no property, no context. It converts to
// any_completion_executor, and not to any_io_executor.
class bare_executor {
 public:
  explicit bare_executor(execution_log& log) noexcept : log_(&log) {}

  template <class Function>
  void execute(Function&& f) const {
    log_->wrap(std::forward<Function>(f))();
  }

  friend bool operator==(bare_executor const&, bare_executor const&) noexcept = default;

 private:
  execution_log* log_;
};

// Has blocking.never, and a context that is not Asio's.
class foreign_context_executor {
 public:
  struct context {};

  foreign_context_executor(context& c, execution_log& log) noexcept : context_(&c), log_(&log) {}

  foreign_context_executor require(asio::execution::blocking_t::never_t) const noexcept {
    return *this;
  }
  context& query(asio::execution::context_t) const noexcept { return *context_; }

  template <class Function>
  void execute(Function&& f) const {
    log_->wrap(std::forward<Function>(f))();
  }

  friend bool operator==(foreign_context_executor const&,
                         foreign_context_executor const&) noexcept = default;

 private:
  context* context_;
  execution_log* log_;
};

}  // namespace asio_sync::test

#endif
