// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_WAIT_SERVICE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_WAIT_SERVICE_HPP

// What an execution context knows of the waits whose handlers it is to run.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/context_ends.hpp>
#include <asio_sync/detail/context/context_timer.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/deadline_heap.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution_context.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace asio_sync::detail {

// The primitives at home in a context, the waiters on primitives that are not, and the deadlines
// of all that are timed. When its services shut down it takes the waiters out and destroys their
// handlers.
//
// Lock order: the service's, then a core's. A waiter is linked here before it queues, and leaves
// before it is posted.
class wait_service : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;

  // One that is made while its context shuts down is not told of that.
  explicit wait_service(asio::execution_context& context)
      : asio::execution_context::service(context), down_(is_ending(context)) {}

  // Without having been told, perhaps. What the context's own queue has dropped since may still be
  // kept back.
  ~wait_service() override { end_waits(nullptr); }

  // The core's primitive is at home in this context. Those whose waits go on to other cores are
  // told of a shutdown before these.
  template <class Core>
  void adopt(Core& adopted) noexcept {
    core_base& core = adopted;
    std::lock_guard const guard(lock_);
    if (down_) return core.home_.reset();
    Core::moves_waits_on ? homes_.push_front(core) : homes_.push_back(core);
    core.service_.store(this, std::memory_order_relaxed);
  }

  // The core's primitive ends.
  static void disown(core_base& core) noexcept {
    if (wait_service* const known_to = core.service()) known_to->leave(core);
  }

  // The context, which is none from the shutdown of its services on. Throws what allocating
  // throws.
  std::shared_ptr<known_context const> watched() {
    std::lock_guard const guard(lock_);
    if (!watched_) watched_ = std::make_shared<known_context>(context(), false);
    if (down_) watched_->reset();
    return watched_;
  }

  // Links a fresh waiter: one that is not at home, one with a deadline, or both. False if the
  // context's services are shut down: nobody will ever run the handler. Throws what making and
  // starting the timer and making room for the deadline throw; nothing has changed then.
  bool attach(waiter& w, std::optional<steady_clock::time_point> deadline) {
    std::lock_guard const guard(lock_);
    if (down_) return false;
    if (deadline) {
      if (!timer_) asio::use_service<timer_service<wait_service>>(context());
      deadlines_.push(*deadline, w);
      try {
        timer_->expect(deadlines_.earliest());
      } catch (...) {
        deadlines_.erase(w);
        throw;
      }
    }
    restart_if_failed();
    if (w.work != wait_work::home) push_foreign(w);
    w.service = this;
    return true;
  }

  // Unlinks a waiter that was decided, or will never queue; not one that may queue again. Virtual,
  // as functions of the core are.
  virtual void detach(waiter& w) noexcept {
    if (w.work == wait_work::kept) return;
    std::lock_guard const guard(lock_);
    unlink(w);
    if (timer_ && deadlines_.empty() && !down_) timer_->rest();
    restart_if_failed();
  }

  // The timer has fired, or was told that there is something new: refuses what has expired.
  void on_timer() noexcept;

  void shutdown() noexcept override { end_waits(queue_of(context())); }

  // The context's queue, which was to be destroyed, has been.
  void queue_has_ended() noexcept;

 private:
  friend class timer_service<wait_service>;

  void make_timer() { timer_.emplace(*this, context()); }

  // Where nobody has been told of the shutdown, nor has the queue that serves the timer: a thread
  // of its own may be at it.
  void timer_ends() noexcept {
    if (is_down()) return;
    end_waits(nullptr);
    if (io_queue* const queue = queue_of(context())) queue->shutdown();
  }

  bool is_down() noexcept {
    std::lock_guard const guard(lock_);
    return down_;
  }

  ASIO_SYNC_COLD inline void end_waits(io_queue* queue) noexcept;

  void leave(core_base& core) noexcept {
    std::lock_guard const guard(lock_);
    if (first_told_ == &core) first_told_ = wait_list<core_base>::following(core);
    homes_.erase(core);
    core.service_.store(nullptr, std::memory_order_relaxed);
  }

  core_base* first_home() noexcept { return homes_.empty() ? nullptr : &homes_.front(); }

  // The waiters that are not at home, linked through their second pair of links.
  void push_foreign(waiter& w) noexcept {
    w.service_prev = nullptr;
    w.service_next = foreign_;
    if (foreign_) foreign_->service_prev = &w;
    foreign_ = &w;
  }

  void unlink(waiter& w) noexcept {
    deadlines_.erase(w);
    w.service = nullptr;
    if (w.work == wait_work::home) return;
    (w.service_prev ? w.service_prev->service_next : foreign_) = w.service_next;
    if (w.service_next) w.service_next->service_prev = w.service_prev;
  }

  // Has the timer wait for the earliest deadline. Its place in the reactor is not its own: there
  // may be no memory for it. Then the next wait that is attached or detached tries again.
  void expect_earliest() noexcept {
    try {
      timer_->expect(deadlines_.earliest());
      timer_failed_ = false;
    } catch (...) {
      timer_failed_ = true;
    }
  }

  void restart_if_failed() noexcept {
    if (timer_failed_ && !down_ && !deadlines_.empty()) expect_earliest();
  }

  bool take_all_waiters() noexcept;
  bool take_waiters(decided_waits& taken) noexcept;
  void forget_homes() noexcept;
  core_base* take_core() noexcept;
  static bool drop_taken(decided_waits& taken) noexcept;

  std::mutex lock_;  // guards all below
  wait_list<core_base> homes_;
  core_base* first_told_ = nullptr;  // of these, and all behind it: they have left this home
  waiter* foreign_ = nullptr;
  deadline_heap deadlines_;
  std::optional<context_timer<wait_service>> timer_;
  queue_end<wait_service> queue_end_{*this};
  std::shared_ptr<known_context> watched_;  // if anybody does
  bool timer_failed_ = false;
  bool down_;
};

