// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The rights of doc/redis-protocol.md suffice for everything that is public. A client that lacks
// one of them, but that to track, ends with access_denied, and does not connect again.

#include "redis/support/connection.hpp"
#include "redis/support/fixture.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/detail/scripts/all.hpp>

#include <regex>

namespace redis_rights_test {

using namespace boost::asio::experimental::awaitable_operators;
using namespace asio_sync::test::redis;
using asio::use_awaitable;
using asio_sync::redis::async_shared_mutex;
using redis_error = asio_sync::redis::error;
namespace scripts = asio_sync::redis::detail::scripts;

// --- Everything that is public ---

template <class Guard>
asio::awaitable<void> hold(Guard, std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::deferred);
}

// Has the second wait while the first holds, and then holds for a while itself.
template <class First, class Second>
asio::awaitable<void> hand_over(asio::awaitable<First> first, asio::awaitable<Second> second,
                                std::chrono::milliseconds time = 20ms) {
  auto guard = co_await std::move(first);
  auto const next = co_await (hold(std::move(guard), time) && std::move(second));
}

asio::awaitable<void> use_mutex(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  async_mutex ours(executor, a, "mutex"), theirs(executor, b, "mutex");
  auto const longer_than_a_beat = short_life / 2;
  co_await hand_over(ours.async_lock(use_awaitable), theirs.async_lock(use_awaitable),
                     longer_than_a_beat);
  auto lock = co_await ours.async_lock();
  if (co_await theirs.async_try_lock()) throw std::runtime_error("two own the mutex");
  co_await lock.async_unlock();
}

asio::awaitable<void> use_condition(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  async_mutex ours(executor, a, "mutex"), theirs(executor, b, "mutex");
  asio_sync::redis::async_condition filled(ours, "filled"), their_filled(theirs, "filled");
  auto const waits = [&]() -> asio::awaitable<void> {
    auto lock = co_await ours.async_lock();
    auto const [error] = co_await filled.async_wait_for(lock, 1ms, asio::as_tuple(use_awaitable));
    if (error != timed_out) throw std::runtime_error("nobody has notified");
    co_await filled.async_wait(lock);
  };
  auto const notifies = [&]() -> asio::awaitable<void> {
    co_await hold(nullptr, 50ms);
    auto const lock = co_await theirs.async_lock();
    co_await their_filled.async_notify_one();
    co_await their_filled.async_notify_all();
  };
  co_await (waits() && notifies());
}

asio::awaitable<void> use_semaphore(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  async_semaphore ours(executor, a, "semaphore", 2), theirs(executor, b, "semaphore", 2);
  co_await hand_over(ours.async_acquire(1, use_awaitable), theirs.async_acquire(2, use_awaitable));
  auto permit = co_await ours.async_acquire(2);
  if (co_await theirs.async_try_acquire(1)) throw std::runtime_error("three permits of two");
  co_await permit.async_release();
}

asio::awaitable<void> use_shared_mutex(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  async_shared_mutex ours(executor, a, "shared"), theirs(executor, b, "shared");
  co_await hand_over(ours.async_lock(use_awaitable), theirs.async_lock_shared(use_awaitable));
  co_await hand_over(ours.async_lock_shared(use_awaitable), theirs.async_lock(use_awaitable));
  auto const granted = co_await theirs.async_try_lock_shared();
}

asio::awaitable<void> use_monitor(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  asio_sync::redis::async_monitor ours(executor, a, "monitor"), theirs(executor, b, "monitor");
  auto const waits = [&]() -> asio::awaitable<void> {
    auto inside = co_await ours.async_enter();
    auto const part = inside.add_owned("n", 1, "left");
    while (inside.number("v") == 0) co_await inside.async_wait("set");
    co_await inside.async_leave();
  };
  auto const sets = [&]() -> asio::awaitable<void> {
    co_await hold(nullptr, 50ms);
    auto inside = co_await theirs.async_enter();
    inside.set("v", 1);
    inside.notify_all("set");
    co_await inside.async_leave();
  };
  co_await (waits() && sets());
  auto inside = co_await theirs.async_enter();
  while (inside.number("n") != 0) co_await inside.async_wait("left");
  inside.set("v", 0);
  co_await inside.async_leave();
}

