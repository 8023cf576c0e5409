// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_SERVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_SERVER_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_sync::test::redis {

/// Returns the first of these programs that is in the path, or nothing.
inline std::filesystem::path find_program(std::initializer_list<char const*> names) {
  char const* const path = std::getenv("PATH");
  for (char const* name : names) {
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (auto program = std::filesystem::path(folder) / name; std::filesystem::exists(program))
        return program;
  }
  return {};
}

/// Returns the program of the server: that which the environment names, else the first in the
/// path. The package redis-tools has it under another name.
inline std::filesystem::path server_program() {
  if (char const* const named = std::getenv("ASIO_SYNC_TEST_SERVER")) return named;
  auto program =
      find_program({"redis-server", "valkey-server", "redis-check-rdb", "valkey-check-rdb"});
  if (program.empty())
    throw std::runtime_error(
        "There is no Redis server to test with: install the package redis-tools or valkey-tools.");
  return program;
}

/// A server of the test's own, which keeps nothing on disk and listens on a Unix socket in a
/// temporary folder. It ends with this object. On Linux it also ends when the test is killed.
class server {
 public:
  explicit server(std::vector<std::string> options = {}) : options_(std::move(options)) {
    auto pattern = (std::filesystem::temp_directory_path() / "asio_sync-redis-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
    folder_ = pattern;
    try {
      // The name decides what the program does.
      std::filesystem::create_symlink(server_program(), folder_ / "redis-server");
      start();
    } catch (...) {
      end();
      throw;
    }
  }

  server(server const&) = delete;
  server& operator=(server const&) = delete;
  ~server() { end(); }

  std::string socket() const { return (folder_ / "socket").string(); }
  ::pid_t id() const { return process_; }

  /// Starts the server, and waits until it listens.
  void start() {
    std::vector<std::string> arguments{folder_ / "redis-server",
                                       "--port",
                                       "0",
                                       "--unixsocket",
                                       socket(),
                                       "--dir",
                                       folder_,
                                       "--logfile",
                                       folder_ / "log",
                                       "--save",
                                       "",
                                       "--appendonly",
                                       "no"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    process_ = run(arguments);
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!listens()) {
      if (::waitpid(process_, nullptr, WNOHANG) != 0 || std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("the Redis server does not start: " + log());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  /// Kills the server; its data is lost.
  void kill() noexcept {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    process_ = -1;
    std::error_code ignored;
    std::filesystem::remove(socket(), ignored);
  }

  std::string log() const {
    std::ifstream file(folder_ / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  bool listens() const {
    boost::asio::io_context io;
    boost::asio::local::stream_protocol::socket probe(io);
    boost::system::error_code error;
    probe.connect(boost::asio::local::stream_protocol::endpoint(socket()), error);
    return !error;
  }

  // Runs a program in a child process, with nothing on its standard input.
  static ::pid_t run(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& each : arguments) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    ::pid_t const child = ::fork();
    if (child == -1) throw std::runtime_error("cannot start a process");
    if (child != 0) return child;
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    ::close(STDIN_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }

  void end() noexcept {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::vector<std::string> options_;
  std::filesystem::path folder_;
  ::pid_t process_ = -1;
};

}  // namespace asio_sync::test::redis

#endif
