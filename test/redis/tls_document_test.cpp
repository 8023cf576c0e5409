// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The program that doc/redis.md has for TLS.

#include "support/test.hpp"

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/tls.hpp>

#include "redis/support/tls_server.hpp"

#include <boost/asio.hpp>

// The program on the page, from its first line to its last; what it includes is included above.
namespace redis_tls_program {

// clang-format off
#include <asio_sync/redis.hpp>
#include <asio_sync/redis/tls.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  redis::config settings;
  settings.host = argv[1];  // the server's certificate has to be made for it
  settings.port = argv[2];
  settings.security = redis::make_tls({.ca_file = argv[3]});
  asio::thread_pool io(1);
  redis::client client(io.get_executor(), settings);
  client.on_event([](redis::event const& e) { std::cerr << e << '\n'; });
  client.async_run(asio::detached);

  redis::async_mutex reports(io, client, "reports");
  auto lock = reports.lock();
  std::cout << "locked over TLS\n";
  client.async_shutdown(asio::use_future).get();
  return 0;
}
// clang-format on

}  // namespace redis_tls_program

namespace redis_tls_document_test {

using namespace asio_sync::test::redis;

BOOST_AUTO_TEST_SUITE(tls_document_test)

BOOST_AUTO_TEST_CASE(the_program_locks_over_tls) {
  certificates const files;
  port_server s("--tls-port", tls_server_options(files));
  std::string host = "127.0.0.1", port = s.port(), ca_file = files.file("ca.pem");
  char* arguments[] = {nullptr, host.data(), port.data(), ca_file.data()};
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = redis_tls_program::main(4, arguments);
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str().find("locked over TLS\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_tls_document_test
