// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Sessions over real connections to a real server: claims are granted and given back, and the
// server goes away, comes back, and forgets.

#include "support/test.hpp"

#include <asio_sync/async_mutex.hpp>
#include <asio_sync/detail/context/context_ends.hpp>
#include <asio_sync/redis/detail/link/session_driver.hpp>

#include "redis/support/connection.hpp"
#include "redis/support/server.hpp"
#include "redis/support/silent_port.hpp"
#include "support/memory.hpp"

#include <csignal>

namespace redis_session_driver_test {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;
using asio_sync::test::failing_heap;
using asio_sync::test::redis::connection;
using asio_sync::test::redis::free_port;
using asio_sync::test::redis::results_of;
using asio_sync::test::redis::server;
using asio_sync::test::redis::silent_port;

boost::asio::io_context& context() {
  static boost::asio::io_context io;
  return io;
}

session_config short_life() {
  session_config config;
  config.ttl = config.max_ttl = 2s;
  config.margin = 200ms;
  config.gate = false;
  return config;
}

class client final : public session_driver {
 public:
  explicit client(server const& s, login as = {}, session_config config = short_life())
      : client(address{{}, {}, s.socket()}, std::move(as), std::move(config)) {}
  explicit client(address where, login as = {}, session_config config = short_life())
      : session_driver(context().get_executor(), std::move(config), std::move(where),
                       std::move(as), 500ms) {}

  using session_driver::endpoints;

  std::string told;
  unsigned grants = 0, losses = 0, ends = 0;
  failure result = failure::none;

  std::function<void()> on_ended, on_decided;

  bool has_told(std::string_view what) const { return told.find(what) != std::string::npos; }

 private:
  void granted(claim&) noexcept override {
    ++grants;
    if (on_decided) on_decided();
  }
  void lost(claim&) noexcept override {
    ++losses;
    if (on_decided) on_decided();
  }
  void failed(claim&, failure) noexcept override {}
  void finished(claim&, failure why) noexcept override {
    ++ends;
    result = why;
  }
  void report(session_event const& e) noexcept override {
    constexpr std::string_view kinds[] = {
        "connected", "connect_failed", "disconnected", "session_lost", "late",        "gated",
        "data_lost", "too_long",       "forced",       "record_lost",  "server_error"};
    told.append(kinds[std::size_t(e.what)]).append(" ").append(e.text).append("; ");
  }
  void ended(failure why) noexcept override {
    told += "ended; ";
    result = why;
    if (on_ended) on_ended();
  }
};

// Runs the context until something holds; not for ever.
template <class Condition>
bool soon(Condition holds) {
  auto const limit = std::chrono::steady_clock::now() + 20s;
  context().restart();
  while (!holds() && std::chrono::steady_clock::now() < limit) context().run_one_for(50ms);
  return holds();
}

bool is_open(client const& c) { return c.state().state() == session_state::open; }

// Ends a run before its claims end, so that nothing of it is left in the context.
struct ending {
  client& c;
  ~ending() {
    c.stop();
    context().restart();
    context().poll();
  }
};

// Returns true if nothing is left that the context waits for.
bool is_idle() {
  context().restart();
  context().poll();
  return context().stopped();
}

object mutex_named(std::string name) { return {std::move(name), "mutex"}; }

// A server, and a client that runs and holds a mutex.
struct holding {
  holding() {
    c->run();
    c->acquire(one);
    BOOST_TEST_REQUIRE(soon([&] { return c->grants == 1; }));
  }

