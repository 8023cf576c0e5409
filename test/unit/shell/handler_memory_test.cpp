// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Handlers that keep the memory of their own waits alive, as Asio's examples do: the session owns
// an arena, its handlers own the session. The memory is given back before such a handler ends.

#include "support/executors.hpp"
#include "support/mutex_fixture.hpp"
#include "support/test.hpp"

#include <asio_sync/async_lock_all.hpp>

namespace handler_memory_test {

using namespace asio_sync::test;

// What is known of arenas after their end.
struct arena_log {
  int arenas = 0;       // that live
  int blocks = 0;       // that are taken
  int allocations = 0;  // since the beginning
  int outlived = 0;     // blocks that were still taken when their arena ended
};

// The memory of handlers, which ends with its last owner. The blocks are the heap's, so that a
// case fails by what it checks where a block is given back to an arena that has gone.
class arena {
 public:
  explicit arena(arena_log& log) noexcept : log_(&log) { ++log_->arenas; }
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;
  ~arena() {
    --log_->arenas;
    log_->outlived += taken_;
  }

  arena_log& log() const noexcept { return *log_; }
  void took() noexcept { ++taken_; }
  void gave_back() noexcept { --taken_; }

 private:
  arena_log* log_;
  int taken_ = 0;
};

// Does not own the arena: that is for the handler to do.
template <class T = void>
class arena_allocator {
 public:
  using value_type = T;

  explicit arena_allocator(arena& a) noexcept : arena_(&a), log_(&a.log()) {}
  template <class U>
  arena_allocator(arena_allocator<U> const& other) noexcept
      : arena_(other.arena_), log_(other.log_) {}

  T* allocate(std::size_t n) {
    T* const memory = std::allocator<T>().allocate(n);
    arena_->took();
    ++log_->blocks;
    ++log_->allocations;
    return memory;
  }

  void deallocate(T* memory, std::size_t n) noexcept {
    --log_->blocks;
    if (log_->outlived == 0) arena_->gave_back();  // else it may have gone
    std::allocator<T>().deallocate(memory, n);
  }

  template <class U>
  friend bool operator==(arena_allocator const& a, arena_allocator<U> const& b) noexcept {
    return a.arena_ == b.arena_;
  }

 private:
  template <class>
  friend class arena_allocator;

  arena* arena_;
  arena_log* log_;
};

// Owns its arena. Its move may throw, as one of a handler with any constant member may, and with
// `constant` it moves nothing: what is moved from owns the arena as well.
template <bool constant>
class owning_handler {
 public:
  using allocator_type = arena_allocator<>;

  owning_handler(arena_log& log, fate& f)
      : owner_(std::make_shared<arena>(log)), inner_(std::make_shared<observed_handler>(f)) {}

  allocator_type get_allocator() const noexcept { return allocator_type(*owner_); }

  void operator()(error_code error, async_mutex::lock_type lock) {
    blocks_when_called = owner_->log().blocks;
    (*inner_)(error, std::move(lock));
  }
  void operator()(error_code error, std::tuple<async_mutex::lock_type> locks) {
    (*this)(error, std::move(std::get<0>(locks)));
  }

  static inline int blocks_when_called = -1;

 private:
  std::conditional_t<constant, std::shared_ptr<arena> const, std::shared_ptr<arena>> owner_;
  std::shared_ptr<observed_handler> inner_;
  std::string const name_ = "a name that is too long to be kept inside of the string";
};

static_assert(!std::is_nothrow_move_constructible_v<owning_handler<false>>);

// A mutex and the memory of its handlers. The mutex ends before a case looks at the memory.
struct fixture {
  arena_log log;
  fate f;
  std::unique_ptr<mutex_fixture> at_home = std::make_unique<mutex_fixture>();
  async_mutex& mutex = at_home->mutex;
  asio::io_context& context = at_home->context;
  std::unique_ptr<asio::io_context> dying = std::make_unique<asio::io_context>();

  ~fixture() {
    dying.reset();
    at_home.reset();
    BOOST_TEST(log.allocations > 0);
    BOOST_TEST(log.outlived == 0);
    BOOST_TEST(log.blocks == 0);
    BOOST_TEST(log.arenas == 0);
  }
};

// Calls it with handlers of both kinds, each with a log of its own.
template <class Function>
void with_each(Function function) {
  auto const with = [&]<bool constant>(std::bool_constant<constant>) {
    fixture t;
    function(t, [&] { return owning_handler<constant>(t.log, t.f); });
  };
  with(std::false_type());
  with(std::true_type());
}

}  // namespace handler_memory_test

