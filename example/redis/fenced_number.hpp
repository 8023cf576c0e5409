// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The number that a lock protects refuses a writer whose lock was lost.

#ifndef ASIO_SYNC_EXAMPLE_REDIS_FENCED_NUMBER_HPP
#define ASIO_SYNC_EXAMPLE_REDIS_FENCED_NUMBER_HPP

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

/// Keeps a number in a file, with the fence of the lock under which it was written. Each call
/// locks the file, and is atomic; only the mutex keeps others away between two calls.
class fenced_number {
 public:
  explicit fenced_number(std::filesystem::path const& file)
      : file_(::open(file.c_str(), O_RDWR | O_CREAT, 0600)) {
    if (file_ == -1) fail("open");
  }

  fenced_number(fenced_number const&) = delete;
  fenced_number& operator=(fenced_number const&) = delete;
  ~fenced_number() { ::close(file_); }

  /// Returns the number; 0 if the file is new.
  std::int64_t read() {
    file_lock const lock(file_);
    return load().number;
  }

  /// Writes the number. Returns false, and writes nothing, if a larger fence has written before.
  bool write(std::uint64_t fence, std::int64_t number) {
    file_lock const lock(file_);
    if (fence == 0 || fence < load().fence) return false;
    contents const now{fence, number};
    if (::pwrite(file_, &now, sizeof now, 0) != sizeof now) fail("pwrite");
    return true;
  }

 private:
  struct contents {
    std::uint64_t fence = 0;
    std::int64_t number = 0;
  };

  struct file_lock {
    explicit file_lock(int f) : file(f) {
      if (::flock(file, LOCK_EX) != 0) fail("flock");
    }
    file_lock(file_lock const&) = delete;
    file_lock& operator=(file_lock const&) = delete;
    ~file_lock() { ::flock(file, LOCK_UN); }

    int file;
  };

  contents load() {
    contents now;
    if (::pread(file_, &now, sizeof now, 0) == -1) fail("pread");  // a new file has nothing
    return now;
  }

  [[noreturn]] static void fail(char const* function) {
    throw std::system_error(errno, std::generic_category(), function);
  }

  int file_;
};

#endif
