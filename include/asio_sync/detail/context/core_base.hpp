// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_CORE_BASE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_CORE_BASE_HPP

// What slots, timers, services and executors know of a core, whatever its type.

#include <asio_sync/detail/context/completion.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace asio_sync::detail {

class destination;

// Waiters that one transition of one core has decided. Holds work of the core's home context until
// they are posted, where this thread does not run inside that context: otherwise the context could
// run out of work, and return from run(), between the decision and the post.
class decided_waits : public decided_list<waiter> {
 public:
  // Posts what runs no user code, lets the work go, and only then does what is kept back.
  void hand_out() noexcept;

 private:
  friend class kept_work;

  ASIO_SYNC_NOINLINE inline void hand_out_routed() noexcept;

  context_work work_;
};

// The end of an initiation, in which a wait that did not queue is handed to its executor. If that
// throws, what the wait has taken from its caller goes back. The wait knows its scope, until it
// arrives or queues: another may begin in its block meanwhile.
class initiation_scope {
 public:
  template <class Node>
  explicit initiation_scope(Node& w) noexcept
      : waiter_(&w), outer_(std::exchange(innermost, this)) {
    w.initiation = this;
  }
  initiation_scope(initiation_scope const&) = delete;
  initiation_scope& operator=(initiation_scope const&) = delete;
  ~initiation_scope() { innermost = outer_; }

  // True if this thread is in that of the wait, which may have ended before.
  template <class Node>
  static bool is_on_for(Node const& w) noexcept {
    return innermost && w.initiation == innermost && innermost->waiter_ == &w;
  }

 private:
  static inline constinit thread_local initiation_scope const* innermost = nullptr;
  waiter const* waiter_;
  initiation_scope const* outer_;
};

// The work that a core holds of its home context: one for all waiters that are queued. After a
// hand-over inside the context also for the one that is on its way, as the holder is likely to
// queue again before that arrives: two that take turns would let go of the work and take it again
// each time. Told under the lock of the core.
class kept_work {
 public:
  void joined(known_context const& home) noexcept {
    if (!work_) hold(home);
    ++waits_;
    surplus_.store(false, std::memory_order_relaxed);
  }

  void left(known_context const& home, decided_waits& decided) noexcept {
    --waits_;
    if (home.running_in_this_thread())
      surplus_.store(waits_ == 0, std::memory_order_relaxed);
    else
      hold_until_posted(home, decided);
  }

  // All that are queued, at once.
  void all_left(known_context const& home, decided_waits& decided) noexcept {
    if (std::exchange(waits_, 0) == 0) return;
    if (home.running_in_this_thread())
      surplus_.store(true, std::memory_order_relaxed);
    else
      decided.work_ = std::move(work_);
  }

  // There was no hand-over inside the context, or it has arrived. Under the lock also because the
  // home, which may be about to end on another thread, does not before it has come here.
  void settle() noexcept {
    if (!has_surplus()) return;
    work_.reset();
    surplus_.store(false, std::memory_order_relaxed);
  }

  // Whether work is held although nobody is queued. Also without the lock, on arrival. Relaxed: a
  // waiter is posted after it has left the queue, so its arrival sees the surplus that it has left
  // behind, or a later value. settle() looks again.
  bool has_surplus() const noexcept { return surplus_.load(std::memory_order_relaxed); }

 private:
  ASIO_SYNC_NOINLINE void hold(known_context const& home) noexcept { work_ = home.track(); }

  ASIO_SYNC_NOINLINE void hold_until_posted(known_context const& home,
                                            decided_waits& decided) noexcept {
    if (waits_ == 0)
      decided.work_ = std::move(work_);
    else if (!decided.work_)
      decided.work_ = home.track();
  }

  [[no_unique_address]] context_work work_;  // the rest fits behind it
  threading::atomic<bool> surplus_{false};
  std::uint32_t waits_ = 0;
};

// A task that a wait has begun elsewhere: the function of a monitor, or the request of a client.
// It is told after the lock under which the shell has refused the wait.
class begun_task {
 public:
  begun_task(begun_task const&) = delete;
  begun_task& operator=(begun_task const&) = delete;

  // Asks the task to cancel itself; `self` is this. Called under no lock: may run user code.
  virtual void cancel(std::shared_ptr<begun_task> const& self) noexcept = 0;

 protected:
  begun_task() = default;
  ~begun_task() = default;
};

// Waiters that were decided under the lock of a wait_service or of a slot's canceller, and the
// task that one of them has begun, if that is to be cancelled after the lock.
struct decided_under_lock : decided_waits {
  void hand_out() noexcept {
    decided_waits::hand_out();
    if (begun) begun->cancel(begun);
  }

  std::shared_ptr<begun_task> begun;
};

// Virtual functions are seldom called. What only they need (the services, the timer, the routes)
// is compiled in the units that make a primitive, and in no others.
class core_base {
 public:
  static constexpr bool moves_waits_on = false;  // from its queue to that of another core

