// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_WORLD_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_WORLD_HPP

#include "support/test.hpp"

#include <asio_sync/redis.hpp>

#include "redis/support/server.hpp"

namespace asio_sync::test::redis {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace errc = boost::system::errc;
using asio_sync::redis::async_mutex;
using asio_sync::redis::async_semaphore;
using asio_sync::redis::client;
using asio_sync::redis::config;
using asio_sync::redis::event;
using asio_sync::redis::semaphore_permit;
using boost::system::error_code;
using lock_type = async_mutex::lock_type;

inline error_code const aborted = asio::error::operation_aborted;
inline constexpr auto timed_out = errc::timed_out;  // also redis::error::unreachable
inline error_code const closed = asio_sync::error::closed;
inline error_code const lease_lost = asio_sync::error::lease_lost;
inline error_code const not_permitted = make_error_code(errc::operation_not_permitted);

/// The life of a session: as short as it can be on a busy machine.
constexpr std::chrono::milliseconds short_life = 1500ms;

/// The settings of a client of this server that soon notices what takes six seconds otherwise.
inline config quick(server const& s) {
  config c;
  c.unix_socket = s.socket();
  c.session_ttl = c.max_session_ttl = short_life;
  c.gate = false;
  return c;
}

/// The settings of a client of this server that keeps its session on a busy machine.
inline config unhurried(server const& s) {
  config c = quick(s);
  c.session_ttl = c.max_session_ttl = 6s;
  return c;
}

/// Keeps the error and the guard of a completion.
template <class Guard>
struct outcome {
  int calls = 0;
  error_code error;
  Guard guard;

  auto handler() {
    return [this](error_code e, Guard g) {
      ++calls;
      error = e;
      guard = std::move(g);
    };
  }
  bool granted() const { return calls == 1 && !error && guard; }
  bool refused(auto const& e) const { return calls == 1 && error == e && !guard; }
};

/// The error of a completion that has nothing else.
struct ending {
  int calls = 0;
  error_code error;

  auto handler() {
    return [this](error_code e) {
      ++calls;
      error = e;
    };
  }
  auto handler_on(asio::io_context& io) { return asio::bind_executor(io, handler()); }
  bool is(auto const& e) const { return calls == 1 && error == e; }
};

/// The events of a client, which come on a thread of their own.
class event_log {
 public:
  explicit event_log(client& c) {
    c.on_event([log = log_](event const& e) {  // also after the end of this object
      std::lock_guard const guard(log->lock);
      log->events.push_back(e);
    });
  }

  std::optional<event> find(event::kind what) const {
    return find_if([&](event const& e) { return e.what == what; });
  }

  /// Returns the first event for which this holds.
  template <class Predicate>
  std::optional<event> find_if(Predicate fits) const {
    std::lock_guard const guard(log_->lock);
    auto const found = std::find_if(log_->events.begin(), log_->events.end(), fits);
    if (found == log_->events.end()) return std::nullopt;
    return *found;
  }
  bool has(event::kind what) const { return find(what).has_value(); }

  std::ptrdiff_t count(event::kind what) const {
    return count_if([&](event const& e) { return e.what == what; });
  }

  template <class Predicate>
  std::ptrdiff_t count_if(Predicate counts) const {
    std::lock_guard const guard(log_->lock);
    return std::count_if(log_->events.begin(), log_->events.end(), counts);
  }

 private:
  struct log {
    std::mutex lock;
    std::vector<event> events;
  };
  std::shared_ptr<log> const log_ = std::make_shared<log>();
};

/// Runs a context until something holds. Returns false if that takes too long.
template <class Condition>
bool soon(asio::io_context& io, Condition holds, std::chrono::milliseconds limit = 20s) {
  auto const end = std::chrono::steady_clock::now() + limit;
  io.restart();
  bool held = holds();
  for (; !held && std::chrono::steady_clock::now() < end; held = holds()) {
    io.run_one_for(10ms);
    if (io.stopped()) io.restart();
  }
  return held;
}

/// A server, a client that runs on a thread of its own, and the context of its user.
struct world {
  explicit world(config (*settings)(server const&) = &quick)
      : c(pool.get_executor(), settings(s)), events(c) {
    c.async_run(run.handler_on(io));
  }
  ~world() {
    c.stop();
    soon([this] { return run.calls != 0; });
  }

  template <class Condition>
  bool soon(Condition holds, std::chrono::milliseconds limit = 20s) {
    return redis::soon(io, std::move(holds), limit);
  }

  /// Locks the mutex.
  lock_type lock(async_mutex& m) {
    outcome<lock_type> o;
    m.async_lock(o.handler());
    BOOST_TEST_REQUIRE(soon([&] { return o.calls != 0; }));
    BOOST_TEST(o.error == error_code());
    return std::move(o.guard);
  }

  server s;
  asio::io_context io;
  asio::thread_pool pool{1};  // ends before what its thread posts to
  ending run;
  client c;
  event_log events;
};

}  // namespace asio_sync::test::redis

#endif
