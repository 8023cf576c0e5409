// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The code in doc/redis.md, and what that page says beside the comments of the headers.

#include "support/test.hpp"

#include <asio_sync/async_guarded.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/redis.hpp>

#include "redis/support/connection.hpp"
#include "redis/support/server.hpp"
#include "support/child.hpp"

#include <boost/asio.hpp>

#include <csignal>

// The program on the page, from its first line to its last; what it includes is included above.
namespace redis_program {

// clang-format off
#include <asio_sync/redis.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
namespace redis = asio_sync::redis;

asio::awaitable<void> write_report(redis::async_mutex& reports) {
  auto lock = co_await reports.async_lock();  // one process at a time, on whichever machine
  std::cout << "report, fence " << lock.fence() << '\n';
}  // tells the server, which grants the lock to the next one

int main(int argc, char** argv) {
  redis::config settings;  // 127.0.0.1:6379
  if (argc > 1) settings.unix_socket = argv[1];
  asio::io_context context;
  asio::thread_pool io(1);  // for the client alone: nothing may delay its heartbeat
  redis::client client(io.get_executor(), settings);
  client.on_event([](redis::event const& e) { std::cerr << "client: " << e << '\n'; });
  client.async_run([](auto error) { std::cout << "client: " << error.message() << '\n'; });

  redis::async_mutex reports(context, client, "reports");
  asio::co_spawn(context, write_report(reports), asio::detached);
  context.run();
  client.async_shutdown(asio::use_future).wait();  // gives back what is left, and waits for that
  return 0;
}
// clang-format on

}  // namespace redis_program

namespace redis_document_test {

namespace asio = boost::asio;
namespace errc = boost::system::errc;
namespace redis = asio_sync::redis;
using asio::bind_executor;
using asio::use_future;
using asio_sync::async_manual_reset_event;
using asio_sync::error;
using asio_sync::test::redis::connection;
using asio_sync::test::redis::server;
using boost::system::error_code;
using boost::system::system_error;
using namespace std::chrono_literals;

// --- The fence ---

// A store that serves the latest holder of a lock, and refuses those before.
class fenced_store {
 public:
  std::optional<std::string> read(std::uint64_t fence) {
    std::lock_guard const guard(mutex_);
    if (!admit(fence)) return std::nullopt;
    return text_;
  }

  bool write(std::uint64_t fence, std::string text) {
    std::lock_guard const guard(mutex_);
    if (!admit(fence)) return false;
    text_ = std::move(text);
    return true;
  }

 private:
  bool admit(std::uint64_t fence) {
    if (fence == 0 || fence < greatest_) return false;  // 0: the lock was lost already
    greatest_ = fence;
    return true;
  }

  std::mutex mutex_;
  std::uint64_t greatest_ = 0;
  std::string text_;
};

asio::awaitable<bool> append_line(redis::async_mutex& mutex, fenced_store& store, std::string line,
                                  asio::awaitable<void> work) {
  auto lock = co_await mutex.async_lock();
  auto const fence = lock.fence();      // read it once: it is 0 when the lock is lost
  auto const text = store.read(fence);  // from now on the holders before can write nothing
  if (!text) co_return false;
  co_await std::move(work);  // takes longer than it should, perhaps
  co_return store.write(fence, *text + line);
}

// --- A loss ---

// Does the work while the lock is held. Returns false if the lock was lost; the work was cancelled
// then, and has ended. The work does not give the lock back, nor wait on a condition with it.
asio::awaitable<bool> while_held(redis::async_mutex::lock_type& lock, asio::awaitable<void> work) {
  using namespace asio::experimental::awaitable_operators;
  auto const executor = co_await asio::this_coro::executor;
  auto const token = asio::as_tuple(asio::use_awaitable);
  auto first = co_await (asio::co_spawn(executor, std::move(work), token) ||  //
                         lock.async_wait_lost(token));
  if (first.index() == 1) co_return false;
  if (auto const failure = std::get<0>(std::get<0>(first))) std::rethrow_exception(failure);
  co_return true;
}

asio::awaitable<bool> unlock_and_ask(redis::async_mutex::lock_type lock) {
  auto [failure] = co_await lock.async_unlock(asio::as_tuple(asio::deferred));
  if (failure == asio_sync::error::lease_lost) co_return false;  // somebody else may have held it
  if (failure) throw system_error(failure);
  co_return true;
}

// Completes with lease_lost if the lock was lost meanwhile: the write was cancelled then.
template <class Handler>
void write_alone(redis::async_mutex& mutex, asio::writable_pipe& to, std::string const& text,
                 Handler handler) {
  asio_sync::async_guarded(mutex, asio::async_write(to, asio::buffer(text), asio::deferred),
                           std::move(handler));
}

// --- Other recipes ---

asio::awaitable<bool> only_one(redis::async_mutex& nightly, asio::awaitable<void> job) {
  auto lock = co_await nightly.async_try_lock();
  if (!lock) co_return false;  // another process is at it
  co_await std::move(job);
  co_return true;
}

asio::awaitable<void> worker(redis::async_mutex& mutex, asio::steady_timer& pause) {
  for (;;) {
    auto [failure, lock] = co_await mutex.async_lock(asio::as_tuple(asio::deferred));
    if (failure == asio_sync::error::closed) co_return;  // we are shutting down
    if (failure) throw system_error(failure);
    pause.expires_after(1ms);
    co_await pause.async_wait(asio::deferred);  // what has begun is finished
  }
}

// --- Support ---

// A server, and a client of its own thread. No gate: the tests of the gate make their own.
struct world {
  explicit world(redis::config c = {}) : settings(with_socket(std::move(c))) {
    client->on_event([this](redis::event const& e) {
      std::lock_guard const guard(lock);
      events.push_back(e);
    });
    run();
  }
  ~world() { client.reset(); }

