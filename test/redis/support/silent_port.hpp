// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_SILENT_PORT_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_SILENT_PORT_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <string>
#include <vector>

namespace asio_sync::test::redis {

/// A port of the loopback that answers no attempt to connect, like an address whose packets are
/// dropped: its queue of connections is full, and nobody accepts them.
class silent_port {
 public:
  using tcp = boost::asio::ip::tcp;

  silent_port() {
    acceptor_.open(tcp::v4());
    acceptor_.bind({boost::asio::ip::address_v4::loopback(), 0});
    acceptor_.listen(0);
    filler_.connect(endpoint());
  }

  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_};
  tcp::socket filler_{io_};
};

/// Returns what a resolver finds for a name with these addresses.
inline boost::asio::ip::tcp::resolver::results_type results_of(
    std::vector<boost::asio::ip::tcp::endpoint> const& addresses) {
  return boost::asio::ip::tcp::resolver::results_type::create(addresses.begin(), addresses.end(),
                                                              "name", "service");
}

/// Returns a port of this machine that was free a moment ago.
inline std::string free_port() {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor const probe(io, {boost::asio::ip::address_v4::loopback(), 0});
  return std::to_string(probe.local_endpoint().port());
}

}  // namespace asio_sync::test::redis

#endif
