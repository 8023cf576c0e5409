// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_ENUMERATOR_STATE_MODEL_HPP
#define ASIO_SYNC_TEST_MODEL_ENUMERATOR_STATE_MODEL_HPP

#include "core_model.hpp"

#include <asio_sync/detail/core/enumerator_state.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

/// The turns of a run under the checker, as an enumerator takes them.
namespace steps_model {

using core_model::explore, core_model::kept;

struct operation {
  operation* next = nullptr;
  operation* prev = nullptr;
  model::plain<bool> in_flight{false}, beginning{false}, dropped{false};
  bool asked = false;  // to cancel itself
  int ends = 0;        // delivered, discarded or dropped
};

struct traits : model::policy {
  using operation = steps_model::operation;
  static void retain(operation&) noexcept {}
};

/// A run whose steps want so many completions, one after the other, and then end.
class run {
 public:
  using core_type = asio_sync::detail::enumerator_state<traits>;

  explicit run(std::vector<int> wanted) : wanted_(std::move(wanted)) {}

  void start() {
    if (core_.start()) go();
  }
  void begin(operation& o) { model::check(core_.begin(o), "the run is not over"); }
  void begun(operation& o, bool thrown = false) { follow(core_.begun(o, thrown)); }
  /// Their initiating functions, one after the other.
  void launch(std::initializer_list<operation*> all) {
    for (operation* o : all) {
      begin(*o);
      begun(*o);
    }
  }
  void arrive(operation& o) {
    if (core_.arrive(o)) go();
  }
  void drop(operation& o) {
    ++o.ends;
    follow(core_.drop(o));
  }
  void halt() {
    core_.halt();
    halted_ = true;
  }
  void cancel(bool to_be_asked = true) {
    if (core_.cancel(to_be_asked)) go();
  }

  /// The canceller on the executor: comes when it is called, at the end for one.
  void await_call_and_cancel() {
    called_.wait(0);
    cancel();
  }

  /// Called by a step, which has the turn.
  std::function<void(int step)> inside;

  /// How many steps were taken, after the threads.
  int steps() const { return steps_; }
  bool was_cancelled() const { return cancelled_; }

  /// The last check: the steps are destroyed, once, and nothing is left to do.
  void check_over(std::initializer_list<operation*> all) {
    model::check(over_ == 1, "the run is over");
    for (operation* o : all) model::check(o->ends == 1 && !o->in_flight, "each ends once");
    operation late;
    model::check(!core_.begin(late), "nothing counts after the end");
  }

 private:
  void go() {
    for (;;) {
      operation* o = nullptr;
      bool const late = halted_;
      switch (core_.next(o)) {
        case core_type::duty::rest: return;
        case core_type::duty::deliver:
          touch();
          model::check(over_ == 0, "nothing is written after the end");
          ++delivered_;
          ++o->ends;
          break;
        case core_type::duty::discard: ++o->ends; break;
        case core_type::duty::resume:
          model::check(!late, "no step is taken once it is halted");
          resume();
          break;
        case core_type::duty::cancel: o->asked = true; break;
        case core_type::duty::finish:
          cancelled_ = true;
          end();
          break;
      }
    }
  }

  void follow(core_type::sequel s) {
    if (s == core_type::sequel::stop) call();
    if (s == core_type::sequel::go) go();
  }

  void call() {
    called_.store(1);
    called_.notify_all();
  }

  void resume() {
    bool late = false;
    do {
      touch();
      model::check(!late, "no step is taken once it is halted");
      model::check(over_ == 0 && !in_step_, "steps do not nest, and not after the end");
      if (steps_ > 0) used_ += wanted_[static_cast<std::size_t>(steps_ - 1)];
      model::check(used_ <= delivered_, "a step has what it wants");
      in_step_ = true;
      if (inside) inside(steps_);
      in_step_ = false;
      if (static_cast<std::size_t>(steps_++) == wanted_.size()) return end();
      late = halted_;
    } while (core_.want(static_cast<core_type::number>(wanted_[std::size_t(steps_ - 1)])));
  }

  void end() {
    touch();
    over_ = over_ + 1;
    core_.end();
    call();
  }

  // The coroutine, and what its operations write: on one thread at a time, each after the other.
  void touch() { frame_ = frame_ + 1; }

  std::vector<int> const wanted_;
  core_type core_;
  model::plain<int> frame_;
  model::plain<int> over_;
  int steps_ = 0;
  int delivered_ = 0;
  int used_ = 0;
  bool in_step_ = false;
  bool halted_ = false;
  bool cancelled_ = false;
  model::atomic<int> called_{0};
};

}  // namespace steps_model

#endif