  redis::config with_socket(redis::config c) const {
    if (c.session_ttl == redis::config().session_ttl) c.session_ttl = c.max_session_ttl = 2s;
    c.unix_socket = s.socket();
    c.gate = false;
    return c;
  }

  void run() {
    client->async_run([this](error_code e) {
      std::lock_guard const guard(lock);
      ended.push_back(e);
    });
  }

  bool has(redis::event::kind what) {
    std::lock_guard const guard(lock);
    return std::any_of(events.begin(), events.end(),
                       [&](auto const& e) { return e.what == what; });
  }

  template <class Condition>
  static bool comes_true(Condition condition) {
    auto const give_up = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(2ms);
    }
    return true;
  }

  // Runs the context until nothing is left to do.
  void run_context(std::size_t threads = 1) {
    context.restart();
    std::vector<std::thread> others;
    while (others.size() + 1 < threads) others.emplace_back([this] { context.run_for(60s); });
    context.run_for(60s);
    for (auto& each : others) each.join();
    BOOST_TEST_REQUIRE(context.stopped());
  }

  // Another thread runs the context. It must not use the macros of Boost.Test at the same time.
  std::thread run_elsewhere() {
    context.restart();
    return std::thread([this] { context.run_for(60s); });
  }

  std::mutex lock;
  std::vector<redis::event> events;
  std::vector<error_code> ended;
  server s;
  redis::config settings;
  asio::io_context context;
  asio::thread_pool io{1};
  std::unique_ptr<redis::client> client =
      std::make_unique<redis::client>(io.get_executor(), settings);
};

// Another process, as it were.
struct peer {
  explicit peer(redis::config const& settings) : client(io.get_executor(), settings) {
    client.async_run(asio::detached);
  }

  asio::thread_pool io{1};
  redis::client client;
};

auto keep(std::optional<bool>& result) {
  return [&result](std::exception_ptr failure, bool value) {
    BOOST_TEST(!failure);
    result = value;
  };
}

asio::awaitable<void> wait_for(async_manual_reset_event& event) { co_await event.async_wait(); }

asio::awaitable<void> nothing() { co_return; }

asio::awaitable<void> fails() {
  throw std::runtime_error("the work fails");
  co_return;
}

template <class Function>
error_code thrown_by(Function f) {
  try {
    f();
  } catch (system_error const& e) {
    return e.code();
  }
  return {};
}

template <class Function>
bool throws(auto const& expected, Function f) {
  return thrown_by(f) == expected;
}

BOOST_AUTO_TEST_SUITE(redis_document_test)

BOOST_AUTO_TEST_CASE(the_program_prints_a_fence) {
  server s;
  {  // The server is not new any more: its gate is open.
    redis::config settings;
    settings.unix_socket = s.socket();
    settings.gate = false;
    peer first(settings);
    redis::async_mutex warm(first.io, first.client, "warm");
    BOOST_TEST(warm.lock().owns_lock());
  }
  std::string path = s.socket();
  char* arguments[] = {nullptr, path.data()};
  std::ostringstream printed;
  auto* const usual = std::cout.rdbuf(printed.rdbuf());
  int const status = redis_program::main(2, arguments);
  std::cout.rdbuf(usual);
  BOOST_TEST(status == 0);
  BOOST_TEST(printed.str().starts_with("report, fence 1"));
  BOOST_TEST(printed.str().find("client: Success") != std::string::npos);
}

// --- The fence ---

template <class Executor>
void a_late_write_is_refused(world& w, Executor executor, std::size_t threads) {
  peer other(w.settings);
  redis::async_mutex ours(executor, *w.client, "text"), theirs(w.context, other.client, "text");
  async_manual_reset_event is_late(w.context);
  fenced_store store;
  std::optional<bool> late, in_time;
  asio::co_spawn(executor, append_line(ours, store, "late", wait_for(is_late)), keep(late));
  std::thread helper([&] {
    BOOST_TEST(world::comes_true([&] { return is_late.waiters() == 1; }));
    w.client->stop();  // as if this process was frozen for longer than its session lives
    asio::co_spawn(w.context, append_line(theirs, store, "in time", nothing()),
                   [&](std::exception_ptr failure, bool value) {
                     keep(in_time)(failure, value);
                     is_late.set();
                   });
  });
  w.run_context(threads);
  helper.join();
  BOOST_TEST((in_time == true));
  BOOST_TEST((late == false));
  BOOST_TEST(*store.read(~0ull) == "in time");
}

