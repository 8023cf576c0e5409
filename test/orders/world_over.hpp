// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_WORLD_OVER_HPP
#define ASIO_SYNC_TEST_ORDERS_WORLD_OVER_HPP

// What of a world depends on the primitive's type, and on that of what a completion carries.

#include "support/error_of.hpp"
#include "world.hpp"

#include <asio_sync/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <tuple>
#include <utility>

namespace asio_sync::test {

/// A subject derives from this, with what its completions carry as `Grant`, if anything, and has
/// besides what `world` asks for:
///
///     auto ask(Primitive&, unsigned n, Token&&);            // initiates a wait for n
///     auto ask_for(Primitive&, unsigned n, time, Token&&);  // with a limit
///     void compare_own() const;                             // with the model
///     void check(wait const&, Grant&);                      // what has arrived
///     void hold(Grant&&);                                   // leaves it with the world
template <class Subject, class Primitive, class... Grant>
class world_over : public world {
 protected:
  using world::world;

  // What take() or take_at_once() got, which have to throw where they are refused.
  template <class Function>
  bool got_at_once(operation const& op, Function&& f) const {
    bool got = false;
    error_code const thrown = error_of([&] { got = f(); });
    bool const refused = op.what == verb::take_at_once && closed();
    require(thrown == (refused ? error_code(error::closed) : error_code()),
            "R18: what is closed refuses those who might wait, and nobody else");
    return got;
  }

  bool alive() const override { return real_.has_value(); }

  std::optional<Primitive> real_;

 private:
  class handler : public watch {
   public:
    handler(world_over& over, unsigned id) noexcept : watch(over, id), over_(over) {}
    void operator()(error_code error, Grant... grant) { over_.arrived(id(), error, grant...); }
    void operator()(std::exception_ptr thrown) {
      (*this)(error_of([&] {
        if (thrown) std::rethrow_exception(thrown);
      }));
    }
    // Some waits of a subject may bring nothing.
    void operator()(error_code error) requires(sizeof...(Grant) > 0) {
      std::tuple<Grant...> none;
      std::apply([&](Grant&... grant) { over_.arrived(id(), error, grant...); }, none);
    }

   private:
    world_over& over_;
  };

  // A grant that stays in the frame of a coroutine, and goes with it.
  struct frame_guard {
    frame_guard(world_over& o, unsigned n, std::tuple<Grant...>&& g)
        : over(o), amount(n), grant(std::move(g)) {
      ++over.frames_;
    }
    frame_guard(frame_guard const&) = delete;
    frame_guard& operator=(frame_guard const&) = delete;
    ~frame_guard() {
      grant = {};
      --over.frames_;
      over.returned(amount);
    }

    world_over& over;
    unsigned amount;
    std::tuple<Grant...> grant;
  };

  Subject& subject() { return static_cast<Subject&>(*this); }
  Subject const& subject() const { return static_cast<Subject const&>(*this); }

  std::size_t cancel_real() override { return real_->cancel(); }
  void close_real() override { real_->close(); }
  std::size_t waiters() const override { return real_->waiters(); }

  void compare_real() const override {
    require(real_->waiters() == queue().size(), "R19: waiters()");
    require(real_->is_closed() == closed(), "is_closed()");
    subject().compare_own();
  }

  void arrived(unsigned id, error_code error, Grant&... grant) {
    called(id, error);
    (subject().check(wait_of(id), grant), ...);
    if (!error && !keeps_to_itself(wait_of(id))) (subject().hold(std::move(grant)), ...);
    follow(id);
  }

  template <class Handler>
  void initiate(operation const& plan, Handler h) {
    let_pass();  // No two deadlines are the same.
    if (plan.patient == patience::endless) return subject().ask(*real_, plan.amount, std::move(h));
    subject().ask_for(*real_, plan.amount, time_of(plan.patient), std::move(h));
  }

 protected:
  void start(unsigned id) override {
    operation const& plan = wait_of(id).plan;
    place& p = place_of(plan.target);
    auto const with = [&](auto const& ex) {
      initiate(plan, asio::bind_executor(ex, handler(*this, id)));
    };
    manual_queue::executor const by_queue(p.queue, *p.io);
    switch (plan.executor) {
      case through::context: return with(p.io->get_executor());
      case through::strand: return with(p.strand_of_its_own());
      case through::queue: return with(by_queue);
      case through::erased_context: return with(asio::any_io_executor(p.io->get_executor()));
      case through::erased_strand: return with(asio::any_io_executor(p.strand_of_its_own()));
      case through::erased_queue: return with(asio::any_io_executor(by_queue));
      case through::relay: return with(bare_executor(relayed()));
      case through::nothing: return initiate(plan, handler(*this, id));
    }
  }

  asio::awaitable<void> coroutine(unsigned id) override {
    heard();
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_await asio::this_coro::throw_if_cancelled(false);
    if (!real_ || !can_begin()) co_return;
    operation const plan = wait_of(id).plan;
    initiated(id);
    std::tuple<error_code, Grant...> result;
    auto const token = asio::as_tuple(asio::deferred);
    let_pass();
    if (plan.patient == patience::endless)
      result = co_await subject().ask(*real_, plan.amount, token);
    else
      result = co_await subject().ask_for(*real_, plan.amount, time_of(plan.patient), token);
    std::apply([&](error_code error, Grant&... grant) { arrived(id, error, grant...); }, result);
    if (!keeps_to_itself(wait_of(id))) co_return;
    auto kept = std::apply(
        [](error_code, Grant&... grant) { return std::tuple<Grant...>(std::move(grant)...); },
        result);
    frame_guard const guard(*this, wait_of(id).got, std::move(kept));
    co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
  }
};

}  // namespace asio_sync::test

#endif
