// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the checker finds out about memory orders.

#include "policy.hpp"

#include <asio_sync/detail/core/wait_list.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <mutex>

namespace {

using order = std::memory_order;

bool is_race(const model::result& found) {
  return found.failed && found.message.find("data race") != std::string::npos;
}

bool is_sound(const model::result& found) { return found.complete && !found.failed; }

model::result explored(auto scenario) {
  return model::explore({.preemptions = 3, .quiet = true}, scenario);
}

// One thread writes and tells by an atomic, another looks and reads, and a third may interfere.
model::result passed_on(auto tell, auto look, auto interfere) {
  return explored([=] {
    model::atomic<int> told{0};
    model::plain<int> data;
    model::threads([&] { data = 1, tell(told); },
                   [&] {
                     if (look(told)) model::check(data == 1, "what was written is seen");
                   },
                   [&] { interfere(told); });
    model::check(data == 1, "the scenario sees it");
  });
}

model::result passed_on(order tell, order look) {
  return passed_on([=](auto& told) { told.store(1, tell); },
                   [=](auto& told) { return (told.load(look) & 1) != 0; }, [](auto&) {});
}

model::result passed_on_while(auto interfere) {
  return passed_on([](auto& told) { told.fetch_or(1, order::release); },
                   [](auto& told) { return (told.load(order::acquire) & 1) != 0; }, interfere);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checker_order)

BOOST_AUTO_TEST_CASE(orders_by_release_and_acquire) {
  BOOST_TEST(is_sound(passed_on(order::release, order::acquire)));
  BOOST_TEST(is_sound(passed_on(order::seq_cst, order::seq_cst)));
  BOOST_TEST(is_race(passed_on(order::relaxed, order::acquire)));
  BOOST_TEST(is_race(passed_on(order::release, order::relaxed)));
}

BOOST_AUTO_TEST_CASE(goes_on_with_a_release_by_changes_and_not_by_stores) {
  BOOST_TEST(is_sound(passed_on_while([](auto& told) { told.fetch_add(2, order::relaxed); })));
  BOOST_TEST(is_race(passed_on_while([](auto& told) { told.store(3, order::relaxed); })));
  BOOST_TEST(is_race(passed_on_while([](auto& told) { told.store(3, order::release); })));
}

BOOST_AUTO_TEST_CASE(tells_success_of_an_exchange_from_its_failure) {
  const auto tell = [](auto& told) { told.store(1, order::release); };
  const auto exchange = [&](order success, order failure, int expected) {
    return passed_on(
        tell,
        [=](auto& told) {
          int seen = expected;
          const bool done = told.compare_exchange_strong(seen, 2, success, failure);
          return done == (expected == 1) && seen == 1;
        },
        [](auto&) {});
  };
  BOOST_TEST(is_sound(exchange(order::acquire, order::relaxed, 1)));
  BOOST_TEST(is_race(exchange(order::relaxed, order::acquire, 1)));
  BOOST_TEST(is_sound(exchange(order::relaxed, order::acquire, 5)));
  BOOST_TEST(is_race(exchange(order::acquire, order::relaxed, 5)));
}

BOOST_AUTO_TEST_CASE(orders_by_locks_and_wake_ups) {
  BOOST_TEST(is_sound(explored([] {
    model::spin_lock lock;
    model::plain<int> count;
    const auto increment = [&] {
      std::lock_guard guard{lock};
      count = count + 1;
    };
    model::threads(increment, increment);
    model::threads(increment, increment);
    model::check(count == 4, "each increment counts");
  })));
  const auto woken = [](order how) {
    return explored([how] {
      model::atomic<int> word{0};
      model::plain<int> data;
      model::threads(
          [&] {
            data = 1;
            word.store(1, order::release);
            word.notify_one();
          },
          [&] {
            word.wait(0, how);
            model::check(data == 1, "what was written is seen");
          });
    });
  };
  BOOST_TEST(is_sound(woken(order::acquire)));
  BOOST_TEST(is_race(woken(order::relaxed)));
}

BOOST_AUTO_TEST_CASE(finds_a_read_that_a_write_may_overtake) {
  const auto both = [](auto first, auto second) {
    return explored([=] {
      model::plain<int> data;
      model::atomic<int> word{0};
      model::threads([&] { word.load(), first(data); }, [&] { word.load(), second(data); });
    });
  };
  const auto read = [](auto& data) { static_cast<void>(int(data)); };
  const auto write = [](auto& data) { data = 1; };
  BOOST_TEST(is_sound(both(read, read)));
  BOOST_TEST(is_race(both(read, write)));
  BOOST_TEST(is_race(both(write, write)));
}

BOOST_AUTO_TEST_CASE(finds_a_guarded_member_without_the_lock) {
  struct entry {
    entry* next = nullptr;
    entry* prev = nullptr;
  };
  struct state {
    model::policy::lock_type lock;
    model::policy::guarded<asio_sync::detail::wait_list<entry>> queue;
    model::policy::guarded<int> size{0};
    model::policy::guarded<entry*> last{nullptr};

    void join(entry& e) {
      std::lock_guard guard{lock};
      queue.push_back(e);
      ++size;
      last = &e;
    }
  };
  const auto beside = [](auto look) {
    return explored([=] {
      state s;
      entry e;
      model::threads([&] { s.join(e); }, [&] { look(s); });
      model::check(s.size == 1 && &s.queue.front() == &e && !s.last->next, "it has joined");
    });
  };
  const auto not_yet = [&](auto look) {
    return beside([=](state& s) {
      look(s);
      std::lock_guard guard{s.lock};
    });
  };
  const auto no_more = [&](auto look) {
    return beside([=](state& s) {
      { std::lock_guard guard{s.lock}; }
      look(s);
    });
  };
  BOOST_TEST(is_sound(beside([](state& s) {
    std::lock_guard guard{s.lock};
    static_cast<void>(s.queue.empty() && s.size == 0 && !s.last);
  })));
  const auto is_empty = [](state& s) { static_cast<void>(s.queue.empty()); };
  const auto change_size = [](state& s) { s.size -= 0; };
  const auto see_last = [](state& s) { static_cast<void>(!s.last); };
  BOOST_TEST(is_race(not_yet(is_empty)));
  BOOST_TEST(is_race(no_more(is_empty)));
  BOOST_TEST(is_race(not_yet(change_size)));
  BOOST_TEST(is_race(no_more(change_size)));
  BOOST_TEST(is_race(not_yet(see_last)));
  BOOST_TEST(is_race(no_more(see_last)));
}

BOOST_AUTO_TEST_CASE(finds_a_plain_read_after_free) {
  const auto found = explored([] {
    auto* gone = model::make<model::plain<int>>();
    model::destroy(gone);
    static_cast<void>(int(*gone));
  });
  BOOST_TEST(found.message.find("use after free") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
