// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Steps, what they wait for, what their operations write, and how they end.

#include "support/test.hpp"
#include "unit/enumerator/fixture.hpp"

#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_mutex.hpp>

#include <any>

namespace enumerator_test {

using namespace asio_sync::test;

// Completes with these arguments, by any of these signatures, on the handler's executor.
template <class... Signatures, class Token, class... Args>
auto post_with(Token&& token, Args... args) {
  return asio::async_initiate<Token, Signatures...>(
      [](auto handler, auto... values) {
        auto const ex = asio::get_associated_executor(handler);
        asio::post(ex, [handler = std::move(handler), ... values = std::move(values)]() mutable {
          std::move(handler)(std::move(values)...);
        });
      },
      token, std::move(args)...);
}

// What cannot be moved more than once.
struct heavy {
  explicit heavy(int n) : moves(n) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  heavy(heavy&& from) : moves(from.moves - 1) {
    if (moves < 0) throw std::runtime_error("too heavy");
  }
  heavy& operator=(heavy&&) = default;
  int moves;
};

// Completes inside the initiating function, with what is made of n.
template <class Signature, class Token>
auto complete_inside(Token&& token, int n) {
  return asio::async_initiate<Token, Signature>(
      [](auto handler, int made_of) { std::move(handler)(heavy(made_of)); }, token, n);
}

// What cannot be assigned to.
struct sealed {
  sealed() = default;
  sealed(sealed&&) = default;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  sealed& operator=(sealed&&) { throw std::runtime_error("sealed"); }
};

}  // namespace enumerator_test

BOOST_FIXTURE_TEST_SUITE(enumerator_test, enumerator_fixture)

BOOST_AUTO_TEST_CASE(
    R1_R2_enumerator_run_on_the_executor_and_never_inside_the_initiating_function) {
  bool here = false;
  auto const look = [&]() -> async_steps {
    here = context.get_executor().running_in_this_thread();
    ++steps;
    first(e.callback());
    co_yield 1;
    here = here && context.get_executor().running_in_this_thread();
    ++steps;
  };
  bool there = false;
  e.async_run(look(), asio::bind_executor(other, [&](std::exception_ptr) {
                there = other.get_executor().running_in_this_thread();
                ++result.count;
              }));
  BOOST_TEST(steps == 0);
  poll();
  BOOST_TEST(steps == 1);
  first.end();
  BOOST_TEST(steps == 1);
  context.restart();
  context.poll();
  BOOST_TEST((steps == 2 && here));
  BOOST_TEST(result.count == 0);  // it is for the other context
  poll();
  BOOST_TEST((result.count == 1 && there));
}

BOOST_AUTO_TEST_CASE(R2_without_an_executor_the_handler_runs_on_the_enumerators) {
  bool here = false;
  e.async_run(wait_for_both(0),
              [&](std::exception_ptr) { here = context.get_executor().running_in_this_thread(); });
  BOOST_TEST(!here);
  poll();
  BOOST_TEST(here);
  BOOST_TEST((e.get_executor() == async_enumerator::executor_type(context.get_executor())));
}

BOOST_AUTO_TEST_CASE(Steps_wait_for_as_many_completions_as_they_want_in_any_order) {
  for (bool const in_order : {true, false}) {
    steps = destroyed = 0;
    result = {};
    e.async_run(wait_for_both(), note());
    poll();
    BOOST_TEST(steps == 1);
    (in_order ? first : second).end();
    poll();
    BOOST_TEST((steps == 1 && destroyed == 0 && result.is_outstanding()));
    (in_order ? second : first).end();
    poll();
    BOOST_TEST((steps == 2 && destroyed == 1 && result.ended()));
  }
}

