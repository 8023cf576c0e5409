// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_TLS_HPP
#define ASIO_SYNC_REDIS_TLS_HPP

/// TLS for the connections of a client. It needs OpenSSL 1.1.1 or newer (the CMake target
/// asio_sync::redis_tls), and is not part of <asio_sync/redis.hpp>.

#include <asio_sync/detail/core/config.hpp>  // first

#include <asio_sync/detail/operation/errors.hpp>
#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/link/tls_transport.hpp>
#include <asio_sync/redis/detail/link/transport.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/context_base.hpp>
#include <boost/asio/ssl/verify_mode.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace asio_sync::redis {

/// The certificates of both sides, in files of the format PEM. Every member may be left out.
struct tls_options {
  /// The certificates of the authorities that the server's certificate may come from: a file that
  /// has them one after the other, and a folder prepared by `openssl rehash`. If both are empty,
  /// those of the system.
  std::string ca_file{}, ca_path{};

  /// The certificate of this client, followed by those between it and its authority, and its key.
  /// Empty for a server that does not ask for them.
  std::string certificate_file{}, private_key_file{};

  /// The password of the key, if that is encrypted.
  std::string private_key_password{};

  /// The name or the address that the server's certificate has to be made for. A name is sent to
  /// the server, too (SNI). If it is empty, the `host` of the configuration. At most 255 bytes.
  std::string server_name{};
};

namespace detail {

// Fills a context with options. Each function throws, with the name of the member, what is wrong.
class tls_reader {
 public:
  explicit tls_reader(tls_options const& o) : options_(o) {
    using options = asio::ssl::context;
    demand(o.server_name.size() <= 255, "server_name: at most 255 bytes");
    // OpenSSL takes a dot in front for all names below.
    demand(!o.server_name.starts_with('.'), "server_name: begins with a dot");
    demand(o.server_name.find('\0') == o.server_name.npos, "server_name: a zero byte");
    demand(o.certificate_file.empty() == o.private_key_file.empty(),
           "certificate_file, private_key_file: both or none");
    context_.set_options(options::no_tlsv1 | options::no_tlsv1_1);
    context_.set_verify_mode(asio::ssl::verify_peer);
    read_authorities();
    if (!o.certificate_file.empty()) read_certificate();
  }

  asio::ssl::context take() { return std::move(context_); }

 private:
  using error_code = boost::system::error_code;

  static void check(error_code const& error, char const* member) {
    if (error) asio_sync::detail::throw_error(error, {"redis::make_tls"}, member);
  }
  static void demand(bool holds, char const* rule) {
    using namespace boost::system::errc;
    if (!holds) check(make_error_code(invalid_argument), rule);
  }

  void read_authorities() {
    tls_options const& o = options_;
    error_code error;
    if (o.ca_file.empty() && o.ca_path.empty()) context_.set_default_verify_paths(error);
    check(error, "the authorities of the system");
    if (!o.ca_file.empty()) context_.load_verify_file(o.ca_file, error);
    check(error, "ca_file");
    if (o.ca_path.empty()) return;
    std::error_code ignored;  // OpenSSL does not look before it needs a certificate
    demand(std::filesystem::is_directory(o.ca_path, ignored), "ca_path: not a folder");
    context_.add_verify_path(o.ca_path, error);
    check(error, "ca_path");
  }

  void read_certificate() {
    tls_options const& o = options_;
    error_code error;
    context_.use_certificate_chain_file(o.certificate_file, error);
    check(error, "certificate_file");
    // OpenSSL would ask for the password at the terminal if it had no function for that.
    context_.set_password_callback(
        [password = o.private_key_password](std::size_t, auto) { return password; }, error);
    context_.use_private_key_file(o.private_key_file, asio::ssl::context::pem, error);
    check(error, "private_key_file");
  }

  tls_options const& options_;
  asio::ssl::context context_{asio::ssl::context::tls_client};
};

}  // namespace detail

/// Returns a value for `config::security`: clients with it connect by TLS 1.2 or newer, and only
/// to a server whose certificate is valid, comes from one of the authorities, and is made for the
/// name or the address of the server.
///
///     settings.security = redis::make_tls({.ca_file = "ca.pem"});
///
/// The files are read now, and not again. Any number of clients may share the value.
///
/// Errors: throws `boost::system::system_error` with the name of the member whose file cannot be
/// read, has no certificate or key, or does not fit; with `invalid_argument` for a folder that
/// does not exist, a certificate without a key, and a name that is too long, begins with a dot or
/// has a zero byte.
/// Threads: any, at any time.
/// Exceptions: also what allocating throws.
inline std::shared_ptr<detail::security> make_tls(tls_options const& options = {}) {
  return std::make_shared<detail::tls_security>(detail::tls_reader(options).take(),
                                                options.server_name);
}

}  // namespace asio_sync::redis

#endif
