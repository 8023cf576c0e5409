// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#define ASIO_SYNC_BENCH_CANCEL_AFTER 1
#endif

#include <chrono>
#include <mutex>
#include <variant>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// A channel with room for one element as a mutex: whoever has the element holds it.
struct channel_lock {
  struct held {};

  explicit channel_lock(asio::io_context& context) : channel(context, 1) { unlock(); }

  bool try_lock() {
    return channel.try_receive([](error_code, held) {});
  }
  void unlock() { channel.try_send(error_code(), held()); }
  void release(held&) { unlock(); }

  template <class Token>
  auto async_lock(Token&& token) {
    return channel.async_receive(std::forward<Token>(token));
  }

  asio::experimental::concurrent_channel<void(error_code, held)> channel;
};

// A mutex that blocks the thread: for W1 alone.
struct blocking_lock {
  explicit blocking_lock(asio::io_context&) {}

  bool try_lock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }

  std::mutex mutex;
};

// `lock || timer`, as it is written without timed operations.
struct raced_lock : mutex_lock {
  using mutex_lock::mutex_lock;

  asio::awaitable<held> async_lock(asio::use_awaitable_t<> const& token) {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer(mutex.get_executor(), std::chrono::hours(1));
    auto result = co_await (mutex.async_lock(token) || timer.async_wait(token));
    co_return std::get<0>(std::move(result));
  }
};

#ifdef ASIO_SYNC_BENCH_CANCEL_AFTER
struct cancelled_lock : mutex_lock {
  using mutex_lock::mutex_lock;

  template <class Token>
  auto async_lock(Token&& token) {
    return mutex.async_lock(asio::cancel_after(std::chrono::hours(1), std::forward<Token>(token)));
  }
};
#endif

// A strand, where nothing is awaited while it is held: a chain of posts, and many at once.
using strand = asio::strand<asio::io_context::executor_type>;

struct strand_link {
  void operator()() {
    if (--*left != 0) asio::post(*ex, strand_link(*this));
  }

  strand const* ex;
  std::size_t* left;
};

workload strand_chain(reactor r) {
  auto const context = std::make_shared<bench_context>(r);
  auto const ex = std::make_shared<strand>(context->io().get_executor());
  return {[=](std::size_t n) {
    asio::post(*ex, strand_link{ex.get(), &n});
    context->run();
  }};
}

workload strand_queue(reactor r) {
  auto const context = std::make_shared<bench_context>(r);
  auto const ex = std::make_shared<strand>(context->io().get_executor());
  return {[=](std::size_t n) {
    struct handler {
      void operator()() { *completed += bytes; }
      void* unused;
      std::size_t* completed;
      std::size_t bytes;
    };
    std::size_t completed = 0;
    for (std::size_t i = 0; i != n; ++i) asio::post(*ex, handler{nullptr, &completed, 1});
    context->run();
  }};
}

template <class Token>
void add_coroutines(catalogue& all, reactor r, std::string const& name,
                    std::type_identity<Token> token) {
  all["W3/" + name + "/channel" + r] = {4096, [=] { return free_lock<channel_lock>(r, token); }};
  for (std::size_t const k : {2, 64}) {
    std::string const path = name + "/" + std::to_string(k);
    all["W4/" + path + "/channel" + r] = {section_count(k),
                                          [=] { return sections<channel_lock>(r, token, k); }};
    all["W5/" + path + "/channel" + r] = {
        threaded_sections, [=] { return sections_of_two_threads<channel_lock>(r, token, k); },
        true};
  }
  all["W5b/" + name + "/channel" + r] = {
      threaded_sections, [=] { return sections_of_two_contexts<channel_lock>(r, token); }, true};
#ifdef ASIO_SYNC_BENCH_CANCEL_AFTER
  all["W10/free/" + name + "/cancel_after" + r] = {
      1024, [=] { return free_lock<cancelled_lock>(r, token); }};
#endif
}

}  // namespace

void add_alternative_workloads(catalogue& all) {
  all["W1/std::mutex"] = {4096, [] { return try_lock_loop<blocking_lock>(); }};
  all["W1/channel"] = {4096, [] { return try_lock_loop<channel_lock>(); }};
  for (reactor const r : reactors) {
    all["W2/channel" + r] = {4096, [=] { return handler_chain<channel_lock>(r); }};
    all["W2/strand" + r] = {4096, [=] { return strand_chain(r); }};
    for_plain_tokens(
        [&](std::string const& name, auto token) { add_coroutines(all, r, name, token); });
    all["W6/1000/channel" + r] = {1000, [=] { return queue_and_drain<channel_lock>(r); }};
    all["W6/1000/strand" + r] = {1000, [=] { return strand_queue(r); }};
    all["W10/free/use_awaitable/lock || timer" + r] = {
        1024,
        [=] { return free_lock<raced_lock>(r, std::type_identity<asio::use_awaitable_t<>>()); }};
  }
  all["W11/in order/1000/channel"] = {
      1000, [] { return cancel_queued<channel_lock>(cancel_order::queue); }};
  all["W11/at random/10000/channel"] = {
      10000, [] { return cancel_queued<channel_lock>(cancel_order::random); }};
}

}  // namespace asio_sync::bench
