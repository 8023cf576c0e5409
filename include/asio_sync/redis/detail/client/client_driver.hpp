// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_DRIVER_HPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_CLIENT_DRIVER_HPP

#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/client/client_claim.hpp>
#include <asio_sync/redis/detail/client/client_question.hpp>
#include <asio_sync/redis/detail/client/client_service.hpp>
#include <asio_sync/redis/detail/client/failures.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>
#include <asio_sync/redis/detail/hub/remote_question.hpp>
#include <asio_sync/redis/detail/link/session_driver.hpp>
#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio_sync::redis::detail {

// The part of a client that runs on its strand: takes orders from the hub, and tells the claims
// what the session says.
class client_driver final : public session_driver, public driver {
 public:
  client_driver(std::shared_ptr<hub> h, asio::any_io_executor strand, config const& c,
                session_config session)
      : session_driver(std::move(strand), std::move(session),
                       {c.host, c.port, c.unix_socket, c.security},
                       {c.username, c.password, c.name, c.database}, h->command_timeout()),
        hub_(std::move(h)),
        listeners_(hub_->executor()) {}

  void drain() noexcept override;

  void end() noexcept override {
    follow([this] { owned_session().end(); });
    hub_->close();
  }

 private:
  bool is_away() const noexcept override { return hub_->is_forked(); }

  void obey(hub::taken t) noexcept {
    switch (t.what->what) {
      case order::kind::claim:
        return obey(client_claim::of(static_cast<remote_claim&>(*t.what)), t);
      case order::kind::question:
        return ask(client_question::of(static_cast<remote_question&>(*t.what)));
      case order::kind::run: return owned_session().run();
      case order::kind::stop: return owned_session().stop();
      case order::kind::shut_down: return owned_session().shutdown(read_clock());
      case order::kind::end: has_ended_ = true; break;
    }
  }

  void obey(client_claim& c, hub::taken t) noexcept {
    auto const now = read_clock();
    claim_ref const kept = claim_ref::share(c), from(t.from);
    session& to = owned_session();
    if (from) begin_owned(client_claim::of(*from));
    if (t.claim.exit) begin_owned(c);  // its core is there: no call of the session has ended it
    if (t.claim.ask) from ? to.wait(now, c, client_claim::of(*from)) : to.acquire(now, c);
    if (t.claim.recall) to.recall(now, c);
    if (t.claim.forget) to.forget(now, c);
    if (t.claim.exit) to.exit(now, c);
    if (t.claim.release) to.release(now, c);
  }

  // Leaves out what was given back before its visit has ended.
  void begin_owned(client_claim& c) noexcept {
    if (!c.visit()) return;
    std::erase_if(c.visit()->parts(), [&](visit::part const& each) {
      return !hub_->begin(client_claim::of(*each.owner), *c.core);
    });
  }

  void ask(client_question& q) noexcept {
    auto const now = read_clock();
    auto const until = session_clock::time_point::max();
    owned_session().ask(now, q, q.waits_for_run ? until : now + hub_->command_timeout());
  }

  void granted(claim& c) noexcept override { client_claim::of(c).grant(c.fence()); }
  void lost(claim& c) noexcept override { client_claim::of(c).lose(); }
  void failed(claim& c, failure why) noexcept override {
    hub_->settle(client_claim::of(c), verdict_of(why));
  }
  void finished(claim& c, failure why) noexcept override {
    auto& ended = client_claim::of(c);
    bool const was_tried = why == failure::not_free && ended.how() == attempt::tries;
    hub_->finish(ended, was_tried ? wait_outcome::granted : verdict_of(why));
  }

  void answered(question& q, failure why, inspection* found) noexcept override {
    auto& ended = client_question::of(q);
    if (found != nullptr) ended.take(std::move(*found));
    hub::finish(ended, verdict_of(why));
  }

  void extended(session_clock::time_point until) noexcept override {
    hub_->extend(until.time_since_epoch().count());
  }

  void report(session_event const& e) noexcept override;

  void ended(failure why) noexcept override {
    bool const is_shut_down = why == failure::none || why == failure::timed_out;
    if (is_shut_down)
      hub_->end_run(wait_outcome::granted, verdict_of(why), verdict_of(failure::aborted));
    else if (why == failure::aborted)
      hub_->end_run(wait_outcome::aborted, wait_outcome::aborted, {});
    else
      hub_->end_run(verdict_of(why), verdict_of(why), verdict_of(why));
  }

  std::shared_ptr<hub> const hub_;
  asio::strand<asio::any_io_executor> listeners_;
  bool has_ended_ = false;
};

// Takes so many orders at a time that a beat never waits for the end of a burst.
inline void client_driver::drain() noexcept {
  constexpr int most = 1024;
  follow([this] {
    for (int n = 0; n != most; ++n) {
      hub::taken const t = hub_->take();
      if (!t.what) break;
      obey(t);
    }
  });
  hub_->post_orders();
  if (!has_ended_) return;
  auto const self = shared_from_this();
  end();
  auto& context = asio::query(hub_->executor(), asio::execution::context);
  asio::use_service<client_service>(context).remove(*this);
}

// Without memory for it an event is left out.
inline void client_driver::report(session_event const& e) noexcept {
  if (!hub_->listener()) return;
  try {
    using kind = session_event::kind;
    event told{static_cast<event::kind>(e.what), {}, words_of(e), e.time};
    if (e.what == kind::connect_failed)
      told.text.insert(0, "attempt " + std::to_string(e.attempt) + ": ");
    if (e.what == kind::connect_failed || e.what == kind::disconnected) told.error = link_error();
    if (e.what == kind::session_lost) told.error = asio_sync::error::lease_lost;
    if (e.error != failure::none) told.error = shell::error_of(verdict_of(e.error));
    asio::post(listeners_, [hub = hub_, told = std::move(told)] {
      if (auto const listener = hub->listener()) (*listener)(told);
    });
  } catch (...) {
  }
}

}  // namespace asio_sync::redis::detail

#endif