BOOST_AUTO_TEST_CASE(Steps_count_surplus_completions_for_the_next_of_them) {
  auto const both = [&]() -> async_steps {
    first(e.callback());
    second(e.callback());
    co_yield 1;
    ++steps;
    co_yield 0;  // waits for nothing, and takes nothing
    ++steps;
    co_yield 1;
    ++steps;
    first(e.callback());
    co_yield 1;
    ++steps;
  };
  e.async_run(both(), note());
  poll();
  first.end();
  second.end();
  BOOST_TEST(steps == 0);
  poll();
  BOOST_TEST(steps == 3);
  first.end();
  poll();
  BOOST_TEST((steps == 4 && result.ended()));
}

BOOST_AUTO_TEST_CASE(
    Steps_are_taken_one_at_a_time_by_operations_that_complete_inside_their_initiation) {
  first.ends_at_once = second.ends_at_once = true;
  int depth = 0;
  bool written_early = false;
  auto const nested = [&]() -> async_steps {
    error_code error = asio::error::eof;
    for (int i = 0; i < 3; ++i) {
      ++depth;
      first(e.callback(error));
      second(e.callback());
      written_early = written_early || (i == 0 && error != asio::error::eof);
      --depth;
      co_yield 2;
      BOOST_TEST((depth == 0 && !error));
      ++steps;
    }
  };
  e.async_run(nested(), note());
  poll();
  BOOST_TEST((steps == 3 && result.ended()));
  BOOST_TEST(!written_early);  // results change inside co_yield alone
}

BOOST_AUTO_TEST_CASE(Results_are_stored_by_their_places_and_moved) {
  auto const all = [&]() -> async_steps {
    error_code error = asio::error::eof;
    int n = 0;
    std::string text;
    first(e.callback(error, n, text));
    co_yield 1;
    BOOST_TEST((!error && n == 7 && text == "done"));

    first(e.callback(error));  // the rest is dropped
    co_yield 1;
    BOOST_TEST(error == asio::error::eof);

    text.clear();
    first(e.callback(std::ignore, std::ignore, text));
    co_yield 1;
    BOOST_TEST(text == "done");

    std::optional<std::unique_ptr<int>> pointer;  // another type, which can be assigned to
    post_with<void(std::unique_ptr<int>)>(e.callback(pointer), std::make_unique<int>(3));
    co_yield 1;
    BOOST_TEST((pointer && **pointer == 3));
    ++steps;
  };
  e.async_run(all(), note());
  poll();
  first.end();
  poll();
  first.end(asio::error::eof);
  poll();
  first.end();
  poll();
  BOOST_TEST((steps == 1 && result.ended()));
}

BOOST_AUTO_TEST_CASE(Results_come_from_operations_of_any_signature) {
  auto const all = [&]() -> async_steps {
    int n = 0;
    post_with<void()>(e.callback());
    post_with<void(int) noexcept>(e.callback(n), 1);
    co_yield 2;
    BOOST_TEST(n == 1);
    post_with<void(int)&>(e.callback(n), 2);
    co_yield 1;
    BOOST_TEST(n == 2);
    post_with<void(int) &&>(e.callback(n), 3);
    co_yield 1;
    BOOST_TEST(n == 3);
    post_with<void(int), void(std::string)>(e.callback(n), 4);
    co_yield 1;
    BOOST_TEST(n == 4);
    std::string text;
    post_with<void(char const*), void(std::string const&)>(e.callback(text), std::string("five"));
    co_yield 1;
    BOOST_TEST(text == "five");
    double exact = 0;
    post_with<void(int), void(double)>(e.callback(exact), 2.5);
    co_yield 1;
    BOOST_TEST(exact == 2.5);
    std::optional<std::string> view;
    post_with<void(int), void(std::string)>(e.callback(view), "six");
    co_yield 1;
    BOOST_TEST((view && *view == "six"));
    error_code none = asio::error::eof;
    post_with<void(), void(error_code, int)>(e.callback(none, n), error_code(), 7);
    co_yield 1;
    BOOST_TEST((!none && n == 7));
    post_with<void(), void(error_code, int)>(
        e.callback(none, n));  // what is not there is not written
    co_yield 1;
    BOOST_TEST(n == 7);
#ifndef __clang__  // version 14 cannot ask whether a std::tuple<std::any> of libstdc++ is copied
    std::tuple<std::any> anything;
    post_with<void(std::any)>(asio::as_tuple(e.callback(anything)), std::any(8));
    co_yield 1;
    BOOST_TEST(std::any_cast<int>(std::get<0>(anything)) == 8);
#endif
    asio::post(context, e.callback());
    co_yield 1;
    asio_sync::async_mutex mutex(context);
    asio_sync::async_mutex::lock_type lock;
    error_code error;
    mutex.async_lock(e.callback(error, lock));
    co_yield 1;
    BOOST_TEST((!error && lock.owns_lock()));
    ++steps;
  };
  e.async_run(all(), note());
  poll();
  BOOST_TEST((steps == 1 && result.ended()));
}

