// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_COMPLETION_QUEUE_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_COMPLETION_QUEUE_HPP

// The completions of a thread: in which order it posts, passes on, destroys and keeps back.

#include <asio_sync/detail/context/completion.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>

#include <boost/asio/execution_context.hpp>

#include <utility>

namespace asio_sync::detail {

// Completions run in this order, so that chains of hand-offs and of drops nest nowhere, and no
// grant to a known executor is kept back while user code runs:
//
// 1. What goes to known executors is posted at once. Where such an executor destroys what it is
//    given (a strand whose context has shut down), the drop is linked.
// 2. What was dropped passes on what it carries, with 1 again, until nobody is left.
// 3. Then handlers are destroyed, and executors that the library does not know are called, one
//    after the other. Both are user code, may come back here, and find the same lists.
class completion_queue {
 public:
  // Posts what was decided, within which drops are linked. The outermost does steps 2 and 3.
  class posting {
   public:
    posting() noexcept : outermost_(!std::exchange(this_thread_completions.linking, true)) {}
    posting(posting const&) = delete;
    posting& operator=(posting const&) = delete;
    ~posting() {
      if (!outermost_) return;
      pass_on_dropped();
      this_thread_completions.linking = false;
      if (!this_thread_completions.draining) drain();
    }

   private:
    bool const outermost_;
  };

  // The waiter was decided and is linked nowhere: its completion goes out, or is kept.
  static void hand_out(waiter& w) noexcept {
    if (!goes_at_once(w)) return this_thread_completions.kept.push_back(w);
    posting const scope;
    try {
      w.way->post(w);
    } catch (...) {  // the executor's: the completion was dropped
    }
  }

  // Its initiation ends with this: lets out what the executor throws.
  static void start(waiter& w) {
    if (!w.way) return w.core->post_home(w);
    start_routed(w);
  }

  // The executor has destroyed the completion instead of running it.
  ASIO_SYNC_COLD static void drop(waiter& w) noexcept {
    if (w.way && w.way->keeps_block()) return;
    if (w.is_connected()) w.act(w, waiter_action::disconnect);
    this_thread_completions.dropped.push_back(w);
    if (this_thread_completions.linking) return;
    {
      scope_of const linking(this_thread_completions.linking, true);
      pass_on_dropped();
    }
    // Whoever destroys completions (a context that ends, say) has their handlers destroyed; but an
    // executor that discards what it is given, again and again, must not nest.
    if (!this_thread_completions.executing) drain();
  }

  // The waiter has left its core and its service: its handler is destroyed in its turn.
  static void keep_dropped(waiter& w) noexcept {
    w.state = wait_state::dropped;
    this_thread_completions.kept.push_back(w);
  }

  // Does everything that is kept back, on top of whoever is at it.
  ASIO_SYNC_NOINLINE static void drain() noexcept {
    draining_scope const scope;  // its end
  }

  // The handlers that would be destroyed next are to be so later, by drain_if_any(): what waits in
  // the queue of a context that ends goes on before. False if there are none. Within a posting.
  static bool postpone(wait_service& by) noexcept {
    pass_on_dropped();
    bool any = false;
    wait_list<waiter>& kept = this_thread_completions.kept;
    for (waiter* next = kept.empty() ? nullptr : &kept.front(); next;) {
      waiter& w = *next;
      next = wait_list<waiter>::following(w);
      if (w.state != wait_state::dropped) continue;
      kept.erase(w);
      this_thread_completions.postponed.push_back(w);
      w.service = &by;
      any = true;
    }
    return any;
  }

  // Before the thread blocks; and when a context has ended, which has postponed some handlers: not
  // those of others, further up the stack, whose queues are not empty yet.
  static void drain_if_any(wait_service const* postponed_by = nullptr) noexcept {
    if (!this_thread_completions.postponed.empty()) end_postponement(postponed_by);
    if (!this_thread_completions.kept.empty() || !this_thread_completions.dropped.empty()) drain();
  }

  // The context ends: what is kept for it will not run.
  static void drop_kept_for(asio::execution_context const& context) noexcept {
    wait_list<waiter>& kept = this_thread_completions.kept;
    for (waiter* next = kept.empty() ? nullptr : &kept.front(); next;) {
      waiter& w = *next;
      next = wait_list<waiter>::following(w);
      if (w.state == wait_state::dropped || &w.way->context(w) != &context) continue;
      kept.erase(w);
      drop(w);
    }
  }

  // Sets a flag of the thread for a while.
  class scope_of {
   public:
    scope_of(bool& flag, bool value) noexcept : flag_(flag), outer_(std::exchange(flag, value)) {}
    scope_of(scope_of const&) = delete;
    scope_of& operator=(scope_of const&) = delete;
    ~scope_of() { flag_ = outer_; }

   private:
    bool& flag_;
    bool const outer_;
  };

  // Around the code of a handler that an unknown executor runs, perhaps inside execute().
  struct running : scope_of {
    running() noexcept : scope_of(this_thread_completions.executing, false) {}
  };

 private:
  // Ends the postponement of a service, or of all services if none is named.
  ASIO_SYNC_COLD static void end_postponement(wait_service const* by) noexcept {
    wait_list<waiter>& postponed = this_thread_completions.postponed;
    for (waiter* next = &postponed.front(); next;) {
      waiter& w = *next;
      next = wait_list<waiter>::following(w);
      if (by && w.service != by) continue;
      w.service = nullptr;
      postponed.erase(w);
      this_thread_completions.kept.push_back(w);
    }
  }

  static bool goes_at_once(waiter const& w) noexcept {
    return w.way->at_once || w.way->goes_to_strand(w);
  }

  ASIO_SYNC_NOINLINE static void start_routed(waiter& w) {
    if (goes_at_once(w)) {
      posting const scope;
      return w.way->post(w);
    }
    if (this_thread_completions.draining) return this_thread_completions.kept.push_back(w);
    draining_scope const scope;
    execute(w);
  }

  struct draining_scope {
    draining_scope() noexcept : outer(std::exchange(this_thread_completions.draining, true)) {}
    draining_scope(draining_scope const&) = delete;
    draining_scope& operator=(draining_scope const&) = delete;
    ~draining_scope() {
      drain_lists();
      this_thread_completions.draining = outer;
    }
    bool const outer;
  };

  static void pass_on_dropped() noexcept {
    while (!this_thread_completions.dropped.empty()) {
      waiter& w = this_thread_completions.dropped.pop_front();
      keep_dropped(w);  // before what the next one runs
      w.core->pass_on(w);
    }
  }

  static void drain_lists() noexcept {
    for (;;) {
      if (!this_thread_completions.dropped.empty()) {
        scope_of const linking(this_thread_completions.linking, true);
        pass_on_dropped();
      }
      if (this_thread_completions.kept.empty()) return;
      waiter& w = this_thread_completions.kept.pop_front();
      if (w.state == wait_state::dropped) {
        w.act(w, waiter_action::destroy);
      } else {
        try {
          execute(w);
        } catch (...) {  // the executor's: the completion was dropped
        }
      }
    }
  }

  static void execute(waiter& w) {
    scope_of const executing(this_thread_completions.executing, true);
    w.way->post(w);
  }
};

template <class Step>
void completion_of<Step>::drop(waiter& w) noexcept {
  completion_queue::drop(w);
}

}  // namespace asio_sync::detail

#endif