BOOST_AUTO_TEST_SUITE(handler_memory_test)

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_its_handler_is_called) {
  with_each([](fixture& t, auto make) {
    for (bool const held : {false, true}) {
      t.f = {};
      if (held) BOOST_TEST_REQUIRE(t.mutex.try_lock());
      t.mutex.async_lock(make());
      if (held) t.mutex.unlock();
      decltype(make())::blocks_when_called = -1;
      poll(t.context);
      BOOST_TEST(t.f.granted());
      BOOST_TEST(decltype(make())::blocks_when_called == 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_a_handler_whose_context_dies_while_it_is_queued) {
  for (bool const timed : {false, true})
    with_each([timed](fixture& t, auto make) {
      BOOST_TEST_REQUIRE(t.mutex.try_lock());
      if (timed)
        t.mutex.async_lock_for(1h, asio::bind_executor(asio::make_strand(*t.dying), make()));
      else
        t.mutex.async_lock(asio::bind_executor(*t.dying, make()));
      t.dying.reset();
      BOOST_TEST(t.f.dropped());
    });
}

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_a_handler_whose_grant_dies_on_its_way) {
  for (int kind = 0; kind < 3; ++kind)
    with_each([kind](fixture& t, auto make) {
      fate next;
      auto const ex = t.dying->get_executor();
      auto const wait = [&](auto const& on) {
        t.mutex.async_lock(asio::bind_executor(on, make()));
      };
      if (kind == 0) wait(ex);
      if (kind == 1) wait(asio::make_strand(ex));
      if (kind == 2) wait(asio::make_strand(asio::any_io_executor(ex)));
      t.mutex.async_lock(observed_handler(next));
      t.dying.reset();
      BOOST_TEST(t.f.dropped());
      t.context.run();
      BOOST_TEST(next.granted());
    });
}

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_a_handler_that_its_executor_destroys) {
  for (bool const throws : {false, true})
    with_each([throws](fixture& t, auto make) {
      auto plan = throwing_executor::plan::nothing;
      BOOST_TEST_REQUIRE(t.mutex.try_lock());
      if (throws)
        t.mutex.async_lock(asio::bind_executor(throwing_executor(t.context, plan), make()));
      else
        t.mutex.async_lock(asio::bind_executor(dropping_executor(t.context), make()));
      plan = throwing_executor::plan::execute;
      t.mutex.unlock();
      BOOST_TEST(t.f.dropped());
      BOOST_TEST(!t.mutex.is_locked());
    });
}

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_a_handler_whose_initiation_throws) {
  using plan = throwing_executor::plan;
  for (plan const where : {plan::execute, plan::prefer})
    with_each([where](fixture& t, auto make) {
      auto fault = where;
      throwing_executor const ex(t.context, fault);
      if (where == plan::prefer) BOOST_TEST_REQUIRE(t.mutex.try_lock());
      BOOST_CHECK_THROW(t.mutex.async_lock(asio::bind_executor(ex, make())), std::runtime_error);
      BOOST_TEST(t.f.dropped());
    });
}

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_a_handler_whose_context_shuts_down_already) {
  with_each([](fixture& t, auto make) {
    BOOST_TEST_REQUIRE(t.mutex.try_lock());
    fate first;
    auto const initiates = [&t, make, ex = t.dying->get_executor()] {
      t.mutex.async_lock(asio::bind_executor(ex, make()));
      BOOST_TEST(t.f.dropped());
    };
    t.mutex.async_lock(asio::bind_executor(*t.dying, observed_handler(first, initiates)));
    t.dying.reset();
    BOOST_TEST(first.dropped());
  });
}

BOOST_AUTO_TEST_CASE(R12_memory_goes_before_the_handler_of_several_mutexes) {
  for (bool const drops : {false, true})
    with_each([drops](fixture& t, auto make) {
      async_mutex mutex(*t.dying);
      BOOST_TEST_REQUIRE(mutex.try_lock());
      async_lock_all(std::tie(mutex), make());
      if (drops) {
        t.dying.reset();
        BOOST_TEST(t.f.dropped());
      } else {
        mutex.unlock();
        decltype(make())::blocks_when_called = -1;
        t.dying->run();
        BOOST_TEST(t.f.granted());
        BOOST_TEST(decltype(make())::blocks_when_called == 0);
      }
    });
}

BOOST_AUTO_TEST_SUITE_END()