BOOST_AUTO_TEST_CASE(a_store_refuses_the_holder_before) {
  world w;
  a_late_write_is_refused(w, w.context.get_executor(), 1);
}

BOOST_AUTO_TEST_CASE(a_store_refuses_the_holder_before_on_a_strand_and_threads) {
  world w;
  a_late_write_is_refused(w, asio::make_strand(w.context), 3);
}

BOOST_AUTO_TEST_CASE(a_reader_with_a_greater_fence_shuts_out_the_holder_before) {
  fenced_store store;
  BOOST_TEST(store.write(7, "a"));
  BOOST_TEST(*store.read(8) == "a");
  BOOST_TEST(!store.write(7, "b"));
  BOOST_TEST(!store.write(0, "c"));
  BOOST_TEST(store.write(8, "d"));
}

BOOST_AUTO_TEST_CASE(fences_grow_from_lock_to_lock) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  std::uint64_t last = 0;
  for (int i = 0; i != 5; ++i) {
    auto const lock = mutex.lock();
    BOOST_TEST(lock.fence() > last);
    BOOST_TEST(lock.fence() < (1ull << 53));
    last = lock.fence();
  }
}

// --- A loss ---

template <class Executor>
void work_ends_with_the_lock(world& w, Executor executor, std::size_t threads) {
  redis::async_mutex mutex(executor, *w.client, "m");
  auto lock = mutex.lock();
  async_manual_reset_event never(w.context);
  std::optional<bool> held;
  asio::co_spawn(executor, while_held(lock, wait_for(never)), keep(held));
  std::thread helper([&] {
    BOOST_TEST(world::comes_true([&] { return never.waiters() == 1; }));
    connection(w.s.socket())({"FLUSHALL"});
  });
  w.run_context(threads);
  helper.join();
  BOOST_TEST((held == false));
  BOOST_TEST(!lock.owns_lock());
  BOOST_TEST(lock.fence() == 0u);
  BOOST_TEST((lock.expires_at() == std::chrono::steady_clock::time_point::min()));
  BOOST_TEST(never.waiters() == 0u);
}

BOOST_AUTO_TEST_CASE(work_is_cancelled_when_the_lock_is_lost) {
  world w;
  work_ends_with_the_lock(w, w.context.get_executor(), 1);
  BOOST_TEST(world::comes_true([&] { return w.has(redis::event::kind::data_lost); }));
  BOOST_TEST(w.has(redis::event::kind::session_lost));
}

BOOST_AUTO_TEST_CASE(work_is_cancelled_on_a_strand_when_the_lock_is_lost) {
  world w;
  work_ends_with_the_lock(w, asio::make_strand(w.context), 2);
}

BOOST_AUTO_TEST_CASE(work_is_cancelled_when_the_client_is_stopped) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto lock = mutex.lock();
  async_manual_reset_event never(w.context);
  std::optional<bool> held;
  asio::co_spawn(w.context, while_held(lock, wait_for(never)), keep(held));
  std::thread helper([&] {
    BOOST_TEST(world::comes_true([&] { return never.waiters() == 1; }));
    w.client->stop();
  });
  w.run_context();
  helper.join();
  BOOST_TEST((held == false));
}

BOOST_AUTO_TEST_CASE(work_under_a_lock_ends_or_fails) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto lock = mutex.lock();
  std::optional<bool> held;
  asio::co_spawn(w.context, while_held(lock, nothing()), keep(held));
  w.run_context();
  BOOST_TEST((held == true));
  std::exception_ptr failure;
  asio::co_spawn(w.context, while_held(lock, fails()),
                 [&](std::exception_ptr e, bool) { failure = e; });
  w.run_context();
  BOOST_TEST(static_cast<bool>(failure));
  BOOST_TEST(lock.owns_lock());
  redis::async_mutex::lock_type empty;
  held.reset();
  async_manual_reset_event never(w.context);
  asio::co_spawn(w.context, while_held(empty, wait_for(never)), keep(held));
  w.run_context();
  BOOST_TEST((held == false));
}

