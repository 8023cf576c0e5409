// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/mutex_lock.hpp>
#include <bench/ping_pong.hpp>
#include <bench/queued_waits.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#define ASIO_SYNC_BENCH_CANCEL_AFTER 1
#endif

#include <chrono>
#include <deque>
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

// A flag, and a timer that never expires as the condition that it was lowered: for one thread. A
// wait cannot be cancelled, as that looks like being woken.
struct timer_lock {
  struct held {};

  explicit timer_lock(asio::io_context& context)
      : timer(context, asio::steady_timer::time_point::max()) {}

  bool try_lock() { return !std::exchange(locked, true); }
  void unlock() {
    locked = false;
    timer.cancel_one();
  }
  void release(held&) { unlock(); }

  asio::awaitable<held> async_lock(asio::use_awaitable_t<> const& token) {
    while (!try_lock()) co_await timer.async_wait(asio::as_tuple(token));
    co_return held();
  }

  template <class Handler>
  void async_lock(Handler handler) {
    if (try_lock())
      asio::post(timer.get_executor(), [handler]() mutable { handler(error_code(), held()); });
    else
      wait(handler);
  }

  template <class Handler>
  void wait(Handler handler) {
    timer.async_wait([this, handler](error_code) mutable {
      if (try_lock())
        handler(error_code(), held());
      else
        wait(handler);
    });
  }

  asio::steady_timer timer;
  bool locked = false;
};

// What people use to wake each other: a channel with room for one message to each side; or a flag,
// and a timer that never expires, for one thread.
struct channel_ball {
  using channel_type = asio::experimental::concurrent_channel<void(error_code)>;

  explicit channel_ball(asio::io_context& context)
      : channels{channel_type(context, 1), channel_type(context, 1)} {}

  void send(std::size_t side) { channels[side].try_send(error_code()); }
  template <class Token>
  auto async_receive(std::size_t side, Token&& token) {
    return channels[side].async_receive(std::forward<Token>(token));
  }

  channel_type channels[2];
};

struct timer_ball {
  explicit timer_ball(asio::io_context& context)
      : timers{asio::steady_timer(context, asio::steady_timer::time_point::max()),
               asio::steady_timer(context, asio::steady_timer::time_point::max())} {}

  void send(std::size_t side) {
    sent[side] = true;
    timers[side].cancel();
  }
  asio::awaitable<void> async_receive(std::size_t side, asio::use_awaitable_t<> const& token) {
    while (!std::exchange(sent[side], false))
      co_await timers[side].async_wait(asio::as_tuple(token));
  }

