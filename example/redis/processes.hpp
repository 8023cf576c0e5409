// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Starts the processes of an example, hears from them, and ends them.

#ifndef ASIO_SYNC_EXAMPLE_REDIS_PROCESSES_HPP
#define ASIO_SYNC_EXAMPLE_REDIS_PROCESSES_HPP

#include <fcntl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

[[noreturn]] inline void throw_error(char const* function) {
  throw std::system_error(errno, std::generic_category(), function);
}

/// Keeps signals like that of ^C from ending the program at once: `take` throws instead. Create it
/// before everything that has to be cleaned up.
class signals {
 public:
  signals() {
    struct ::sigaction action = {};
    action.sa_handler = [](int signal) { interrupted_ = interrupted_ || signal != SIGCHLD; };
    ::sigset_t blocked;
    ::sigemptyset(&blocked);
    for (int const signal : all) {
      ::sigaddset(&blocked, signal);
      ::sigaction(signal, &action, nullptr);
    }
    if (::sigprocmask(SIG_BLOCK, &blocked, &unblocked_) != 0) throw_error("sigprocmask");
    for (int const signal : all) ::sigdelset(&unblocked_, signal);
  }

  signals(signals const&) = delete;
  signals& operator=(signals const&) = delete;

  /// Lets signals arrive that are pending, and throws if the program is to end.
  void take() {
    ::sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, &unblocked_, &blocked);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    if (interrupted_) throw std::runtime_error("interrupted");
  }

  /// Lets signals arrive from now on, for a process that has its own way to end.
  void let_in() { ::sigprocmask(SIG_SETMASK, &unblocked_, nullptr); }

  /// Waits until there is something to read, a signal arrives, or a process ends.
  void wait(int file) {
    ::fd_set readable;
    FD_ZERO(&readable);
    FD_SET(file, &readable);
    ::pselect(file + 1, &readable, nullptr, nullptr, nullptr, &unblocked_);
  }

 private:
  static constexpr int all[] = {SIGCHLD, SIGHUP, SIGINT, SIGTERM};
  inline static volatile std::sig_atomic_t interrupted_ = 0;

  ::sigset_t unblocked_;
};

/// Starts processes by fork, receives the lines that they report, and kills them at the end of the
/// scope.
class processes {
 public:
  explicit processes(signals& s) : signals_(s) {
    if (::pipe(pipe_) != 0 || ::fcntl(pipe_[0], F_SETFL, O_NONBLOCK) != 0) throw_error("pipe");
  }

  processes(processes const&) = delete;
  processes& operator=(processes const&) = delete;

  ~processes() {
    for (std::size_t i = 0; i != ids_.size(); ++i) kill(i);
    for (int const end : pipe_) ::close(end);
  }

  /// Starts a process that calls `body`. There must be no other thread and no client yet.
  template <class Body>
  void start(Body body) {
    ::pid_t const id = ::fork();
    if (id == -1) throw_error("fork");
    if (id != 0) {
      ids_.push_back(id);
      return;
    }
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // even if the parent is killed
#endif
    try {
      body();
      std::_Exit(0);  // only the parent cleans up
    } catch (std::exception const& error) {
      report(failure + error.what());
    }
    std::_Exit(1);
  }

  /// Sends a line to the parent, whose `next_line` returns it. For `body` to call.
  void report(std::string const& line) const {
    std::string const text = line + '\n';  // one write: lines do not mix
    if (::write(pipe_[1], text.data(), text.size()) == -1) throw_error("write");
  }

  /// Returns the next line that a process reports, or nothing when all processes have ended.
  /// Throws if a process has failed, or the program is to end.
  std::optional<std::string> next_line() {
    for (;;) {
      signals_.take();
      bool const all_ended = reap();  // before the last lines are read
      char buffer[4096];
      for (::ssize_t size; (size = ::read(pipe_[0], buffer, sizeof buffer)) > 0;)
        text_.append(buffer, static_cast<std::size_t>(size));
      if (auto const end = text_.find('\n'); end != std::string::npos) {
        std::string const line = std::exchange(text_, text_.substr(end + 1)).substr(0, end);
        if (line.starts_with(failure)) throw std::runtime_error(line.substr(failure.size()));
        return line;
      }
      if (failed_) throw std::runtime_error("a process has ended before its time");
      if (all_ended) return {};
      signals_.wait(pipe_[0]);
    }
  }

  /// Kills process i; the first that was started is 0.
  void kill(std::size_t i) {
    if (ids_[i] == 0) return;
    ::kill(ids_[i], SIGKILL);
    ::waitpid(std::exchange(ids_[i], 0), nullptr, 0);
  }

  /// Sends a signal to process i, which has not ended.
  void send(std::size_t i, int signal) { ::kill(ids_[i], signal); }

 private:
  // True if all processes have ended.
  bool reap() {
    bool all_ended = true;
    for (::pid_t& id : ids_) {
      int status = 0;
      if (id != 0 && ::waitpid(id, &status, WNOHANG) == id) {
        id = 0;
        failed_ = failed_ || status != 0;
      }
      all_ended = all_ended && id == 0;
    }
    return all_ended;
  }

  inline static std::string const failure = "error: ";

  signals& signals_;
  int pipe_[2];
  std::vector<::pid_t> ids_;  // 0: has ended
  std::string text_;
  bool failed_ = false;
};

#endif
