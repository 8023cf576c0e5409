// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_ENUMERATOR_ENUMERATOR_RUN_HPP
#define ASIO_SYNC_DETAIL_ENUMERATOR_ENUMERATOR_RUN_HPP

// One run of an enumerator's steps, but for what depends on the executor: the coroutine, and the
// turns in which it goes on.

#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/enumerator_state.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_sync::detail {

class enumerator_run;

// An operation that was begun with a callback: what cancels it, and where its results go.
class steps_operation : public steps_link<steps_operation> {
 public:
  steps_operation(steps_operation const&) = delete;
  steps_operation& operator=(steps_operation const&) = delete;

  // Writes the results. Throws what that throws, or what keeping them has thrown.
  virtual void deliver() = 0;

  // Asks the operation to cancel itself. If that throws, it goes on, and is waited for.
  virtual void cancel() noexcept = 0;

  // Relaxed: the caller has a use already.
  void retain() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
  // Acquire and release: what others did to it comes before its end.
  void release() noexcept {
    if (uses_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  // The run that counts it, if one does.
  std::shared_ptr<enumerator_run> run;

 protected:
  steps_operation() = default;
  virtual ~steps_operation() = default;

 private:
  virtual void destroy() noexcept = 0;

  threading::atomic<std::uint32_t> uses_{1};
};

struct steps_traits : threading {
  using operation = steps_operation;
  static void retain(operation& o) noexcept { o.retain(); }
};

// The promise of a coroutine of steps, but for the object that it returns.
class steps_promise {
 public:
  // What `co_yield n` awaits.
  class completions {
   public:
    completions(enumerator_run& run, std::uint64_t n) noexcept : run_(run), n_(n) {}
    bool await_ready() const noexcept;
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const;

   private:
    enumerator_run& run_;
    std::uint64_t n_;
  };

  static std::suspend_always initial_suspend() noexcept { return {}; }
  static std::suspend_always final_suspend() noexcept { return {}; }
  static void return_void() noexcept {}
  void unhandled_exception() noexcept { thrown = std::current_exception(); }

  completions yield_value(std::ptrdiff_t n) const {
    if (n < 0) throw_invalid("asio_sync::async_steps::co_yield: n < 0");
    return {*run, static_cast<std::uint64_t>(n)};
  }

  // Steps wait for completions alone.
  template <class Awaitable>
  void await_transform(Awaitable&&) = delete;

  static void* operator new(std::size_t bytes) { return pool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    pool::deallocate(memory, bytes);
  }

  enumerator_run* run = nullptr;
  std::exception_ptr thrown;
};

// Owns the coroutine.
class steps_frame {
 public:
  steps_frame() = default;
  steps_frame(std::coroutine_handle<> coroutine, steps_promise& promise) noexcept
      : coroutine_(coroutine), promise_(&promise) {}
  steps_frame(steps_frame&& other) noexcept
      : coroutine_(std::exchange(other.coroutine_, nullptr)), promise_(other.promise_) {}
  steps_frame& operator=(steps_frame&& other) noexcept {
    steps_frame old(std::move(*this));
    coroutine_ = std::exchange(other.coroutine_, nullptr);
    promise_ = other.promise_;
    return *this;
  }
  ~steps_frame() { reset(); }

  explicit operator bool() const noexcept { return static_cast<bool>(coroutine_); }
  bool done() const noexcept { return coroutine_.done(); }
  void resume() const { coroutine_.resume(); }
  steps_promise& promise() const noexcept { return *promise_; }

  void reset() noexcept {
    if (auto const coroutine = std::exchange(coroutine_, nullptr)) coroutine.destroy();
  }

 private:
  std::coroutine_handle<> coroutine_;
  steps_promise* promise_ = nullptr;
};

// What an enumerator and its runs share.
class enumerator_core {
 public:
  using judge = std::function<bool(std::exception_ptr)>;

  // False if another run is on.
  bool admit(std::shared_ptr<enumerator_run> const& run) noexcept {
    std::lock_guard const guard(lock_);
    if (current_) return false;
    current_ = run;
    return true;
  }

  void leave(enumerator_run const& run) noexcept {
    std::shared_ptr<enumerator_run> left;  // goes after the lock
    std::lock_guard const guard(lock_);
    if (current_.get() == &run) left = std::move(current_);
  }

  // The run that is on, if there is one.
  std::shared_ptr<enumerator_run> current() const noexcept {
    std::lock_guard const guard(lock_);
    return current_;
  }

  void set_judge(std::shared_ptr<judge const> j) noexcept {
    std::lock_guard const guard(lock_);
    judge_.swap(j);
  }

  // With what a run completes that has thrown.
  std::exception_ptr judged(std::exception_ptr thrown) const noexcept {
    try {
      auto const of = current_judge();
      return !of || (*of)(thrown) ? thrown : nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  std::shared_ptr<judge const> current_judge() const noexcept {
    std::lock_guard const guard(lock_);
    return judge_;
  }

  mutable threading::lock_type lock_;
  std::shared_ptr<enumerator_run> current_;  // lock_
  std::shared_ptr<judge const> judge_;       // lock_
};

// A run, kept by its operations, by what starts, cancels and completes it, and while it is on by
// the state. The steps are destroyed when nothing can touch them any more: once they have ended,
// or once a run that was cancelled has no operation left.
class enumerator_run {
 public:
  using state_type = enumerator_state<steps_traits>;

  enumerator_run(enumerator_run const&) = delete;
  enumerator_run& operator=(enumerator_run const&) = delete;
  virtual ~enumerator_run() = default;

  // Below: the caller keeps the run.

  void start() {
    if (state_.start()) go();
  }

  // No step is taken from now on; the executor is asked to cancel the operations.
  void stop() noexcept {
    state_.halt();
    call_to_cancel();
  }

  // On the executor; or anywhere, if that is `dead`, so that nobody is asked to cancel anything.
  void cancel(bool dead = false) noexcept {
    if (state_.cancel(!dead)) go();
  }

  bool begin(steps_operation& o) noexcept { return state_.begin(o); }
  void begun(steps_operation& o, bool thrown) noexcept { follow(state_.begun(o, thrown)); }
  void drop(steps_operation& o) noexcept { follow(state_.drop(o)); }
  void arrive(steps_operation& o) noexcept {
    if (state_.arrive(o)) go();
  }

  // The run will not begin, and completes with this.
  void fail(error_code error) noexcept {
    steps_.reset();
    error_ = error;
    end();
  }

  // With what it has completed.
  std::exception_ptr outcome() const {
    if (!error_) return thrown_;
    return std::make_exception_ptr(boost::system::system_error(error_));
  }

 protected:
  enumerator_run(std::shared_ptr<enumerator_core> core, steps_frame&& steps) noexcept
      : core_(std::move(core)), steps_(std::move(steps)) {
    if (steps_) steps_.promise().run = this;
  }

 private:
  friend class steps_promise::completions;

  // Has canceller and starter of the run called on the executor, and its handler on its own.
  virtual void call_to_cancel() noexcept = 0;
  virtual void call_all() noexcept = 0;

  // Takes the turn to its end.
  void go() noexcept {
    for (;;) {
      steps_operation* o = nullptr;
      switch (state_.next(o)) {
        case state_type::duty::rest: return;
        case state_type::duty::deliver: deliver(*o); break;
        case state_type::duty::discard: o->release(); break;
        case state_type::duty::resume: resume(); break;
        case state_type::duty::cancel:
          o->cancel();
          o->release();
          break;
        case state_type::duty::finish: fail(asio::error::operation_aborted); break;
      }
    }
  }

  void follow(state_type::sequel s) noexcept {
    if (s == state_type::sequel::stop) call_to_cancel();
    if (s == state_type::sequel::go) go();
  }

  // What that throws is the steps' business.
  void deliver(steps_operation& o) noexcept {
    try {
      o.deliver();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    o.release();
  }

  void resume() noexcept {
    steps_.resume();
    if (!steps_.done()) return;
    thrown_ = std::move(steps_.promise().thrown);
    steps_.reset();
    if (thrown_) thrown_ = core_->judged(thrown_);
    end();
  }

  void end() noexcept {
    state_.end();
    core_->leave(*this);
    call_all();
  }

  state_type state_;
  std::shared_ptr<enumerator_core> const core_;
  // Below: of whoever has the turn, until the end.
  steps_frame steps_;
  std::exception_ptr failure_;  // of a delivery
  std::exception_ptr thrown_;
  error_code error_;
};

inline bool steps_promise::completions::await_ready() const noexcept {
  return run_.state_.want(n_);
}

inline void steps_promise::completions::await_resume() const {
  if (run_.failure_) std::rethrow_exception(std::exchange(run_.failure_, nullptr));
}

}  // namespace asio_sync::detail

#endif
