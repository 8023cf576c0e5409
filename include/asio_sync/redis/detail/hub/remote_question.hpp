// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_QUESTION_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_QUESTION_HPP

#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/result.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_sync::redis::detail {

// A question about an object, for the server. It is made before it is asked, and the driver owns a
// share of it from hub::ask() until hub::finish().
class remote_question : public order {
 public:
  remote_question(remote_question const&) = delete;
  remote_question& operator=(remote_question const&) = delete;
  virtual ~remote_question() = default;

  bool const waits_for_run;  // if the client does not run, for the next time that it does

  // Takes what the server has found.
  void take(inspection&& found) noexcept { *end_->core().found = std::move(found); }

 protected:
  explicit remote_question(bool waits) noexcept : order(kind::question), waits_for_run(waits) {}

 private:
  friend class hub;

  // The hub's, under its lock, until the driver takes the question.
  std::shared_ptr<remote_question> self_;
  std::shared_ptr<result> end_;
};

// Gives the completion of an inspection what was found.
struct inspection_delivery {
  using core_type = result_core;
  using grant = inspection;
  static inspection make(core_type& core, verdict) noexcept {
    inspection found = std::move(*core.found);
    core.unref();
    return found;
  }
};

// Returns an inspection, or with a fence the question that takes an object from its holder.
// Throws invalid_argument for a name that the protocol does not allow; `function` has asked.
ASIO_SYNC_COMPILED_ONCE std::shared_ptr<remote_question> make_question(
    std::string name, std::optional<std::uint64_t> fence, char const* function);

// Makes the notification of so many waits on a condition; 0: of all.
ASIO_SYNC_COMPILED_ONCE std::shared_ptr<remote_question> make_signal(handle const& of,
                                                                     std::string condition,
                                                                     std::uint64_t most);

// Asks a question, and waits for its answer. Delivery: inspection_delivery, or no_grant.
template <class Delivery = shell::no_grant<result_core>, class Token>
auto initiate_question(std::shared_ptr<hub> of, asio::any_io_executor const& executor,
                       std::shared_ptr<remote_question> q, char const* type, char const* function,
                       Token&& token) {
  auto end = std::make_shared<result>(executor);
  if constexpr (std::is_same_v<Delivery, inspection_delivery>)
    end->core().found = std::make_shared<inspection>();
  return initiate_result<Delivery>(
      std::move(end),
      [of = std::move(of), q = std::move(q)](std::shared_ptr<result> const& r) {
        return of->ask(q, r);
      },
      type, function, static_cast<Token&&>(token));
}

}  // namespace asio_sync::redis::detail

#endif
