// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_OPERATION_HPP
#define ASIO_SYNC_TEST_ORDERS_OPERATION_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace asio_sync::test {

/// What can be done to a world; `operation::target` says to what. Some of it is called otherwise
/// by each primitive.
enum class verb : std::uint8_t {
  wait,          // initiate a wait, in the context `target`
  take,          // try_lock(), try_acquire(), try_wait(); take() of a mailbox, and reset() of an
                 // event, which takes the signal away
  take_at_once,  // the blocking form, with no time
  give,          // unlock(), release(), set(), raise(), count_down(); `item` says in which of
                 // several ways
  emit,          // cancel the wait `target` through its slot; `item` says by which type
  end_signal,    // destroy the signal of the wait `target`
  cancel,        // cancel()
  close,         // close()
  end,           // destroy the primitive
  make,          // make another
  poll,          // run one handler of the context `target`, or its timer
  run,           // run the function `item` in the queue of the context `target`
  drop,          // destroy it unrun
  end_context,   // destroy the context `target`, and what is in its queue
  make_context,  // make another in its place
  spend          // use up what the thread may complete without an executor
};
inline constexpr std::size_t verbs = 16;

/// The executor of a handler. That of a queue is of a type which the library cannot know: what it
/// is given may run in any order.
enum class through : std::uint8_t {
  context,         // the executor of the io_context
  strand,          // the one strand of the context
  queue,           // that of the context's queue
  erased_context,  // the same in an any_io_executor
  erased_strand,
  erased_queue,
  relay,   // one without a context, to which the primitive's own relays
  nothing  // none: the primitive's own
};

/// How long a wait may take. What is soon has come when the next operation begins.
enum class patience : std::uint8_t { endless, none, soon, far };

/// What a handler does before it returns.
enum class then : std::uint8_t {
  nothing,   // it leaves what it carries with the world
  give,      // gives it back
  wait,      // initiates the same wait again, without a `then`
  cancel,    // cancel()
  close,     // close()
  end,       // destroys the primitive
  take,      // takes what is free
  work_give  // a coroutine: posts, keeping to itself what it got, and gives it back
};

/// What a wait for a mailbox asks for, beside its flags.
inline constexpr std::uint8_t all_of = 8, taking = 16;

/// How a wait locks a shared mutex.
inline constexpr std::uint8_t writing = 1, reading = 2, upgrading = 3;

/// A wait of the condition locks the mutex, or waits to be notified; then it may carry the lock
/// through, and look at a predicate.
inline constexpr std::uint8_t for_mutex = 1, for_condition = 2, carrying = 4, looking = 8;

struct operation {
  verb what;
  std::uint8_t target = 0;
  std::uint8_t item = 0;
  // Of a semaphore's permits; of a latch's count; a wait of 2 arrives; a mailbox's flags; for a
  // shared mutex or a condition what a wait asks for.
  std::uint8_t amount = 1;
  // Of a wait; of make, the executor: erased_context or erased_queue.
  through executor = through::context;
  patience patient = patience::endless;
  then next = then::nothing;
  bool slot = false;
  bool coroutine = false;

  bool operator==(operation const&) const = default;
};

inline std::string to_text(operation const& op) {
  static constexpr std::array<char const*, verbs> names{
      "wait", "take", "take at once", "give", "emit", "end signal",  "cancel",       "close",
      "end",  "make", "poll",         "run",  "drop", "end context", "make context", "spend"};
  static constexpr std::array executors{"context",       "strand",       "queue", "erased context",
                                        "erased strand", "erased queue", "relay", "none"};
  static constexpr std::array limits{"", ", no time", ", soon", ", far"};
  static constexpr std::array thens{
      "",           ", then give", ", then wait",         ", then cancel", ", then close",
      ", then end", ", then take", ", then work and give"};
  std::string text = names[std::size_t(op.what)] + std::string(" ") + std::to_string(op.target);
  if (op.what == verb::run || op.what == verb::drop || op.what == verb::give)
    text += '.' + std::to_string(op.item);
  if (op.amount != 1) text += ", amount " + std::to_string(op.amount);
  if (op.what == verb::make) text += std::string(": ") + executors[std::size_t(op.executor)];
  if (op.what != verb::wait) return text;
  text += std::string(": ") + executors[std::size_t(op.executor)] +
          limits[std::size_t(op.patient)] + thens[std::size_t(op.next)];
  return text + (op.slot ? ", with a slot" : "") + (op.coroutine ? ", a coroutine" : "");
}

}  // namespace asio_sync::test

#endif
