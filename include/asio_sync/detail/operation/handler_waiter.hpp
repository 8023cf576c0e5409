// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_OPERATION_HANDLER_WAITER_HPP
#define ASIO_SYNC_DETAIL_OPERATION_HANDLER_WAITER_HPP

#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/wait_service.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/operation/completion_executor.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/block_pool.hpp>
#include <asio_sync/detail/platform/config.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/error.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

using boost::system::error_code;

inline error_code error_of(wait_outcome outcome) noexcept {
  switch (outcome) {
    case wait_outcome::granted: return {};
    case wait_outcome::aborted: return asio::error::operation_aborted;
    case wait_outcome::timed_out: return asio::error::timed_out;
    case wait_outcome::closed: return error::closed;
    case wait_outcome::undecided: break;
  }
  return {};
}

// The memory of a wait is the handler's allocator's; the pool's, where that is std::allocator.
template <class Wait, class Handler>
auto block_allocator(Handler const& handler) {
  auto const allocator = asio::get_associated_allocator(handler);
  using traits = std::allocator_traits<std::decay_t<decltype(allocator)>>;
  using rebound = typename traits::template rebind_alloc<Wait>;
  if constexpr (std::is_same_v<rebound, std::allocator<Wait>>)
    return pool_allocator<Wait>();
  else
    return rebound(allocator);
}

// In the handler's cancellation slot. The signal may be gone before the wait: then it says so.
class slot_canceller {
 public:
  explicit slot_canceller(waiter& wait) noexcept : wait_(wait) { wait_.slot_connected = true; }
  slot_canceller(slot_canceller const&) = delete;
  slot_canceller& operator=(slot_canceller const&) = delete;
  ~slot_canceller() { wait_.slot_connected = false; }

  void operator()(asio::cancellation_type_t type) {
    // The completion, on another thread, may clear the slot before this returns: no access after.
    if (type != asio::cancellation_type::none) wait_.core->refuse(wait_, wait_outcome::aborted);
  }

 private:
  waiter& wait_;
};

// A wait and its handler. Claims says what is waited for: `grant`, what the handler receives
// besides the error; `claim(core)`, which makes it.
template <class Claims, class Handler>
class handler_holder : public waiter {
 public:
  handler_holder(function* f, homed_core* queue) noexcept : waiter(f, queue) {}
  ~handler_holder() {}  // what destroys the wait destroys its handler

  union {
    Handler handler;
  };
};

template <class Claims, class Handler, class Executor, completion_path Path>
class handler_waiter final : public handler_holder<Claims, Handler> {
  using base = handler_holder<Claims, Handler>;
  using grant_type = typename Claims::grant;
  friend class wait_runner<handler_waiter>;
  template <class Wait>
  friend class unstarted;

  // A coroutine is resumed by the handler in the block: each move of it would be waited for, and
  // nobody can tell that the block is freed later. What is left of a known executor holds nothing.
  static constexpr bool resumes_in_place = is_resumption<Handler> && is_known_executor<Executor>;

 public:
  // Without a handler, in memory of the pool.
  static handler_waiter* make(homed_core& queue, Executor const& ex) {
    pool_allocator<handler_waiter> memory;
    return place(memory, queue, ex, [](handler_waiter&) {});
  }

  // Throws what allocating and moving or copying the handler throw.
  template <class Source>
  static handler_waiter* make(homed_core& queue, Executor const& ex, Source&& handler) {
    auto memory = block_allocator<handler_waiter>(handler);
    return place(memory, queue, ex, [&handler](handler_waiter& self) {
      ::new (static_cast<void*>(std::addressof(self.handler)))
          Handler(std::forward<Source>(handler));
    });
  }

  // Gets ready to queue: connects the slot, finds who holds work, links it where it must be known.
  // False if the context is shutting down: discard it. Throws: discard it, too.
  bool arm(asio::cancellation_slot slot, wait_limit limit) {
    if (this->core->is_closed() || limit.expired()) {
      this->outcome = wait_outcome::timed_out;  // it will not queue
      return true;
    }
    if (slot.is_connected()) slot.template emplace<slot_canceller>(*this);
    asio::execution_context& context = asio::query(executor_.plain(), asio::execution::context);
    bool const at_home = is_known_executor<Executor> && this->core->home().get() == &context;
    if (at_home && !limit.timed()) {
      this->work = wait_work::home;
      return true;
    }
    auto& known_to = asio::use_service<wait_service>(context);
    std::optional<steady_clock::time_point> deadline;
    if (limit.timed()) deadline = limit.deadline();
    if (at_home)
      this->work = wait_work::home;
    else
      executor_.track(*this);
    return known_to.attach(*this, deadline);
  }

