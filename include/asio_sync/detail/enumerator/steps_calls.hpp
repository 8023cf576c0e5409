// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_ENUMERATOR_STEPS_CALLS_HPP
#define ASIO_SYNC_DETAIL_ENUMERATOR_STEPS_CALLS_HPP

// How a run of steps gets to its executor, and to its handler.

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/core/flags_state.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/enumerator/enumerator_run.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/inner_handler.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/signals/mailbox_core.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace asio_sync::detail {

// The flags of a run, each of which it waits for.
enum steps_call : flags { to_start = 1, to_cancel = 2, to_complete = 4 };

// A run over an executor. Three waits for flags take it there, to the handler, and further, by all
// rules for waits: they keep contexts running, need no memory when they are called, and are
// destroyed with their contexts.
template <class Executor>
class enumerator_run_over final : public enumerator_run, primitive<Executor, mailbox_core> {
  using base = primitive<Executor, mailbox_core>;

 public:
  // `enumerator`: as whose waits they are known.
  enumerator_run_over(void* enumerator, std::shared_ptr<enumerator_core> core, steps_frame&& steps,
                      Executor const& ex)
      : enumerator_run(std::move(core), std::move(steps)), base(enumerator, ex, flags()) {}

  template <class Handler>
  void wait(steps_call to, Handler&& handler) {
    start_wait(call_wait(*this, to), static_cast<Handler&&>(handler));
  }

  void call_to_start() noexcept { base::core().signal(to_start); }

 private:
  void call_to_cancel() noexcept override { base::core().signal(to_cancel); }
  void call_all() noexcept override { base::core().signal(to_start | to_cancel | to_complete); }

  class call_wait : public operation_base<call_wait, Executor, no_grant<mailbox_core>, no_limit> {
   public:
    call_wait(enumerator_run_over& run, steps_call to) noexcept
        : call_wait::operation_base(no_limit()), run_(run), to_(to) {}

    Executor const& executor() const noexcept { return run_.base::executor(); }
    mailbox_core& core() const noexcept { return run_.base::core(); }
    std::uint64_t asked() const noexcept { return request().packed(); }
    verdict try_now() const noexcept { return core().try_wait(request()); }

    // Names it in the output of Asio's handler tracking.
    void track(waiter& w) const {
      track_creation(executor(), w, "async_enumerator", core().primitive(),
                     to_ == to_complete ? "async_run"
                     : to_ == to_start  ? "start"
                                        : "cancel");
    }

   private:
    flags_request request() const noexcept { return {to_, false, false}; }

    enumerator_run_over& run_;
    steps_call to_;
  };
};

// Where the executor refuses to run it, the run ends.
class steps_starter {
 public:
  explicit steps_starter(std::shared_ptr<enumerator_run> run) noexcept : run_(std::move(run)) {}
  steps_starter(steps_starter&&) noexcept = default;
  steps_starter& operator=(steps_starter&&) = delete;
  ~steps_starter() {
    if (run_) run_->stop();
  }

  void operator()(error_code) { std::exchange(run_, nullptr)->start(); }

 private:
  std::shared_ptr<enumerator_run> run_;
};

// Where it is destroyed instead, operations end of themselves: nobody may ask them any more.
class steps_canceller {
 public:
  explicit steps_canceller(std::shared_ptr<enumerator_run> run) noexcept : run_(std::move(run)) {}
  steps_canceller(steps_canceller&&) noexcept = default;
  steps_canceller& operator=(steps_canceller&&) = delete;
  ~steps_canceller() {
    if (run_) run_->cancel(true);
  }

  void operator()(error_code) { std::exchange(run_, nullptr)->cancel(); }

 private:
  std::shared_ptr<enumerator_run> run_;
};

// In the slot of a run's handler, where it stays after the end of the run.
class steps_stopper {
 public:
  explicit steps_stopper(std::shared_ptr<enumerator_run> const& run) noexcept : run_(run) {}

  // On any thread.
  void operator()(asio::cancellation_type type) const noexcept {
    if (type == asio::cancellation_type::none) return;
    if (auto const run = run_.lock()) run->stop();
  }

 private:
  std::weak_ptr<enumerator_run> run_;
};

// What the handler of a run stands in. Its slot cancels the run, and not just the wait for it.
template <class Handler>
class enumerator_run_handler {
 public:
  template <class Source>
  enumerator_run_handler(std::shared_ptr<enumerator_run> run, Source&& handler)
      : handler_(static_cast<Source&&>(handler)), run_(std::move(run)) {
    auto slot = slot_of(handler_);
    if (slot.is_connected()) slot.template emplace<steps_stopper>(run_);
  }

  // Where the handler's move throws, the other one has lost nothing: it comes first.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as the handler's
  enumerator_run_handler(enumerator_run_handler&&) = default;
  enumerator_run_handler& operator=(enumerator_run_handler&&) = delete;
  ~enumerator_run_handler() {
    if (run_) run_->stop();
  }

  void operator()(error_code) {
    auto outcome = std::exchange(run_, nullptr)->outcome();
    std::move(handler_)(std::move(outcome));
  }

  Handler const& inner() const noexcept { return handler_; }

 private:
  Handler handler_;
  std::shared_ptr<enumerator_run> run_;
};

template <class Handler>
inline constexpr bool is_associated_as_inner<enumerator_run_handler<Handler>> = true;

}  // namespace asio_sync::detail

namespace boost::asio {
ASIO_SYNC_ASIO_NAMESPACE_BEGIN

// Its own slot is the run's.
template <class Handler, class Slot>
struct associated_cancellation_slot<asio_sync::detail::enumerator_run_handler<Handler>, Slot> {
  using type = Slot;
  static Slot get(asio_sync::detail::enumerator_run_handler<Handler> const&,
                  Slot const& none = Slot()) noexcept {
    return none;
  }
};

ASIO_SYNC_ASIO_NAMESPACE_END
}  // namespace boost::asio

#endif
