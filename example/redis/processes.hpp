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

/// Processes that are forked from this one, and the lines that they report to it. They are killed
/// at the end of the scope.
///
/// Signals that would end the program, like that of ^C, do not while there is such an object, but
/// have `next_line` throw. So this comes before what has to be removed at the end.
class processes {
 public:
  processes() {
    struct ::sigaction action = {};
    action.sa_handler = [](int signal) { interrupted_ = interrupted_ || signal != SIGCHLD; };
    ::sigset_t blocked;
    ::sigemptyset(&blocked);
    for (int const signal : {SIGCHLD, SIGHUP, SIGINT, SIGTERM}) {
      ::sigaddset(&blocked, signal);
      ::sigaction(signal, &action, nullptr);
    }
    if (::sigprocmask(SIG_BLOCK, &blocked, &while_waiting_) != 0 || ::pipe(pipe_) != 0 ||
        ::fcntl(pipe_[0], F_SETFL, O_NONBLOCK) != 0)
      throw_error("pipe");
    for (int const signal : {SIGCHLD, SIGHUP, SIGINT, SIGTERM})
      ::sigdelset(&while_waiting_, signal);
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
      std::_Exit(0);  // the rest is the parent's
    } catch (std::exception const& error) {
      report(failure + error.what());
    }
    std::_Exit(1);
  }

  /// Called in one of the processes: has the parent's `next_line` return the line.
  void report(std::string const& line) const {
    std::string const text = line + '\n';  // is written as a whole
    if (::write(pipe_[1], text.data(), text.size()) == -1) throw_error("write");
  }

  /// Returns the next line that a process reports, or nothing when all of them have ended. Throws
  /// if one has failed, and when the program is interrupted.
  std::optional<std::string> next_line() {
    for (;;) {
      take_signals();
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
      wait();
    }
  }

  /// Kills a process, by the order of their starts.
  void kill(std::size_t i) {
    if (ids_[i] == 0) return;
    ::kill(ids_[i], SIGKILL);
    ::waitpid(std::exchange(ids_[i], 0), nullptr, 0);
  }

  /// Wakes a process that has stopped itself by SIGSTOP.
  void resume(std::size_t i) { ::kill(ids_[i], SIGCONT); }

 private:
  [[noreturn]] static void throw_error(char const* function) {
    throw std::system_error(errno, std::generic_category(), function);
  }

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

  // Signals arrive here, and in wait().
  void take_signals() {
    ::sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, &while_waiting_, &blocked);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    if (interrupted_) throw std::runtime_error("interrupted");
  }

  // Waits for a line or a signal.
  void wait() {
    ::fd_set readable;
    FD_ZERO(&readable);
    FD_SET(pipe_[0], &readable);
    ::pselect(pipe_[0] + 1, &readable, nullptr, nullptr, nullptr, &while_waiting_);
  }

  inline static volatile std::sig_atomic_t interrupted_ = 0;
  inline static std::string const failure = "error: ";

  ::sigset_t while_waiting_;
  int pipe_[2];
  std::vector<::pid_t> ids_;  // 0: has ended
  std::string text_;
  bool failed_ = false;
};

#endif
