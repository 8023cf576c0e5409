// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_RULES_COMMON_HPP
#define ASIO_SYNC_TEST_RULES_COMMON_HPP

// The rules that hold for every primitive, as cases over a subject. Whoever includes these headers
// has defined ASIO_SYNC_RULES_SUITE, the name of the suite, and in the namespace of that name
//
//     struct subject {
//       static constexpr bool carries = ...;         // whether its completions carry anything
//       static constexpr bool takes = ...;           // whether a granted wait takes what serve()
//                                                    // gave, for good: the next one queues until
//                                                    // somebody serves again; false if left out
//       static constexpr bool has_entries = ...;     // whether what is held takes a block of the
//                                                    // pool; false if left out
//       static constexpr bool shares = ...;          // whether what they carry keeps nobody out,
//                                                    // and is let go as a `grant` is made of it;
//                                                    // false if left out
//       static constexpr bool withdraws = ...;       // whether a cancellation that comes after
//       the
//                                                    // grant refuses a wait that carries and
//                                                    takes
//                                                    // nothing; false if left out
//       static constexpr bool is_remote = ...;       // whether a server grants its waits: a wait
//                                                    // has a claim besides its block, a thread
//                                                    // waits for what is free, and a grant on its
//                                                    // way survives its primitive; false if left
//                                                    // out
//       template <class Executor> using over = ...;  // made of an executor or a context
//       using primitive_type = over<asio::any_io_executor>;
//       using grant = ...;                           // what its completions carry, or what stands
//                                                    // for it: grant(true) is a granted one
//       static bool occupy(p);                       // by a member: the next wait has to queue
//       static void serve(p);                        // gives that to the oldest wait, to all of
//                                                    // them, or back; if waits take it: to all
//                                                    // of them and back
//       static void serve_one(p);                    // if waits take it: to the oldest alone
//       static grant hold(p);                        // the same as occupy(), held by a grant
//       static auto wait(p, token...);               // the initiating functions
//       static auto wait_for(p, duration, token...);
//       static auto wait_until(p, time_point, token...);
//       static grant block(p);                       // the blocking forms
//       static grant block_for(p, duration);
//       static bool idle(p);                         // as it was made: nothing is lost, and
//                                                    // nobody waits
//     };
//
// What not every primitive has is in headers of its own: `carried.hpp` is for those whose
// completions carry something that can be let go, `one_by_one.hpp` for those that serve one wait
// after the other as it is let go, `blocking.hpp` for those with blocking forms.

#include "support/blocked_thread.hpp"
#include "support/coroutine.hpp"
#include "support/executors.hpp"
#include "support/memory.hpp"
#include "support/test.hpp"

namespace ASIO_SYNC_RULES_SUITE {

using namespace asio_sync::test;
using primitive_type = subject::primitive_type;
using grant = subject::grant;

// Whether granted waits take; whether what their completions carry keeps others out until it is
// let go; and whether, one way or the other, the next wait has to queue.
template <class Subject>
concept taken_by_waits = Subject::takes;
template <class Subject>
concept shared_by_waits = Subject::shares;
constexpr bool takes = taken_by_waits<subject>;
template <class Subject>
concept granted_by_a_server = Subject::is_remote;
constexpr bool is_remote = granted_by_a_server<subject>;
template <class Subject>
concept held_in_entries = Subject::has_entries;
constexpr bool owns = subject::carries && !takes && !shared_by_waits<subject>;
constexpr bool keeps_out = owns || takes;
template <class Subject>
concept withdrawn_all_the_same = Subject::withdraws;
constexpr bool withdraws = subject::carries || takes || withdrawn_all_the_same<subject>;

// What stands behind the error in a completion: a grant, or nothing.
template <class... Grant>
concept carried = sizeof...(Grant) == std::size_t(subject::carries) &&
                  (std::convertible_to<Grant, grant> && ...);

// Whether a completion says that its wait was granted, and whether a refused one carries
// something.
template <class... Grant>
  requires carried<Grant...>
bool is_granted(error_code e, Grant const&... g) { return !e && (static_cast<bool>(g) && ...); }

template <class... Grant>
  requires carried<Grant...>
bool is_held(std::tuple<error_code, Grant...> const& completion) {
  return std::apply([](error_code, auto const&... g) { return (static_cast<bool>(g) || ...); },
                    completion);
}

// What a completion has brought; it keeps the grant.
struct result {
  int calls = 0;
  error_code error;
  grant held;

  bool granted() const noexcept {
    return calls == 1 && !error && static_cast<bool>(held) == subject::carries;
  }
  bool refused(error_code e) const noexcept { return calls == 1 && error == e && !held; }

  // Move-only, as handlers may be.
  class store {
   public:
    explicit store(result& r) noexcept : result_(&r) {}
    store(store&&) noexcept = default;
    store& operator=(store&&) noexcept = default;
    template <class... Grant>
      requires carried<Grant...>
    void operator()(error_code e, Grant... g) {
      ++result_->calls;
      result_->error = e;
      ((result_->held = std::move(g)), ...);
    }

   private:
    result* result_;
  };
  store handler() { return store(*this); }
};

// The error with which f() throws; none if it does not.
template <class Function>
error_code error_of(Function f) {
  try {
    f();
  } catch (system_error const& e) {
    return e.code();
  }
  return {};
}

// Has the primitive free again, whoever holds the grant.
inline void let_go(grant& g) { g = grant(); }
template <class Grant>
void let_go(Grant& g) {  // what only stands for a grant
  static_cast<void>(grant(std::move(g)));
}

// Around cases in which a wait is granted and the next one has to queue, until the first is let
// go: where a completion carries nothing that keeps others out, a member has to.
inline void keep_occupied(primitive_type& p) {
  if (!owns) BOOST_TEST_REQUIRE(subject::occupy(p));
}
inline void end_occupation(primitive_type& p) {
  if (!owns) subject::serve(p);
}
inline void let_go(primitive_type& p, grant& g) {
  let_go(g);
  end_occupation(p);
}

// Serves the only wait, which may destroy the primitive.
template <class Subject = subject>
void serve_last(auto& p) {
  if constexpr (taken_by_waits<Subject>)
    Subject::serve_one(p);
  else
    Subject::serve(p);
}

// After a granted wait whose grant was let go: gives again what it has taken, if it takes.
inline void renew(primitive_type& p) {
  if (takes) subject::serve(p);
}

// Awaits an operation: what it was granted.
template <class Operation, class Grant = grant>
asio::awaitable<Grant> granted(Operation operation) {
  if constexpr (subject::carries) {
    co_return co_await std::move(operation);
  } else {
    co_await std::move(operation);
    co_return Grant(true);
  }
}

// How a wait comes to its end.
enum class ending { free, serve, cancel, close, destroy };
inline constexpr std::array endings = {ending::free, ending::serve, ending::cancel, ending::close,
                                       ending::destroy};

struct fixture {
  asio::io_context context, other;
  primitive_type primitive{context};

  static void poll(asio::io_context& c) {
    c.restart();
    c.poll();
  }
  void poll() { poll(context); }
  bool idle() const { return subject::idle(primitive); }
};

}  // namespace ASIO_SYNC_RULES_SUITE

#endif
