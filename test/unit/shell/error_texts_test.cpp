// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What synchronous functions throw says which function it was, and what was wrong.

#include "support/blocked_thread.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

#include <asio_sync.hpp>

#include <streambuf>

using namespace asio_sync::test;
using clock_type = std::chrono::steady_clock;

namespace error_texts_test {

struct thrown_error {
  error_code code;
  std::string text;
};

template <class Function>
thrown_error thrown_by(Function&& f) {
  try {
    f();
  } catch (system_error const& e) {
    return {e.code(), e.what()};
  }
  return {};
}

// The text begins with this, and goes on with what the code says.
void says(thrown_error const& error, error_code code, std::string const& text) {
  BOOST_TEST_CONTEXT(text) {
    BOOST_TEST(error.code == code);
    BOOST_TEST(error.text.starts_with("asio_sync::" + text + ": "), error.text);
  }
}

template <class Function>
void throws(error_code code, std::string const& text, Function&& f) {
  says(thrown_by(f), code, text);
}

// A blocking function, and a call of it that has to wait.
struct blocking {
  std::string function;
  std::function<void()> call;
};
using blocking_functions = std::vector<blocking>;

struct fixture {
  // Calls all of them on the thread that runs the context.
  void would_deadlock(blocking_functions const& functions) {
    asio::post(context, [&] {
      for (auto const& [function, call] : functions)
        throws(deadlock, function + ": would block a thread that runs its own context", call);
    });
    context.restart();
    BOOST_TEST(context.run() == 1u);
  }

  // In the end the primitive is closed.
  template <class Primitive>
  void are_refused(Primitive& primitive, blocking_functions const& functions) {
    would_deadlock(functions);
    for (auto const& [function, call] : functions) {
      thrown_error seen;
      blocked_thread thread(primitive, [&, &f = call] { seen = thrown_by(f); });
      BOOST_TEST(primitive.cancel() == 1u);
      thread.join();
      says(seen, aborted, function + ": cancelled, or the primitive was destroyed");
    }
    primitive.close();
    for (auto const& [function, call] : functions) throws(closed, function + ": closed", call);
  }

  // Of one that is destroyed while a thread waits.
  template <class Primitive>
  void is_destroyed(std::unique_ptr<Primitive> primitive, std::string const& function,
                    void (*call)(Primitive&)) {
    thrown_error seen;
    blocked_thread thread(*primitive,
                          [&, &p = *primitive] { seen = thrown_by([&] { call(p); }); });
    primitive.reset();
    thread.join();
    says(seen, aborted, function + ": cancelled, or the primitive was destroyed");
  }

  template <class Guard, class Mutex>
  blocking_functions functions_of_guard(Mutex& m, std::string const& name) const {
    auto const until = clock_type::now() + 1h;
    auto const constructor = name + name.substr(name.rfind("::"));
    auto const unlocked = [&m] { return Guard(m, std::defer_lock); };
    return {
        {constructor, [&m] { Guard const g(m); }},
        {constructor, [&m] { Guard const g(m, 1h); }},
        {constructor, [&m, until] { Guard const g(m, until); }},
        {name + "::lock", [=] { unlocked().lock(); }},
        {name + "::try_lock_for", [=] { static_cast<void>(unlocked().try_lock_for(1h)); }},
        {name + "::try_lock_until", [=] { static_cast<void>(unlocked().try_lock_until(until)); }}};
  }

  // What a guard throws for what has been done to it before.
  template <class Guard, class Mutex>
  static void is_misused(Mutex& m, std::string const& name) {
    auto const constructor = name + name.substr(name.rfind("::"));
    throws(not_permitted, constructor + ": no member has locked the mutex",
           [&] { Guard const g(m, std::adopt_lock); });
    auto const each = [&](error_code code, std::string const& reason, Guard& g) {
      throws(code, name + "::lock: " + reason, [&] { g.lock(); });
      throws(code, name + "::try_lock: " + reason, [&] { static_cast<void>(g.try_lock()); });
      throws(code, name + "::try_lock_for: " + reason,
             [&] { static_cast<void>(g.try_lock_for(1h)); });
      throws(code, name + "::try_lock_until: " + reason,
             [&] { static_cast<void>(g.try_lock_until(clock_type::now() + 1h)); });
    };
    Guard g;
    throws(not_permitted, name + "::unlock: not locked", [&] { g.unlock(); });
    each(not_permitted, "no mutex, or it was destroyed", g);
    g = Guard(m, std::try_to_lock);
    each(deadlock, "already locked", g);
    g.unlock();
    throws(not_permitted, name + "::unlock: not locked", [&] { g.unlock(); });
  }

