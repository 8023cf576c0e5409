// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Clients that use TLS, with real servers, and with servers whose certificates they refuse.

#include "redis/support/connection.hpp"
#include "redis/support/tls_server.hpp"
#include "redis/support/world.hpp"
#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/tls.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <openssl/ssl.h>

namespace redis_tls_test {

using namespace asio_sync::test::redis;
using asio::ip::tcp;
using asio_sync::redis::make_tls;
using asio_sync::redis::tls_options;

certificates const& files() {
  static certificates const all;
  return all;
}

// The server of most cases. It ends with the program.
port_server& tls_server() {
  static port_server one("--tls-port", tls_server_options(files()));
  return one;
}

config settings_for(std::string const& port, tls_options const& options) {
  config c;
  c.port = port;
  c.session_ttl = c.max_session_ttl = short_life;
  c.gate = false;
  c.security = make_tls(options);
  return c;
}

tls_options trusting() { return {.ca_file = files().file("ca.pem")}; }

// A client on a thread of its own.
struct user {
  explicit user(config const& settings) : c(pool.get_executor(), settings), events(c) {
    c.async_run(run.handler_on(io));
  }
  ~user() {
    c.stop();
    soon(io, [this] { return run.calls != 0; });
  }

  bool locks(std::string const& name = "x") {
    async_mutex m(io, c, name);
    outcome<lock_type> o;
    m.async_lock(o.handler());
    return soon(io, [&] { return o.granted(); });
  }

  // Returns why the first attempt to connect has failed.
  std::string failure() {
    BOOST_TEST(soon(io, [&] { return events.has(event::kind::connect_failed); }));
    auto const e = events.find(event::kind::connect_failed);
    std::string_view const beginning = "attempt 1: ";
    return e && e->text.starts_with(beginning) ? e->text.substr(beginning.size()) : "";
  }

  asio::io_context io;
  ending run;
  asio::thread_pool pool{1};
  client c;
  event_log events;
};

// Listens on the loopback, and does something with each connection, on a thread of its own. The
// connections stay open.
class listener {
 public:
  template <class Function>
  explicit listener(Function serve) : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
    accept(serve);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~listener() {
    io_.stop();
    thread_.join();
  }

  std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }

