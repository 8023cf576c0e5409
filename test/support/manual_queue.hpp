// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_MANUAL_QUEUE_HPP
#define ASIO_SYNC_TEST_SUPPORT_MANUAL_QUEUE_HPP

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_sync::test {

namespace asio = boost::asio;

// Keeps what it is given until it is told to run it.
class manual_queue {
 public:
  static constexpr unsigned nobody = static_cast<unsigned>(-1);

  // `owner`: a number that the queue keeps with what it is given through this executor.
  class executor {
   public:
    executor(manual_queue& queue, asio::execution_context& context,
             unsigned owner = nobody) noexcept
        : queue_(&queue), context_(&context), owner_(owner) {}

    executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }

    template <class Function>
    void execute(Function&& f) const {
      using decayed = std::decay_t<Function>;
      queue_->functions_.push_back(
          {[kept = std::make_shared<decayed>(std::forward<Function>(f))] { (*kept)(); }, owner_,
           queue_->given_++});
    }

    friend bool operator==(executor const&, executor const&) noexcept = default;

   private:
    manual_queue* queue_;
    asio::execution_context* context_;
    unsigned owner_;
  };

  std::size_t size() const { return functions_.size(); }
  unsigned owner(std::size_t index) const { return functions_[index].owner; }
  // Counts from 0, in the order in which it was given them.
  std::size_t number(std::size_t index) const { return functions_[index].number; }
  std::size_t given() const { return given_; }
  void run() {
    for (auto const& f : std::exchange(functions_, {})) f.call();
  }

  // Runs one of them, or destroys it unrun.
  void run(std::size_t index) { take(index)(); }
  void drop(std::size_t index) { take(index); }

 private:
  std::function<void()> take(std::size_t index) {
    auto const at = functions_.begin() + static_cast<std::ptrdiff_t>(index);
    std::function<void()> taken = std::move(at->call);
    functions_.erase(at);
    return taken;
  }

  struct function {
    std::function<void()> call;
    unsigned owner;
    std::size_t number;
  };

  std::vector<function> functions_;
  std::size_t given_ = 0;
};

}  // namespace asio_sync::test

#endif