inline void wait_service::on_timer() noexcept {
  for (bool arrived = true;; arrived = false) {
    decided_under_lock expired;
    {
      std::lock_guard const guard(lock_);
      if (arrived) timer_->arrived();
      if (down_ || deadlines_.empty()) return;
      if (deadlines_.earliest() > steady_clock::now()) return expect_earliest();
      waiter& w = deadlines_.front();
      deadlines_.erase(w);
      // One that was decided meanwhile is detached by whoever did that.
      if (w.core->expire(w, expired)) unlink(w);
    }
    expired.hand_out();
  }
}

// The queue: of the context, if that is still to be destroyed.
void wait_service::end_waits(io_queue* queue) noexcept {
  {
    completion_queue::posting const scope;
    bool const is_known = take_all_waiters();
    completion_queue::drop_kept_for(context());  // also followers that were to run here
    if (queue && is_known && completion_queue::postpone(*this))
      return queue_end_.put_behind(*queue);
  }
  queue_has_ended();
}

// Handlers of this context, now or never: also if this runs inside the destructor of another.
inline void wait_service::queue_has_ended() noexcept {
  completion_queue::drain_if_any(this);
  while (core_base* const core = take_core()) core->let_executor_go();
}

// The waiters out of their queues and of this service, and the cores out of their home. Returns
// true if one of them was to go to an executor that the library knows.
inline bool wait_service::take_all_waiters() noexcept {
  context_ends::single_end const alone;
  {
    std::lock_guard const guard(lock_);
    down_ = true;
    if (watched_) watched_->reset();
    // Younger than this service, the timer's own dies first: let go of it now.
    if (timer_) timer_->reset();
  }
  bool is_known = false;
  for (bool more = true; more;) {
    decided_waits taken;
    more = take_waiters(taken);
    is_known |= drop_taken(taken);
  }
  forget_homes();
  return is_known;
}

// The waiters of one more core, or one more foreign waiter, out of the queue and of this service.
// What another thread decides meanwhile still goes to the context, which will drop it.
inline bool wait_service::take_waiters(decided_waits& taken) noexcept {
  std::lock_guard const guard(lock_);
  if (core_base* const core = first_home(); core != first_told_) {
    homes_.erase(*core);
    homes_.push_back(*core);
    if (!first_told_) first_told_ = core;
    core->leave_home(taken);
    return true;
  }
  if (!foreign_) return false;
  waiter& w = *foreign_;
  unlink(w);
  w.core->evict(w, taken);
  return true;
}

// Before any user code runs, which may begin waits. Only cores that have an executor to let go of
// are needed later; a client's thread may end the others at any time.
inline void wait_service::forget_homes() noexcept {
  std::lock_guard const guard(lock_);
  for (core_base* next = first_home(); next;) {
    core_base& core = *next;
    next = wait_list<core_base>::following(core);
    core.forget_home();
    if (core.has_executor()) continue;
    homes_.erase(core);
    core.service_.store(nullptr, std::memory_order_relaxed);
  }
  first_told_ = nullptr;
}

// The next that is to know of this service no more; null if none is left.
inline core_base* wait_service::take_core() noexcept {
  std::lock_guard const guard(lock_);
  core_base* const core = first_home();
  if (!core) return nullptr;
  homes_.erase(*core);
  core->service_.store(nullptr, std::memory_order_relaxed);
  return core;
}

// Whether the context is one that the library knows.
inline bool wait_service::drop_taken(decided_waits& taken) noexcept {
  bool is_known = false;
  decided_waits followers;  // of one of ours: granted, or broken, as it has gone
  while (!taken.empty()) {
    waiter& w = taken.pop_front();
    if (w.outcome != wait_outcome::aborted) {
      followers.push_back(w);
      continue;
    }
    // Where shared objects hide their symbols the context has a service of each of them, and it
    // may be another one that knows the waiter.
    if (w.service) w.service->detach(w);
    is_known |= !w.way || w.way->at_once;
    completion_queue::drop(w);
  }
  followers.hand_out();
  return is_known;
}

inline void decided_waits::hand_out() noexcept {
  while (!empty()) {
    if (front().way) return hand_out_routed();
    waiter& w = pop_front();
    if (w.service) w.service->detach(w);
    w.core->post_home(w);
  }
  work_.reset();
}

void decided_waits::hand_out_routed() noexcept {
  completion_queue::posting const scope;
  while (!empty()) {
    waiter& w = pop_front();
    if (w.service) w.service->detach(w);
    if (w.way)
      completion_queue::hand_out(w);
    else
      w.core->post_home(w);
  }
  work_.reset();
}

}  // namespace asio_sync::detail

#endif
