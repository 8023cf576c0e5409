// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// All primitives at once, on a pool and two contexts, in coroutines, callbacks and threads, with
// cancellation, time-outs, closing and destruction at random. Half of the rounds end by
// themselves, and half of these without anything that would make up for a wait that was forgotten:
// such a round hangs, and the watchdog tells. For the variables that set time and seed see
// mutex_stress_test.cpp.

#include "places.hpp"
#include "visitors.hpp"
#include "warehouse.hpp"
#include "world.hpp"

#include "support/random.hpp"

#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_latch.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

namespace family_stress_test {

using namespace asio_sync::test;
using asio_sync::async_latch;
using asio_sync::async_mutex;
using asio_sync::async_shared_mutex;
using clock_type = std::chrono::steady_clock;

// A round: everything that takes part, from beginning to end.
class stress_round {
 public:
  explicit stress_round(unsigned seed) : world_(seed) {}

  void run() {
    start();
    book_.of_gate.write();
    all_->gate.set();
    auto const end = clock_type::now() + std::chrono::milliseconds(20 + random_.below(60));
    while (clock_type::now() < end) {
      if (!world_.calm() && random_.one_in(2)) cancel_one(random_.below(12));
      all_->gate.reset();
      few_at_a_latch();
      visit_once();
      if (random_.one_in(2)) short_lived();
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(300)));
      all_->gate.set();
    }
    finish();
  }

  void check() const {
    book_.each([](page const& p) { BOOST_TEST(p.is_right()); });
    BOOST_TEST(stock_->is_right());
    for (account const* a : {&world_.operations, &short_lived_}) {
      BOOST_TEST(a->begun == a->completed + a->dropped);
      BOOST_TEST(a->twice == 0);
    }
    BOOST_TEST((world_.operations.dropped == 0 || world_.how == ending::stopped));
    BOOST_TEST(wrong_ == 0);
    BOOST_TEST(led_ <= phases_);
    if (world_.calm()) BOOST_TEST(led_ >= phases_ - 1);  // nobody is left when the last one drops
  }

  long completed() const { return world_.operations.completed; }
  long phases() const { return phases_; }
  long taken() const { return stock_->taken(); }

 private:
  void cancel_one(unsigned which) {
    unsigned n = 0;
    all_->each([&](auto& primitive) {
      if (n++ == which) primitive.cancel();
    });
    if (n == which) monitor_.cancel();
  }

  // Some visitors of a place, of each kind that it has a form for.
  template <class Place, class... Own>
  void visit(Own&... own) {
    Place const at{{*all_, book_}, own...};
    for (unsigned n = 1 + random_.below(2); n > 0; --n)
      spawn(coroutine_at(world_, at, random_.seed()));
    if (random_.one_in(2)) std::make_shared<caller_at<Place>>(world_, at, random_.seed())->start();
    if constexpr (requires(Place p) { p.block(0); })
      if (random_.one_in(2))
        world_.run_thread([this, at](unsigned seed) { thread_at(world_, at, seed); });
  }

  // Lets in one who waits for another number of visits.
  void visit_once() {
    monitor_place::entry inside = monitor_.try_enter();
    monitor_place{{*all_, book_}, monitor_}.use(0, inside);
  }

  void spawn(asio::awaitable<void> coroutine) {
    asio::co_spawn(world_.any_executor(random_), std::move(coroutine), asio::detached);
  }

  asio::awaitable<void> upgrader(unsigned seed) {
    random_choice random(seed);
    auto const token = asio::as_tuple(asio::use_awaitable);
    while (!world_.over()) {
      auto [error, reader] = co_await all_->shared.async_lock_shared(token);
      if (!reader.owns_lock()) continue;
      book_.of_shared.read();
      operation_ticket ticket(world_.operations);
      async_shared_mutex::lock_type writer;
      if (world_.calm() || random.one_in(2))
        std::tie(error, writer) =
            co_await all_->shared.async_upgrade(std::move(reader), asio::as_tuple(asio::deferred));
      else
        std::tie(error, writer) =
            co_await all_->shared.async_upgrade_for(std::move(reader), some_time(random), token);
      ticket.complete();
      if (writer.owns_lock()) book_.of_shared.write();
      bool const reads = reader.owns_lock();  // NOLINT(bugprone-use-after-move): it was lent
      if (reads) book_.of_shared.read();
      if (writer.owns_lock() == reads) ++wrong_;
    }
  }

  // Waits for all that is tracked to end; that may be the end of the round.
  asio::awaitable<void> joiner() {
    while (!world_.over()) {
      operation_ticket ticket(world_.operations);
      co_await all_->group.async_join(asio::as_tuple(asio::deferred));
      ticket.complete();
      co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
    }
  }

  // Waits for two things at a time. Who is cancelled does not use them.
  asio_sync::async_steps read_both(asio_sync::async_enumerator& e, bool cancels) {
    error_code error_of_shared, error_of_semaphore;
    async_shared_mutex::shared_lock_type reader;
    asio_sync::semaphore_permit permit;
    all_->shared.async_lock_shared(e.callback(error_of_shared, reader));
    all_->semaphore.async_acquire(e.callback(error_of_semaphore, permit));
    if (cancels) e.cancel();
    co_yield 2;
    if (reader.owns_lock() == bool(error_of_shared) || bool(permit) == bool(error_of_semaphore))
      ++wrong_;
    if (cancels) ++wrong_;
    if (reader.owns_lock()) book_.of_shared.read();
    if (permit) book_.of_semaphore.read();
  }

  asio::awaitable<void> stepper(unsigned seed) {
    random_choice random(seed);
    asio_sync::async_enumerator e(world_.serial_home());
    for (auto const running = world_.keep_running(e.get_executor()); !world_.over();) {
      operation_ticket ticket(world_.operations);
      bool const cancels = !world_.calm() && random.one_in(4);
      auto [failure] =
          co_await e.async_run(read_both(e, cancels), asio::as_tuple(asio::use_awaitable));
      ticket.complete();
      if (cancels != bool(failure)) ++wrong_;
    }
  }

  // Between two of its arrivals a participant may look at what the end of a phase has written.
  void marched(error_code error, bool leads, long& seen) {
    if (error) return;
    if (phases_ <= seen) ++wrong_;
    seen = phases_;
    if (leads) ++led_;
  }

  asio::awaitable<void> marcher(unsigned seed) {
    random_choice random(seed);
    auto const token = asio::as_tuple(asio::use_awaitable);
    long seen = 0;
    while (!world_.over()) {
      operation_ticket ticket(world_.operations);
      error_code error;
      bool leads = false;
      if (world_.calm() || !random.one_in(8))
        std::tie(error, leads) =
            co_await all_->barrier.async_arrive_and_wait(asio::as_tuple(asio::deferred));
      else
        std::tie(error, leads) =
            co_await all_->barrier.async_arrive_and_wait_for(some_time(random), token);
      ticket.complete();
      marched(error, leads, seen);
    }
    all_->barrier.arrive_and_drop();
  }

  void marching_thread() {
    long seen = 0;
    while (!world_.over()) try {
        marched({}, all_->barrier.arrive_and_wait(), seen);
      } catch (boost::system::system_error const&) {  // broken, cancelled or closed
      }
    all_->barrier.arrive_and_drop();
  }

  // Each writes its line, and those who wait read all of them.
  void few_at_a_latch() {
    struct meeting {
      meeting(asio::any_io_executor const& home, unsigned n)
          : latch(home, static_cast<std::ptrdiff_t>(n)), count(n) {}
      bool all_written() const {
        for (unsigned i = 0; i < count; ++i)
          if (!lines[i]) return false;
        return true;
      }
      async_latch latch;
      unsigned count;
      std::array<bool, 8> lines{};
    };
    unsigned const count = 1 + random_.below(8);
    auto const m = std::make_shared<meeting>(world_.any_home(random_), count);
    for (unsigned i = 0; i < count; ++i) {
      auto const ex = world_.any_executor(random_);
      bool const waits = random_.one_in(2);
      auto arrive = [this, m, i, waits, ex, t = operation_ticket(world_.operations)]() mutable {
        m->lines[i] = true;
        if (!waits) return t.complete(), m->latch.count_down();
        m->latch.async_arrive_and_wait(
            asio::bind_executor(ex, [this, m, t = std::move(t)](error_code error) mutable {
              t.complete();
              if (error || !m->all_written()) ++wrong_;
            }));
      };
      asio::post(ex, std::move(arrive));
    }
  }

  // A handler of a wait that is not to be repeated, which may own all primitives.
  auto once(asio::any_io_executor const& ex, std::shared_ptr<primitives> owned) {
    return asio::bind_executor(ex, [owned = std::move(owned), t = operation_ticket(short_lived_)](
                                       error_code, auto const&...) mutable { t.complete(); });
  }

  // Several mutexes are locked only where they live on: no other thread may destroy one while
  // their wait turns to it.
  template <class Handlers, class... Place>
  void wait_at_each(primitives& p, Handlers handler, bool lives_on, std::tuple<Place...>*) {
    auto const wait = [&](auto place) {
      if (std::is_same_v<decltype(place), all_place> && !lives_on) return;
      if (world_.calm() || random_.one_in(2))
        place.wait(random_.below(64), handler());
      else
        place.wait(random_.below(64), some_time(random_), handler());
    };
    (wait(Place{{p, book_}}), ...);
    p.barrier.async_arrive_and_wait(handler());
    p.stock_changed.async_wait(async_mutex::lock_type(p.stock_mutex), handler());
  }

  // Primitives, and a context of some of the waits for them, that die with waits queued: the
  // primitives with the last of these, or here.
  void short_lived() {
    std::optional<asio::io_context> context(std::in_place);
    auto const somewhere = [&](asio::any_io_executor elsewhere) {
      return random_.one_in(3) ? context->get_executor() : std::move(elsewhere);
    };
    auto p = std::make_shared<primitives>([&] { return somewhere(world_.any_home(random_)); });
    auto held = p->occupy();
    bool const owned = random_.one_in(2);
    auto const handler = [&] {
      return once(somewhere(world_.any_executor(random_)), owned ? p : nullptr);
    };
    for (unsigned n = random_.below(3); n > 0; --n)
      wait_at_each(*p, handler, owned, static_cast<all_places*>(nullptr));
    async_mutex::lock_type stock(p->stock_mutex);
    if (random_.one_in(3)) p->stock_changed.notify_one();
    if (random_.one_in(3)) p->cancel();
    if (random_.one_in(3)) p->close();
    if (random_.one_in(3)) run_elsewhere(*context);
    if (!owned && random_.one_in(2)) p.reset();
    // A context must not die while another thread hands on what its waits are queued for.
    context.reset();
    held = {};
    stock = {};
    if (p && owned) p->close();
  }

  // On another thread, until what is queued there has completed, or not as long.
  void run_elsewhere(asio::io_context& context) {
    std::thread runner([&] { context.run(); });
    std::this_thread::sleep_for(std::chrono::microseconds(random_.below(200)));
    context.stop();
    runner.join();
  }

  void start() {
    visit_each(static_cast<all_places*>(nullptr));
    visit<monitor_place>(monitor_);
    spawn(upgrader(random_.seed()));
    spawn(upgrader(random_.seed()));
    spawn(joiner());
    spawn(stepper(random_.seed()));
    for (int i = 0; i < 2; ++i) {
      spawn(stock_->producer(random_.seed()));
      spawn(stock_->consumer(random_.seed()));
    }
    std::make_shared<warehouse::caller>(*stock_, random_.seed())->start();
    world_.run_thread([this](unsigned seed) { stock_->thread(seed); });
    for (int i = 1; i < primitives::marchers; ++i) spawn(marcher(random_.seed()));
    world_.run_thread([this](unsigned) { marching_thread(); });
    world_.run_contexts();
  }

  using all_places =
      std::tuple<mutex_place, reading_place, writing_place, semaphore_place, keyed_place,
                 all_place, turn_place, gate_place, mailbox_place, tracked_place>;
  template <class... Place>
  void visit_each(std::tuple<Place...>*) {
    (visit<Place>(), ...);
  }

  void finish() {
    world_.declare_over();
    if (world_.how == ending::closed) {
      all_->close();
      monitor_.close();
    }
    if (world_.how == ending::calm || world_.how == ending::by_itself) {
      stock_->close_down();
      monitor_.async_enter([](error_code, monitor_place::entry inside) { inside->over = true; });
    }
    world_.end_threads([this] {
      all_->cancel();
      // The mutex of a wait that was notified may be on its way to a handler that never runs.
      all_->stock_mutex.close();
    });
    world_.end_contexts([this] { all_.reset(); });
  }

  world world_;
  random_choice& random_ = world_.random;
  account short_lived_;
  book book_;
  long phases_ = 0;  // the end of each phase writes it
  long led_ = 0;     // the leader of each phase
  std::atomic<int> wrong_ = 0;
  // Outlives all contexts, that of its strand, too.
  asio_sync::async_monitor<visitors_book> monitor_{world_.any_home(random_)};
  std::optional<primitives> all_{std::in_place, [this] { return world_.any_home(random_); },
                                 [this] { ++phases_; }};
  std::optional<warehouse> stock_{std::in_place, world_, *all_};
};

}  // namespace family_stress_test

BOOST_AUTO_TEST_SUITE(family_stress_test)

BOOST_AUTO_TEST_CASE(R17_all_primitives_at_once_at_random) {
  unsigned const seed = random_seed();
  BOOST_TEST_INFO_SCOPE("ASIO_SYNC_TEST_SEED=" << seed);
  random_choice random(seed);
  auto const end =
      clock_type::now() + std::chrono::seconds(number_from("ASIO_SYNC_STRESS_SECONDS", 5));
  long rounds = 0, completed = 0, phases = 0, taken = 0;
  do {
    stress_round one(random.seed());
    one.run();
    one.check();
    ++rounds;
    completed += one.completed();
    phases += one.phases();
    taken += one.taken();
  } while (clock_type::now() < end || completed == 0 || phases == 0 || taken == 0);
  BOOST_TEST_MESSAGE(rounds << " rounds, " << completed << " operations, " << phases
                            << " phases of the barrier, " << taken << " taken from the stock");
}

BOOST_AUTO_TEST_SUITE_END()