// As Beast declares some of its own.
template <class Token>
typename asio::async_result<std::decay_t<Token>, void(int)>::return_type post_as_beast(
    asio::io_context& io, Token&& token) {
  return asio::post(io, asio::append(std::forward<Token>(token), 42));
}

BOOST_AUTO_TEST_CASE(Results_come_from_operations_whose_type_is_that_of_their_token) {
  int answer = 0;
  auto const all = [&]() -> async_steps {
    post_as_beast(context, e.callback(answer));
    co_yield 1;
  };
  e.async_run(all(), note());
  poll();
  BOOST_TEST((answer == 42 && result.ended()));
}

BOOST_AUTO_TEST_CASE(Results_that_cannot_be_written_throw_out_of_co_yield) {
  auto const all = [&]() -> async_steps {
    sealed s;
    post_with<void(sealed)>(e.callback(s), sealed());
    try {
      co_yield 1;
    } catch (std::runtime_error const& error) {
      BOOST_TEST(error.what() == std::string("sealed"));
      ++steps;
    }
    heavy h(9);
    first(e.callback());
    complete_inside<void(heavy)>(e.callback(h), 0);
    try {
      co_yield 1;
    } catch (std::runtime_error const& error) {
      BOOST_TEST(error.what() == std::string("too heavy"));
      ++steps;
    }
    co_yield 1;  // it counts, and only once
    ++steps;
  };
  e.async_run(all(), note());
  poll();
  BOOST_TEST(steps == 2);
  first.end();
  poll();
  BOOST_TEST((steps == 3 && result.ended()));
}

BOOST_AUTO_TEST_CASE(Results_are_not_written_after_the_end_and_do_not_count_for_the_next_run) {
  error_code error = asio::error::eof;
  int n = 1;
  auto const leave = [&]() -> async_steps {
    first(e.callback(error, n));
    co_return;
  };
  e.async_run(leave(), note());
  poll();
  BOOST_TEST(result.ended());

  result = {};
  auto const next = [&]() -> async_steps {
    second(e.callback());
    co_yield 1;
    ++steps;
  };
  e.async_run(next(), note());
  poll();
  first.end();
  poll();
  BOOST_TEST((error == asio::error::eof && n == 1));
  BOOST_TEST((steps == 0 && result.is_outstanding()));
  second.end();
  poll();
  BOOST_TEST((steps == 1 && result.ended()));
}

BOOST_AUTO_TEST_CASE(Results_of_what_begins_while_no_run_is_on_are_not_written) {
  error_code error = asio::error::eof;
  first(e.callback(error));
  e.async_run(wait_for_both(0), note());
  BOOST_TEST(first.is_pending());
  first.end();
  poll();
  BOOST_TEST((error == asio::error::eof && steps == 2 && result.ended()));
}

// What counts is when the operation begins.
BOOST_AUTO_TEST_CASE(Results_of_a_token_that_is_older_than_the_run_are_written) {
  error_code error = asio::error::eof;
  auto const one = [&](auto token) -> async_steps {
    first(token);
    co_yield 1;
    ++steps;
  };
  e.async_run(one(e.callback(error)), note());
  poll();
  first.end();
  poll();
  BOOST_TEST((!error && steps == 1 && result.ended()));
}

