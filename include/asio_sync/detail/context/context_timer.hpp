// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_TIMER_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_CONTEXT_TIMER_HPP

#include <asio_sync/detail/context/deadline_heap.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace asio_sync::detail {

// Runs the timer's handler where the context has it run anyway. So one timer serves waits of every
// executor, and no executor of a user is asked anything under the service's lock.
class timer_executor {
 public:
  explicit timer_executor(asio::execution_context& context) noexcept : context_(&context) {}

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }

  template <class Function>
  void execute(Function&& f) const {
    std::forward<Function>(f)();
  }

  friend bool operator==(timer_executor const&, timer_executor const&) noexcept = default;

 private:
  asio::execution_context* context_;
};

// The memory of the timer's outstanding wait.
template <class T>
struct timer_allocator {
  using value_type = T;

  static constexpr std::size_t room_size = 320;

  explicit timer_allocator(std::byte* r) noexcept : room(r) {}
  template <class U>
  timer_allocator(timer_allocator<U> const& other) noexcept : room(other.room) {}

  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= room_size);
    return static_cast<T*>(static_cast<void*>(room));
  }
  void deallocate(T*, std::size_t) noexcept {}

  friend bool operator==(timer_allocator const&, timer_allocator const&) noexcept = default;

  std::byte* room;
};

// The one timer of an execution context. Made with the first timed wait that queues: a timer
// brings the reactor, which makes every trip through the executor dearer. Runs only while a
// deadline is expected, so that it does not keep run() from returning. At most one wait of it is
// outstanding, whose memory is kept here: to start it again needs none. Service: has on_timer().
// Under its lock.
template <class Service>
class context_timer {
 public:
  // Throws what making a timer and starting it throw.
  context_timer(Service& service, asio::execution_context& context)
      : service_(service), timer_(timer_executor(context)) {
    // A wait that ends at once: whatever the reactor needs for the timer, it allocates now.
    start(steady_clock::time_point::max());
    interrupt();
  }

  context_timer(context_timer const&) = delete;
  context_timer& operator=(context_timer const&) = delete;

  // Calls on_timer() not later than at the deadline, if it is not to be called before anyway.
  void expect(steady_clock::time_point deadline) {
    if (!running_)
      start(deadline);
    else if (deadline < deadline_)
      interrupt();  // on_timer() asks again
  }

  // Nothing is expected any more.
  void rest() noexcept {
    if (running_ && deadline_ != interrupted) interrupt();
  }

  // on_timer() was called.
  void arrived() noexcept { running_ = false; }

  // The context shuts down. The memory stays: an outstanding wait is destroyed after this.
  void reset() noexcept { timer_.reset(); }

 private:
  static constexpr steady_clock::time_point interrupted = steady_clock::time_point::min();

  struct handler {
    using allocator_type = timer_allocator<std::byte>;
    allocator_type get_allocator() const noexcept { return allocator_type(timer.room_); }

    void operator()(boost::system::error_code) { timer.service_.on_timer(); }

    context_timer& timer;
  };

  void start(steady_clock::time_point deadline) {
    timer_->expires_at(deadline);
    timer_->async_wait(handler{*this});
    running_ = true;
    deadline_ = deadline;
  }

  void interrupt() noexcept {
    timer_->cancel();
    deadline_ = interrupted;
  }

  Service& service_;
  steady_clock::time_point deadline_;
  bool running_ = false;
  alignas(std::max_align_t) std::byte room_[timer_allocator<std::byte>::room_size];
  std::optional<
      asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, timer_executor>>
      timer_;
};

// Makes the timer of a Service and ends it. Younger than all services that a timer needs, it dies
// before them also where all of these are made in a shutdown, of which none of them is told.
template <class Service>
class timer_service final : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;

  explicit timer_service(asio::execution_context& context)
      : asio::execution_context::service(context), service_(asio::use_service<Service>(context)) {
    service_.make_timer();
  }
  ~timer_service() override { service_.timer_ends(); }

 private:
  void shutdown() noexcept override {}

  Service& service_;
};

}  // namespace asio_sync::detail

#endif