  core_base(void* p, known_context const& home, bool plain) noexcept
      : primitive_(p), home_(home), plain_(plain) {}
  core_base(core_base const&) = delete;
  core_base& operator=(core_base const&) = delete;

  void* primitive() const noexcept { return primitive_; }

  // Where the primitive's executor leads, if that is known. It ends before the context does.
  known_context const& home() const noexcept { return home_; }

  // Returns the context in which a waiter arrives first.
  asio::execution_context& context_of(waiter const& w) const {
    return w.way ? w.way->context(w) : *home_.get();
  }

  // That of the home, which takes the waiters at home out when that ends. Where shared objects
  // hide their symbols, a context has a service of each of them. Relaxed: threads that ask for it
  // run the context, or their user orders them with its end.
  wait_service* service() const noexcept { return service_.load(std::memory_order_relaxed); }

  // Whether the primitive's executor is the plain one of its home, which lives.
  bool is_plainly_at_home() const noexcept { return plain_ && home_.get(); }

  // Posts to the plain executor of the home. Never throws: the waiter has room for it.
  void post_home(waiter& w) noexcept { post_to<last_step>(home_, w, w.room()); }

  // Refuses one waiter unless it is decided already. Returns true if it was queued, and is in the
  // list.
  virtual bool refuse(waiter& w, wait_outcome outcome, decided_waits& decided) noexcept = 0;

  // Refuses a wait whose time is up, perhaps under the service's lock. Returns what refuse() does.
  virtual bool expire(waiter& w, decided_under_lock& decided) noexcept {
    return refuse(w, wait_outcome::timed_out, decided);
  }

  // Refuses a wait that its slot cancels, under the lock of the slot's canceller.
  virtual void cancel(waiter& w, decided_under_lock& decided) noexcept {
    refuse(w, wait_outcome::aborted, decided);
  }

  // Refuses a wait whose context shuts down, under the service's lock.
  virtual void evict(waiter& w, decided_waits& decided) noexcept {
    refuse(w, wait_outcome::aborted, decided);
  }

  // A decided waiter will never arrive: what it carries goes on. Called under no lock: may run
  // user code.
  virtual void pass_on(waiter& w) noexcept = 0;

  // The context's services shut down: takes its waiters out. Under the service's lock.
  virtual void leave_home(decided_waits& decided) noexcept = 0;

  // No core has any left: from now on there is no home.
  virtual void forget_home() noexcept = 0;

  // True if it has an executor that must not outlive the home.
  virtual bool has_executor() const noexcept { return false; }

  // Ends that executor, which may be a user's. Under no lock.
  virtual void let_executor_go() noexcept {}

  // Releases work of the home that is held although nobody is queued. Not under the core's lock.
  void settle_work() noexcept {
    if (work_.has_surplus()) leave_work();
  }

  // Under the core's lock, of one that has queued, of one that was taken out, and of all of them.
  void joined(waiter const& w) noexcept {
    if (w.work == wait_work::home) work_.joined(home_);
  }
  void left(waiter& w, decided_waits& decided) noexcept {
    if (w.work == wait_work::home) return work_.left(home_, decided);
    if (w.work == wait_work::guest || w.work == wait_work::kept) taken_out(w, decided);
  }
  void all_left(decided_waits& decided) noexcept { work_.all_left(home_, decided); }

  // Where completions for the executor go, which need not be the home's.
  virtual destination destination_of(asio::any_io_executor const& own) const = 0;

  // The same for the plain executor of another context.
  virtual destination destination_of(known_context const& other) const = 0;

  // Makes the waiter known to the service of its context: one that is not at home, one with a
  // deadline, or both. False if the context is shutting down. Throws what making the service, its
  // timer and room for the deadline throw.
  virtual bool make_known(waiter& w, std::optional<steady_clock::time_point> deadline) = 0;

 protected:
  virtual ~core_base() = default;

  // The last count has gone. Out of line, so that the compiler does not see the core's type: a
  // unit that only waits compiles none of its virtual functions.
  ASIO_SYNC_COLD static void free(core_base& core) noexcept { core.destroy(); }

  void* const primitive_;
  [[no_unique_address]] known_context home_;  // the flags fit behind it
  bool const plain_;
  kept_work work_;

 private:
  friend class wait_service;
  friend class wait_list<core_base>;

  // Under the lock of the core in whose queue it was: a guest, or a lasting one.
  virtual void taken_out(waiter&, decided_waits&) noexcept {}
  // Lets go of the surplus, under the lock.
  virtual void leave_work() noexcept = 0;
  virtual void destroy() noexcept = 0;

  // These change under the service's lock.
  threading::atomic<wait_service*> service_{nullptr};
  core_base* next = nullptr;
  core_base* prev = nullptr;
};

}  // namespace asio_sync::detail

#endif