// The second write does not end, because nobody reads.
void write_ends_with_the_lock(world& w, std::size_t threads) {
  redis::async_mutex mutex(w.context, *w.client, "m");
  asio::readable_pipe reader(w.context);
  asio::writable_pipe writer(w.context);
  asio::connect_pipe(reader, writer);
  std::string const little = "x", much(1 << 20, 'x');
  error_code failure;
  auto const keep_failure = [&](error_code e, std::size_t) { failure = e; };
  write_alone(mutex, writer, little, keep_failure);
  w.run_context(threads);
  BOOST_TEST(!failure);
  write_alone(mutex, writer, much, keep_failure);
  std::thread helper([&] {
    BOOST_TEST(world::comes_true([&] { return mutex.waiters() == 0; }));
    connection(w.s.socket())({"FLUSHALL"});
  });
  w.run_context(threads);
  helper.join();
  BOOST_TEST((failure == asio_sync::error::lease_lost));
}

BOOST_AUTO_TEST_CASE(a_write_is_cancelled_when_its_lock_is_lost) {
  world w;
  write_ends_with_the_lock(w, 1);
}

BOOST_AUTO_TEST_CASE(a_write_is_cancelled_with_two_threads_when_its_lock_is_lost) {
  world w;
  write_ends_with_the_lock(w, 2);
}

BOOST_AUTO_TEST_CASE(unlocking_tells_of_a_loss) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  std::optional<bool> held;
  asio::co_spawn(w.context, unlock_and_ask(mutex.lock()), keep(held));
  w.run_context();
  BOOST_TEST((held == true));
  auto lock = mutex.lock();
  auto lost = lock.async_wait_lost(use_future);
  connection(w.s.socket())({"FLUSHALL"});
  std::thread runner = w.run_elsewhere();
  lost.get();
  runner.join();
  BOOST_TEST(!lock);
  asio::co_spawn(w.context, unlock_and_ask(std::move(lock)), keep(held));
  w.run_context();
  BOOST_TEST((held == false));
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_loss_ends_with_the_lock) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto lock = mutex.lock();
  auto lost = lock.async_wait_lost(use_future);
  lock.unlock();
  auto none = lock.async_wait_lost(bind_executor(w.context, use_future));
  w.run_context();
  BOOST_TEST(throws(asio::error::operation_aborted, [&] { lost.get(); }));
  BOOST_TEST(throws(make_error_code(errc::operation_not_permitted), [&] { none.get(); }));
}

BOOST_AUTO_TEST_CASE(a_guard_whose_lock_is_lost_is_not_empty_yet) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto lock = mutex.lock();
  auto lost = lock.async_wait_lost(use_future);
  w.client->stop();
  w.run_context();
  lost.get();
  BOOST_TEST(!lock);
  BOOST_TEST((lock.mutex() == &mutex));
  lock.unlock();
  BOOST_TEST((lock.mutex() == nullptr));
  BOOST_TEST(throws(make_error_code(errc::operation_not_permitted), [&] { lock.unlock(); }));
}

BOOST_AUTO_TEST_CASE(two_objects_of_one_name_are_one_mutex) {
  world w;
  redis::async_mutex one(w.context, *w.client, "m"), two(w.context, *w.client, "m");
  auto const lock = one.lock();
  BOOST_TEST(!two.try_lock_for(0s));
  two.close();
  BOOST_TEST(throws(error::closed, [&] { auto const l = two.lock(); }));
  BOOST_TEST(!one.is_closed());
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_held_for_too_long_is_taken_away) {
  redis::config c;
  c.max_hold = 500ms;
  world w(c);
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto lock = mutex.lock();
  auto lost = lock.async_wait_lost(use_future);
  auto const next = mutex.lock();  // nobody unlocks
  BOOST_TEST(next.owns_lock());
  BOOST_TEST(!lock.owns_lock());
  w.run_context();
  lost.get();
  BOOST_TEST(world::comes_true([&] { return w.has(redis::event::kind::held_too_long); }));
  std::lock_guard const guard(w.lock);
  for (auto const& e : w.events)
    if (e.what == redis::event::kind::held_too_long) BOOST_TEST(e.text == "m");
}

// --- Other recipes ---

BOOST_AUTO_TEST_CASE(one_process_does_the_job) {
  world w;
  peer other(w.settings);
  redis::async_mutex ours(w.context, *w.client, "nightly");
  redis::async_mutex theirs(w.context, other.client, "nightly");
  std::optional<bool> first, second;
  { auto const connected = ours.lock(); }
  auto lock = theirs.lock();
  asio::co_spawn(w.context, only_one(ours, nothing()), keep(first));
  w.run_context();
  BOOST_TEST((first == false));
  lock.unlock();
  BOOST_TEST(world::comes_true([&] {
    asio::co_spawn(w.context, only_one(ours, nothing()), keep(second));
    w.run_context();
    return second == true;
  }));
}

// Files that processes share.
class shared_folder {
 public:
  bool is_empty() const { return files_.empty(); }
  void add(std::string file, std::uint64_t fence) {
    see(fence);
    files_.push_back(std::move(file));
  }
  std::string take_first(std::uint64_t fence) {
    see(fence);
    std::string file = files_.front();
    files_.erase(files_.begin());
    return file;
  }

