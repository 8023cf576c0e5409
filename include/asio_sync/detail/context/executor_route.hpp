// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_EXECUTOR_ROUTE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_EXECUTOR_ROUTE_HPP

// The routes to executors: one type for each type of executor, none for a handler.

#include <asio_sync/detail/context/completion.hpp>
#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/strand_rooms.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/executor.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_sync::detail {

struct no_rooms {
  explicit no_rooms(waiter&) noexcept {}
  static constexpr void renew() noexcept {}
  static constexpr bool keep_block() noexcept { return false; }
};

// The work of a waiter that is its own is held by its route's executor until that is used.
template <class Executor>
class held_executor {
 public:
  explicit held_executor(Executor const& ex) noexcept : plain_(ex) {}
  held_executor(held_executor const&) = delete;
  held_executor& operator=(held_executor const&) = delete;
  ~held_executor() {}  // destroy() comes first

  asio::execution_context& context(bool is_tracked) const {
    if (is_tracked) return asio::query(tracked_, asio::execution::context);
    return asio::query(plain_, asio::execution::context);
  }

  void track() {
    tracked_type tracked(asio::prefer(plain_, asio::execution::outstanding_work.tracked));
    plain_.~Executor();
    ::new (static_cast<void*>(std::addressof(tracked_))) tracked_type(std::move(tracked));
  }

  // Calls f with the executor, which is on the stack: the block may be gone before f returns. It
  // is moved out, so that what is left holds nothing of a known one, unless it is used again.
  template <class Function>
  void use(wait_work work, Function&& f) {
    if (work == wait_work::kept) {
      auto const ex = asio::prefer(tracked_, asio::execution::outstanding_work.untracked);
      f(ex);
    } else if (work == wait_work::own) {
      tracked_type const keep(std::move(tracked_));
      f(asio::prefer(keep, asio::execution::outstanding_work.untracked));
    } else {
      Executor const ex(std::move(plain_));
      f(ex);
    }
  }

  void destroy(bool is_tracked) noexcept {
    if (is_tracked)
      tracked_.~tracked_type();
    else
      plain_.~Executor();
  }

 private:
  using tracked_type = tracked_executor<Executor>;

  union {
    Executor plain_;
    tracked_type tracked_;
  };
};

// The step of a relayed completion on the executor that it was posted to.
struct relay_step {
  static void run(waiter& w) { w.way->relay(w); }
};

// A completion that an unknown executor runs, perhaps inside execute(), where the destruction of
// what is dropped waits; that of what the handler itself drops is not to.
struct unknown_step {
  static void run(waiter& w) {
    completion_queue::running const handler;
    last_step::run(w);
  }
};

// The route to an executor that a completion is posted to; Step is what it does there.
template <class Executor, class Step>
class executor_route : public route {
 public:
  executor_route(waiter& w, Executor const& ex, bool runs_no_user_code)
      : route(runs_no_user_code), executor_(ex), rooms_(w) {}

  void post(waiter& w) override {
    completion_of<Step> step(w);
    rooms_.renew();
    executor_.use(w.work, [&](auto const& ex) {
      if constexpr (std::is_same_v<Executor, context_strand>)
        asio::require(ex, asio::execution::allocator(strand_room_allocator<std::byte>(&rooms_)))
            .execute(std::move(step));
      else
        asio::require(ex, asio::execution::blocking.never).execute(std::move(step));
    });
  }

  void track(waiter& w) override {
    executor_.track();
    w.work = wait_work::own;
  }

  asio::execution_context& context(waiter const& w) const override {
    return executor_.context(w.is_tracked());
  }

  void destroy(waiter const& w) noexcept override {
    destroy_executor(w);
    this->executor_route::~executor_route();
  }

  bool keeps_block() noexcept override { return rooms_.keep_block(); }

 protected:
  ~executor_route() = default;

  void destroy_executor(waiter const& w) noexcept { executor_.destroy(w.is_tracked()); }

 private:
  held_executor<Executor> executor_;
  [[no_unique_address]] std::conditional_t<std::is_same_v<Executor, context_strand>, strand_rooms,
                                           no_rooms>
      rooms_;
};

// The same to the plain executor of a context.
template <class Step>
class executor_route<known_context, Step> : public route {
 public:
  executor_route(waiter&, known_context const& context, bool) noexcept
      : route(true), context_(context) {}

  void post(waiter& w) override {
    context_work const let_go(w.work == wait_work::kept ? context_work() : std::move(work_));
    known_context const to(context_);
    post_to<Step>(to, w, w.room_of_any());
  }

  void track(waiter& w) override {
    work_ = context_.track();
    w.work = wait_work::own;
  }

  asio::execution_context& context(waiter const&) const override { return *context_.get(); }

  void destroy(waiter const&) noexcept override { this->executor_route::~executor_route(); }

 protected:
  ~executor_route() = default;

  void destroy_executor(waiter const&) noexcept {}

 private:
  known_context context_;
  context_work work_;
};

// The route to an executor that nothing can be posted to, or that has to be asked itself although
// its context is known: the completion is posted to First, and executed by Own from there.
template <class First, class Own>
class relayed_route final : public executor_route<First, relay_step> {
 public:
  relayed_route(waiter& w, First const& first, Own const& own, bool runs_no_user_code)
      : executor_route<First, relay_step>(w, first, runs_no_user_code), own_(own) {}

  // What the executor throws ends here, the waiter is dropped; what the handler throws, which an
  // inline executor runs in here, is for whoever runs the context.
  void relay(waiter& w) override {
    if (w.work == wait_work::home) w.core->settle_work();  // it may arrive elsewhere, or never
    Own const own(w.work == wait_work::kept ? Own(own_) : Own(std::move(own_)));
    relayed const here(w);
    try {
      own.execute(completion_of<own_step>(w));
    } catch (...) {
      if (here.arrived()) throw;
    }
  }

  void destroy(waiter const& w) noexcept override {
    this->destroy_executor(w);
    this->~relayed_route();
  }

 private:
  // The innermost relay() of this thread, and whether its waiter has come through.
  class relayed {
   public:
    explicit relayed(waiter& w) noexcept : waiter_(&w), outer_(std::exchange(innermost, this)) {}
    relayed(relayed const&) = delete;
    relayed& operator=(relayed const&) = delete;
    ~relayed() { innermost = outer_; }

    bool arrived() const noexcept { return waiter_ == nullptr; }

    static void arrive(waiter& w) noexcept {
      if (innermost && innermost->waiter_ == &w) innermost->waiter_ = nullptr;
    }

   private:
    static inline constinit thread_local relayed* innermost = nullptr;
    waiter* waiter_;
    relayed* outer_;
  };

  struct own_step {
    static void run(waiter& w) {
      relayed::arrive(w);
      unknown_step::run(w);
    }
  };

  Own own_;
};

}  // namespace asio_sync::detail

#endif
