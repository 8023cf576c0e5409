// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_HUB_IPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_HUB_IPP

#include <asio_sync/detail/context/context_ends.hpp>
#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/detail/platform/known_context.hpp>
#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/client/checked_config.hpp>
#include <asio_sync/redis/detail/client/client_claim.hpp>
#include <asio_sync/redis/detail/client/client_driver.hpp>
#include <asio_sync/redis/detail/client/client_service.hpp>
#include <asio_sync/redis/detail/client/failures.hpp>
#include <asio_sync/redis/detail/client/forks.hpp>
#include <asio_sync/redis/detail/client/strand_route.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_core.hpp>
#include <asio_sync/redis/detail/hub/remote_question.hpp>
#include <asio_sync/redis/detail/hub/result.hpp>
#include <asio_sync/redis/detail/link/read_clock.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

// The members of hub.

namespace asio_sync::redis::detail {

hub::hub(asio::any_io_executor const& executor)
    : executor_(executor),
      home_(shell::known_context::of(executor)),
      fork_count_(forks::count()),
      valid_until_(over) {
  shell::context_ends::may_be_held_off();
}

void hub::open(config c) {
  session_config const session = config_check(c).session();
  command_timeout_ = *c.command_timeout;
  auto strand = strand_route::make(executor_);
  auto driver =
      std::make_shared<client_driver>(shared_from_this(), strand->executor(), c, session);
  auto& context = asio::query(executor_, asio::execution::context);
  asio::use_service<client_service>(context).add(driver);
  attach(std::move(strand), driver);
}

void hub::attach(std::shared_ptr<strand_route> strand, std::weak_ptr<driver> d) noexcept {
  std::lock_guard const guard(lock_);
  strand_ = std::move(strand);
  driver_ = std::move(d);
}

bool hub::runs_here() const noexcept {
  if (is_forked()) return false;
  std::lock_guard const guard(lock_);
  return strand_ && home_.running_in_this_thread();
}

asio::any_io_executor hub::living_executor() const noexcept {
  if (is_forked() || has_strand()) return executor_;  // a copy, which is user code: under no lock
  return asio::system_executor();
}

bool hub::has_strand() const noexcept {
  std::lock_guard const guard(lock_);
  return strand_ != nullptr;
}

bool hub::is_forked() const noexcept { return fork_count_ != forks::count(); }

verdict hub::forked() const noexcept {
  return is_forked() ? shell::failed_because(reasons::forked) : verdict();
}

// --- Claims ---

verdict hub::refusal() const noexcept {
  if (verdict const refused = forked(); refused.decided()) return refused;
  return refusal_.load(std::memory_order_acquire);
}

void hub::ask(remote_claim& c) noexcept {
  static_cast<void>(claim_ref::share(c).release());
  std::lock_guard const guard(lock_);
  queue(c);
}

bool hub::begin(remote_claim& owned, remote_core& core) noexcept {
  std::lock_guard const guard(lock_);
  if (owned.standing_.load(std::memory_order_relaxed) == remote_claim::standing::given_back)
    return false;
  owned.is_ended_ = false;
  owned.core = &core;
  core.count_up();
  static_cast<void>(claim_ref::share(owned).release());
  return true;
}

void hub::recall(remote_claim& c) noexcept {
  if (is_forked()) return;
  std::lock_guard const guard(lock_);
  if (c.is_ended_) return;
  c.wishes_.recall = true;
  queue(c);
}

void hub::give_up(remote_claim& c) noexcept {
  if (is_forked()) return;
  std::unique_lock guard(lock_);
  if (c.is_ended_) return;
  c.wishes_.forget = true;
  if (!c.wishes_.ask) return queue(c);
  orders_.erase(c);
  c.is_queued = false;
  c.is_ended_ = true;
  if (c.from_ && !c.from_->is_ended_) {  // the hold that the wait has not given back yet
    c.from_->wishes_.release = true;
    queue(*c.from_);
  }
  guard.unlock();
  static_cast<void>(c.core->end());  // its wait has another count, and a share of the claim
  claim_ref const last(&c);
}

verdict hub::ask(std::shared_ptr<remote_question> const& q,
                 std::shared_ptr<result> const& r) noexcept {
  if (verdict const refused = forked(); refused.decided()) return refused;
  {
    std::lock_guard const guard(lock_);
    if (verdict const refused = refusal_; refused.decided()) return refused;
    if ((!run_ && !q->waits_for_run) || (r && r->is_begun)) return wait_outcome::not_permitted;
    if (r) r->is_begun = true;
    q->self_ = q;
    q->end_ = r;
    queue(*q);
  }
  wake();
  return {};
}

void hub::wake() noexcept {
  if (is_forked()) return;
  if (refusal_.load(std::memory_order_acquire).decided()) end_fresh_orders();
  post_orders();
}

// Keeps the client's context alive until the post has returned: the wait that has made the orders
// may be over by now, and nobody else waits for this thread. The user sees to the context of an
// executor that the library does not know.
void hub::post_orders() noexcept {
  if (is_forked()) return;
  std::optional<shell::context_ends::held_off> meanwhile;
  if (home_.get()) meanwhile.emplace();
  std::shared_ptr<strand_route> strand;
  {
    std::lock_guard const guard(lock_);
    if (orders_.empty() || is_woken_ || !strand_) return;
    is_woken_ = true;
    strand = strand_;
  }
  try {
    strand->post(shared_from_this());
  } catch (...) {  // the next call tries again
    std::lock_guard const guard(lock_);
    is_woken_ = false;
  }
}

bool hub::is_valid() const noexcept {
  return !is_forked() && !is_ending_.load(std::memory_order_acquire) &&
         read_clock().time_since_epoch().count() < valid_until_.load(std::memory_order_acquire);
}

// Reads the steady clock first: a pause between the two readings makes the result earlier.
std::chrono::steady_clock::time_point hub::valid_until() const noexcept {
  auto const steady = std::chrono::steady_clock::now();
  session_clock::duration const until(valid_until_.load(std::memory_order_acquire));
  auto const now = read_clock().time_since_epoch();
  if (until <= now) return std::chrono::steady_clock::time_point::min();
  return steady + std::chrono::duration_cast<std::chrono::steady_clock::duration>(until - now);
}

// --- The client ---

verdict hub::begin_run(std::shared_ptr<result> const& r) noexcept {
  if (verdict const refused = forked(); refused.decided()) return refused;
  {
    std::lock_guard const guard(lock_);
    if (run_ || r->is_begun) return wait_outcome::not_permitted;
    if (!strand_) return wait_outcome::aborted;
    r->is_begun = true;
    run_ = r;
    is_ending_ = false;
    refusal_ = verdict();
    queue(run_order_);
  }
  wake();
  return {};
}

verdict hub::begin_shutdown(std::shared_ptr<result> const& r) noexcept {
  if (verdict const refused = forked(); refused.decided()) return refused;
  bool runs = false;
  {
    std::lock_guard const guard(lock_);
    if (r->is_begun) return wait_outcome::not_permitted;
    r->is_begun = true;
    runs = run_ != nullptr;
    if (runs) {
      r->next = std::exchange(shutdowns_, r);
      is_ending_ = true;
    }
    bool const has_failed = !runs && refusal_.load(std::memory_order_relaxed).decided();
    if (!has_failed) refusal_ = verdict_of(failure::aborted);
    queue(shutdown_order_);
  }
  wake();
  return runs ? verdict() : wait_outcome::granted;
}

void hub::ask_to_stop(result_core const* of) noexcept {
  if (is_forked()) return;
  std::lock_guard const guard(lock_);
  if (of && !(run_ && &run_->core() == of)) return;
  is_ending_ = true;
  queue(stop_order_);
}

void hub::stop() noexcept {
  ask_to_stop(nullptr);
  wake();
}

void hub::cancel(std::shared_ptr<shell::begun_task> const&) noexcept { wake(); }

void hub::on_event(listener_type f) {
  if (is_forked()) return;
  auto next = f ? std::make_shared<listener_type const>(std::move(f)) : nullptr;
  std::lock_guard const guard(lock_);
  listener_.swap(next);
}

void hub::end() noexcept {
  if (is_forked()) return;
  std::shared_ptr<listener_type const> listener;
  {
    std::lock_guard const guard(lock_);
    is_ending_ = true;
    refusal_ = verdict_of(failure::aborted);
    listener = std::move(listener_);
    queue(end_order_);
  }
  wake();
}

// --- The driver ---

void hub::drain() noexcept {
  if (is_forked()) return;
  std::shared_ptr<driver> taker;
  {
    std::lock_guard const guard(lock_);
    is_woken_ = false;
    taker = driver_.lock();
  }
  if (taker) taker->drain();
}

hub::taken hub::take() noexcept {
  std::lock_guard const guard(lock_);
  if (orders_.empty()) return {};
  order& first = orders_.pop_front();
  first.is_queued = false;
  if (first.what != order::kind::claim) return {&first};
  auto& c = static_cast<remote_claim&>(first);
  return {&c, std::exchange(c.wishes_, {}), std::exchange(c.from_, nullptr)};
}

void hub::settle(remote_claim& c, verdict why) noexcept {
  std::shared_ptr<result> end, loss;
  {
    std::lock_guard const guard(lock_);
    if (std::exchange(c.is_queued, false)) orders_.erase(c);
    c.wishes_ = {};
    c.is_ended_ = true;
    if (std::exchange(c.is_settled_, true)) return;
    end.swap(c.end_);
    loss.swap(c.loss_);  // of a hold that a wait on a condition has given back
  }
  c.core->settle(c, why);
  result::settle(std::move(loss), wait_outcome::aborted);
  if (end) end->settle(why);
}

void hub::finish(remote_claim& c, verdict why) noexcept {
  settle(c, why);
  c.core->unref();
  claim_ref const last(&c);
}

void hub::finish(remote_question& q, verdict why) noexcept {
  auto const last = std::move(q.self_);
  if (auto const end = std::move(q.end_)) end->settle(why);
}

void hub::end_run(verdict run, verdict shutdown, verdict refusal) noexcept {
  shell::context_ends::held_off const meanwhile;
  std::shared_ptr<result> ran, shut_down;
  {
    std::lock_guard const guard(lock_);
    ran.swap(run_);
    shut_down.swap(shutdowns_);
    refusal_ = refusal;
  }
  end_fresh_orders();
  if (ran) ran->settle(run);
  result::settle(std::move(shut_down), shutdown);
}

std::shared_ptr<hub::listener_type const> hub::listener() const noexcept {
  std::lock_guard const guard(lock_);
  return listener_;
}

void hub::close() noexcept {
  if (is_forked()) return strand_.reset();  // nobody else is here
  std::shared_ptr<strand_route> strand;
  {
    std::lock_guard const guard(lock_);
    strand.swap(strand_);
  }
  end_run(wait_outcome::aborted, wait_outcome::aborted, verdict_of(failure::aborted));
}

// --- Orders ---

// Moves an order that is queued already to the end, unless it is a claim's.
void hub::queue(order& o) noexcept {
  if (o.is_queued && o.what == order::kind::claim) return;
  if (std::exchange(o.is_queued, true)) orders_.erase(o);
  orders_.push_back(o);
}

// Ends the claims and questions that no driver has seen, if operations are refused. A claim that
// was taken out counts as ended, so that nobody gives it up.
void hub::end_fresh_orders() noexcept {
  shell::context_ends::held_off const meanwhile;  // the waits are anybody's
  shell::wait_list<order> fresh;
  verdict why;
  {
    std::lock_guard const guard(lock_);
    why = refusal_.load(std::memory_order_relaxed);
    if (!why.decided()) return;
    for (order* next = orders_.empty() ? nullptr : &orders_.front(); next;) {
      order& o = *std::exchange(next, next->next);
      if (!is_fresh(o)) continue;
      orders_.erase(o);
      fresh.push_back(o);
      o.is_queued = false;
      if (o.what == order::kind::claim) static_cast<remote_claim&>(o).is_ended_ = true;
    }
  }
  while (!fresh.empty()) {
    order& o = fresh.pop_front();
    if (o.what == order::kind::claim)
      finish(static_cast<remote_claim&>(o), why);
    else
      finish(static_cast<remote_question&>(o), why);
  }
}

// True if no driver has seen the claim or question of an order. The driver decides about questions
// that wait for a run, because a shutdown that was ordered later leaves them.
bool hub::is_fresh(order const& o) const noexcept {
  if (o.what == order::kind::claim) return static_cast<remote_claim const&>(o).wishes_.ask;
  return o.what == order::kind::question &&
         !(strand_ && static_cast<remote_question const&>(o).waits_for_run);
}

}  // namespace asio_sync::redis::detail

#endif