 private:
  void see(std::uint64_t fence) {
    BOOST_TEST(fence > last_);
    last_ = fence;
  }

  std::vector<std::string> files_;
  std::uint64_t last_ = 0;
};

asio::awaitable<std::string> take(redis::async_mutex& mutex, redis::async_condition& filled,
                                  shared_folder& folder) {
  auto lock = co_await mutex.async_lock();
  while (folder.is_empty()) co_await filled.async_wait(lock);
  co_return folder.take_first(lock.fence());
}

asio::awaitable<void> put(redis::async_mutex& mutex, redis::async_condition& filled,
                          shared_folder& folder, std::string file) {
  auto lock = co_await mutex.async_lock();
  folder.add(std::move(file), lock.fence());
  filled.notify_one();
}

BOOST_AUTO_TEST_CASE(a_process_waits_until_another_one_has_changed_something) {
  world w;
  peer other(w.settings);
  redis::async_mutex ours(w.context, *w.client, "folder");
  redis::async_mutex theirs(w.context, other.client, "folder");
  redis::async_condition filled(ours, "filled"), their_filled(theirs, "filled");
  shared_folder folder;
  std::vector<std::string> taken;
  for (int i = 0; i < 3; ++i)
    asio::co_spawn(w.context, take(ours, filled, folder),
                   [&](std::exception_ptr e, std::string file) {
                     BOOST_TEST(!e);
                     taken.push_back(std::move(file));
                   });
  for (char const* file : {"a", "b", "c"})
    asio::co_spawn(w.context, put(theirs, their_filled, folder, file), asio::detached);
  w.run_context();
  std::sort(taken.begin(), taken.end());
  BOOST_TEST((taken == std::vector<std::string>{"a", "b", "c"}));
}

// Shared variables

asio::awaitable<void> rent(redis::async_monitor& cars, std::string who) {
  auto inside = co_await cars.async_enter();
  while (inside.number("free") == 0) co_await inside.async_wait("returned");
  inside.add("free", -1);
  inside.set("last customer", who);
  co_await inside.async_leave();
}

asio::awaitable<void> give_back(redis::async_monitor& cars) {
  auto inside = co_await cars.async_enter();
  inside.add("free", 1);
  inside.notify_one("returned");
  co_await inside.async_leave();
}

asio::awaitable<redis::owned> rent_safely(redis::async_monitor& cars) {
  auto inside = co_await cars.async_enter();
  while (inside.number("free") == 0) co_await inside.async_wait("returned");
  auto car = inside.add_owned("free", -1, "returned");
  co_await inside.async_leave();
  co_return car;  // goes back when it is destroyed, or when this process dies
}

BOOST_AUTO_TEST_CASE(a_monitor_has_variables) {
  world w;
  peer other(w.settings);
  redis::async_monitor ours(w.context, *w.client, "cars");
  redis::async_monitor theirs(w.context, other.client, "cars");
  int rented = 0;
  for (auto* cars : {&ours, &theirs, &ours})
    asio::co_spawn(w.context, rent(*cars, "somebody"), [&](std::exception_ptr e) {
      BOOST_TEST(!e);
      ++rented;
    });
  for (auto* cars : {&theirs, &ours, &theirs})
    asio::co_spawn(w.context, give_back(*cars), asio::detached);
  w.run_context();
  BOOST_TEST(rented == 3);
}

BOOST_AUTO_TEST_CASE(what_a_client_owned_goes_back_when_it_ends) {
  world w;
  redis::async_monitor ours(w.context, *w.client, "cars");
  peer other(w.settings);
  redis::async_monitor theirs(w.context, other.client, "cars");
  redis::owned car, other_car;
  asio::co_spawn(w.context, give_back(ours), asio::detached);
  auto const rent_ours = [&] {
    asio::co_spawn(w.context, rent_safely(ours), [&](std::exception_ptr e, redis::owned o) {
      BOOST_TEST(!e);
      car = std::move(o);
    });
  };
  asio::co_spawn(w.context, rent_safely(theirs), [&](std::exception_ptr e, redis::owned o) {
    BOOST_TEST(!e);
    other_car = std::move(o);
    rent_ours();
    other.client.stop();
  });
  w.run_context();
  BOOST_TEST(car.owns());
  BOOST_TEST(!other_car.owns());
}

BOOST_AUTO_TEST_CASE(a_thread_waits_for_some_time) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  std::uint64_t written = 0;
  auto const write = [&](std::uint64_t fence) { written = fence; };
  if (auto lock = mutex.try_lock_for(5s)) write(lock.fence());  // blocks this thread
  BOOST_TEST(written != 0u);
  auto const held = mutex.lock();
  BOOST_TEST(!mutex.try_lock_for(50ms));
  BOOST_TEST(!mutex.try_lock_for(0s));
}