BOOST_AUTO_TEST_CASE(R15_a_second_run_is_not_permitted) {
  e.async_run(wait_for_both(), note());
  int other_destroyed = 0;
  auto const never = [&](std::unique_ptr<local>) -> async_steps {
    ++steps;
    co_return;
  };
  run_result refused;
  e.async_run(never(std::make_unique<local>(other_destroyed)),
              [&](std::exception_ptr thrown) { refused(thrown); });
  BOOST_TEST(other_destroyed == 1);
  BOOST_TEST(refused.is_outstanding());  // never inside the initiating function
  poll();
  BOOST_TEST(refused.is(make_error_code(errc::operation_not_permitted)));
  BOOST_TEST((steps == 1 && result.is_outstanding()));
  first.end();
  second.end();
  poll();
  BOOST_TEST((steps == 2 && result.ended()));
}

BOOST_AUTO_TEST_CASE(R15_steps_that_have_gone_and_negative_numbers) {
  async_steps gone = wait_for_both(-1);
  async_steps const there = std::move(gone);
  e.async_run(std::move(gone), note());  // NOLINT(bugprone-use-after-move)
  poll();
  BOOST_TEST(result.is(make_error_code(errc::invalid_argument)));
  result = {};
  e.async_run(wait_for_both(-1), note());
  poll();
  BOOST_TEST(result.is(make_error_code(errc::invalid_argument)));
  BOOST_TEST((steps == 1 && destroyed == 1));
}

BOOST_AUTO_TEST_CASE(Steps_that_are_never_run_are_destroyed) {
  auto const steps_with = [](std::unique_ptr<local>) -> async_steps { co_return; };
  {
    async_steps const never = steps_with(std::make_unique<local>(destroyed));
    BOOST_TEST(destroyed == 0);
  }
  BOOST_TEST(destroyed == 1);
  {
    auto const deferred =
        e.async_run(steps_with(std::make_unique<local>(destroyed)), asio::deferred);
    static_cast<void>(deferred);
  }
  BOOST_TEST(destroyed == 2);
  async_steps assigned = steps_with(std::make_unique<local>(destroyed));
  assigned = steps_with(std::make_unique<local>(destroyed));
  BOOST_TEST(destroyed == 3);
}

BOOST_AUTO_TEST_CASE(Steps_are_destroyed_before_the_run_completes) {
  int at_completion = 0;
  auto const all = [&](std::unique_ptr<local>) -> async_steps {
    local const noted(destroyed);
    co_return;
  };
  e.async_run(all(std::make_unique<local>(destroyed)),
              [&](std::exception_ptr) { at_completion = destroyed; });
  poll();
  BOOST_TEST((destroyed == 2 && at_completion == 2));
}

BOOST_AUTO_TEST_CASE(Errors_thrown_by_steps_go_to_on_error) {
  auto const fail = [&](char const* what) -> async_steps {
    local const noted(destroyed);
    first(e.callback());
    co_yield 1;
    throw std::runtime_error(what);
  };
  auto const completes = [&](char const* what, std::string const& as) {
    result = {};
    destroyed = 0;
    e.async_run(fail(what), note());
    poll();
    BOOST_TEST(destroyed == 0);
    first.end();
    poll();
    BOOST_TEST((destroyed == 1 && result.count == 1));
    BOOST_TEST(result.text == as);
  };
  completes("unset", "unset");

  std::vector<std::string> seen;
  bool here = true;
  auto const judge = [&](bool fails) {
    return [&, fails](std::exception_ptr thrown) {
      here = here && destroyed == 1 && context.get_executor().running_in_this_thread();
      try {
        std::rethrow_exception(thrown);
      } catch (std::runtime_error const& error) {
        seen.emplace_back(error.what());
      }
      return fails;
    };
  };
  e.on_error(judge(true));
  completes("true", "true");
  e.on_error(judge(false));
  completes("false", "end");
  completes("again", "end");
  BOOST_TEST((seen == std::vector<std::string>{"true", "false", "again"}));
  BOOST_TEST(here);
  e.on_error([](std::exception_ptr) -> bool { throw std::logic_error("of the judge"); });
  completes("worse", "of the judge");
  e.on_error({});
  completes("unset", "unset");
}