  asio::io_context context;
  clock_type::time_point const later = clock_type::now() + 1h;
};

}  // namespace error_texts_test

BOOST_FIXTURE_TEST_SUITE(error_texts_test, fixture)

BOOST_AUTO_TEST_CASE(mutex) {
  async_mutex m(context);
  throws(not_permitted, "async_mutex::unlock: not locked by a member", [&] { m.unlock(); });
  async_mutex::lock_type const held(m);
  throws(not_permitted, "async_mutex::unlock: not locked by a member", [&] { m.unlock(); });
  are_refused(
      m, {{"async_mutex::lock", [&] { m.lock(); }},
          {"async_mutex::lock", [&] { std::unique_lock const l(m); }},
          {"async_mutex::try_lock_for", [&] { static_cast<void>(m.try_lock_for(1h)); }},
          {"async_mutex::try_lock_until", [&] { static_cast<void>(m.try_lock_until(later)); }}});
  is_destroyed<async_mutex>(
      [&] {
        auto locked = std::make_unique<async_mutex>(context);
        locked->lock();
        return locked;
      }(),
      "async_mutex::lock", [](async_mutex& of) { of.lock(); });
}

BOOST_AUTO_TEST_CASE(mutex_over_an_executor_has_the_name_of_the_alias) {
  basic_async_mutex<asio::io_context::executor_type> m(context);
  throws(not_permitted, "async_mutex::unlock: not locked by a member", [&] { m.unlock(); });
  m.close();
  throws(closed, "async_mutex::lock: closed", [&] { m.lock(); });
}

BOOST_AUTO_TEST_CASE(guard_of_a_mutex) {
  async_mutex m(context);
  is_misused<async_mutex::lock_type>(m, "async_mutex::lock_type");
  async_mutex::lock_type const held(m);
  are_refused(m, functions_of_guard<async_mutex::lock_type>(m, "async_mutex::lock_type"));
}

BOOST_AUTO_TEST_CASE(guard_of_a_mutex_that_has_gone) {
  async_mutex::lock_type g;
  {
    async_mutex m(context);
    g = async_mutex::lock_type(m);
  }
  throws(not_permitted, "async_mutex::lock_type::lock: no mutex, or it was destroyed",
         [&] { g.lock(); });
}

BOOST_AUTO_TEST_CASE(shared_mutex) {
  async_shared_mutex m(context);
  throws(not_permitted, "async_shared_mutex::unlock: not locked by a member", [&] { m.unlock(); });
  throws(not_permitted, "async_shared_mutex::unlock_shared: not locked by a member",
         [&] { m.unlock_shared(); });
  async_shared_mutex::lock_type const held(m);
  are_refused(
      m,
      {{"async_shared_mutex::lock", [&] { m.lock(); }},
       {"async_shared_mutex::try_lock_for", [&] { static_cast<void>(m.try_lock_for(1h)); }},
       {"async_shared_mutex::try_lock_until", [&] { static_cast<void>(m.try_lock_until(later)); }},
       {"async_shared_mutex::lock_shared", [&] { m.lock_shared(); }},
       {"async_shared_mutex::try_lock_shared_for",
        [&] { static_cast<void>(m.try_lock_shared_for(1h)); }},
       {"async_shared_mutex::try_lock_shared_until",
        [&] { static_cast<void>(m.try_lock_shared_until(later)); }}});
}

