// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of the Redis module, ./dev bench --redis: what an operation costs, as a ratio to
// the least that its way through the server can cost; what an idle client sends; how long it takes
// to follow a client that has gone; and what many waits of one client cost. The server is the
// program's own, on a Unix socket.

#include <asio_sync/redis.hpp>
#include <asio_sync/redis/src.hpp>

#include "many.hpp"
#include "redis/support/server.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace redis = asio_sync::redis;
using asio_sync::test::redis::server;
using clock_type = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;
using local = asio::local::stream_protocol;

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void print(std::string_view what, double value, std::string_view unit, double limit,
           bool is_least = false) {
  std::cout << std::left << std::setw(58) << what << std::right << std::fixed
            << std::setprecision(2) << std::setw(9) << value << ' ' << std::left << std::setw(6)
            << unit << " target " << limit
            << (is_least        ? value < limit ? "  BELOW" : ""
                : value > limit ? "  ABOVE"
                                : "")
            << '\n';
}

redis::config settings(server const& s) {
  redis::config c;
  c.unix_socket = s.socket();
  c.gate = false;
  return c;
}

// Runs a coroutine to its end on a context whose other work goes on.
void run(asio::io_context& io, asio::awaitable<void> work) {
  bool done = false;
  asio::co_spawn(io, std::move(work), [&](std::exception_ptr e) {
    done = true;
    if (e) std::rethrow_exception(e);
  });
  io.restart();
  while (!done) io.run_one();
}

// --- Round trips ---

// A connection without anything of the library.
class plain_connection {
 public:
  plain_connection(asio::io_context& io, server const& s) : socket_(io) {
    socket_.connect(local::endpoint(s.socket()));
  }

  // Sends a command, and waits for the first line of the answer.
  asio::awaitable<std::string> call(std::string_view command) {
    co_await asio::async_write(socket_, asio::buffer(command), asio::deferred);
    co_return co_await receive();
  }

  asio::awaitable<std::string> receive() {
    auto const n = co_await asio::async_read_until(socket_, asio::dynamic_buffer(text_), "\r\n",
                                                   asio::deferred);
    static_cast<void>(n);
    co_return std::exchange(text_, {});
  }

 private:
  local::socket socket_;
  std::string text_;
};

asio::awaitable<void> time_pings(plain_connection& c, int n, std::vector<double>& times) {
  for (int i = 0; i < n; ++i) {
    auto const begin = clock_type::now();
    co_await c.call("PING\r\n");
    times.push_back(microseconds(clock_type::now() - begin).count());
  }
}

// `pairs`: with the answers of unlocking; `locks`: of the locking alone.
asio::awaitable<void> time_locks(redis::async_mutex& m, int n, std::vector<double>& pairs,
                                 std::vector<double>& locks) {
  for (int i = 0; i < n; ++i) {
    auto const begin = clock_type::now();
    auto lock = co_await m.async_lock();
    auto const locked = clock_type::now();
    co_await lock.async_unlock();
    pairs.push_back(microseconds(clock_type::now() - begin).count());
    locks.push_back(microseconds(locked - begin).count());
  }
}

void measure_round_trips(server const& s, int n) {
  asio::io_context io(1);
  asio::thread_pool pool(1);
  plain_connection plain(io, s);
  redis::client here(io.get_executor(), settings(s)), apart(pool.get_executor(), settings(s));
  here.async_run(asio::detached);
  apart.async_run(asio::detached);
  redis::async_mutex one(io, here, "one thread"), two(io, apart, "two threads");
  std::vector<double> pings, pairs, locks, pairs_apart, locks_apart;
  for (int round = 0; round < 5; ++round) {
    run(io, time_pings(plain, n, pings));
    run(io, time_locks(one, n, pairs, locks));
    run(io, time_locks(two, n, pairs_apart, locks_apart));
  }
  double const ping = median(pings);
  std::cout << "PING takes " << std::setprecision(3) << ping << " us\n";
  print("co_await async_lock, free / PING", median(locks) / ping, "", 1.9);
  print("async_lock and async_unlock, awaited / PING", median(pairs) / ping, "", 2.6);
  print("the same, the client on another thread: lock", median(locks_apart) / ping, "", 1.9);
  print("the same, the client on another thread: pair", median(pairs_apart) / ping, "", 2.6);
  here.stop();
  apart.stop();
  io.restart();
  io.run_for(100ms);
}