asio::awaitable<void> use_inspection(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  async_mutex ours(executor, a, "inspected");
  auto const lock = co_await ours.async_lock();
  auto const seen = co_await b.async_inspect("inspected");
  if (seen.holders.size() != 1) throw std::runtime_error("the holder is not shown");
  co_await b.async_force_release("inspected", seen.holders[0].fence);
}

// The first one goes without a word: its session has to run out.
asio::awaitable<void> use_what_the_dead_have_held(client& a, client& b) {
  auto const executor = co_await asio::this_coro::executor;
  async_mutex ours(executor, a, "of the dead"), theirs(executor, b, "of the dead");
  auto const lock = co_await ours.async_lock();
  a.stop();
  auto const granted = co_await theirs.async_lock();
}

asio::awaitable<void> use_everything(client& a, client& b) {
  co_await use_mutex(a, b);
  co_await use_condition(a, b);
  co_await use_semaphore(a, b);
  co_await use_shared_mutex(a, b);
  co_await use_monitor(a, b);
  co_await use_inspection(a, b);
  co_await use_what_the_dead_have_held(a, b);
  co_await b.async_shutdown();
}

// --- With rights, and without ---

// Two clients of one user, which use everything until something fails.
struct users {
  explicit users(config const& c) : a(pool.get_executor(), c), b(pool.get_executor(), c) {
    a.async_run(end_of_a.handler_on(io));
    b.async_run(end_of_b.handler_on(io));
    asio::co_spawn(io, use_everything(a, b), [this](std::exception_ptr e) {
      a.stop();
      b.stop();
      failure = e;
    });
    BOOST_TEST_REQUIRE(soon(io, [this] { return end_of_a.calls && end_of_b.calls; }));
  }

  std::ptrdiff_t count(event::kind what) const { return of_a.count(what) + of_b.count(what); }

  asio::io_context io;
  std::exception_ptr failure;
  ending end_of_a, end_of_b;
  asio::thread_pool pool{1};
  client a, b;
  event_log const of_a{a}, of_b{b};
};

struct fixture {
  fixture() {
    settings.database = 1;
    settings.name = "two-of-a-kind";
    settings.username = "locks";
    settings.password = "secret";
  }

  // Makes the user anew, on a server without data.
  void make_user(std::vector<std::string> const& rights) {
    admin({"FLUSHALL"});
    std::vector<std::string> user{"ACL", "SETUSER", "locks", "reset", "on", ">secret"};
    user.insert(user.end(), rights.begin(), rights.end());
    BOOST_TEST_REQUIRE(admin(user).text == "OK");
  }

  server s;
  connection admin{s.socket()};
  config settings = quick(s);
};

BOOST_FIXTURE_TEST_SUITE(rights_test, fixture)

BOOST_AUTO_TEST_CASE(the_documented_rights_suffice) {
  make_user(documented_rights());
  users const both(settings);
  if (both.failure) std::rethrow_exception(both.failure);
  BOOST_TEST(both.end_of_a.is(aborted));  // by stop()
  BOOST_TEST(both.end_of_b.is(error_code()));
  BOOST_TEST(both.count(event::kind::server_error) == 0);
}

BOOST_AUTO_TEST_CASE(a_client_without_the_right_to_track_works) {
  auto rights = documented_rights();
  BOOST_TEST(std::erase(rights, "+client|tracking") == 1u);
  make_user(rights);
  users const both(settings);
  if (both.failure) std::rethrow_exception(both.failure);
  BOOST_TEST(both.count(event::kind::server_error) == 0);
}

BOOST_AUTO_TEST_CASE(each_documented_right_is_needed_and_missed_only_once) {
  for (std::string const& right : documented_rights()) {
    if (right == "-@all" || right == "resetchannels" || right == "+client|tracking") continue;
    auto rights = documented_rights();
    std::erase(rights, right);
    make_user(rights);
    users both(settings);
    error_code const denied = redis_error::access_denied;
    BOOST_TEST((both.end_of_a.is(denied) || both.end_of_b.is(denied)), right);
    BOOST_TEST(soon(both.io, [&] { return both.count(event::kind::server_error) != 0; }), right);
    BOOST_TEST(both.count(event::kind::disconnected) == 0, right);
    BOOST_TEST(!!both.failure, right);
  }
}

