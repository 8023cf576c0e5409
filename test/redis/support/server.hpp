// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_SERVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_SERVER_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>

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

/// Returns the program of the server. The package redis-tools has it under another name.
inline std::filesystem::path server_program() {
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
  ::pid_t id() const { return process_.id(); }

  /// Starts the server, and waits until it listens.
  void start() {
    namespace process = boost::process;
    std::vector<std::string> arguments{"--port", "0",     "--unixsocket", socket(),
                                       "--dir",  folder_, "--logfile",    folder_ / "log",
                                       "--save", "",      "--appendonly", "no"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    process_ = process::child(
        process::exe = (folder_ / "redis-server").string(), process::args = arguments,
        process::std_in < process::null,
        process::extend::on_exec_setup = [](auto&) { end_with_the_test(); });
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!listens()) {
      if (!process_.running() || std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("the Redis server does not start: " + log());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  /// Kills the server; its data is lost.
  void kill() {
    if (process_.valid() && process_.running()) process_.terminate();
    std::filesystem::remove(socket());
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

  static void end_with_the_test() {
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  }

  void end() noexcept {
    std::error_code ignored;
    if (process_.valid()) process_.terminate(ignored);
    std::filesystem::remove_all(folder_, ignored);
  }

  std::vector<std::string> options_;
  std::filesystem::path folder_;
  boost::process::child process_;
};

}  // namespace asio_sync::test::redis

#endif