// --- Hand-offs ---

asio::awaitable<void> time_publications(plain_connection& from, plain_connection& to, int n,
                                        std::vector<double>& times) {
  co_await to.call("SUBSCRIBE bench\r\n");
  for (int i = 0; i < n; ++i) {
    auto const begin = clock_type::now();
    asio::co_spawn(
        co_await asio::this_coro::executor,
        [&]() -> asio::awaitable<void> {
          co_await from.call("EVAL \"return redis.call('PUBLISH', 'bench', 'text')\" 0\r\n");
        },
        asio::detached);
    co_await to.receive();
    times.push_back(microseconds(clock_type::now() - begin).count());
    asio::steady_timer rest(co_await asio::this_coro::executor, 200us);
    co_await rest.async_wait(asio::deferred);
  }
}

asio::awaitable<void> time_hand_offs(redis::async_mutex& from, redis::async_mutex& to, int n,
                                     std::vector<double>& times) {
  asio::steady_timer rest(co_await asio::this_coro::executor);
  for (int i = 0; i < n; ++i) {
    std::optional<redis::async_mutex::lock_type> lock = co_await from.async_lock();
    clock_type::time_point begin, end{};
    to.async_lock([&](auto, auto) { end = clock_type::now(); });
    rest.expires_after(500us);
    co_await rest.async_wait(asio::deferred);
    begin = clock_type::now();
    lock.reset();
    while (end == clock_type::time_point{})
      co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
    times.push_back(microseconds(end - begin).count());
  }
}

void measure_hand_offs(server const& s, int n) {
  asio::io_context io(1);
  plain_connection publisher(io, s), subscriber(io, s);
  redis::client a(io.get_executor(), settings(s)), b(io.get_executor(), settings(s));
  a.async_run(asio::detached);
  b.async_run(asio::detached);
  redis::async_mutex from(io, a, "hand-off"), to(io, b, "hand-off");
  std::vector<double> publications, hand_offs;
  run(io, time_publications(publisher, subscriber, n, publications));
  run(io, time_hand_offs(from, to, n, hand_offs));
  std::cout << "a script that publishes takes " << median(publications) << " us\n";
  print("release to grant of the next client / publication",
        median(hand_offs) / median(publications), "", 1.5);
  a.stop();
  b.stop();
  io.restart();
  io.run_for(100ms);
}

// --- Idle clients ---

long commands(server const& s) {
  asio::io_context io;
  plain_connection admin(io, s);
  long calls = 0;
  run(io, [&]() -> asio::awaitable<void> {
    co_await admin.call("CONFIG SET latency-tracking no\r\n");
    std::string const info = co_await admin.call(
        "EVAL \"local s = redis.call('INFO', "
        "'commandstats') return tonumber(string.match(s, "
        "'cmdstat_evalsha:calls=(%d+)') or 0)\" 0\r\n");
    calls = std::stol(info.substr(1));
  }());
  return calls;
}

template <class Prepare>
void measure_idle(server const& s, std::string_view what, double limit, Prepare prepare) {
  asio::thread_pool pool(1);
  redis::client client(pool.get_executor(), settings(s)), holder(pool.get_executor(), settings(s));
  client.async_run(asio::detached);
  holder.async_run(asio::detached);
  auto const kept = prepare(pool, client, holder);
  std::this_thread::sleep_for(3s);
  long const begin = commands(s);
  std::this_thread::sleep_for(12s);
  print(what, static_cast<double>(commands(s) - begin) / 12 - 0.5, "1/s", limit);  // the holder's
  client.async_shutdown(asio::use_future).get();
  holder.async_shutdown(asio::use_future).get();
}

