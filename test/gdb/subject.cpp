// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the printers for gdb are shown: primitives in every state, with waits of every kind. Ends
// with abort(), for a core file.

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_barrier.hpp>
#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_keyed_mutex.hpp>
#include <asio_sync/async_latch.hpp>
#include <asio_sync/async_mailbox.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_monitor.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>
#include <asio_sync/async_shared_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace asio = boost::asio;
using asio_sync::async_auto_reset_event;
using asio_sync::async_barrier;
using asio_sync::async_condition;
using asio_sync::async_group;
using asio_sync::async_latch;
using asio_sync::async_mailbox;
using asio_sync::async_manual_reset_event;
using asio_sync::async_mutex;
using asio_sync::async_semaphore;
using asio_sync::async_shared_mutex;
using boost::system::error_code;
using std::chrono::steady_clock;

namespace server {

asio::io_context context;
asio::thread_pool pool(1);

// The same in every run: in about thirty years.
steady_clock::time_point const deadline{std::chrono::milliseconds(1'000'000'000'500)};

struct on_lock {
  void operator()(error_code, async_mutex::lock_type) const {}
};

using monitor = asio_sync::async_monitor<int>;
struct on_entry {
  void operator()(error_code, monitor::entry const&) const {}
};

struct on_write {
  void operator()(error_code, async_shared_mutex::lock_type) const {}
};

struct on_permit {
  void operator()(error_code, asio_sync::semaphore_permit) const {}
};

struct on_event {
  void operator()(error_code) const {}
};

struct on_flags {
  void operator()(error_code, asio_sync::mailbox_flags) const {}
};

struct on_notification {
  void operator()(error_code, async_mutex::lock_type) {}
};

struct on_phase {
  void operator()(error_code, bool) {}
};
using keyed_mutex = asio_sync::async_keyed_mutex<int>;
struct on_user {
  void operator()(error_code, keyed_mutex::keyed_lock const&) {}
};

async_mutex nobodys(context);
async_mutex members(context);
async_mutex accounts(context);
async_mutex granted(context);
async_mutex cancelled(context);
async_mutex closed(context);
async_mutex looped(context);  // the test spoils these four
async_mutex broken(context);
async_mutex cut(context);
async_mutex without_core(context);
std::optional<async_mutex> gone(context);

// What a pointer may lead to.
alignas(async_mutex) char garbage[sizeof(async_mutex)];
alignas(async_mutex) char copied[sizeof(async_mutex)];
[[maybe_unused]] async_mutex* const to_garbage = reinterpret_cast<async_mutex*>(garbage);
[[maybe_unused]] async_mutex* const to_copied = reinterpret_cast<async_mutex*>(copied);
[[maybe_unused]] async_mutex* const to_gone = &*gone;
[[maybe_unused]] async_mutex* const null = nullptr;

async_mutex::lock_type owner(accounts);
async_mutex::lock_type holder_of_looped(looped);
async_mutex::lock_type holder_of_broken(broken);
async_mutex::lock_type holder_of_cut(cut);
async_mutex::lock_type not_owner(nobodys, std::defer_lock);
async_mutex::lock_type empty;
async_mutex::lock_type orphan(*gone);

async_semaphore tickets(context, 3, 10);
async_semaphore connections(context, 2, 2);
async_semaphore closed_semaphore(context, 0);
std::optional<async_semaphore> gone_semaphore(std::in_place, context, 1);
asio_sync::semaphore_permit permit = connections.try_acquire();
asio_sync::semaphore_permit no_permit;
asio_sync::semaphore_permit orphan_permit = gone_semaphore->try_acquire();

async_manual_reset_event started(context, true);
async_manual_reset_event ready(context);
async_manual_reset_event released(context);

async_auto_reset_event remembered(context, true);
async_auto_reset_event wakeups(context);

async_mailbox news(context);
async_mailbox read_news(context);
async_latch loaded(context, 0);
async_latch all_ready(context, 4);
async_latch closed_latch(context, 2);

async_barrier phases(context, 3);
async_barrier closed_barrier(context, 2);

async_group sessions(context);
asio::steady_timer idle(context, std::chrono::hours(1));
async_group ended_sessions(context);

keyed_mutex users(context);
keyed_mutex::keyed_lock user = users.try_lock(7);
keyed_mutex::keyed_lock other_user = users.try_lock(8);
keyed_mutex::keyed_lock no_user;
keyed_mutex closed_users(context);
std::optional<keyed_mutex> gone_users(std::in_place, context);
keyed_mutex::keyed_lock orphan_user = gone_users->try_lock(9);
async_shared_mutex pages(context);
async_shared_mutex read_pages(context);
async_shared_mutex written_pages(context);
async_shared_mutex nobodys_pages(context);
async_shared_mutex::shared_lock_type lent_reader(pages);
async_shared_mutex::shared_lock_type reader(pages);
async_shared_mutex::lock_type writer_of_pages(written_pages);

async_mutex queue(context);
async_mutex notified(context);
async_condition not_empty(context);
async_condition notifies(context);
async_condition closed_condition(context);
async_condition cut_condition(context);  // the test spoils it
async_mutex::lock_type holder_of_notified;

monitor stock(context, 5);
monitor free_stock(context);
monitor looked_at(context);
monitor::entry inside_stock;

asio::awaitable<void> sell(int amount) {
  auto const enough = [&](int in_stock) { return in_stock >= amount; };
  auto inside = co_await stock.async_enter_when(enough);
}

asio::awaitable<void> take() {
  auto lock = co_await queue.async_lock();
  co_await not_empty.async_wait(lock);
}

asio::awaitable<void> take_long(bool const& there) {
  auto lock = co_await queue.async_lock();
  auto const look = [&] { return there; };
  co_await not_empty.async_wait_until(lock, deadline, look, asio::use_awaitable);
}

asio::awaitable<void> transfer() { auto lock = co_await accounts.async_lock(asio::deferred); }

asio::awaitable<void> audit(int) { auto lock = co_await accounts.async_lock(asio::use_awaitable); }

asio::awaitable<void> report() { co_await audit(1); }

asio::awaitable<void> buy(std::ptrdiff_t n) { auto some = co_await connections.async_acquire(n); }

asio::awaitable<void> work() { co_await all_ready.async_arrive_and_wait(); }

struct listener {
  asio::awaitable<void> listen() { co_await ready.async_wait(); }
};

// A thread that waits as the last of so many.
template <class Primitive, class Function>
void block(Primitive const& primitive, std::size_t waiters, Function f) {
  std::thread(f).detach();
  while (primitive.waiters() != waiters) std::this_thread::yield();
}

void wait_for_accounts() {
  accounts.async_lock(on_lock());
  accounts.async_lock([](error_code, async_mutex::lock_type) {});
  asio::co_spawn(context, transfer(), asio::detached);
  asio::co_spawn(context, report(), asio::detached);
  context.poll();
  block(accounts, 5, [] { accounts.lock(); });
  accounts.async_lock_until(deadline, on_lock());
  accounts.async_lock(asio::bind_executor(pool, on_lock()));
}

void wait_for_others() {
  static listener somebody;
  connections.async_acquire(2, on_permit());
  asio::co_spawn(context, buy(1), asio::detached);
  ready.async_wait(on_event());
  asio::co_spawn(context, somebody.listen(), asio::detached);
  context.poll();
  block(connections, 3, [] { static_cast<void>(connections.acquire(2)); });
  block(ready, 3, [] { ready.wait(); });
  wakeups.async_wait(on_event());
  wakeups.async_wait(on_event());
  block(wakeups, 3, [] { wakeups.wait(); });
  news.raise(4);
  news.async_wait_any(3, on_flags());
  news.async_take_all_until(0x80000004, deadline, on_flags());
  all_ready.async_wait(on_event());
  asio::co_spawn(context, work(), asio::detached);
  context.poll();
  block(all_ready, 3, [] { all_ready.arrive_and_wait(); });
  idle.async_wait(sessions.track(on_event()));
  sessions.add(2);
  sessions.async_join(on_event());
  phases.async_arrive_and_wait(on_phase());
  block(phases, 2, [] { phases.arrive_and_wait(); });
  users.async_lock(8, on_user());
  users.async_lock_until(7, deadline, on_user());
  for (async_mutex* mutex : {&looped, &broken, &cut}) {
    mutex->async_lock(on_lock());
    mutex->async_lock(on_lock());
  }
}

void wait_for_pages() {
  pages.async_upgrade(std::move(lent_reader), on_write());
  pages.async_lock(on_write());
  block(pages, 3, [] { pages.lock_shared(); });
  read_pages.lock_shared();
  read_pages.close();
}

void wait_on_conditions() {
  using lock_type = async_mutex::lock_type;
  static bool there = false;
  not_empty.async_wait(lock_type(queue), on_notification());
  asio::co_spawn(context, take(), asio::detached);
  asio::co_spawn(context, take_long(there), asio::detached);
  context.poll();
  block(not_empty, 4, [] {
    lock_type lock(queue);
    not_empty.wait(lock);
  });
  for (async_condition* condition : {&notifies, &cut_condition}) {
    condition->async_wait(lock_type(notified), on_notification());
    condition->async_wait(lock_type(notified), on_notification());
  }
  holder_of_notified = lock_type(notified);
  notifies.notify_one();
  notified.async_lock(on_lock());
  closed_condition.close();
}

void wait_for_stock() {
  auto const much = [](int in_stock) { return in_stock > 8; };
  asio::co_spawn(context, sell(9), asio::detached);
  context.poll();
  inside_stock = stock.try_enter();
  stock.async_enter(on_entry());
  stock.async_enter_when_until(much, deadline, asio::bind_executor(pool, on_entry()));
  looked_at.async_enter_when(much, on_entry());
}

// Completions that nobody runs.
void leave_on_the_way() {
  async_mutex::lock_type first(granted);
  granted.async_lock(on_lock());
  first.unlock();
  static_cast<void>(cancelled.try_lock());
  cancelled.async_lock(on_lock());
  cancelled.cancel();
  released.async_wait(on_event());
  released.set();
  released.close();
  wakeups.set();
  read_news.async_take_any(1, on_flags());
  read_news.raise(1);
  read_news.close();
  closed_latch.async_arrive_and_wait(on_event());
  closed_latch.close();
  closed_barrier.async_arrive_and_wait(on_phase());
  closed_barrier.close();
  ended_sessions.add();
  ended_sessions.async_join(on_event());
  ended_sessions.done();
  keyed_mutex::keyed_lock const held = closed_users.try_lock(1);
  closed_users.async_lock(1, on_user());
  closed_users.close();
}

}  // namespace server

int main() {
  using namespace server;
  std::memset(garbage, 'x', sizeof(garbage));
  std::memcpy(copied, static_cast<void*>(&nobodys), sizeof(copied));
  static_cast<void>(members.try_lock());
  closed.close();
  closed_semaphore.close();
  gone.reset();
  gone_semaphore.reset();
  gone_users.reset();
  wait_for_accounts();
  wait_for_others();
  wait_for_pages();
  wait_on_conditions();
  wait_for_stock();
  leave_on_the_way();
  std::abort();
}