BOOST_AUTO_TEST_CASE(guards_of_a_shared_mutex) {
  using writer = async_shared_mutex::lock_type;
  using reader = async_shared_mutex::shared_lock_type;
  async_shared_mutex m(context);
  is_misused<writer>(m, "async_shared_mutex::lock_type");
  is_misused<reader>(m, "async_shared_mutex::shared_lock_type");
  writer const held(m);
  blocking_functions all = functions_of_guard<writer>(m, "async_shared_mutex::lock_type");
  for (auto& f : functions_of_guard<reader>(m, "async_shared_mutex::shared_lock_type"))
    all.push_back(std::move(f));
  are_refused(m, all);
}

BOOST_AUTO_TEST_CASE(semaphore) {
  std::string const out_of_range = "async_semaphore::async_semaphore: permits out of range";
  throws(invalid, out_of_range, [&] { async_semaphore const s(context, -1); });
  throws(invalid, out_of_range, [&] { async_semaphore const s(context, 2, 1); });
  async_semaphore s(context, 0, 2);
  std::string const to_try = "async_semaphore::try_acquire: n < 1 or n > max()";
  throws(invalid, to_try, [&] { static_cast<void>(s.try_acquire(0)); });
  throws(invalid, to_try, [&] { static_cast<void>(s.try_acquire(3)); });
  throws(invalid, "async_semaphore::release: n < 0", [&] { s.release(-1); });
  throws(too_large, "async_semaphore::release: more than max() free", [&] { s.release(3); });
  throws(too_large, "async_semaphore::release: too many permits", [&] {
    async_semaphore many(context, 0);
    semaphore_permit sum;
    for (int i = 0; i != 1000; ++i) {
      many.release(many.max());
      sum.merge(many.try_acquire(many.max()));
    }
  });
  std::string const reason = ": n < 0 or n > max()";
  throws(invalid, "async_semaphore::acquire" + reason, [&] { static_cast<void>(s.acquire(-1)); });
  throws(invalid, "async_semaphore::try_acquire_for" + reason,
         [&] { static_cast<void>(s.try_acquire_for(3, 1h)); });
  throws(invalid, "async_semaphore::try_acquire_until" + reason,
         [&] { static_cast<void>(s.try_acquire_until(3, later)); });
  are_refused(
      s, {{"async_semaphore::acquire", [&] { static_cast<void>(s.acquire()); }},
          {"async_semaphore::try_acquire_for", [&] { static_cast<void>(s.try_acquire_for(1h)); }},
          {"async_semaphore::try_acquire_until",
           [&] { static_cast<void>(s.try_acquire_until(later)); }}});
}

BOOST_AUTO_TEST_CASE(permit) {
  async_semaphore s(context, 2), other(context, 1);
  auto p = s.acquire(2), q = other.acquire();
  std::string const to_split = "semaphore_permit::split: n < 0 or n > count()";
  throws(invalid, to_split, [&] { static_cast<void>(p.split(3)); });
  throws(invalid, to_split, [&] { static_cast<void>(p.split(-1)); });
  throws(invalid, "semaphore_permit::merge: permits of different semaphores",
         [&] { p.merge(std::move(q)); });
}

BOOST_AUTO_TEST_CASE(manual_reset_event) {
  async_manual_reset_event e(context);
  are_refused(e, {{"async_manual_reset_event::wait", [&] { e.wait(); }},
                  {"async_manual_reset_event::wait_for", [&] { e.wait_for(1h); }},
                  {"async_manual_reset_event::wait_until", [&] { e.wait_until(later); }}});
}

BOOST_AUTO_TEST_CASE(auto_reset_event) {
  async_auto_reset_event e(context);
  are_refused(e, {{"async_auto_reset_event::wait", [&] { e.wait(); }},
                  {"async_auto_reset_event::wait_for", [&] { e.wait_for(1h); }},
                  {"async_auto_reset_event::wait_until", [&] { e.wait_until(later); }}});
  is_destroyed(
      std::make_unique<async_auto_reset_event>(context), "async_auto_reset_event::wait",
      +[](async_auto_reset_event& of) { of.wait(); });
}

