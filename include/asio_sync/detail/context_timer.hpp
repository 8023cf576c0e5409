// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_TIMER_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_TIMER_HPP

#include <asio_sync/detail/asio_compat.hpp>
#include <asio_sync/detail/block_pool.hpp>
#include <asio_sync/detail/deadline_heap.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace asio_sync::detail {

// The one timer of an execution context. Made with the first timed wait that queues: a timer
// brings the reactor, which makes every trip through the executor dearer. Runs only while a
// deadline is expected, so that it does not keep run() from returning. At most one wait of it is
// outstanding, whose memory is kept here: to start it again needs none. Under the lock of the
// service.
class context_timer {
 public:
  virtual ~context_timer() = default;

  // Calls on_timer() not later than at the deadline, if it is not to be called before anyway.
  void expect(steady_clock::time_point deadline) {
    if (!running_) {
      start(deadline);
      running_ = true;
      deadline_ = deadline;
    } else if (deadline < deadline_) {
      interrupt();  // on_timer() asks again
    }
  }

  // Nothing is expected any more.
  void rest() noexcept {
    if (running_ && deadline_ != interrupted) interrupt();
  }

  // on_timer() was called.
  void arrived() noexcept { running_ = false; }

  // The context shuts down. The memory stays: an outstanding wait is destroyed after this.
  virtual void end() noexcept = 0;

  void* room() noexcept { return room_; }
  static constexpr std::size_t room_size = 320;

 protected:
  // A wait that was interrupted is outstanding; on_timer() will be called at once.
  void begin_interrupted() noexcept {
    running_ = true;
    deadline_ = interrupted;
  }

 private:
  static constexpr steady_clock::time_point interrupted = steady_clock::time_point::min();

  virtual void start(steady_clock::time_point deadline) = 0;
  virtual void stop() noexcept = 0;

  void interrupt() noexcept {
    stop();
    deadline_ = interrupted;
  }

  steady_clock::time_point deadline_;
  bool running_ = false;
  alignas(std::max_align_t) std::byte room_[room_size];
};

// The memory for the timer's outstanding wait: the timer's own where that is large enough.
template <class T>
struct timer_allocator {
  using value_type = T;

  explicit timer_allocator(context_timer& t) noexcept : timer(&t) {}
  template <class U>
  timer_allocator(timer_allocator<U> const& other) noexcept : timer(other.timer) {}

  T* allocate(std::size_t n) {
    if constexpr (sizeof(T) > context_timer::room_size) return pool_allocator<T>().allocate(n);
    return static_cast<T*>(timer->room());
  }

  void deallocate(T* memory, std::size_t n) noexcept {
    if constexpr (sizeof(T) > context_timer::room_size) pool_allocator<T>().deallocate(memory, n);
  }

  friend bool operator==(timer_allocator const&, timer_allocator const&) noexcept = default;

  context_timer* timer;
};

template <class Service, class Executor>
class context_timer_of final : public context_timer {
 public:
  context_timer_of(Service& service, Executor const& ex) : service_(service), timer_(ex) {
    // A wait that ends at once: whatever the reactor needs for the timer, it allocates now.
    start(steady_clock::time_point::max());
    stop();
    begin_interrupted();
  }

  void end() noexcept override { timer_.reset(); }

 private:
  struct handler {
    using allocator_type = timer_allocator<std::byte>;
    allocator_type get_allocator() const noexcept { return allocator_type(timer); }

    void operator()(boost::system::error_code) { timer.service_.on_timer(); }

    context_timer_of& timer;
  };

  void start(steady_clock::time_point deadline) override {
    timer_->expires_at(deadline);
    timer_->async_wait(handler{*this});
  }

  void stop() noexcept override { timer_->cancel(); }

  Service& service_;
  std::optional<
      asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, Executor>>
      timer_;
};

template <class Service, class Executor>
std::unique_ptr<context_timer> make_context_timer(Service& service, Executor const& ex) {
  return std::make_unique<context_timer_of<Service, Executor>>(service, ex);
}

}  // namespace asio_sync::detail

#endif
