// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <utility>

namespace asio_sync::bench {

namespace {

// async_semaphore as the workloads lock it: with so many permits, one for each holder.
template <std::ptrdiff_t Permits>
struct semaphore_lock {
  using held = semaphore_permit;

  explicit semaphore_lock(boost::asio::io_context& context) : semaphore(context, Permits) {}

  bool try_lock() { return semaphore.try_acquire().forget() != 0; }
  void unlock() { semaphore.release(); }
  ASIO_SYNC_INLINE void release(held& permit) { permit.release(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return semaphore.async_acquire(std::forward<Token>(token));
  }

  async_semaphore semaphore;
};

}  // namespace

void add_semaphore_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    all["W6/1000/semaphore" + r] = {1000,
                                    [=] { return queue_and_drain<semaphore_lock<1>>(r, 1000); }};
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/semaphore" + r] = {
          4096, [=] { return free_lock<semaphore_lock<1>>(r, token); }};
      all["W7/" + name + "/semaphore" + r] = {
          section_count(64), [=] { return sections<semaphore_lock<8>>(r, token, 64); }};
    });
  }
}

}  // namespace asio_sync::bench
