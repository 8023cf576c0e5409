// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_WAIT_SERVICE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_WAIT_SERVICE_HPP

#include <asio_sync/detail/context/context_timer.hpp>
#include <asio_sync/detail/context/deadline_heap.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>

#include <boost/asio/execution_context.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace asio_sync::detail {

// What an execution context knows of the waits whose handlers it is to run: the primitives at home
// in it, the waits on primitives that are not, and the deadlines of all that are timed. When its
// services shut down it takes the handlers out and destroys them.
//
// Lock order: the service's, then a core's. A wait is linked here before it queues, and leaves
// before it is posted.
class wait_service : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;

  explicit wait_service(asio::execution_context& context)
      : asio::execution_context::service(context) {}

  // A service that is made while its context shuts down is destroyed without having been told.
  ~wait_service() override { wait_service::shutdown(); }

  // The core's primitive is at home in this context.
  void adopt(homed_core& core, known_context const& context) noexcept {
    std::lock_guard const guard(lock_);
    if (down_) return;
    homes_.push_back(core);
    core.service = this;
    core.tally().move_to(context);
  }

  void disown(homed_core& core) noexcept {
    std::lock_guard const guard(lock_);
    homes_.erase(core);
    core.service = nullptr;
  }

  // Links a fresh wait: one that is not at home, one with a deadline, or both. False if the
  // context's services are shut down: nobody will ever run the handler. Throws what making and
  // starting the timer and making room for the deadline throw; nothing has changed then.
  bool attach(waiter& wait, std::optional<steady_clock::time_point> deadline) {
    std::lock_guard const guard(lock_);
    if (down_) return false;
    if (deadline) {
      if (!timer_) timer_.emplace(*this, context());
      deadlines_.push(*deadline, wait);
      try {
        timer_->expect(deadlines_.earliest());
      } catch (...) {
        deadlines_.erase(wait);
        throw;
      }
    }
    if (wait.work != wait_work::home) push_foreign(wait);
    wait.service = this;
    return true;
  }

  // Unlinks a wait that was decided, or will never queue.
  void detach(waiter& wait) noexcept {
    std::lock_guard const guard(lock_);
    unlink(wait);
    if (timer_ && deadlines_.empty() && !down_) timer_->rest();
  }

  // The timer has fired, or was told that there is something new: refuses what has expired.
  void on_timer();

  void shutdown() noexcept override;

 private:
  // The waits that are not at home, linked through their second pair of links.
  void push_foreign(waiter& wait) noexcept {
    wait.service_prev = nullptr;
    wait.service_next = foreign_;
    if (foreign_) foreign_->service_prev = &wait;
    foreign_ = &wait;
  }

  void unlink(waiter& wait) noexcept {
    deadlines_.erase(wait);
    wait.service = nullptr;
    if (wait.work == wait_work::home) return;
    (wait.service_prev ? wait.service_prev->service_next : foreign_) = wait.service_next;
    if (wait.service_next) wait.service_next->service_prev = wait.service_prev;
  }

  bool take_handlers(decided_waits& taken) noexcept;

  std::mutex lock_;  // guards all below
  wait_list<homed_core> homes_;
  waiter* foreign_ = nullptr;
  deadline_heap deadlines_;
  std::optional<context_timer<wait_service>> timer_;
  bool down_ = false;
};

inline void wait_service::on_timer() {
  for (bool arrived = true;; arrived = false) {
    decided_waits expired;
    {
      std::lock_guard const guard(lock_);
      if (arrived) timer_->arrived();
      if (down_ || deadlines_.empty()) return;
      if (deadlines_.earliest() > steady_clock::now())
        return timer_->expect(deadlines_.earliest());
      waiter& wait = deadlines_.front();
      deadlines_.erase(wait);
      // One that was decided meanwhile is detached by whoever did that.
      if (wait.core->remove(wait, wait_outcome::timed_out, expired)) unlink(wait);
    }
    expired.complete();
  }
}

inline void wait_service::shutdown() noexcept {
  completion_scope::drain();  // among them may be completions for this context
  {
    std::lock_guard const guard(lock_);
    down_ = true;
    // Younger than this service, the timer's own dies first: let go of it now.
    if (timer_) timer_->end();
  }
  completion_scope const scope;
  for (bool more = true; more;) {
    decided_waits taken;
    more = take_handlers(taken);
    while (!taken.empty()) {
      waiter& wait = taken.pop_front();
      if (wait.outcome == wait_outcome::granted) {
        wait.complete();  // of another context: it was behind one of ours
        continue;
      }
      // Where shared objects hide their symbols the context has a service of each of them, and it
      // may be another one that knows the wait.
      if (wait.service) wait.service->detach(wait);
      wait.act(wait, wait_action::drop);
    }
  }
}

// The waits of one more core, or one more foreign wait, out of the queue and of this service.
inline bool wait_service::take_handlers(decided_waits& taken) noexcept {
  std::lock_guard const guard(lock_);
  if (!homes_.empty()) {
    homes_.pop_front().leave_home(taken);
    return true;
  }
  if (!foreign_) return false;
  waiter& wait = *foreign_;
  unlink(wait);
  wait.core->remove(wait, wait_outcome::aborted, taken);
  return true;
}

inline void waiter::complete() noexcept {
  if (service) service->detach(*this);
  act(*this, wait_action::post);
}

template <class Executor>
homed_core* homed_core::make(void* primitive, Executor const& ex) {
  static_assert(
      asio::execution::is_executor<Executor>::value && is_postable<Executor>,
      "a primitive needs a standard executor with blocking.never and a context; those of "
      "the networking TS, such as io_context::strand, are not supported");
  known_context const home = known_context::of(ex);
  wait_service* const service =
      home.get() ? &asio::use_service<wait_service>(*home.get()) : nullptr;
  pool_allocator<homed_core> memory;
  auto* const core = ::new (static_cast<void*>(memory.allocate(1))) homed_core(primitive);
  if (service) service->adopt(*core, home);
  return core;
}

inline void homed_core::abandon() noexcept {
  if (service) service->disown(*this);
  decided_waits decided;
  fifo_core::abandon(decided);
  decided.complete();
  unref();
}

}  // namespace asio_sync::detail

#endif