// Otherwise half of a script would be done when the server refuses the other half.
BOOST_AUTO_TEST_CASE(each_command_that_a_script_calls_is_asked_for_when_a_session_is_opened) {
  std::regex const calls("(call|pcall_redis)\\('([A-Z]+)'");
  std::string const asked(scripts::open.fast);
  for (scripts::script const& each : scripts::all) {
    std::string const text = scripts::text(each);
    for (std::sregex_iterator at(text.begin(), text.end(), calls), end; at != end; ++at)
      BOOST_TEST(std::regex_search(asked, std::regex("\\b" + (*at)[2].str() + "\\b")),
                 each.name << " calls " << (*at)[2]);
  }
}

// A client of a user who may use two objects, and then one. It holds the second, and waits for it.
BOOST_AUTO_TEST_CASE(an_object_that_a_user_may_not_use_fails_its_operations_alone) {
  auto rights = documented_rights();
  std::erase(rights, "~as:*");
  for (auto const* const key : {"~as:epoch", "~as:run", "~as:gate", "~as:f", "~as:s:*", "~as:o:*",
                                "~as:all", "~as:{mine}:*", "~as:{ours}:*"})
    rights.emplace_back(key);
  make_user(rights);
  asio::io_context io;
  asio::thread_pool pool{1};
  client c(pool.get_executor(), settings);
  event_log const events(c);
  ending run, lost;
  c.async_run(run.handler_on(io));
  async_mutex mine(io, c, "mine"), ours(io, c, "ours"), theirs(io, c, "theirs");
  outcome<lock_type> first, second, behind, denied;
  error_code const why = redis_error::access_denied;
  mine.async_lock(first.handler());
  ours.async_lock(second.handler());
  theirs.async_lock(denied.handler());
  BOOST_TEST_REQUIRE(soon(io, [&] { return first.calls && second.calls && denied.calls; }));
  BOOST_TEST((first.granted() && second.granted() && denied.refused(why)));
  second.guard.async_wait_lost(lost.handler());
  ours.async_lock(behind.handler());
  rights.back() = "resetkeys";
  std::rotate(rights.begin(), rights.end() - 1, rights.end());
  rights.insert(rights.begin(), {"ACL", "SETUSER", "locks"});
  BOOST_TEST_REQUIRE(admin(rights).text == "OK");
  BOOST_TEST(soon(io, [&] { return behind.calls && lost.calls; }));
  BOOST_TEST(behind.refused(why));
  BOOST_TEST(lost.is(error_code()));
  BOOST_TEST(!soon(
      io, [&] { return !first.guard.owns_lock(); }, 2 * short_life));
  BOOST_TEST(events.count(event::kind::connected) == 1);
  BOOST_TEST(events.count(event::kind::disconnected) == 0);
  BOOST_TEST(events.count(event::kind::session_lost) == 0);
  c.stop();
  BOOST_TEST(soon(io, [&] { return run.is(aborted); }));
}

// A session that has died has held an object that the client may not use.
BOOST_AUTO_TEST_CASE(what_the_dead_have_held_disturbs_nobody_who_may_not_use_it) {
  make_user(documented_rights());
  asio::io_context io;
  asio::thread_pool pool{1};
  {
    client dead(pool.get_executor(), settings);
    ending run;
    outcome<lock_type> held;
    dead.async_run(run.handler_on(io));
    async_mutex theirs(io, dead, "theirs");
    theirs.async_lock(held.handler());
    BOOST_TEST_REQUIRE(soon(io, [&] { return held.granted(); }));
    dead.stop();
    BOOST_TEST_REQUIRE(soon(io, [&] { return run.calls != 0; }));
  }
  auto user = documented_rights();
  std::ranges::replace(user, std::string("~as:*"), std::string("~as:[^{]*"));
  user.insert(user.begin(), {"ACL", "SETUSER", "locks", "reset", "on", ">secret"});
  BOOST_TEST_REQUIRE(admin(user).text == "OK");
  admin({"SELECT", std::to_string(settings.database)});
  client c(pool.get_executor(), settings);
  event_log const events(c);
  ending run;
  c.async_run(run.handler_on(io));
  BOOST_TEST(soon(io, [&] { return admin({"SCARD", "as:all"}).number == 1; }));
  BOOST_TEST(!soon(
      io, [&] { return run.calls != 0; }, short_life));
  BOOST_TEST(events.count(event::kind::connected) == 1);
  BOOST_TEST(events.count(event::kind::disconnected) == 0);
  c.stop();
  BOOST_TEST(soon(io, [&] { return run.is(aborted); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_rights_test
