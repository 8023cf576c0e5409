// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_TLS_SERVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_TLS_SERVER_HPP

#include "redis/support/server.hpp"
#include "support/test.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <filesystem>

namespace asio_sync::test::redis {

/// A folder with certificates and keys, which the program openssl makes: `ca` is an authority, for
/// `server` and `client`; `stranger` is another one.
class certificates {
 public:
  certificates() {
    auto pattern = (std::filesystem::temp_directory_path() / "asio_sync-tls-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
    folder_ = pattern;
    make("ca", "");
    make("stranger", "");
    std::string const by_ca = " -CA " + file("ca.pem") + " -CAkey " + file("ca.key") +
                              " -addext basicConstraints=critical,CA:FALSE -addext ";
    make("server", by_ca + "subjectAltName=DNS:locks.example,DNS:*.many.example,IP:127.0.0.1");
    make("nameless", by_ca + "extendedKeyUsage=serverAuth");  // but for its common name
    make("client", by_ca + "extendedKeyUsage=clientAuth");
    run("ec -aes256 -passout pass:secret -in " + file("client.key") + " -out " +
        file("encrypted.key"));
    std::filesystem::create_directory(folder_ / "hashed");
    std::filesystem::copy_file(file("ca.pem"), file("hashed/ca.pem"));
    run("rehash " + file("hashed"));
  }

  certificates(certificates const&) = delete;
  certificates& operator=(certificates const&) = delete;
  ~certificates() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string file(std::string const& name) const { return (folder_ / name).string(); }

 private:
  static void run(std::string const& command) {
    if (std::system(("openssl " + command + " >/dev/null 2>&1").c_str()) != 0)
      throw std::runtime_error("this has failed; is openssl installed? openssl " + command);
  }

  void make(std::string const& name, std::string const& how) {
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" +
        name + " -keyout " + file(name + ".key") + " -out " + file(name + ".pem") + how);
  }

  std::filesystem::path folder_;
};

/// A server that also listens on a port of the loopback, by TLS or without it.
class port_server {
 public:
  /// `option`: `--tls-port` or `--port`.
  port_server(std::string const& option, std::vector<std::string> const& others) {
    for (int tries = 0; !server_; ++tries) try {
        port_ = spare_port();
        std::vector<std::string> options{option, port_, "--bind", "127.0.0.1"};
        options.insert(options.end(), others.begin(), others.end());
        server_.emplace(options);
      } catch (std::exception const&) {
        if (tries == 5) throw;  // otherwise somebody else has taken the port
      }
  }

  server& operator*() { return *server_; }
  server* operator->() { return &*server_; }
  std::string const& port() const { return port_; }

 private:
  static std::string spare_port() {
    using boost::asio::ip::tcp;
    boost::asio::io_context io;
    tcp::acceptor const spare(io, {boost::asio::ip::address_v4::loopback(), 0});
    return std::to_string(spare.local_endpoint().port());
  }

  std::string port_;
  std::optional<server> server_;
};

/// Returns the options of a server that uses TLS, and does not ask for certificates.
inline std::vector<std::string> tls_server_options(certificates const& c) {
  return {"--tls-cert-file",    c.file("server.pem"), "--tls-key-file",     c.file("server.key"),
          "--tls-ca-cert-file", c.file("ca.pem"),     "--tls-auth-clients", "no"};
}

}  // namespace asio_sync::test::redis

#endif
