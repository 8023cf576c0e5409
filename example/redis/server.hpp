// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The examples of this folder talk to the user's server, or start one.

#ifndef ASIO_SYNC_EXAMPLE_REDIS_SERVER_HPP
#define ASIO_SYNC_EXAMPLE_REDIS_SERVER_HPP

#include "../command_line.hpp"

#include <asio_sync/redis/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

/// Makes a folder, and removes it with its contents at the end of the scope.
class temporary_folder {
 public:
  temporary_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "asio_sync-example-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make the folder " + pattern);
    path_ = pattern;
  }

  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs a server of the program's own, which listens on a Unix socket and keeps nothing on disk.
/// The server ends with this object.
class own_server {
 public:
  // Waits when the object is complete: if the server does not listen, the destructor ends it.
  own_server() : own_server(find_program()) { wait_until_it_listens(); }

  own_server(own_server const&) = delete;
  own_server& operator=(own_server const&) = delete;

  ~own_server() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  std::string socket() const { return (folder_.path() / "socket").string(); }

 private:
  // Starts the program under the name redis-server. The package redis-tools has only
  // redis-check-rdb, a program that is the server when it is called by this name.
  explicit own_server(std::filesystem::path const& program) {
    auto const link = folder_.path() / "redis-server";
    std::filesystem::create_symlink(program, link);
    process_ = ::fork();
    if (process_ == -1) throw std::system_error(errno, std::generic_category(), "fork");
    if (process_ != 0) return;
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // even if this program is killed
#endif
    ::execl(link.c_str(), link.c_str(), "--port", "0", "--unixsocket", socket().c_str(), "--save",
            "", "--dir", folder_.path().c_str(), "--logfile", "log", nullptr);
    std::_Exit(127);
  }

  static std::filesystem::path find_program() {
    char const* const path = std::getenv("PATH");
    for (auto name : {"redis-server", "valkey-server", "redis-check-rdb", "valkey-check-rdb"}) {
      std::istringstream folders(path ? path : "");
      for (std::string folder; std::getline(folders, folder, ':');)
        if (auto program = std::filesystem::absolute(folder) / name;
            ::access(program.c_str(), X_OK) == 0)
          return program;
    }
    throw std::runtime_error("found no redis-server; install redis-tools, or use --redis");
  }

  void wait_until_it_listens() {
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    boost::asio::io_context context;
    boost::asio::local::stream_protocol::socket probe(context);
    boost::system::error_code error;
    while (probe.connect(socket(), error)) {
      if (std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("the Redis server does not start");
      probe.close(error);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  temporary_folder folder_;
  ::pid_t process_ = -1;
};

/// Knows how to connect to the server. The user has named it with --redis, as host:port or as the
/// path of a socket; otherwise it is our own.
class server {
 public:
  explicit server(std::string const& named) {
    config_.prefix = "asio_sync-example:";
    config_.max_session_ttl = config_.session_ttl = std::chrono::seconds(3);
    auto const colon = named.rfind(':');
    if (named.empty()) {
      config_.unix_socket = own_.emplace().socket();
      config_.gate = false;  // the server is empty because it is new, not because it lost data
    } else if (named.find('/') != std::string::npos) {
      config_.unix_socket = named;
    } else if (colon != std::string::npos && colon != 0 && colon + 1 != named.size()) {
      config_.host = named.substr(0, colon);
      config_.port = named.substr(colon + 1);
    } else {
      throw command_line::usage_error("--redis takes host:port or the path of a socket, not '" +
                                      named + "'");
    }
  }

  /// Returns the settings for a client of this name.
  asio_sync::redis::config config_for(std::string const& name) const {
    auto config = config_;
    config.name = name;
    return config;
  }

 private:
  std::optional<own_server> own_;
  asio_sync::redis::config config_;
};

#endif
