// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_REMOTE_CLAIM_IPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_REMOTE_CLAIM_IPP

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/redis/detail/client/client_claim.hpp>
#include <asio_sync/redis/detail/client/client_question.hpp>
#include <asio_sync/redis/detail/client/failures.hpp>
#include <asio_sync/redis/detail/hub/condition_operation.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_core.hpp>
#include <asio_sync/redis/detail/hub/remote_question.hpp>
#include <asio_sync/redis/detail/hub/result.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/system/errc.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

// The members of remote_claim, and what makes handles and questions.

namespace asio_sync::redis::detail {

inline void check_name(std::string const& name, std::initializer_list<char const*> function) {
  bool const is_valid =
      !name.empty() && name.size() <= 512 && name.find_first_of("{}") == std::string::npos;
  if (!is_valid)
    shell::throw_error(make_error_code(boost::system::errc::invalid_argument), function,
                       "the name has not 1 to 512 bytes, or has braces");
}

std::shared_ptr<handle> make_handle(std::shared_ptr<hub> client, asio::any_io_executor executor,
                                    char const* type, char const* kind, std::string name,
                                    std::uint64_t capacity) {
  check_name(name, {type});
  return std::make_shared<client_handle>(std::move(client), std::move(executor), type, kind,
                                         std::move(name), capacity);
}

void throw_refusal(handle const& of, verdict refused, char const* function) {
  char const* const other = refused.outcome() == wait_outcome::timed_out
                                ? "the server has not answered in time"
                                : "n < 0 or n > max()";
  char const* const reason = shell::reason_of(refused, other);
  std::string text = '"' + static_cast<client_handle const&>(of).about.name + '"';
  if (*reason != '\0') (text += ": ") += reason;
  shell::throw_error(shell::error_of(refused), {of.type, function}, printable(text).c_str());
}

std::shared_ptr<remote_question> make_question(std::string name,
                                               std::optional<std::uint64_t> fence,
                                               char const* function) {
  check_name(name, {"redis::client", function});
  return std::make_shared<client_question>(fence ? script::force : script::inspect,
                                           std::move(name), "", fence.value_or(0));
}

std::shared_ptr<remote_question> make_signal(handle const& of, std::string condition,
                                             std::uint64_t most) {
  return std::make_shared<client_question>(script::signal,
                                           static_cast<client_handle const&>(of).about.name,
                                           std::move(condition), most);
}

void check_condition(std::string const& name, std::initializer_list<char const*> function) {
  if (name.empty() || name.size() > 512)
    shell::throw_error(make_error_code(boost::system::errc::invalid_argument), function,
                       "the name of the condition has not 1 to 512 bytes");
}

verdict refusal_of_wait(claim_ref const& lock, handle const& of) noexcept {
  if (!lock) return wait_outcome::not_permitted;
  auto const& ours = static_cast<client_handle const&>(of);
  auto const& its = static_cast<client_handle const&>(lock->handle());
  bool const is_ours = its.client == ours.client && its.about.name == ours.about.name &&
                       its.about.kind == ours.about.kind;
  if (!is_ours) return wait_outcome::invalid;
  if (verdict const refused = of.client->forked(); refused.decided()) return refused;
  return lock->holds() ? verdict() : verdict_of(failure::lease_lost);
}

handle::handle(std::shared_ptr<hub> c, asio::any_io_executor ex, char const* t, std::uint64_t n)
    : client(std::move(c)),
      executor(std::move(ex)),
      type(t),
      capacity(n),
      life(std::make_shared<result>(executor)) {}

asio::any_io_executor handle::living_executor() const {
  if (life->core().has_lost_home()) return asio::system_executor();
  return executor;
}

claim_ref remote_claim::make(std::shared_ptr<detail::handle> of, std::uint64_t weight,
                             attempt how) {
  return claim_ref(new client_claim(std::move(of), weight, how));
}

claim_ref remote_claim::make_wait(std::shared_ptr<detail::handle> of, std::string condition,
                                  claim_ref& lock) {
  return claim_ref(new client_claim(std::move(of), std::move(condition), lock));
}

verdict remote_claim::outcome(wait_outcome decided) const noexcept {
  if (decided == wait_outcome::failed) return failure_;
  if (decided != wait_outcome::granted) return decided;
  return {decided, reinterpret_cast<std::uintptr_t>(this) / alignof(remote_claim)};
}

wait_outcome remote_claim::time_out() noexcept {
  if (client().sessions() != past_sessions_) return wait_outcome::timed_out;
  fail(shell::failed_because(reasons::unreachable));
  return wait_outcome::failed;
}

claim_ref remote_claim::in(verdict granted) noexcept {
  auto const address = static_cast<std::uintptr_t>(granted.value()) * alignof(remote_claim);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return claim_ref(reinterpret_cast<remote_claim*>(address));
}

// --- The guard ---

bool remote_claim::holds() const noexcept {
  // In this order: a hold of the last session is lost before the next one makes this valid.
  return client().is_valid() && standing_.load(std::memory_order_acquire) == standing::held;
}

std::chrono::steady_clock::time_point remote_claim::expires_at() const noexcept {
  return client().valid_until();
}

void remote_claim::give_back(std::shared_ptr<result> end, bool exits) noexcept {
  hub& to = client();
  if (to.is_forked()) {
    if (end) end->settle(to.forked());
    return;
  }
  std::shared_ptr<result> loss;
  bool is_ended = false;
  {
    std::lock_guard const guard(to.lock_);
    if (standing_.exchange(standing::given_back, std::memory_order_acq_rel) == standing::held)
      loss.swap(loss_);
    is_ended = is_ended_;
    if (!is_ended) {
      end_ = end;
      (exits ? wishes_.exit : wishes_.release) = true;
      to.queue(*this);
    }
  }
  // The driver need not have noticed yet that the session is over.
  if (loss)
    result::settle(std::move(loss), to.is_valid() ? wait_outcome::aborted : wait_outcome::granted);
  if (is_ended && end) end->settle(verdict_of(failure::lease_lost));
  to.post_orders();
}

std::shared_ptr<result> remote_claim::loss() {
  auto fresh = std::make_shared<result>(handle().living_executor());
  std::lock_guard const guard(client().lock_);
  if (standing_.load(std::memory_order_relaxed) == standing::lost) {
    fresh->settle(wait_outcome::granted);  // nobody waits for it yet
    return fresh;
  }
  if (loss_ && !loss_->core().has_lost_home()) return loss_;
  fresh->next = std::move(loss_);
  loss_ = fresh;
  return fresh;
}

// --- The driver ---

void remote_claim::grant(std::uint64_t fence) noexcept {
  fence_ = fence;
  auto none = standing::none;  // what is owned can have been given back
  standing_.compare_exchange_strong(none, standing::held, std::memory_order_acq_rel);
  core->settle(*this, wait_outcome::granted);
}

void remote_claim::lose() noexcept {
  std::shared_ptr<result> loss;
  {
    std::lock_guard const guard(client().lock_);
    standing held = standing::held;
    standing_.compare_exchange_strong(held, standing::lost, std::memory_order_acq_rel);
    if (held == standing::held) loss.swap(loss_);
  }
  result::settle(std::move(loss), wait_outcome::granted);
}

}  // namespace asio_sync::redis::detail

#endif