  server s;
  std::shared_ptr<client> c = std::make_shared<client>(s);
  object x = mutex_named("x");
  claim one{x}, two{x};
  ending const end{*c};
};

BOOST_AUTO_TEST_SUITE(session_driver_test)

BOOST_FIXTURE_TEST_CASE(a_claim_is_granted_and_given_back, holding) {
  BOOST_TEST(one.fence() > 1'000'000'000'000'000u);
  c->release(one);
  BOOST_TEST(soon([&] { return c->ends == 1; }));
  BOOST_TEST((c->result == failure::none));
  BOOST_TEST(c->told == "connected ; ");
}

BOOST_AUTO_TEST_CASE(a_hold_is_handed_from_one_client_to_another) {
  server s;
  auto const a = std::make_shared<client>(s), b = std::make_shared<client>(s);
  object x = mutex_named("x"), same = mutex_named("x");
  claim first(x), second(same);
  ending const end_a{*a}, end_b{*b};
  a->run();
  b->run();
  a->acquire(first);
  BOOST_TEST(soon([&] { return a->grants == 1; }));
  b->acquire(second);
  BOOST_TEST(soon([&] { return second.state() == claim_state::waiting; }));
  auto const until = std::chrono::steady_clock::now() + 2500ms;  // longer than a session lives
  BOOST_TEST(soon([&] { return b->grants != 0 || std::chrono::steady_clock::now() > until; }));
  BOOST_TEST(b->grants == 0u);
  a->release(first);
  BOOST_TEST(soon([&] { return b->grants == 1; }));
  BOOST_TEST(second.fence() > first.fence());
  BOOST_TEST(a->losses + b->losses == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_connection_that_is_cut_is_made_again_and_the_hold_stays, holding) {
  connection admin(s.socket());
  for (int i = 0; i != 3; ++i) {
    admin({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    admin({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
    BOOST_TEST(soon([&] { return !is_open(*c); }));
    BOOST_TEST(soon([&] { return is_open(*c); }));
  }
  BOOST_TEST(c->losses == 0u);
  c->release(one);
  BOOST_TEST(soon([&] { return c->ends == 1; }));
  BOOST_TEST((c->result == failure::none));
}

BOOST_FIXTURE_TEST_CASE(a_server_that_is_killed_and_starts_again_has_lost_the_hold, holding) {
  c->acquire(two);
  BOOST_TEST(soon([&] { return two.state() == claim_state::waiting; }));
  std::uint64_t const fence = one.fence();
  s.kill();
  BOOST_TEST(soon([&] { return !is_open(*c); }));
  s.start();
  BOOST_TEST(soon([&] { return c->grants == 2; }));
  BOOST_TEST(c->losses == 1u);
  BOOST_TEST((one.state() == claim_state::finished));
  BOOST_TEST(two.fence() > fence);
  BOOST_TEST(c->has_told("data_lost"));
}

BOOST_FIXTURE_TEST_CASE(a_server_that_is_away_for_a_life_ends_the_session, holding) {
  ::kill(s.id(), SIGSTOP);
  BOOST_TEST(soon([&] { return c->losses == 1; }));
  BOOST_TEST(c->has_told("disconnected the server does not answer in time"));
  ::kill(s.id(), SIGCONT);
  BOOST_TEST(soon([&] { return is_open(*c); }));
}

BOOST_FIXTURE_TEST_CASE(a_shutdown_leaves_nothing_at_the_server, holding) {
  c->acquire(two);
  c->shutdown();
  BOOST_TEST(c->ends == 2u);
  BOOST_TEST(soon([&] { return c->has_told("ended"); }));
  BOOST_TEST((c->result == failure::none));
  connection admin(s.socket());
  BOOST_TEST(admin({"KEYS", "as:{*"}).elements.empty());
  BOOST_TEST(admin({"KEYS", "as:s:*"}).elements.empty());
  BOOST_TEST(is_idle());
}

BOOST_FIXTURE_TEST_CASE(a_run_can_be_stopped_and_begun_again, holding) {
  c->acquire(two);
  c->stop();
  BOOST_TEST(c->losses == 1u);
  BOOST_TEST(c->has_told("ended"));
  BOOST_TEST(is_idle());  // the wait needs nothing while the client is stopped
  c->run();
  BOOST_TEST(soon([&] { return c->grants == 2; }));  // the server has ended the first session
}

BOOST_AUTO_TEST_CASE(no_context_ends_while_a_claim_is_decided) {
  server s;
  auto const c = std::make_shared<client>(s);
  object x = mutex_named("x");
  claim one(x);
  ending const end{*c};
  asio_sync::detail::context_ends::may_be_held_off();
  unsigned decided = 0;
  std::vector<std::thread> enders;
  c->on_decided = [&] {
    auto const has_ended = std::make_shared<std::atomic<bool>>(false);
    enders.emplace_back([has_ended] {
      {
        boost::asio::io_context io;
        asio_sync::async_mutex const local(io);
      }
      *has_ended = true;
    });
    std::this_thread::sleep_for(100ms);
    BOOST_TEST(!*has_ended);
    ++decided;
  };
  c->run();
  c->acquire(one);
  BOOST_TEST(soon([&] { return c->grants == 1; }));
  c->stop();
  for (std::thread& each : enders) each.join();
  BOOST_TEST(decided == 2u);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_ends_the_run_at_once) {
  server s({"--requirepass", "secret"});
  auto const c = std::make_shared<client>(s, login{{}, "wrong", {}, 0});
  object x = mutex_named("x");
  claim one(x);
  c->run();
  c->acquire(one);
  BOOST_TEST(soon([&] { return c->has_told("ended"); }));
  BOOST_TEST(c->has_told("server_error WRONGPASS"));
  BOOST_TEST((c->result == failure::access_denied));
  BOOST_TEST(c->ends == 1u);
  BOOST_TEST(is_idle());  // no attempt follows
}

BOOST_AUTO_TEST_CASE(a_stop_between_two_attempts_leaves_none) {
  server s;
  s.kill();
  auto const c = std::make_shared<client>(s);
  for (int i = 0; i != 5; ++i) {
    c->told.clear();
    c->run();
    BOOST_TEST(soon([&] { return c->has_told("connect_failed No such file or directory"); }));
    c->stop();
    BOOST_TEST(is_idle());
    c->run();
    c->stop();
    c->run();
    c->stop();
    BOOST_TEST(is_idle());
  }
  s.start();
  c->run();
  c->stop();
  c->run();
  ending const end{*c};
  BOOST_TEST(soon([&] { return is_open(*c); }));
}

BOOST_AUTO_TEST_CASE(a_driver_may_go_when_it_tells_the_end) {
  server s({"--requirepass", "secret"});
  auto c = std::make_shared<client>(s, login{{}, "wrong", {}, 0});
  c->on_ended = [&] { c.reset(); };
  c->run();
  BOOST_TEST(soon([&] { return c == nullptr; }));
  BOOST_TEST(is_idle());
}

BOOST_AUTO_TEST_CASE(a_run_without_memory_ends_and_another_one_connects) {
  server s;
  auto const c = std::make_shared<client>(s);
  c->told.reserve(10000);
  ending const end{*c};
  for (std::size_t successes = 0; successes != 30; ++successes) {
    {
      failing_heap const heap(successes);
      c->run();
    }
    if (c->state().state() == session_state::stopped) {
      BOOST_TEST((c->result == failure::no_memory));
      c->run();
    }
    BOOST_TEST(soon([&] { return is_open(*c); }));
    c->stop();
    c->told.clear();
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_comes_later_is_found) {
  server s;
  s.kill();
  auto const c = std::make_shared<client>(s);
  ending const end{*c};
  c->run();
  BOOST_TEST(soon([&] { return c->has_told("connect_failed No such file or directory"); }));
  s.start();
  BOOST_TEST(soon([&] { return is_open(*c); }));
}

// --- The addresses of a name ---

// A server that listens at a port, too.
struct listening {
  explicit listening(std::vector<std::string> options = {})
      : s(with_port(std::move(options), port)) {}

  static std::vector<std::string> with_port(std::vector<std::string> options,
                                            std::string const& port) {
    options.insert(options.end(), {"--bind", "127.0.0.1", "--port", port});
    return options;
  }
  boost::asio::ip::tcp::endpoint endpoint() const {
    return {boost::asio::ip::address_v4::loopback(), static_cast<unsigned short>(std::stoi(port))};
  }

  std::string const port = free_port();
  server s;
};

BOOST_AUTO_TEST_CASE(a_second_address_is_tried_if_the_first_does_not_answer) {
  listening const there;
  silent_port const silent;
  auto const c = std::make_shared<client>(address{"name.invalid", "6379", {}});
  ending const end{*c};
  c->endpoints().assign(results_of({silent.endpoint(), there.endpoint(), silent.endpoint()}));
  c->run();
  BOOST_TEST(soon([&] { return is_open(*c); }));
  BOOST_TEST(c->told == "connect_failed the server does not answer in time; connected ; ");
  BOOST_TEST(c->endpoints().is_empty());  // the name is looked up for the next connection
}

BOOST_AUTO_TEST_CASE(a_name_is_looked_up_again_if_a_replica_is_behind_it) {
  listening const master, replica({"--replicaof", "127.0.0.1", "1"});
  silent_port const silent;
  auto const c = std::make_shared<client>(address{"127.0.0.1", master.port, {}});
  ending const end{*c};
  c->endpoints().assign(results_of({replica.endpoint(), silent.endpoint()}));
  c->run();
  BOOST_TEST(soon([&] { return is_open(*c); }));
  BOOST_TEST(c->told == "connect_failed the server is a replica; connected ; ");
}

BOOST_AUTO_TEST_CASE(a_driver_may_go_while_it_runs) {
  server s;
  auto c = std::make_shared<client>(s);
  object x = mutex_named("x");
  claim one(x);
  c->run();
  c->acquire(one);
  BOOST_TEST(soon([&] { return c->grants == 1; }));
  c.reset();
  context().restart();
  context().run();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_session_driver_test
