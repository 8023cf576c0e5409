// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_CHILD_HPP
#define ASIO_SYNC_TEST_SUPPORT_CHILD_HPP

// For faults that end the process, or leave it in pieces: the test runs them in a child process.
// There are such processes on POSIX alone.
#if defined(__unix__) || defined(__APPLE__)
#define ASIO_SYNC_TEST_HAS_CHILDREN 1

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

// The thread sanitizer ends a child that makes threads, where its parent had more than one: the
// test program has its watchdog's.
#if !defined(ASIO_SYNC_TEST_TSAN)
#define ASIO_SYNC_TEST_CHILDREN_HAVE_THREADS 1
#endif

namespace asio_sync::test {

inline constexpr unsigned child_seconds = 100;

namespace detail_of_child {

inline constexpr int status_of_false = 42;  // no sanitizer ends a process with it

// In the child, which ends here: neither the parent's destructors nor its exit handlers run.
template <class Function>
[[noreturn]] void run(Function& f) noexcept {
  // Boost.Test's handlers would jump out of here, into the test that the parent is about to end.
  for (int const signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM, SIGTERM})
    std::signal(signal, SIG_DFL);
  ::alarm(child_seconds);
  bool held = false;
  try {
    held = f();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "child: %s\n", e.what());
  }
  ::_exit(held ? 0 : status_of_false);
}

inline std::string describe(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "the child ran for more than " + std::to_string(child_seconds) + " s";
  if (WIFSIGNALED(status))
    return "the child was killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == status_of_false) return "in the child it did not hold";
  if (WEXITSTATUS(status) != 0)
    return "the child ended with status " + std::to_string(WEXITSTATUS(status));
  return "";
}

}  // namespace detail_of_child

// Runs f() in a child process, which has a copy of everything but of the other threads. What went
// wrong there: nothing, that is "", if f() has returned true within child_seconds. In f() the
// macros of Boost.Test reach nobody.
template <class Function>
std::string failure_in_child(Function f) {
  std::fflush(nullptr);  // or the child has it, too
  ::pid_t const child = ::fork();
  if (child == 0) detail_of_child::run(f);
  if (child < 0) return "there is no child";
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return "the child is lost";
  return detail_of_child::describe(status);
}

}  // namespace asio_sync::test

#endif

#endif