BOOST_AUTO_TEST_CASE(no_more_than_five_permits_are_held) {
  world w;
  peer other(w.settings);
  redis::async_semaphore uploads(w.context, *w.client, "uploads", 5);
  redis::async_semaphore theirs(w.context, other.client, "uploads", 5);
  auto const upload = [&]() -> asio::awaitable<bool> {
    auto permit = co_await uploads.async_acquire();  // one of five, in all processes together
    co_return permit.count() == 1 && permit.fence() != 0;
  };
  std::optional<bool> done;
  auto const four = theirs.acquire(4);
  asio::co_spawn(w.context, upload(), keep(done));
  w.run_context();
  BOOST_TEST((done == true));
  auto const last = theirs.acquire();
  BOOST_TEST(!uploads.try_acquire_for(0s));
  redis::async_semaphore wrong(w.context, *w.client, "uploads", 6);
  BOOST_TEST(throws(error::configuration_mismatch, [&] { auto const p = wrong.acquire(); }));
  redis::async_mutex kind(w.context, *w.client, "uploads");
  BOOST_TEST(throws(error::kind_mismatch, [&] { auto const l = kind.lock(); }));
}

BOOST_AUTO_TEST_CASE(events_are_logged) {
  world w;
  std::mutex lock;
  std::string log;
  auto const say = [&](std::string const& line) {
    std::lock_guard const guard(lock);
    log += line + '\n';
  };
  auto& client = *w.client;
  client.on_event([say](redis::event const& e) {
    switch (e.what) {
      case redis::event::kind::session_lost: return say("all locks are lost: " + e.text);
      case redis::event::kind::late_heartbeat:
        return say("the heartbeat was late by ms: " + std::to_string(e.time.count()));
      case redis::event::kind::gated:
        return say("no lock is granted for ms: " + std::to_string(e.time.count()));
      default: return;
    }
  });
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto const held = mutex.lock();
  connection(w.s.socket())({"FLUSHALL"});
  BOOST_TEST(world::comes_true([&] {
    std::lock_guard const guard(lock);
    return log.find("all locks are lost") != std::string::npos;
  }));
}

BOOST_AUTO_TEST_CASE(a_late_heartbeat_is_told) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto const held = mutex.lock();
  asio::post(w.io, [] { std::this_thread::sleep_for(1100ms); });  // a beat is due each 667 ms
  BOOST_TEST(world::comes_true([&] { return w.has(redis::event::kind::late_heartbeat); }));
}

// --- The end ---

BOOST_AUTO_TEST_CASE(a_signal_ends_the_program) {
  world w;
  auto& context = w.context;
  auto& client = *w.client;
  redis::async_mutex mutex(context, client, "m");
  asio::steady_timer first(context), second(context);
  std::size_t workers = 0;
  auto const ends = [&](std::exception_ptr failure) {
    BOOST_TEST(!failure);
    ++workers;
  };
  asio::co_spawn(context, worker(mutex, first), ends);
  asio::co_spawn(context, worker(mutex, second), ends);
  asio::steady_timer operator_comes(context, 200ms);
  operator_comes.async_wait([](error_code) { std::raise(SIGTERM); });
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](error_code failure, int) {
    if (!failure) mutex.close();
  });
  context.run();                                  // the holder finishes, the waits end
  client.async_shutdown(asio::use_future).get();  // throws if nobody answers
  BOOST_TEST(workers == 2u);
  auto const left = connection(w.s.socket())({"KEYS", "as:*"});
  for (auto const& key : left.elements)
    BOOST_TEST((key.text == "as:epoch" || key.text == "as:run" || key.text == "as:f"));
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_holds_and_waits) {
  world w;
  peer other(w.settings);
  redis::async_mutex mutex(w.context, *w.client, "m"), theirs(w.context, other.client, "m");
  auto const lock = mutex.lock();
  auto wait = mutex.async_lock(use_future);
  w.client->async_shutdown(use_future).get();
  BOOST_TEST(!lock.owns_lock());
  w.run_context();
  BOOST_TEST(throws(asio::error::operation_aborted, [&] { auto const l = wait.get(); }));
  BOOST_TEST(throws(asio::error::operation_aborted, [&] { auto const l = mutex.lock(); }));
  BOOST_TEST(theirs.try_lock_for(5s).owns_lock());
  w.run();  // again
  BOOST_TEST(mutex.lock().owns_lock());
}

BOOST_AUTO_TEST_CASE(a_shutdown_waits_for_the_server_while_the_session_lives) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto const lock = mutex.lock();
  w.s.kill();
  BOOST_TEST(throws(errc::timed_out, [&] { w.client->async_shutdown(use_future).get(); }));
  w.run();
  w.client->async_shutdown(use_future).get();  // there is no session any more
}