BOOST_AUTO_TEST_CASE(latch) {
  throws(invalid, "async_latch::async_latch: n < 0", [&] { async_latch const l(context, -1); });
  async_latch l(context, 10);
  std::string const to_count = "async_latch::count_down: n < 0 or more than is left";
  throws(invalid, to_count, [&] { l.count_down(-1); });
  throws(invalid, to_count, [&] { l.count_down(11); });
  are_refused(l,
              {{"async_latch::wait", [&] { l.wait(); }},
               {"async_latch::wait_for", [&] { l.wait_for(1h); }},
               {"async_latch::wait_until", [&] { l.wait_until(later); }},
               {"async_latch::arrive_and_wait", [&] { l.arrive_and_wait(); }},
               {"async_latch::arrive_and_wait_for", [&] { l.arrive_and_wait_for(1h); }},
               {"async_latch::arrive_and_wait_until", [&] { l.arrive_and_wait_until(later); }}});
  async_latch open(context, 0);
  std::string const reason = ": nothing is left to count down";
  throws(invalid, "async_latch::arrive_and_wait" + reason, [&] { open.arrive_and_wait(); });
  throws(invalid, "async_latch::arrive_and_wait_for" + reason,
         [&] { open.arrive_and_wait_for(1h); });
  throws(invalid, "async_latch::arrive_and_wait_until" + reason,
         [&] { open.arrive_and_wait_until(later); });
}

BOOST_AUTO_TEST_CASE(barrier) {
  throws(invalid, "async_barrier::async_barrier: n < 1",
         [&] { async_barrier const b(context, 0); });
  auto const functions = [this](async_barrier& b) -> blocking_functions {
    return {{"async_barrier::arrive_and_wait", [&] { b.arrive_and_wait(); }},
            {"async_barrier::arrive_and_wait_for",
             [&] { static_cast<void>(b.arrive_and_wait_for(1h)); }},
            {"async_barrier::arrive_and_wait_until",
             [&] { static_cast<void>(b.arrive_and_wait_until(later)); }}};
  };
  async_barrier b(context, 2);
  are_refused(b, functions(b));

  async_barrier dropped(context, 1);
  dropped.arrive_and_drop();
  throws(invalid, "async_barrier::arrive_and_drop: all have dropped already",
         [&] { dropped.arrive_and_drop(); });
  for (auto const& [function, call] : functions(dropped))
    throws(invalid, function + ": all participants have dropped", call);

  async_barrier breaks(context, 1, [] { throw std::runtime_error("the completion function"); });
  for (auto const& [function, call] : functions(breaks))
    throws(error::broken_barrier,
           function + ": another participant has gone, or the completion function has thrown",
           call);
}

BOOST_AUTO_TEST_CASE(condition) {
  async_mutex m(context), other(context);
  async_condition c(context);
  auto const never = [] { return false; };
  auto const functions = [&](auto make_lock) -> blocking_functions {
    auto const with = [make_lock](auto call) {
      return [make_lock, call] {
        auto l = make_lock();
        call(l);
      };
    };
    return {
        {"async_condition::wait", with([&](auto& l) { c.wait(l); })},
        {"async_condition::wait", with([&](auto& l) { c.wait(l, never); })},
        {"async_condition::wait_for", with([&](auto& l) { c.wait_for(l, 1h); })},
        {"async_condition::wait_for", with([&](auto& l) { c.wait_for(l, 1h, never); })},
        {"async_condition::wait_until", with([&](auto& l) { c.wait_until(l, later); })},
        {"async_condition::wait_until", with([&](auto& l) { c.wait_until(l, later, never); })}};
  };
  using guard = async_mutex::lock_type;
  for (auto const& [function, call] : functions([&] { return guard(m, std::defer_lock); }))
    throws(not_permitted, function + ": the lock does not own its mutex", call);
  for (auto const& [function, call] :
       functions([&] { return std::unique_lock(m, std::defer_lock); }))
    throws(not_permitted, function + ": the lock does not own its mutex", call);

  blocked_thread waits(c, [&] {
    guard l(other);
    c.wait(l);
  });
  for (auto const& [function, call] : functions([&] { return guard(m); }))
    throws(invalid, function + ": other waits are over another mutex", call);
  c.notify_one();
  waits.join();

  are_refused(c, functions([&] { return guard(m); }));
}

