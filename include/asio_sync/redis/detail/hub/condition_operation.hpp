// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_CONDITION_OPERATION_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_CONDITION_OPERATION_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/operation/beginning.hpp>
#include <asio_sync/detail/operation/initiation.hpp>
#include <asio_sync/detail/operation/operation.hpp>
#include <asio_sync/detail/operation/primitive.hpp>
#include <asio_sync/detail/operation/wait_limit.hpp>
#include <asio_sync/redis/detail/hub/hold.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_core.hpp>
#include <asio_sync/redis/detail/hub/remote_question.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace asio_sync::redis::detail {

// Throws invalid_argument for a name that the protocol does not allow.
ASIO_SYNC_COMPILED_ONCE void check_condition(std::string const& name,
                                             std::initializer_list<char const*> function);

// Returns why a wait that would give this lock back is refused; undecided if it is not.
ASIO_SYNC_COMPILED_ONCE verdict refusal_of_wait(claim_ref const& lock, handle const& of) noexcept;

// A wait that gives a lock back, and ends with it.
template <class Executor>
class wait_operation
    : public shell::operation_base<wait_operation<Executor>, Executor,
                                   shell::no_grant<remote_core>, shell::wait_limit> {
 public:
  struct place {
    Executor const* executor;
    remote_core* core;
    std::shared_ptr<handle> of;
    char const* type;
  };

  wait_operation(place where, std::string condition, claim_ref& lock, shell::wait_limit limit,
                 char const* function)
      : wait_operation::operation_base(limit),
        where_(std::move(where)),
        condition_(std::move(condition)),
        lock_(&lock),
        function_(function) {}

  Executor const& executor() const noexcept { return *where_.executor; }
  remote_core& core() const noexcept { return *where_.core; }

  claim_ref asked() const {
    if (!*lock_) return {};
    return remote_claim::make_wait(where_.of, condition_, *lock_);
  }

  // A closed core takes the lock away, which only the wait that queues does.
  verdict try_now() const noexcept {
    verdict const refused = refusal_of_wait(*lock_, *where_.of);
    if (refused.decided()) return refused;
    bool const gives_up = this->limit_.expired() && !core().is_closed();
    return gives_up ? wait_outcome::timed_out : wait_outcome::undecided;
  }

  // Names it in the output of Asio's handler tracking.
  void track(shell::waiter& w) const {
    shell::track_creation(executor(), w, where_.type, core().primitive(), function_);
  }

 private:
  place where_;
  std::string condition_;
  claim_ref* lock_;
  char const* function_;
};

// The base of conditions: a core here, and a name at an object of the server.
template <class Executor>
class remote_condition : shell::primitive<Executor, remote_core> {
  using base = shell::primitive<Executor, remote_core>;

 public:
  using executor_type = Executor;

  executor_type get_executor() const noexcept { return base::executor(); }

  std::size_t cancel() { return core().cancel_all(wait_outcome::aborted); }
  void close() noexcept { core().close(); }
  bool is_closed() const noexcept { return core().is_closed(); }
  std::size_t waiters() const noexcept { return core().waiters(); }

 protected:
  remote_condition(void* self, Executor const& ex, std::shared_ptr<handle> of, char const* type,
                   std::string name)
      : base(self, ex, of->client), handle_(std::move(of)), type_(type), name_(std::move(name)) {
    check_condition(name_, {type});
  }
  ~remote_condition() = default;

  using base::core;

  template <class Token>
  auto initiate_wait(hold& lock, shell::wait_limit limit, char const* function, Token&& token) {
    return shell::initiate_wait(
        wait_operation<Executor>({&base::executor(), &core(), handle_, type_}, name_, lock.claim(),
                                 limit, function),
        static_cast<Token&&>(token));
  }

  // Tells the server, and does not wait for its answer. `most`: 0 is no limit.
  void notify(std::uint64_t most) {
    auto const client = handle_->client;  // the condition may be gone afterwards
    static_cast<void>(client->ask(make_signal(*handle_, name_, most), nullptr));
  }

  template <class Token>
  auto initiate_notify(std::uint64_t most, char const* function, Token&& token) {
    return initiate_question(handle_->client, handle_->living_executor(),
                             make_signal(*handle_, name_, most), type_, function,
                             static_cast<Token&&>(token));
  }

 private:
  std::shared_ptr<handle> const handle_;
  char const* const type_;
  std::string const name_;
};

}  // namespace asio_sync::redis::detail

#endif
