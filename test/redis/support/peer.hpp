// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_PEER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_PEER_HPP

#include "redis/support/server.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace asio_sync::test::redis {

/// A process of redis_peer, which is beside the test program, or that of another build, which the
/// environment names. It is killed with this object.
class peer {
 public:
  peer(server const& s, std::string const& name, std::chrono::milliseconds ttl) {
    char const* const named = std::getenv("ASIO_SYNC_TEST_PEER");
    auto const program =
        named ? std::string(named)
              : (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "redis_peer")
                    .string();
    auto const life = std::to_string(ttl.count()), socket = s.socket();
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("cannot make a pipe");
    process_ = ::fork();
    if (process_ == 0) {
#if defined(__linux__)
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl(program.c_str(), "redis_peer", socket.c_str(), life.c_str(), name.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  peer(peer&& other) noexcept
      : process_(std::exchange(other.process_, -1)),
        to_(std::exchange(other.to_, -1)),
        from_(std::exchange(other.from_, -1)),
        text_(std::move(other.text_)) {}
  peer& operator=(peer&&) = delete;
  ~peer() {
    kill();
    ::close(to_);
    ::close(from_);
  }

  void say(std::string const& order) {
    std::string const line = order + '\n';
    if (::write(to_, line.data(), line.size()) != static_cast<::ssize_t>(line.size()))
      throw std::runtime_error("the peer has gone");
  }

  /// Returns the next line that begins so, without its beginning; throws if it takes too long.
  std::string expect(std::string const& beginning,
                     std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    auto const end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      std::string const line = read_line(end);
      if (line.compare(0, beginning.size(), beginning) == 0) return line.substr(beginning.size());
    }
  }

  /// Returns true if there is a line within the time.
  bool answers(std::chrono::milliseconds time) {
    ::pollfd p{from_, POLLIN, 0};
    return text_.find('\n') != std::string::npos ||
           ::poll(&p, 1, static_cast<int>(time.count())) > 0;
  }

  void lock() {
    say("lock");
    expect("locked ");
  }

  /// Returns when all threads of the process have stopped, if that is what the signal does.
  void send(int signal) const noexcept {
    ::kill(process_, signal);
    if (signal == SIGSTOP) ::waitpid(process_, nullptr, WUNTRACED);
  }

  void kill() noexcept {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, -1), nullptr, 0);
  }

  /// Waits for the end of the process, and returns its status.
  int join() {
    int status = -1;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string read_line(std::chrono::steady_clock::time_point end) {
    for (;;) {
      if (auto const n = text_.find('\n'); n != std::string::npos) {
        std::string line = text_.substr(0, n);
        text_.erase(0, n + 1);
        return line;
      }
      auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      ::pollfd p{from_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&p, 1, static_cast<int>(left.count())) <= 0)
        throw std::runtime_error("the peer does not answer in time");
      std::array<char, 4096> room{};
      auto const n = ::read(from_, room.data(), room.size());
      if (n <= 0) throw std::runtime_error("the peer has ended");
      text_.append(room.data(), static_cast<std::size_t>(n));
    }
  }

  ::pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string text_;
};

}  // namespace asio_sync::test::redis

#endif