BOOST_AUTO_TEST_CASE(group) {
  async_group g(context);
  throws(invalid, "async_group::add: n < 0", [&] { g.add(-1); });
  std::string const to_end = "async_group::done: n < 0 or more than was added";
  throws(invalid, to_end, [&] { g.done(-1); });
  throws(invalid, to_end, [&] { g.done(); });
  g.add(PTRDIFF_MAX);
  throws(too_large, "async_group::add: too much is counted", [&] { g.add(); });
  throws(too_large, "async_group::track: too much is counted",
         [&] { asio::post(context, g.track(asio::detached)); });
}

BOOST_AUTO_TEST_CASE(keyed_mutex) {
  async_keyed_mutex<int>::keyed_lock l;
  throws(not_permitted, "async_keyed_mutex::keyed_lock::unlock: empty", [&] { l.unlock(); });
  throws(not_permitted, "async_keyed_mutex::keyed_lock::key: empty",
         [&] { static_cast<void>(l.key()); });
}

BOOST_AUTO_TEST_CASE(monitor) {
  async_monitor<std::string>::entry e;
  throws(not_permitted, "async_monitor::entry::leave: empty", [&] { e.leave(); });
  throws(not_permitted, "async_monitor::entry::operator->: empty",
         [&] { static_cast<void>(e->size()); });
  throws(not_permitted, "async_monitor::entry::operator*: empty", [&] { static_cast<void>(*e); });
}

BOOST_AUTO_TEST_CASE(steps) {
  async_enumerator e(context);
  auto const negative = []() -> async_steps { co_yield -1; };
  std::exception_ptr thrown;
  e.async_run(negative(), [&](std::exception_ptr error) { thrown = error; });
  context.run();
  BOOST_REQUIRE(thrown);
  throws(invalid, "async_steps::co_yield: n < 0", [&] { std::rethrow_exception(thrown); });
}

BOOST_AUTO_TEST_CASE(document_on_the_text) {
  struct redirected {
    std::ostringstream text;
    std::streambuf* const before = std::cerr.rdbuf(text.rdbuf());
    ~redirected() { std::cerr.rdbuf(before); }
  } const said;
  async_mutex mutex(context);
  try {
    mutex.unlock();
  } catch (system_error const& error) {
    std::cerr << error.what() << '\n';
  }
  BOOST_TEST(
      said.text.str().starts_with("asio_sync::async_mutex::unlock: not locked by a member: "));
}

// Without memory for the text there is no exception that carries the code, either: std::bad_alloc.
template <class Function>
struct without_memory {
  void act() {
    try {
      Function()(*this);
    } catch (system_error const& e) {
      code = e.code();
    }
  }

  void check(bool thrown) {
    BOOST_TEST(thrown == !code);
    BOOST_TEST(!guard.owns_lock());
    mutex.lock();
    mutex.unlock();
  }

  asio::io_context context;
  async_mutex mutex{context};
  async_mutex::lock_type guard;
  async_semaphore semaphore{context, 1};
  error_code code;
};

struct unlocks_the_mutex {
  void operator()(auto& of) const { of.mutex.unlock(); }
};
struct unlocks_the_guard {
  void operator()(auto& of) const { of.guard.unlock(); }
};
struct locks_the_guard {
  void operator()(auto& of) const { of.guard.lock(); }
};
struct acquires_too_few {
  void operator()(auto& of) const { static_cast<void>(of.semaphore.acquire(-1)); }
};

BOOST_AUTO_TEST_CASE(without_memory_it_is_bad_alloc) {
  BOOST_TEST(fail_each_allocation<without_memory<unlocks_the_mutex>>() > 0u);
  BOOST_TEST(fail_each_allocation<without_memory<unlocks_the_guard>>() > 0u);
  BOOST_TEST(fail_each_allocation<without_memory<locks_the_guard>>() > 0u);
  BOOST_TEST(fail_each_allocation<without_memory<acquires_too_few>>() > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