  // Decided before it queued: posts, and lets out what the executor throws.
  void start() {
    if (this->service) this->service->detach(*this);
    if constexpr (is_context_executor<Executor>) return executor_.execute(*this);
    if (completion_scope::active()) return post_in_turn();
    completion_scope const scope;
    executor_.execute(*this);
  }

 private:
  handler_waiter(homed_core& queue, Executor const& ex)
      : base(&perform, &queue), executor_(*this, ex) {}
  ~handler_waiter() { executor_.end(*this); }

  template <class Allocator, class Fill>
  static handler_waiter* place(Allocator& memory, homed_core& queue, Executor const& ex,
                               Fill fill) {
    struct allocation {
      Allocator& memory;
      handler_waiter* block;
      ~allocation() {
        if (block) memory.deallocate(block, 1);
      }
    } allocated{memory, std::to_address(memory.allocate(1))};
    struct construction {
      handler_waiter* block;
      ~construction() {
        if (block) block->~handler_waiter();
      }
    } constructed{::new (static_cast<void*>(allocated.block)) handler_waiter(queue, ex)};
    fill(*constructed.block);
    allocated.block = nullptr;
    return std::exchange(constructed.block, nullptr);
  }

  static void perform(waiter& wait, wait_action action) {
    auto& self = static_cast<handler_waiter&>(wait);
    switch (action) {
      case wait_action::post:
        // These neither run nor destroy what they are given inside execute().
        if constexpr (is_context_executor<Executor>) return self.executor_.execute(self);
        return self.post_in_turn();
      case wait_action::execute: return self.executor_.execute(self);
      case wait_action::drop: return self.drop();
      case wait_action::discard_empty: return self.discard_empty();
    }
  }

  // Where it has to queue, it keeps its context running by itself: the core's work is let go
  // before its turn comes.
  void post_in_turn() noexcept {
    if constexpr (is_known_executor<Executor>)
      if (completion_scope::active() && this->work != wait_work::own) executor_.track(*this);
    completion_scope::post(*this);
  }

  // D: on the handler's executor, once.
  ASIO_SYNC_FLATTEN void run() {
    if constexpr (Path != completion_path::immediate) immediate_budget::renew();
    disconnect();
    homed_core& queue = *this->core;
    wait_outcome const decided = this->outcome;
    bool const at_home = this->work == wait_work::home;
    if constexpr (resumes_in_place) {
      ending const at_exit(*this);
      return this->handler(queue.arrive(decided, at_home));
    }
    Handler taken = take_handler();
    call(taken, queue, queue.arrive(decided, at_home));
  }

  // The core may be gone unless the outcome is granted.
  ASIO_SYNC_NOINLINE static void call(Handler& taken, homed_core& queue, wait_outcome outcome) {
    // The grant ends before the handler, which may own the primitive.
    grant_type grant = outcome == wait_outcome::granted ? Claims::claim(queue) : grant_type();
    if constexpr (Path == completion_path::relayed) {
      auto const own = asio::get_associated_executor(taken);
      own.execute([taken = std::move(taken), outcome, grant = std::move(grant)]() mutable {
        complete(taken, outcome, std::move(grant));
      });
    } else {
      complete(taken, outcome, std::move(grant));
    }
  }

  // A coroutine claims the grant itself when it resumes.
  static void complete(Handler& taken, wait_outcome outcome, grant_type&& grant) {
    if constexpr (is_resumption<Handler>) {
      Claims::disown(grant);
      taken(outcome);
    } else {
      std::move(taken)(error_of(outcome), std::move(grant));
    }
  }

  // X: what it carries goes on before the handler's destructor runs.
  ASIO_SYNC_COLD void drop() {
    if (executor_.postpone_drop()) return;
    completion_scope const scope;
    disconnect();
    this->core->pass_on(*this);
    destroy_handler();
  }

  ASIO_SYNC_COLD void discard() {
    if (this->service) this->service->detach(*this);
    disconnect();
    destroy_handler();
  }

  ASIO_SYNC_COLD void discard_empty() {
    if (this->service) this->service->detach(*this);
    free(pool_allocator<handler_waiter>());
  }

  void disconnect() {
    if (this->slot_connected) asio::get_associated_cancellation_slot(this->handler).clear();
  }