BOOST_AUTO_TEST_CASE(Errors_of_operations_are_data_for_the_steps) {
  bool judged = false;
  e.on_error([&](std::exception_ptr) { return judged = true; });
  auto const all = [&]() -> async_steps {
    error_code error;
    first(e.callback(error));
    co_yield 1;
    BOOST_TEST(error == asio::error::eof);
    ++steps;
  };
  e.async_run(all(), note());
  poll();
  first.end(asio::error::eof);
  poll();
  BOOST_TEST((steps == 1 && result.ended() && !judged));
}

BOOST_AUTO_TEST_CASE(Steps_may_be_a_member_and_run_again_from_the_handler) {
  struct client {
    explicit client(async_enumerator& enumerator) : e(enumerator) {}
    async_steps work(std::string& log, int n) {
      asio::post(e.get_executor(), e.callback());
      co_yield 1;
      log += std::to_string(n);
    }
    async_enumerator& e;
  } c(e);
  std::string log;
  e.async_run(c.work(log, 1), [&](std::exception_ptr) {
    e.async_run(c.work(log, 2), [&](std::exception_ptr) { e.async_run(c.work(log, 3), note()); });
  });
  poll();
  BOOST_TEST((log == "123" && result.ended()));
}

BOOST_AUTO_TEST_CASE(R1_tokens_of_all_kinds) {
  first.ends_at_once = second.ends_at_once = true;
  std::future<void> future = e.async_run(wait_for_both(), asio::use_future);
  poll();
  future.get();
  auto deferred = e.async_run(wait_for_both(), asio::deferred);
  poll();
  BOOST_TEST(steps == 2);  // it is launched below
  std::move(deferred)(note());
  poll();
  BOOST_TEST((steps == 4 && result.ended()));

  bool ended = false;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        co_await e.async_run(wait_for_both(), asio::use_awaitable);
        co_await e.async_run(wait_for_both());
        BOOST_TEST(steps == 8);
        try {
          co_await e.async_run(wait_for_both(-1), asio::use_awaitable);
        } catch (boost::system::system_error const& error) {
          ended = error.code() == make_error_code(errc::invalid_argument);
        }
      },
      asio::detached);
  poll();
  BOOST_TEST(ended);
}

BOOST_AUTO_TEST_CASE(R1_reference_to_a_handler) {
  first.ends_at_once = second.ends_at_once = true;
  e.async_run(wait_for_both(), std::ref(result));
  poll();
  BOOST_TEST(result.ended());
}

BOOST_AUTO_TEST_CASE(Steps_run_on_executors_of_other_kinds) {
  using strand = asio::strand<asio::io_context::executor_type>;
  asio_sync::basic_async_enumerator<strand> on_strand(strand(context.get_executor()));
  static_assert(
      std::is_same_v<
          asio_sync::basic_async_enumerator<strand>::rebind_executor<asio::any_io_executor>::other,
          async_enumerator>);
  auto const all = [&](auto& enumerator) -> async_steps {
    asio::post(other, enumerator.callback());  // completes on the strand
    asio::steady_timer timer(context, 0s);
    timer.async_wait(enumerator.callback());
    co_yield 2;
    ++steps;
    if (enumerator.get_executor().running_in_this_thread()) ++steps;
  };
  on_strand.async_run(all(on_strand), note());
  for (int i = 0; i < 5; ++i) poll();
  BOOST_TEST((steps == 2 && result.ended()));
}

BOOST_AUTO_TEST_SUITE_END()