BOOST_AUTO_TEST_CASE(waits_stay_when_the_client_stops) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto const lock = mutex.lock();
  auto wait = mutex.async_lock(use_future);
  w.client->stop();
  BOOST_TEST(world::comes_true([&] {
    std::lock_guard const guard(w.lock);
    return w.ended.size() == 1;
  }));
  BOOST_TEST((w.ended[0] == asio::error::operation_aborted));
  BOOST_TEST(!lock.owns_lock());
  BOOST_TEST(mutex.waiters() == 1u);
  w.run();
  w.run_context();
  BOOST_TEST(wait.get().owns_lock());
}

BOOST_AUTO_TEST_CASE(waits_end_with_the_client) {
  world w;
  auto mutex = std::make_unique<redis::async_mutex>(w.context, *w.client, "m");
  auto lock = mutex->lock();
  auto wait = mutex->async_lock(use_future);
  mutex.reset();  // the lock outlives it
  BOOST_TEST(lock.owns_lock());
  BOOST_TEST((lock.mutex() == nullptr));
  w.client.reset();
  BOOST_TEST(!lock.owns_lock());
  w.run_context();
  BOOST_TEST(throws(asio::error::operation_aborted, [&] { auto const l = wait.get(); }));
}

BOOST_AUTO_TEST_CASE(a_child_process_gets_forked) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  auto const lock = mutex.lock();
  BOOST_TEST(asio_sync::test::failure_in_child([&] {
               return !lock.owns_lock() &&
                      throws(redis::error::forked, [&] { auto const l = mutex.lock(); });
             }) == "");
  BOOST_TEST(lock.owns_lock());
}

BOOST_AUTO_TEST_CASE(a_thread_of_the_client_must_not_block) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "m");
  std::promise<error_code> told;
  asio::post(w.io, [&] { told.set_value(thrown_by([&] { auto const lock = mutex.lock(); })); });
  BOOST_TEST((told.get_future().get() == errc::resource_deadlock_would_occur));
}

// --- The server ---

BOOST_AUTO_TEST_CASE(an_operator_sees_these_keys) {
  redis::config c;
  c.name = "host-1";
  world w(c);
  redis::async_mutex mutex(w.context, *w.client, "reports");
  auto const lock = mutex.lock();
  auto wait = mutex.async_lock(use_future);
  connection to(w.s.socket());
  BOOST_TEST(world::comes_true([&] { return to({"EXISTS", "as:{reports}:q"}).number == 1; }));
  std::vector<std::string> names;
  for (auto const& key : to({"KEYS", "as:*"}).elements)
    names.push_back(key.text.substr(0, key.text.find_last_of(':') + 2));
  std::sort(names.begin(), names.end());
  auto const sid = to({"SMEMBERS", "as:all"}).elements.at(0).text;
  auto const session = to({"GET", "as:s:" + sid}).text;
  BOOST_TEST(session.ends_with("|host-1"));
  BOOST_TEST(to({"HLEN", "as:o:" + sid}).number == 2);
  auto const holder = to({"HGETALL", "as:{reports}:h"});
  BOOST_TEST_REQUIRE(holder.elements.size() >= 1u);
  auto const since = holder.elements[1].text.substr(holder.elements[1].text.rfind(' ') + 1);
  BOOST_TEST(since.size() == 13u);
  BOOST_TEST(to({"HVALS", "as:{reports}:h"}).elements.at(0).text ==
             "1 " + std::to_string(lock.fence()) + " " + since);
  BOOST_TEST(to({"ZCARD", "as:{reports}:q"}).number == 1);
  BOOST_TEST(to({"HGET", "as:{reports}:m", "k"}).text == "mutex");
  BOOST_TEST(to({"TTL", "as:{reports}:h"}).number == -1);
  BOOST_TEST(to({"PTTL", "as:s:" + sid}).number > 0);
  BOOST_TEST(to({"CLIENT", "LIST"}).text.find("name=host-1") != std::string::npos);
  mutex.cancel();
  w.run_context();
  BOOST_CHECK_THROW(auto const l = wait.get(), system_error);
}

asio::awaitable<void> free_reports(redis::client& client) {
  redis::inspection const reports = co_await client.async_inspect("reports");
  for (redis::inspection::holder const& holder : reports.holders)
    if (holder.age > std::chrono::hours(1))
      co_await client.async_force_release("reports", holder.fence);
}

BOOST_AUTO_TEST_CASE(an_operator_frees_a_lock_that_is_held_for_an_hour) {
  world w;
  redis::async_mutex mutex(w.context, *w.client, "reports");
  auto const lock = mutex.lock();
  asio::co_spawn(w.context, free_reports(*w.client), asio::detached);
  w.run_context();
  BOOST_TEST(lock.owns_lock());
  connection to(w.s.socket());
  auto const holder = to({"HGETALL", "as:{reports}:h"}).elements;
  BOOST_TEST_REQUIRE(holder.size() == 2u);
  to({"HSET", "as:{reports}:h", holder[0].text, "1 " + std::to_string(lock.fence()) + " 1"});
  asio::co_spawn(w.context, free_reports(*w.client), asio::detached);
  w.run_context();
  BOOST_TEST(world::comes_true([&] { return !lock.owns_lock(); }));  // after the answer, perhaps
  BOOST_TEST(world::comes_true([&] { return w.has(redis::event::kind::forced_release); }));
  BOOST_TEST(to({"EXISTS", "as:{reports}:h"}).number == 0);
}

