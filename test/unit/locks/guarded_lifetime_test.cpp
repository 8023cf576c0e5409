// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// How long a guarded operation, its guard, its handler and its memory live.

#include "support/memory.hpp"
#include "support/test.hpp"
#include "unit/locks/guarded_fixture.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/writable_pipe.hpp>

namespace guarded_test {

using namespace asio_sync::test;
using asio::deferred;

// Writes a letter when it is destroyed, and can be asked whether it was.
struct witness {
  explicit witness(std::string& order, char letter)
      : end(nullptr, [&order, letter](void*) { order += letter; }) {}
  std::shared_ptr<void> end;
};

BOOST_FIXTURE_TEST_SUITE(guarded_lifetime_test, fixture)

BOOST_AUTO_TEST_CASE(operation_owns_what_it_works_on) {
  for (bool const waits : {false, true}) {
    asio::writable_pipe writer(context);
    asio::readable_pipe reader(context);
    asio::connect_pipe(reader, writer);
    std::string text(4, ' ');
    std::optional<async_mutex::lock_type> held;
    if (waits) held.emplace(mutex);
    auto read = [own = std::move(reader), &text](auto&& token) mutable {
      return own.async_read_some(asio::buffer(text), std::forward<decltype(token)>(token));
    };
    error_code result = aborted;
    async_guarded(mutex, std::move(read), [&](error_code error, std::size_t) { result = error; });
    held.reset();
    poll();
    BOOST_TEST(writer.write_some(asio::buffer("text", 4)) == 4u);
    poll();
    BOOST_TEST(result == error_code());
    BOOST_TEST(text == "text");
  }
}

BOOST_AUTO_TEST_CASE(deferred_operation_owns_what_it_works_on) {
  asio::writable_pipe writer(context);
  asio::readable_pipe reader(context);
  asio::connect_pipe(reader, writer);
  std::string text(4, ' ');
  auto read = asio::async_initiate<asio::deferred_t const, void(error_code, std::size_t)>(
      [own = std::make_shared<asio::readable_pipe>(std::move(reader)), &text](auto handler) {
        own->async_read_some(asio::buffer(text), std::move(handler));
      },
      deferred);
  error_code result = aborted;
  async_guarded(mutex, std::move(read), [&](error_code error, std::size_t) { result = error; });
  poll();
  writer.write_some(asio::buffer("text", 4));
  poll();
  BOOST_TEST(result == error_code());
  BOOST_TEST(text == "text");
}

BOOST_AUTO_TEST_CASE(operation_ends_before_the_guard_and_that_before_the_handler) {
  for_each_way([&](auto& by, auto&, auto const& is_free) {
    for (bool const drops : {false, true}) {
      std::string order;
      std::shared_ptr<void> owned(nullptr, [&](void*) { order += is_free() ? '!' : 'o'; });
      std::shared_ptr<void> handled(nullptr, [&](void*) { order += is_free() ? 'd' : '!'; });
      async_guarded(
          by,
          [this, own = std::move(owned)](auto&& token) {
            return inner(std::forward<decltype(token)>(token));
          },
          [&, own = std::move(handled)](error_code, int, std::string const&) {
            order += is_free() ? 'h' : '!';
          });
      poll();
      BOOST_TEST(order.empty());
      if (drops)
        inner.drop();
      else
        inner.end();
      poll();
      BOOST_TEST(order == (drops ? "od" : "ohd"));
    }
  });
}

BOOST_AUTO_TEST_CASE(operation_that_does_not_begin_ends_before_the_handler_is_called) {
  async_mutex::lock_type const held(mutex);
  std::string order;
  async_guarded_for(
      mutex,
      [this, own = witness(order, 'o')](auto&& token) {
        return inner(std::forward<decltype(token)>(token));
      },
      0s, [&](error_code, int, std::string const&) { order += 'h'; });
  poll();
  BOOST_TEST(order == "oh");
}

// Completes inside its initiation, as no operation should, or drops its handler there, or throws.
BOOST_AUTO_TEST_CASE(operation_lives_until_its_initiation_returns) {
  enum { completes, drops, throws };
  for (auto const what : {completes, drops, throws}) {
    std::string order;
    auto step = [what, &order, own = witness(order, 'o')](auto&& token) {
      struct leaving {
        witness const& own;
        std::string& order;
        ~leaving() { order += own.end.use_count() == 1 ? 'r' : '!'; }
      } const at_exit{own, order};
      return asio::async_initiate<decltype(token), void(error_code)>(
          [what](auto handler) {
            if (what == throws) throw std::runtime_error("step");
            if (what == completes) std::move(handler)(error_code());
          },
          token);
    };
    asio::post(context, [&] {
      auto const begin = [&] {
        async_guarded(mutex, std::move(step),
                      [&, own = witness(order, 'd')](error_code) { order += 'h'; });
      };
      if (what == throws)
        BOOST_CHECK_THROW(begin(), std::runtime_error);
      else
        begin();
    });
    poll();
    BOOST_TEST(order == (what == completes ? "hdro" : "dro"));
    BOOST_TEST(!mutex.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(R12_allocator_that_ends_with_its_handler) {
  auto const at_once = [](auto&& token) {
    return asio::async_initiate<decltype(token), void(error_code)>(
        [](auto handler) { std::move(handler)(error_code()); }, token);
  };
  async_guarded(mutex, at_once,
                asio::any_completion_handler<void(error_code)>([&](error_code) { ++called; }));
  poll();
  BOOST_TEST(called == 1);
  BOOST_TEST(!mutex.is_locked());
}

// The initiation returns later than the operation completes on another thread.
BOOST_AUTO_TEST_CASE(R17_operation_completes_before_its_initiation_returns) {
  asio::thread_pool pool(2);
  async_mutex guard(pool);
  for (int round = 0; round < 50; ++round) {
    std::promise<void> over;
    std::atomic<bool> alive{true};
    std::shared_ptr<void> owned(nullptr, [&](void*) { alive = false; });
    auto step = [&, own = std::move(owned)](auto&& token) {
      return asio::async_initiate<decltype(token), void(error_code)>(
          [&](auto handler) {
            asio::post(pool, [h = std::move(handler)]() mutable { std::move(h)(error_code()); });
            over.get_future().wait();
            BOOST_TEST(alive.load());
          },
          token);
    };
    async_guarded(guard, std::move(step), [&](error_code) { over.set_value(); });
    while (alive) std::this_thread::yield();
    BOOST_TEST(!guard.is_locked());
  }
}

BOOST_AUTO_TEST_CASE(R12_memory_is_the_handlers_and_free_when_that_is_called) {
  asio::steady_timer timer(context, 0s);
  for (bool const waits : {false, true}) {
    test::allocator_log log;
    std::optional<async_mutex::lock_type> held;
    if (waits) held.emplace(mutex);
    called = 0;
    async_guarded(mutex, timer.async_wait(deferred),
                  asio::bind_allocator(test::logging_allocator<>(log), [&](error_code) {
                    ++called;
                    BOOST_TEST(log.live_bytes == 0u);
                  }));
    BOOST_TEST(log.allocations == 2u);  // the operation's, and the wait's
    held.reset();
    context.restart();
    context.run();
    BOOST_TEST(called == 1);
    BOOST_TEST(log.allocations == log.deallocations);
  }
}

BOOST_AUTO_TEST_CASE(R13_each_allocation_of_the_allocator_failing) {
  asio::steady_timer timer(context, 0s);
  for (std::size_t successes = 0; successes < 2; ++successes) {
    test::allocator_log log;
    log.successes = successes;
    BOOST_CHECK_THROW(
        async_guarded(mutex, timer.async_wait(deferred),
                      asio::bind_allocator(test::logging_allocator<>(log), [](error_code) {})),
        std::bad_alloc);
    BOOST_TEST(log.allocations == log.deallocations);
    BOOST_TEST(!mutex.is_locked());
  }
}

// What can be called once, and only moved.
struct once {
  void operator()(error_code error) && {
    *result = error;
    own.reset();
  }
  std::unique_ptr<error_code> own;
  error_code* result;
};

struct operation_once {
  auto operator()(auto&& token) && {
    return timer->async_wait(std::forward<decltype(token)>(token));
  }
  std::unique_ptr<asio::steady_timer> timer;
};

BOOST_AUTO_TEST_CASE(handler_and_operation_that_are_called_once) {
  error_code result = aborted;
  async_guarded(mutex, operation_once{std::make_unique<asio::steady_timer>(context, 0s)},
                once{nullptr, &result});
  context.run();
  BOOST_TEST(result == error_code());
}

// Throws when it is moved for the second time: out of the block.
struct throwing_handler {
  throwing_handler(bool& m, std::string& o) : moves(&m), own(o, 'd') {}
  throwing_handler(throwing_handler&& other) : moves(other.moves), own(other.own) {
    if (*moves) throw std::runtime_error("moved");
  }
  void operator()(error_code, int, std::string const&) {}
  bool* moves;
  witness own;
};

BOOST_AUTO_TEST_CASE(R13_handler_that_throws_when_it_is_moved) {
  for (bool const drops : {false, true}) {
    bool throws = false;
    std::string order;
    async_guarded(mutex, operation(), throwing_handler(throws, order));
    poll();
    throws = true;
    if (drops) {
      inner.drop();
    } else {
      inner.end();
      BOOST_CHECK_THROW(poll(), std::runtime_error);
    }
    BOOST_TEST(order == "d");
    BOOST_TEST(!mutex.is_locked());

    BOOST_CHECK_THROW(async_guarded(mutex, operation(), throwing_handler(throws, order)),
                      std::runtime_error);
    BOOST_TEST(!mutex.is_locked());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace guarded_test