  asio::steady_timer timers[2];
  bool sent[2] = {};
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

// A strand, where nothing is awaited while it is held: coroutines that make trips through it, a
// chain of posts, and many at once.
using strand = asio::strand<asio::io_context::executor_type>;

template <class Token>
asio::awaitable<void> enter_repeatedly(strand ex, std::type_identity<Token>, std::size_t n) {
  for (; n != 0; --n) co_await asio::post(asio::bind_executor(ex, Token()));
}

template <class Token>
workload strand_trips(reactor r, std::type_identity<Token> token, std::size_t coroutines,
                      std::size_t trips, void (bench_context::*run)() = &bench_context::run) {
  auto const context = std::make_shared<bench_context>(r);
  strand const ex(context->io().get_executor());
  return {[=](std::size_t n) {
    for (std::size_t i = 0; i != coroutines; ++i)
      co_spawn(context->io(), enter_repeatedly(ex, token, n * trips / coroutines), asio::detached);
    (*context.*run)();
  }};
}

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

// A timer for each wait: what times out is the timer alone.
queued_waits timers_time_out(departure order) {
  struct state {
    bench_context context{reactor::absent};
    std::deque<asio::steady_timer> timers;
  };
  auto const s = std::make_shared<state>();
  return timed_out({[s](std::size_t i, auto deadline) {
                      if (i == s->timers.size()) s->timers.emplace_back(s->context.io());
                      s->timers[i].expires_at(deadline);
                      s->timers[i].async_wait([](error_code) {});
                    },
                    [s] { return s->timers.size(); }, [s] { s->context.run(); }},
                   order);
}

template <class Token>
void add_coroutines(catalogue& all, reactor r, std::string const& name,
                    std::type_identity<Token> token) {
  all["W3/" + name + "/channel" + r] = {4096, [=] { return free_lock<channel_lock>(r, token); }};
  all["W3/" + name + "/strand" + r] = {4096, [=] { return strand_trips(r, token, 1, 1); }};
  all["ping-pong/" + name + "/channel" + r] = {4096,
                                               [=] { return ping_pong<channel_ball>(r, token); }};
  for (std::size_t const k : {2, 64}) {
    std::string const path = name + "/" + std::to_string(k);
    all["W4/" + path + "/channel" + r] = {section_count(k),
                                          [=] { return sections<channel_lock>(r, token, k); }};
    all["W4/" + path + "/strand" + r] = {section_count(k),
                                         [=] { return strand_trips(r, token, k, 2); }};
    all["W5/" + path + "/strand" + r] = {
        threaded_sections,
        [=] { return strand_trips(r, token, k, 2, &bench_context::run_in_two_threads); }, true};
    all["W5/" + path + "/channel" + r] = {
        threaded_sections, [=] { return sections_of_two_threads<channel_lock>(r, token, k); },
        true};
  }
  all["W5b/" + name + "/channel" + r] = {
      threaded_sections, [=] { return sections_of_two_contexts<channel_lock>(r, token); }, true};
#ifdef ASIO_SYNC_BENCH_CANCEL_AFTER
  all["W10/free/" + name + "/cancel_after" + r] = {
      1024, [=] { return free_lock<cancelled_lock>(r, token); }};
  all["W10/contended/" + name + "/cancel_after" + r] = {
      section_count(64), [=] { return sections<cancelled_lock>(r, token, 64); }};
#endif
}

// A timer brings the reactor.
void add_timers(catalogue& all) {
  constexpr reactor r = reactor::present;
  constexpr std::type_identity<asio::use_awaitable_t<>> token;
  auto const add = [&](std::string const& name, std::size_t units, auto make) {
    all[name + r] = {units, make};
  };
  add("W2/timer", 4096, [] { return handler_chain<timer_lock>(r); });
  add("W3/use_awaitable/timer", 4096, [=] { return free_lock<timer_lock>(r, token); });
  for (std::size_t const k : {2, 64})
    add("W4/use_awaitable/" + std::to_string(k) + "/timer", section_count(k),
        [=] { return sections<timer_lock>(r, token, k); });
  add("ping-pong/use_awaitable/timer", 4096, [=] { return ping_pong<timer_ball>(r, token); });
  add("W6/1000/timer", 1000, [] { return queue_and_drain<timer_lock>(r, 1000); });
  add("W10/contended/use_awaitable/lock || timer", section_count(64),
      [=] { return sections<raced_lock>(r, token, 64); });
  for (std::size_t const n : scale)
    for (departure const order : departures)
      all["scale/timed out " + name_of(order) + "/" + std::to_string(n) + "/timers"] = {
          n, [=] { return leaving(timers_time_out(order)); }};
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
    all["W5b/to and fro/channel" + r] = {threaded_sections,
                                         [=] { return to_and_fro<channel_lock>(r); }, true};
    all["W6/1000/channel" + r] = {1000, [=] { return queue_and_drain<channel_lock>(r, 1000); }};
    all["W6/1000/strand" + r] = {1000, [=] { return strand_queue(r); }};
    all["W10/free/use_awaitable/lock || timer" + r] = {
        1024,
        [=] { return free_lock<raced_lock>(r, std::type_identity<asio::use_awaitable_t<>>()); }};
  }
  all["W11/in order/1000/channel"] = {
      1000, [] { return leaving(cancelled<channel_lock>(departure::in_order)); }};
  all["W11/at random/10000/channel"] = {
      10000, [] { return leaving(cancelled<channel_lock>(departure::at_random)); }};
  add_timers(all);
}

}  // namespace asio_sync::bench
