// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows who holds the mutexes, semaphores, shared mutexes and monitors of a Redis server and who
// waits for them, as a table or as JSON, and takes a lock from a holder that hangs. Without a
// server of the user's it starts one, with two clients that want to print.

#include "../command_line.hpp"
#include "run_with_client.hpp"
#include "server.hpp"

#include <asio_sync/redis/async_mutex.hpp>
#include <asio_sync/redis/async_semaphore.hpp>
#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace json = boost::json;
namespace redis = asio_sync::redis;

struct settings {
  bool json = false;
  std::string redis, prefix = "as:";
  std::chrono::milliseconds ttl{6000};
  std::optional<std::uint64_t> release;
  std::vector<std::string> names;
};

// --- What an operator sees ---

// Returns the words for someone who holds or waits.
std::string described(redis::inspection::member const& member) {
  std::string const who = member.who.empty() ? "session " + member.session : member.who;
  return member.is_alive ? who : who + " (dead)";
}

void print(std::string const& name, redis::inspection const& object) {
  auto const line = [](char const* place, auto const& member) -> std::ostream& {
    return std::cout << "  " << place << "  " << std::left << std::setw(40) << described(member)
                     << std::right << std::setw(12) << member.weight;
  };
  std::cout << name << ": " << (object.kind.empty() ? "free" : object.kind) << ", " << object.used
            << " of " << object.capacity << " held, " << object.waiter_count << " waiting, "
            << object.condition_waiter_count << " on conditions\n";
  for (auto const& holder : object.holders)
    line(holder.weight == 0 ? "owns " : "holds", holder)
        << "  fence " << holder.fence << ", for " << holder.age.count() / 1000 << " s\n";
  for (auto const& waiter : object.waiters)
    line("waits", waiter) << (waiter.is_reachable ? "\n" : "  not reachable\n");
}

// clang-format off
json::object to_json(redis::inspection const& object) {
  json::array holders, waiters;
  for (auto const& h : object.holders)
    holders.push_back({{"who", h.who}, {"session", h.session}, {"weight", h.weight},
                       {"alive", h.is_alive}, {"fence", h.fence}, {"age_ms", h.age.count()}});
  for (auto const& w : object.waiters)
    waiters.push_back({{"who", w.who}, {"session", w.session}, {"weight", w.weight},
                       {"alive", w.is_alive}, {"reachable", w.is_reachable}});
  return {{"kind", object.kind}, {"capacity", object.capacity}, {"used", object.used},
          {"gate_ms", object.gate.count()}, {"holder_count", object.holder_count},
          {"waiter_count", object.waiter_count},
          {"condition_waiter_count", object.condition_waiter_count}, {"holders", holders},
          {"waiters", waiters}};
}
// clang-format on

asio::awaitable<void> show(redis::client& client, settings const& set) {
  json::object all;
  for (auto const& name : set.names) {
    auto const object = co_await client.async_inspect(name);
    if (set.json)
      all[name] = to_json(object);
    else
      print(name, object);
  }
  if (set.json) std::cout << all << '\n';
}

// JSON is UTF-8; the names of objects are any bytes.
bool is_utf8(std::string const& name) {
  boost::system::error_code failure;
  json::parse(json::serialize(json::value(name)), failure);
  return !failure;
}

// --- The program ---

asio::awaitable<void> serve(redis::client& client, settings const& set) {
  if (set.release) co_await client.async_force_release(set.names.front(), *set.release);
  co_await show(client, set);
  co_await client.async_shutdown();
}

// Two more clients, of whom one holds what the other one waits for.
asio::awaitable<void> demonstrate(redis::client& client, redis::config first, redis::config second,
                                  settings set) {
  auto const executor = co_await asio::this_coro::executor;
  redis::client printer(client.get_executor(), first), other(client.get_executor(), second);
  printer.async_run(asio::detached);
  other.async_run(asio::detached);
  redis::async_mutex mine(executor, printer, "reports"), theirs(executor, other, "reports");
  redis::async_semaphore uploads(executor, printer, "uploads", 5);
  auto lock = co_await mine.async_lock();
  auto const permits = co_await uploads.async_acquire(2);
  auto const next = std::make_shared<redis::async_mutex::lock_type>();
  theirs.async_lock([next](auto, auto granted) { *next = std::move(granted); });
  while ((co_await client.async_inspect("reports")).waiter_count == 0) continue;
  set.names = {"reports", "uploads", "nothing"};
  co_await show(client, set);
  if (set.json) co_return;
  co_await client.async_force_release("reports", lock.fence());
  co_await lock.async_wait_lost();
  std::cout << "\nprinter-1 has lost the reports\n";
  set.names.resize(1);
  co_await show(client, set);
}

bool run(settings const& set) {
  if (set.redis.empty() && !set.names.empty())
    throw command_line::usage_error("'" + set.names.front() + "' is an object of which server?");
  if (set.redis.empty() && set.release) throw command_line::usage_error("--release needs --redis");
  server const redis_server(set.redis);
  if (!set.redis.empty() && (set.names.empty() || (set.release && set.names.size() != 1)))
    throw command_line::usage_error(set.release ? "--release takes one NAME" : "name an object");
  if (set.json && !std::all_of(set.names.begin(), set.names.end(), is_utf8))
    throw command_line::usage_error("--json takes names in UTF-8");
  auto const config_for = [&](std::string const& name) {
    auto config = redis_server.config_for(name);
    config.prefix = set.prefix;
    config.max_session_ttl = config.session_ttl = set.ttl;
    return config;
  };
  try {
    run_with_client(config_for("locks"), [&](redis::client& client) {
      if (!set.redis.empty()) return serve(client, set);
      return demonstrate(client, config_for("printer-1"), config_for("printer-2"), set);
    });
  } catch (boost::system::system_error const& error) {
    if (error.code() == boost::system::errc::timed_out)
      throw std::runtime_error("no connection to the Redis server");
    if (error.code() == boost::system::errc::operation_not_permitted)
      throw std::runtime_error("nobody holds the object with this fence");
    throw;
  }
  return true;
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  arguments names{"[NAME...]", {}};
  auto const read_fence = [&](std::string const& text) {
    std::uint64_t fence = 0;
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, fence);
    if (error != std::errc() || stop != end)
      throw usage_error("--release takes a fence, not '" + text + "'");
    set.release = fence;
  };
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("json", options::bool_switch(&set.json), "print JSON")
      ("release", options::value<std::string>()->value_name("FENCE")->notifier(read_fence),
       "take the object NAME from the holder with this fence")
      ("redis", options::value(&set.redis)->value_name("SERVER"),
       "host:port or socket of the server; without it the program shows one of its own")
      ("prefix", options::value(&set.prefix)->value_name("TEXT")->default_value(set.prefix),
       "redis::config::prefix of the programs that use the server")
      ("ttl", time_option("ttl", set.ttl, std::chrono::milliseconds(500)),
       "their max_session_ttl");
  // clang-format on
  return command_line::run(
      argc, argv, "locks", "Shows who holds the locks at a Redis server and who waits for them.",
      description,
      [&] {
        set.names = names.given;
        return run(set);
      },
      &names);
}