BOOST_AUTO_TEST_CASE(a_new_server_grants_nothing_at_first) {
  server s;
  redis::config settings;
  settings.unix_socket = s.socket();
  settings.session_ttl = settings.max_session_ttl = 1s;
  peer first(settings);
  std::promise<std::chrono::milliseconds> gated;
  first.client.on_event([&](redis::event const& e) {
    if (e.what == redis::event::kind::gated) gated.set_value(e.time);
  });
  redis::async_mutex mutex(first.io, first.client, "m");
  auto const before = std::chrono::steady_clock::now();
  auto const lock = mutex.lock();
  BOOST_TEST((std::chrono::steady_clock::now() - before > 800ms));
  BOOST_TEST((gated.get_future().get() <= 1000ms));
}

BOOST_AUTO_TEST_CASE(waits_go_on_after_the_server_was_lost) {
  world w;
  peer other(w.settings);
  redis::async_mutex mutex(w.context, *w.client, "m"), theirs(w.context, other.client, "m");
  auto lock = mutex.lock();
  auto wait = theirs.async_lock(use_future);
  w.s.kill();
  w.s.start();
  std::thread runner = w.run_elsewhere();
  BOOST_TEST(wait.get().owns_lock());
  runner.join();
  BOOST_TEST(world::comes_true([&] { return !lock.owns_lock(); }));
}

BOOST_AUTO_TEST_CASE(a_final_error_ends_the_run_and_all_operations) {
  world w;
  connection(w.s.socket())({"CONFIG", "SET", "requirepass", "secret"});
  asio::thread_pool io(1);
  redis::client client(io.get_executor(), w.settings);
  redis::async_mutex mutex(w.context, client, "m");
  auto run = client.async_run(use_future);
  BOOST_TEST(throws(redis::error::access_denied, [&] { run.get(); }));
  BOOST_TEST(throws(redis::error::access_denied, [&] { auto const l = mutex.lock(); }));
}

BOOST_AUTO_TEST_CASE(a_try_is_over_when_the_server_does_not_answer) {
  server s;
  redis::config settings;
  settings.unix_socket = s.socket();
  settings.session_ttl = settings.max_session_ttl = 1s;  // a try takes 250 ms at most
  s.kill();
  peer p(settings);
  asio::io_context context;
  redis::async_mutex mutex(context, p.client, "m");
  auto tried = mutex.async_try_lock(use_future);
  context.run();
  BOOST_TEST(throws(errc::timed_out, [&] { auto const l = tried.get(); }));
}

BOOST_AUTO_TEST_CASE(a_configuration_has_rules) {
  asio::io_context context;
  auto const refused = [&](auto change) {
    redis::config c;
    change(c);
    auto const made = [&] { redis::client const client(context.get_executor(), c); };
    return thrown_by(made) == errc::invalid_argument;
  };
  BOOST_TEST(!refused([](auto&) {}));
  BOOST_TEST(refused([](auto& c) { c.host.clear(); }));
  BOOST_TEST(refused([](auto& c) { c.port.clear(); }));
  BOOST_TEST(!refused([](auto& c) { c.host.clear(), c.unix_socket = "/run/s"; }));
  BOOST_TEST(refused([](auto& c) { c.unix_socket.assign(108, 's'); }));
  BOOST_TEST(refused([](auto& c) { c.database = -1; }));
  BOOST_TEST(refused([](auto& c) { c.prefix = "{a}"; }));
  BOOST_TEST(refused([](auto& c) { c.prefix.assign(513, 'p'); }));
  BOOST_TEST(refused([](auto& c) { c.name = "a b"; }));
  BOOST_TEST(!refused([](auto& c) { c.name.assign(256, 'n'); }));
  BOOST_TEST(refused([](auto& c) { c.name.assign(257, 'n'); }));
  BOOST_TEST(refused([](auto& c) { c.session_ttl = 499ms; }));
  BOOST_TEST(refused([](auto& c) { c.session_ttl = 7s; }));
  BOOST_TEST(refused([](auto& c) { c.max_session_ttl = 25h; }));
  BOOST_TEST(refused([](auto& c) { c.max_hold = -1ms; }));
  BOOST_TEST(refused([](auto& c) { c.command_timeout = 0ms; }));
  BOOST_TEST(refused([](auto& c) { c.command_timeout = 1501ms; }));
  BOOST_TEST(refused([](auto& c) { c.margin = 0ms; }));
  BOOST_TEST(refused([](auto& c) { c.margin = 3001ms; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_document_test
