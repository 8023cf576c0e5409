// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/queued_waits.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <atomic>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;

// What a mutex that is free cannot do without: two read-modify-writes.
workload compare_exchange_pair() {
  auto const word = std::make_shared<std::atomic<std::uint64_t>>(1);
  return {[word](std::size_t n) {
    for (; n != 0; --n) {
      std::uint64_t expected = 1;
      word->compare_exchange_strong(expected, 0, std::memory_order_acquire,
                                    std::memory_order_relaxed);
      expected = 0;
      word->compare_exchange_strong(expected, 1, std::memory_order_release,
                                    std::memory_order_relaxed);
    }
  }};
}

// A chain of posts, or of raw executes.
template <bool Raw>
struct post_link {
  void operator()() {
    if (--*left != 0) start(*context, *this);
  }

  static void start(asio::io_context& context, post_link link) {
    if constexpr (Raw)
      asio::require(context.get_executor(), asio::execution::blocking.never).execute(link);
    else
      asio::post(context, link);
  }

  asio::io_context* context;
  std::size_t* left;
};

template <bool Raw>
workload post_chain(reactor r) {
  auto const context = std::make_shared<bench_context>(r);
  return {[context](std::size_t n) {
    post_link<Raw>::start(context->io(), {&context->io(), &n});
    context->run();
  }};
}

// Coroutines that go through the executor.
template <class Token>
asio::awaitable<void> post_repeatedly(std::size_t n) {
  for (; n != 0; --n) co_await asio::post(Token());
}

// The section of W4 with a post in the place of the lock. Not a loop of single posts: a coroutine
// that suspends at two places in turn takes longer.
template <class Token>
asio::awaitable<void> post_twice_repeatedly(std::size_t n) {
  for (; n != 0; --n) {
    co_await asio::post(Token());
    co_await asio::post(Token());
  }
}

using posting_coroutine = asio::awaitable<void> (*)(std::size_t);

void spawn(bench_context& context, posting_coroutine posting, std::size_t coroutines,
           std::size_t n) {
  for (std::size_t i = 0; i != coroutines; ++i)
    co_spawn(context.io(), posting(n / coroutines), asio::detached);
}

workload posts(reactor r, posting_coroutine posting, std::size_t coroutines) {
  auto const context = std::make_shared<bench_context>(r);
  return {[=](std::size_t n) {
    spawn(*context, posting, coroutines, n);
    context->run();
  }};
}

workload posts_of_two_threads(reactor r, posting_coroutine posting, std::size_t coroutines) {
  auto const context = std::make_shared<bench_context>(r);
  return {[=](std::size_t n) {
    spawn(*context, posting, coroutines, n);
    context->run_in_two_threads();
  }};
}

// W5b: from one context to the other and back; a unit is a trip where it is and a hop.
struct ping_pong_link {
  void operator()() {
    if ((*left)-- == 0) {
      here->stop();
      there->stop();
      return;
    }
    asio::post(*here, [link = *this] {
      asio::post(*link.there, ping_pong_link{link.there, link.here, link.left});
    });
  }

  asio::io_context* here;
  asio::io_context* there;
  std::size_t* left;
};

workload ping_pong(reactor r) {
  auto const one = std::make_shared<bench_context>(r);
  auto const two = std::make_shared<bench_context>(r);
  return {[=](std::size_t n) {
    auto const work = asio::make_work_guard(one->io());
    auto const work_of_two = asio::make_work_guard(two->io());
    asio::post(one->io(), ping_pong_link{&one->io(), &two->io(), &n});
    std::thread thread([two] { two->run(); });
    one->run();
    thread.join();
  }};
}

// W6: as many posts.
struct posted_handler {
  void operator()() { *completed += bytes; }

  void* unused;
  std::size_t* completed;
  std::size_t bytes = 1;
};

workload post_all(reactor r) {
  auto const context = std::make_shared<bench_context>(r);
  return {[context](std::size_t n) {
    std::size_t completed = 0;
    for (std::size_t i = 0; i != n; ++i)
      asio::post(context->io(), posted_handler{nullptr, &completed});
    context->run();
  }};
}

// W11: the same signals, whose slots post what clears them. That takes two walks over memory of
// the same kind: what the slots hold, and what is posted.
queued_waits slots_that_post(departure order) {
  struct completion {
    void operator()() { slot.clear(); }
    asio::cancellation_slot slot;
  };
  struct function {
    void operator()(asio::cancellation_type_t) { asio::post(*context, completion{slot}); }
    asio::io_context* context;
    asio::cancellation_slot slot;
  };
  struct state {
    bench_context context{reactor::absent};
    bench::signals signals;
  };
  auto const s = std::make_shared<state>();
  return {[=](std::size_t n) { s->signals.reserve(n, order); },
          [s](std::size_t) {
            for (auto& signal : s->signals.all)
              signal.slot().assign(function{&s->context.io(), signal.slot()});
          },
          [s] {
            s->signals.emit();
            s->context.run();
          }};
}

// W3: what is there already, but in a coroutine.
asio::awaitable<bool> ready() { co_return true; }

asio::awaitable<void> await_ready_ones(std::size_t n) {
  for (; n != 0; --n) co_await ready();
}

workload ready_awaitables() {
  auto const context = std::make_shared<bench_context>(reactor::absent);
  return {[context](std::size_t n) {
    co_spawn(context->io(), await_ready_ones(n), asio::detached);
    context->run();
  }};
}

}  // namespace

void add_limit_workloads(catalogue& all) {
  all["W1/compare-exchange pair"] = {4096, compare_exchange_pair};
  all["W3/ready awaitable"] = {4096, ready_awaitables};
  for (reactor const r : reactors) {
    all["W2/post" + r] = {4096, [=] { return post_chain<false>(r); }};
    all["W4/execute" + r] = {4096, [=] { return post_chain<true>(r); }};
    for_plain_tokens([&](std::string const& name, auto token) {
      posting_coroutine const once = post_repeatedly<typename decltype(token)::type>;
      posting_coroutine const twice = post_twice_repeatedly<typename decltype(token)::type>;
      all["W3/" + name + "/post" + r] = {4096, [=] { return posts(r, once, 1); }};
      all["W4/" + name + "/two serial posts" + r] = {4096, [=] { return posts(r, twice, 1); }};
      for (std::size_t const k : competitors) {
        std::string const path = "W4/" + name + "/" + std::to_string(k);
        all[path + "/post" + r] = {section_count(k), [=] { return posts(r, once, k); }};
        all[path + "/two posts" + r] = {section_count(k), [=] { return posts(r, twice, k); }};
      }
      for (std::size_t const k : {2, 64})
        all["W5/" + name + "/" + std::to_string(k) + "/no lock" + r] = {
            threaded_sections, [=] { return posts_of_two_threads(r, once, k); }, true};
    });
    all["W5b/ping-pong" + r] = {threaded_sections, [=] { return ping_pong(r); }, true};
    all["W6/1000/post" + r] = {1000, [=] { return post_all(r); }};
  }
  for (std::size_t const n : scale) {
    std::string const size = "/" + std::to_string(n);
    all["W6" + size + "/post"] = {n, [] { return post_all(reactor::absent); }};
    for (departure const order : departures)
      all["W11/" + name_of(order) + size + "/slots that post"] = {
          n, [=] { return leaving(slots_that_post(order)); }};
  }
}

}  // namespace asio_sync::bench