  // Destroys the handler, or what a move has left of it, and frees the memory. Takes the allocator
  // first: a handler that was moved from may have none.
  class ending {
   public:
    explicit ending(handler_waiter& self)
        : self_(self), memory_(block_allocator<handler_waiter>(self.handler)) {}
    ending(ending const&) = delete;
    ending& operator=(ending const&) = delete;
    ~ending() {
      self_.handler.~Handler();
      self_.free(memory_);
    }

   private:
    handler_waiter& self_;
    decltype(block_allocator<handler_waiter>(std::declval<Handler const&>())) memory_;
  };

  // Moves the handler out and frees the memory. If the move throws the wait is dropped.
  Handler take_handler() {
    ending const at_exit(*this);
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
      return Handler(std::move(this->handler));
    } else {
      try {
        return Handler(std::move(this->handler));
      } catch (...) {
        this->core->pass_on(*this);
        throw;
      }
    }
  }

  void destroy_handler() {
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
      take_handler();
    } else {
      ending const at_exit(*this);
    }
  }

  template <class Allocator>
  void free(Allocator memory) noexcept {
    this->~handler_waiter();
    memory.deallocate(this, 1);
  }

  completion_executor<Executor, Path> executor_;
};

// Owns a wait that has not queued.
template <class Wait>
class unstarted {
 public:
  explicit unstarted(Wait* wait) noexcept : wait_(wait) {}
  unstarted(unstarted const&) = delete;
  unstarted& operator=(unstarted const&) = delete;
  ~unstarted() {
    if (wait_) wait_->discard();
  }

  Wait& operator*() const noexcept { return *wait_; }
  Wait* operator->() const noexcept { return wait_; }
  Wait& release() noexcept { return *std::exchange(wait_, nullptr); }

 private:
  Wait* wait_;
};

// Initiates a wait: granted at once, or queued. When it throws nothing has changed.
template <completion_path Path, class Operation, class Executor, class Source>
void start_wait_on(Operation const& operation, Executor const& ex, Source&& handler) {
  using wait_type =
      handler_waiter<typename Operation::claims, std::decay_t<Source>, Executor, Path>;
  homed_core& core = operation.core();
  unstarted<wait_type> wait(wait_type::make(core, ex, std::forward<Source>(handler)));
  if (core.try_grant(*wait)) return wait.release().start();
  if (!wait->arm(asio::get_associated_cancellation_slot(wait->handler), operation.limit())) return;
  wait_type& entering = wait.release();
  if (!core.enter(entering)) entering.start();
}

// Completes what need not wait through the handler's own immediate executor; false if it has to,
// or there is none, or this thread has done so too often in a row.
template <class Operation, class Source>
bool start_immediately(Operation const& operation, Source&& handler) {
  if (!immediate_budget::available()) return false;
  auto const complete = [&](auto const& ex) {
    homed_core& core = operation.core();
    wait_outcome const outcome = operation.try_now();
    if (outcome == wait_outcome::undecided) return false;
    struct release_unless_concluded {
      homed_core* core;
      ~release_unless_concluded() {
        if (core) core->release();
      }
    } acquired{outcome == wait_outcome::granted ? &core : nullptr};
    using wait_type = handler_waiter<typename Operation::claims, std::decay_t<Source>,
                                     std::decay_t<decltype(ex)>, completion_path::immediate>;
    wait_type& wait = *wait_type::make(core, ex, std::forward<Source>(handler));
    core.conclude(wait, outcome);
    acquired.core = nullptr;
    immediate_budget::use();
    wait.start();
    return true;
  };
  return visit_immediate_executor(
      handler, asio::query(operation.executor(), asio::execution::context), complete);
}

// The handler is moved or copied once, into the block.
template <class Operation, class Source>
ASIO_SYNC_FLATTEN void start_wait(Operation const& operation, Source&& handler) {
  auto const& primitive = operation.executor();
  if constexpr (has_immediate_executor<std::decay_t<Source>>)
    if (start_immediately(operation, std::forward<Source>(handler))) return;
  visit_completion_executor(asio::get_associated_executor(handler, primitive), primitive,
                            [&](auto const& ex, auto relayed) {
                              constexpr auto path =
                                  relayed ? completion_path::relayed : completion_path::posted;
                              start_wait_on<path>(operation, ex, std::forward<Source>(handler));
                            });
}

}  // namespace asio_sync::detail

#endif
