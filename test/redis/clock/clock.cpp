// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Sets the clock of a program that is started with this library in LD_PRELOAD: it is so many
// seconds before the system's as the file REDIS_CLOCK says.

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

// Needs no memory: the program's allocator asks for the time, too.
std::time_t offset() noexcept {
  char const* const path = std::getenv("REDIS_CLOCK");
  int const file = path != nullptr ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  char text[32] = {};
  bool const is_read = ::read(file, text, sizeof text - 1) > 0;
  ::close(file);
  return is_read ? std::atol(text) : 0;
}

}  // namespace

extern "C" int clock_gettime(clockid_t which, timespec* out) noexcept {
  long const result = ::syscall(SYS_clock_gettime, which, out);
  if (result == 0 && which == CLOCK_REALTIME) out->tv_sec += offset();
  return static_cast<int>(result);
}

extern "C" int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  int const result = clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

extern "C" std::time_t time(std::time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