 private:
  template <class Function>
  void accept(Function serve) {
    acceptor_.async_accept([this, serve](error_code, tcp::socket s) {
      serve(peers_.emplace_back(std::move(s)));
      accept(serve);
    });
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::deque<tcp::socket> peers_;
  std::thread thread_;
};

BOOST_AUTO_TEST_SUITE(tls_test)

// --- Sessions ---

BOOST_AUTO_TEST_CASE(locks_go_from_client_to_client_over_each_version_of_tls) {
  for (std::string const version : {"TLSv1.2", "TLSv1.3"}) {
    auto options = tls_server_options(files());
    options.insert(options.end(), {"--tls-protocols", version});
    port_server s("--tls-port", options);
    user one(settings_for(s.port(), trusting())), two(settings_for(s.port(), trusting()));
    async_mutex ours(one.io, one.c, "x"), theirs(one.io, two.c, "x");
    outcome<lock_type> first, second;
    ours.async_lock(first.handler());
    BOOST_TEST_REQUIRE(soon(one.io, [&] { return first.granted(); }));
    theirs.async_lock(second.handler());
    BOOST_TEST(!soon(
        one.io, [&] { return second.calls != 0; }, short_life));
    first.guard.unlock();
    BOOST_TEST(soon(one.io, [&] { return second.granted(); }));
    for (user* const each : {&one, &two}) {
      BOOST_TEST(each->events.count(event::kind::connected) == 1);
      BOOST_TEST(each->events.count(event::kind::disconnected) == 0);
      BOOST_CHECK_NO_THROW(each->c.async_shutdown(asio::use_future).get());
    }
  }
}

// More than a record of TLS has, in both directions at once.
BOOST_AUTO_TEST_CASE(a_thousand_waits_are_sent_and_answered) {
  user u(settings_for(tls_server().port(), trusting()));
  std::vector<std::unique_ptr<async_mutex>> mutexes;
  std::vector<outcome<lock_type>> outcomes(1000);
  for (auto& each : outcomes) {
    std::string const number = std::to_string(mutexes.size());
    auto& m = *mutexes.emplace_back(
        std::make_unique<async_mutex>(u.io, u.c, number + std::string(500, 'x')));
    m.async_lock(each.handler());
  }
  auto const all_granted = [&] {
    return std::all_of(outcomes.begin(), outcomes.end(), [](auto& o) { return o.granted(); });
  };
  BOOST_TEST(soon(u.io, all_granted));
  BOOST_TEST(u.events.count(event::kind::disconnected) == 0);
}

BOOST_AUTO_TEST_CASE(a_session_is_resumed_when_its_connection_is_cut) {
  user u(settings_for(tls_server().port(), trusting()));
  async_mutex m(u.io, u.c, "kept");
  outcome<lock_type> o;
  m.async_lock(o.handler());
  BOOST_TEST_REQUIRE(soon(u.io, [&] { return o.granted(); }));
  connection admin(tls_server()->socket());
  for (int i = 1; i != 4; ++i) {
    admin({"CLIENT", "KILL", "SKIPME", "yes"});
    BOOST_TEST(u.locks("while it is cut"));
    BOOST_TEST(soon(u.io, [&] { return u.events.count(event::kind::connected) == i + 1; }));
    BOOST_TEST(o.guard.owns_lock());
  }
  BOOST_TEST(soon(u.io, [&] { return u.events.has(event::kind::disconnected); }));
}

// In the middle of a handshake, or of reads and writes.
BOOST_AUTO_TEST_CASE(a_client_and_its_context_may_end_at_any_time) {
  for (int i = 0; i != 90; ++i) {
    auto pool = std::make_unique<asio::thread_pool>(1);
    std::optional<client> c;
    c.emplace(pool->get_executor(), settings_for(tls_server().port(), trusting()));
    c->async_run([](error_code) {});
    async_mutex m(pool->get_executor(), *c, "x");
    for (int j = 0; j != 10; ++j) m.async_lock([](error_code, lock_type) {});
    std::this_thread::sleep_for(i * 100us);
    if (i % 3 == 0) c->stop();
    if (i % 3 == 1) c.reset();
    if (i % 3 == 2) pool.reset();
  }
  user after(settings_for(tls_server().port(), trusting()));
  BOOST_TEST(after.locks());
}

// --- The certificate of the server ---

BOOST_AUTO_TEST_CASE(a_certificate_has_to_be_made_for_the_name_or_the_address) {
  std::string const name = "certificate verify failed (SSL routines): hostname mismatch";
  std::string const address = "certificate verify failed (SSL routines): IP address mismatch";
  struct {
    std::string host, server_name, fault;
  } const rows[] = {
      {"127.0.0.1", "", ""},
      {"127.0.0.1", "locks.example", ""},
      {"127.0.0.1", "LOCKS.example", ""},
      {"127.0.0.1", "one.many.example", ""},
      {"localhost", "127.0.0.1", ""},
      {"localhost", "", name},
      {"127.0.0.1", "server", name},  // the common name does not count
      {"127.0.0.1", "locks.example.org", name},
      {"127.0.0.1", "one.of.many.example", name},
      {"127.0.0.1", std::string(200, 'x') + ".example", name},
      {"127.0.0.1", std::string(255, 'x'), name},
      {"127.0.0.1", "127.0.0.2", address},
      {"127.0.0.1", "::1", address},
  };
  for (auto const& [host, server_name, fault] : rows) {
    tls_options options = trusting();
    options.server_name = server_name;
    config settings = settings_for(tls_server().port(), options);
    settings.host = host;
    user u(settings);
    BOOST_TEST_CONTEXT(host << ' ' << server_name) {
      if (fault.empty())
        BOOST_TEST(u.locks());
      else
        BOOST_TEST(u.failure() == "TLS handshake: " + fault);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_common_name_does_not_count_if_there_is_no_other) {
  auto server_options = tls_server_options(files());
  server_options[1] = files().file("nameless.pem");
  server_options[3] = files().file("nameless.key");
  port_server s("--tls-port", server_options);
  tls_options options = trusting();
  options.server_name = "nameless";
  user u(settings_for(s.port(), options));
  BOOST_TEST(u.failure().find("hostname mismatch") != std::string::npos, u.failure());
}

BOOST_AUTO_TEST_CASE(a_certificate_has_to_come_from_an_authority) {
  std::pair<tls_options, bool> const rows[] = {
      {{.ca_file = files().file("ca.pem")}, true},
      {{.ca_path = files().file("hashed")}, true},
      {{.ca_file = files().file("stranger.pem"), .ca_path = files().file("hashed")}, true},
      {{.ca_file = files().file("stranger.pem")}, false},
      {{.ca_file = files().file("server.pem")}, false},
      {{}, false},  // those of the system
  };
  for (auto const& [options, is_good] : rows) {
    user u(settings_for(tls_server().port(), options));
    if (is_good)
      BOOST_TEST(u.locks());
    else
      BOOST_TEST(u.failure().find("TLS handshake: certificate verify failed") == 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_name_is_sent_and_an_address_is_not) {
  for (std::string const server_name : {"locks.example", ""}) {
    std::atomic<bool> is_right = false;
    listener const l([&](tcp::socket& s) {
      asio::ssl::context context(asio::ssl::context::tls_server);
      context.use_certificate_chain_file(files().file("server.pem"));
      context.use_private_key_file(files().file("server.key"), asio::ssl::context::pem);
      asio::ssl::stream<tcp::socket&> stream(s, context);
      error_code ignored;
      stream.handshake(asio::ssl::stream_base::server, ignored);
      char const* const sent =
          ::SSL_get_servername(stream.native_handle(), TLSEXT_NAMETYPE_host_name);
      is_right = (sent ? sent : "") == server_name;
    });
    tls_options options = trusting();
    options.server_name = server_name;
    user u(settings_for(l.port(), options));
    BOOST_TEST(u.failure() != "");
    BOOST_TEST(is_right);
  }
}

// --- The certificate of the client ---

BOOST_AUTO_TEST_CASE(a_server_may_ask_for_a_certificate) {
  auto options = tls_server_options(files());
  options.back() = "yes";
  port_server s("--tls-port", options);
  tls_options known = trusting(), unknown = trusting();
  known.certificate_file = files().file("client.pem");
  known.private_key_file = files().file("client.key");
  unknown.certificate_file = files().file("stranger.pem");
  unknown.private_key_file = files().file("stranger.key");
  user with(settings_for(s.port(), known));
  BOOST_TEST(with.locks());
  known.private_key_file = files().file("encrypted.key");
  known.private_key_password = "secret";
  user with_password(settings_for(s.port(), known));
  BOOST_TEST(with_password.locks());
  for (tls_options const& each : {trusting(), unknown}) {
    user u(settings_for(s.port(), each));
    BOOST_TEST(u.failure() != "");
    BOOST_TEST(!u.events.has(event::kind::connected));
  }
}

// --- What is no TLS ---

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_tried_again_and_again) {
  port_server plain("--port", {});
  listener const says_nothing([](tcp::socket&) {});
  listener const closes([](tcp::socket& s) { s.close(); });
  listener const talks([](tcp::socket& s) {
    error_code ignored;
    asio::write(s, asio::buffer(std::string("-ERR no TLS here\r\n")), ignored);
  });
  std::pair<std::string, std::string> const rows[] = {
      {plain.port(), "TLS handshake: "},
      {says_nothing.port(), "TLS handshake: the server does not answer in time"},
      {closes.port(), "TLS handshake: "},
      {talks.port(), "TLS handshake: wrong version number (SSL routines)"},
  };
  for (auto const& [port, text] : rows) {
    config settings = settings_for(port, trusting());
    settings.command_timeout = 100ms;
    user u(settings);
    auto const begin = std::chrono::steady_clock::now();
    BOOST_TEST(soon(u.io, [&] { return u.events.count(event::kind::connect_failed) == 4; }));
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= 25ms + 50ms + 100ms));
    BOOST_TEST(u.failure().find(text) == 0u, u.failure());
    BOOST_TEST(!u.events.has(event::kind::server_error));
    BOOST_TEST(u.run.calls == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_client_without_tls_does_not_hang_at_a_server_with_it) {
  config settings = settings_for(tls_server().port(), trusting());
  settings.security = nullptr;
  user u(settings);
  BOOST_TEST(u.failure() != "");
}

// --- Options ---

BOOST_AUTO_TEST_CASE(wrong_options_are_refused_at_once) {
  auto const file = [](char const* name) { return files().file(name); };
  std::ofstream(file("garbage.pem")) << "no certificate\n";
  using boost::system::error_condition;
  error_condition const invalid = make_error_condition(errc::invalid_argument);
  error_condition const no_such_file = make_error_condition(errc::no_such_file_or_directory);
  struct {
    tls_options options;
    std::string member;
    error_condition error;  // none: one of OpenSSL
  } const rows[] = {
      {{.ca_file = "/no/such/file"}, "ca_file", no_such_file},
      {{.ca_file = file("garbage.pem")}, "ca_file", {}},
      {{.ca_path = "/no/such/folder"}, "ca_path", invalid},
      {{.ca_path = file("ca.pem")}, "ca_path", invalid},
      {{.certificate_file = file("client.pem")}, "private_key_file", invalid},
      {{.private_key_file = file("client.key")}, "certificate_file", invalid},
      {{.certificate_file = "/no/such/file", .private_key_file = file("client.key")},
       "certificate_file",
       no_such_file},
      {{.certificate_file = file("client.pem"), .private_key_file = "/no/such/file"},
       "private_key_file",
       no_such_file},
      {{.certificate_file = file("client.pem"), .private_key_file = file("server.key")},
       "private_key_file",
       {}},
      {{.certificate_file = file("client.pem"), .private_key_file = file("encrypted.key")},
       "private_key_file",
       {}},
      {{.server_name = std::string(256, 'x')}, "server_name", invalid},
      {{.server_name = ".many.example"}, "server_name", invalid},  // means all names below
      {{.server_name = std::string("locks.example\0.org", 18)}, "server_name", invalid},
  };
  for (auto const& [options, member, error] : rows) {
    std::string text;
    error_code thrown;
    try {
      make_tls(options);
    } catch (boost::system::system_error const& e) {
      text = e.what();
      thrown = e.code();
    }
    BOOST_TEST(text.find("asio_sync::redis::make_tls: ") == 0u, text);
    BOOST_TEST(text.find(member) != std::string::npos, text);
    BOOST_TEST((thrown && (!error || thrown == error)), text);
  }
}

BOOST_AUTO_TEST_CASE(a_socket_of_unix_has_no_tls) {
  config settings = settings_for("1", trusting());
  settings.unix_socket = "/a/socket";
  asio::io_context io;
  BOOST_CHECK_EXCEPTION(client(io.get_executor(), settings), boost::system::system_error,
                        [](auto const& e) { return e.code() == errc::invalid_argument; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_tls_test
