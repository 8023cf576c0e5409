// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Uses the whole Redis module, but no source file includes <asio_sync/redis/src.hpp>.

// expected: include_asio_sync_redis_src_hpp_in_one_source_file

#include <asio_sync/redis.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

void use_primitives(asio::io_context& context, redis::client& client) {
  redis::async_mutex mutex(context, client, "mutex");
  redis::async_condition condition(mutex, "condition");
  redis::async_semaphore semaphore(context, client, "semaphore", 2);
  redis::async_shared_mutex shared(context, client, "shared");
  redis::async_monitor monitor(context, client, "monitor");
  auto lock = mutex.lock();
  condition.notify_one();
  condition.async_wait(lock, asio::detached);
  lock.async_wait_lost(asio::detached);
  lock.async_unlock(asio::detached);
  auto const permit = semaphore.try_acquire_for(std::chrono::seconds(1));
  shared.async_lock_shared([](auto, auto) {});
  monitor.async_enter([](auto, redis::async_monitor::entry inside) {
    inside.set("count", inside.number("count") + 1);
    inside.add("sum", 1);
    inside.set("text", inside.get("text").value_or("none"));
    inside.notify_one("changed");
    inside.notify_all("changed");
    auto const part = inside.add_owned("users", 1, "changed");
    inside.async_leave(asio::detached);
  });
}

int main() {
  asio::io_context context;
  redis::client client(context.get_executor());
  client.on_event([](redis::event const&) {});
  client.async_run(asio::detached);
  client.async_inspect("mutex", [](auto, auto) {});
  client.async_force_release("mutex", 1, asio::detached);
  use_primitives(context, client);
  client.async_shutdown(asio::detached);
  client.stop();
  context.run();
}