void measure_idle_clients(server const& s) {
  measure_idle(s, "a client with 1000 holds", 0.55, [](auto& pool, auto& c, auto&) {
    auto m = std::make_shared<redis::async_semaphore>(pool, c, "holds", 1000);
    std::vector<redis::semaphore_permit> permits;
    for (int i = 0; i < 1000; ++i) permits.push_back(m->acquire());
    return std::pair(m, std::move(permits));
  });
  measure_idle(s, "a client with 1000 waits on one object", 0.55,
               [](auto& pool, auto& c, auto& h) {
                 redis::async_mutex theirs(pool, h, "one");
                 auto held = theirs.lock();
                 auto m = std::make_shared<redis::async_mutex>(pool, c, "one");
                 for (int i = 0; i < 1000; ++i) m->async_lock([](auto, auto) {});
                 return std::pair(m, std::move(held));
               });
  measure_idle(s, "a client with waits on 1000 objects", 8.5, [](auto& pool, auto& c, auto& h) {
    std::vector<std::shared_ptr<redis::async_mutex>> all;
    std::vector<redis::async_mutex::lock_type> held;
    for (int i = 0; i < 1000; ++i) {
      std::string const name = "object " + std::to_string(i);
      held.push_back(redis::async_mutex(pool, h, name).lock());
      all.push_back(std::make_shared<redis::async_mutex>(pool, c, name));
      all.back()->async_lock([](auto, auto) {});
    }
    return std::pair(std::move(all), std::move(held));
  });
}

// --- Clients that have gone ---

// A client that ends without a word to the server, as if its process was killed.
struct mortal {
  explicit mortal(server const& s) : client(pool.get_executor(), settings(s)) {
    client.async_run(asio::detached);
  }
  asio::thread_pool pool{1};
  redis::client client;
};

void measure_losses(server const& s) {
  mortal survivor(s);
  redis::async_mutex mine(survivor.pool, survivor.client, "x");
  {
    auto holder = std::make_unique<mortal>(s);
    auto lock = redis::async_mutex(holder->pool, holder->client, "x").lock();
    auto next = mine.async_lock(asio::use_future);
    std::this_thread::sleep_for(200ms);
    auto const begin = clock_type::now();
    holder.reset();
    static_cast<void>(next.get());
    print("a killed holder is followed after",
          microseconds(clock_type::now() - begin).count() / 1e6, "s", 6.05);
  }
  auto waiter = std::make_unique<mortal>(s);
  for (bool const is_frozen : {false, true}) {
    auto lock = mine.async_lock(asio::use_future).get();
    redis::async_mutex theirs(waiter->pool, waiter->client, "x");
    theirs.async_lock([](auto, auto) {});
    std::this_thread::sleep_for(200ms);
    auto next = mine.async_lock(asio::use_future);
    std::this_thread::sleep_for(200ms);
    if (is_frozen) asio::post(waiter->pool, [] { std::this_thread::sleep_for(4s); });
    std::this_thread::sleep_for(is_frozen ? 3500ms : 0ms);
    if (!is_frozen) waiter.reset();
    std::this_thread::sleep_for(50ms);
    auto const begin = clock_type::now();
    lock.unlock();
    static_cast<void>(next.get());
    print(is_frozen ? "a frozen waiter holds up for" : "a killed waiter holds up for",
          microseconds(clock_type::now() - begin).count() / 1e3, "ms", 20);
    if (!is_frozen) waiter = std::make_unique<mortal>(s);
  }
}

// --- Many waits ---

void measure_many_waits(server const& s, std::size_t waits, std::chrono::milliseconds ttl) {
  asio::io_context io;
  plain_connection admin(io, s);
  redis::config c = settings(s);
  c.session_ttl = ttl;
  auto const f = many::measure(c, waits, 1, [&](std::string const& name) {
    std::size_t queued = 0;
    run(io, [&]() -> asio::awaitable<void> {
      std::string const answer = co_await admin.call("ZCARD \"as:{" + name + "}:q\"\r\n");
      queued = std::stoul(answer.substr(1));
    }());
    return queued;
  });
  std::cout << waits << " waits of one client, session_ttl " << ttl.count() << " ms: queued after "
            << f.queued_after << " s\n";
  print("the client's thread, while they wait: of a core", 100 * f.share, "%", 10);
  print("grants that are handed on", f.grants, "1/s", 5000, true);
  print("sessions lost", f.losses, "", 0);
}

}  // namespace

int main() try {
  server const s;
  measure_round_trips(s, 4000);
  measure_hand_offs(s, 2000);
  measure_losses(s);
  measure_idle_clients(s);
  measure_many_waits(s, 100'000, 6000ms);
  measure_many_waits(s, 40'000, 1000ms);
} catch (std::exception const& e) {
  std::cerr << "bench_redis: " << e.what() << '\n';
  return 1;
}
