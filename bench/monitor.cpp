// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;

// async_monitor as the workloads lock it.
struct monitor_lock {
  using held = async_monitor<std::size_t>::entry;

  explicit monitor_lock(asio::io_context& context) : monitor(context) {}

  ASIO_SYNC_INLINE void release(held& entry) { entry.leave(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return monitor.async_enter(std::forward<Token>(token));
  }

  async_monitor<std::size_t> monitor;
};

void count(std::size_t& n) { ++n; }

// On the strand of the monitor, which is free.
asio::awaitable<void> invoke_repeatedly(async_monitor<std::size_t>& monitor, std::size_t n) {
  for (; n != 0; --n) co_await monitor.async_invoke(count, asio::deferred);
}

// What people do today: a mutex for the time, a strand for the place.
struct locked_strand {
  explicit locked_strand(asio::io_context& context)
      : mutex(context), strand(asio::make_strand(context)) {}

  async_mutex mutex;
  asio::strand<asio::io_context::executor_type> strand;
  std::size_t counted = 0;
};

asio::awaitable<void> post_repeatedly(locked_strand& to, std::size_t n) {
  for (; n != 0; --n) {
    auto const lock = co_await to.mutex.async_lock(asio::deferred);
    co_await asio::post(asio::bind_executor(to.strand, asio::deferred));
    count(to.counted);
  }
}

// Each handler invokes for the next.
struct invoking {
  void operator()(std::exception_ptr const&) const {
    if (--*left != 0) monitor->async_invoke(count, invoking(*this));
  }

  async_monitor<std::size_t>* monitor;
  std::size_t* left;
};

workload invoke_in_coroutine(reactor r) {
  auto const s = std::make_shared<scene<async_monitor<std::size_t>>>(r);
  return {[s](std::size_t n) {
    co_spawn(s->lock.get_executor(), invoke_repeatedly(s->lock, n), asio::detached);
    s->context.run();
  }};
}

workload invoke_in_handlers(reactor r) {
  auto const s = std::make_shared<scene<async_monitor<std::size_t>>>(r);
  return {[s](std::size_t n) {
    s->lock.async_invoke(count, invoking{&s->lock, &n});
    s->context.run();
  }};
}

workload post_in_coroutine(reactor r) {
  auto const s = std::make_shared<scene<locked_strand>>(r);
  return {[s](std::size_t n) {
    co_spawn(s->lock.strand, post_repeatedly(s->lock, n), asio::detached);
    s->context.run();
  }};
}

}  // namespace

void add_monitor_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/monitor" + r] = {4096,
                                            [=] { return free_lock<monitor_lock>(r, token); }};
    });
    all["W2/monitor" + r] = {4096, [=] { return handler_chain<monitor_lock>(r); }};
    all["invoke/deferred/monitor" + r] = {4096, [=] { return invoke_in_coroutine(r); }};
    all["invoke/callback/monitor" + r] = {4096, [=] { return invoke_in_handlers(r); }};
    all["invoke/deferred/mutex and strand" + r] = {4096, [=] { return post_in_coroutine(r); }};
  }
}

}  // namespace asio_sync::bench
