// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_TLS_TRANSPORT_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_TLS_TRANSPORT_HPP

#include <asio_sync/redis/detail/link/transport.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/write.hpp>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

namespace asio_sync::redis::detail {

// Encrypts the bytes. It sends no farewell: the link closes the socket, and needs no answer to
// that.
class tls_transport final : public transport {
 public:
  // The server has to have a certificate for this name or address.
  tls_transport(socket& s, asio::ssl::context& c, char const* server) : stream_(s, c) {
    ::SSL* const ssl = stream_.native_handle();
    ::SSL_set_hostflags(
        ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    bool const is_address = ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl), server) == 1;
    if (!is_address &&
        (::SSL_set1_host(ssl, server) != 1 || ::SSL_set_tlsext_host_name(ssl, server) != 1))
      throw std::bad_alloc();
  }

  void shake_hands(link_handler then) override {
    stream_.async_handshake(asio::ssl::stream_base::client, std::move(then));
  }
  void read(asio::mutable_buffer to, link_handler then) override {
    stream_.async_read_some(to, std::move(then));
  }
  void write(asio::const_buffer from, link_handler then) override {
    asio::async_write(stream_, from, std::move(then));
  }

  std::string explain(std::string why) override {
    ::SSL* const ssl = stream_.native_handle();
    if (::SSL_in_before(ssl) || ::SSL_is_init_finished(ssl)) return why;
    if (long const fault = ::SSL_get_verify_result(ssl); fault != X509_V_OK)
      why.append(": ").append(::X509_verify_cert_error_string(fault));
    return "TLS handshake: " + why;
  }

 private:
  asio::ssl::stream<socket&> stream_;
};

// Has links use TLS. The context is shared by all of them, on all threads, and does not change.
class tls_security final : public security {
 public:
  // `server`: the name or address in the certificate; if it is empty, that of the host.
  tls_security(asio::ssl::context c, std::string server)
      : context_(std::move(c)), server_(std::move(server)) {}

  std::unique_ptr<transport> secure(transport::socket& s, std::string const& host) override {
    return std::make_unique<tls_transport>(s, context_,
                                           (server_.empty() ? host : server_).c_str());
  }

 private:
  asio::ssl::context context_;
  std::string const server_;
};

}  // namespace asio_sync::redis::detail

#endif
