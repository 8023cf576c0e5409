// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_OPERATION_HPP
#define ASIO_SYNC_TEST_ORDERS_OPERATION_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace asio_sync::test {

/// What can be done to the world of a mutex; `operation::target` says to what.
enum class verb : std::uint8_t {
  lock,          // initiate async_lock(), in the context `target`
  try_lock,      // try_lock()
  try_for_zero,  // try_lock_for() of no time
  unlock,        // unlock(); an error if nobody holds the mutex
  emit,          // cancel the wait `target` through its slot; `item` says by which type
  end_signal,    // destroy the signal of the wait `target`
  cancel,        // cancel()
  close,         // close()
  end_mutex,     // destroy the mutex
  make_mutex,    // make another
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
  relay,   // one without a context, to which the mutex's own relays
  nothing  // none: the mutex's own
};

/// How long a wait may take. What is soon has come when the next operation begins.
enum class patience : std::uint8_t { endless, none, soon, far };

/// What a handler does before it returns.
enum class then : std::uint8_t {
  nothing,     // it leaves the lock with the world
  unlock,      // unlocks
  lock,        // initiates the same wait again, without a `then`
  cancel,      // cancel()
  close,       // close()
  end_mutex,   // destroys the mutex
  try_lock,    // try_lock()
  work_unlock  // a coroutine: posts, keeping the lock to itself, and unlocks
};

struct operation {
  verb what;
  std::uint8_t target = 0;
  std::uint8_t item = 0;
  // Of a lock; of make_mutex, the executor: erased_context or erased_queue.
  through executor = through::context;
  patience patient = patience::endless;
  then next = then::nothing;
  bool slot = false;
  bool coroutine = false;

  bool operator==(operation const&) const = default;
};

inline std::string to_text(operation const& op) {
  static constexpr std::array<char const*, verbs> names{
      "lock",   "try_lock",    "try_lock_for(0)", "unlock",     "emit", "end signal",
      "cancel", "close",       "end mutex",       "make mutex", "poll", "run",
      "drop",   "end context", "make context",    "spend"};
  static constexpr std::array executors{"context",       "strand",       "queue", "erased context",
                                        "erased strand", "erased queue", "relay", "none"};
  static constexpr std::array limits{"", ", no time", ", soon", ", far"};
  static constexpr std::array thens{"",
                                    ", then unlock",
                                    ", then lock",
                                    ", then cancel",
                                    ", then close",
                                    ", then end mutex",
                                    ", then try_lock",
                                    ", then work and unlock"};
  std::string text = names[std::size_t(op.what)] + std::string(" ") + std::to_string(op.target);
  if (op.what == verb::run || op.what == verb::drop) text += '.' + std::to_string(op.item);
  if (op.what == verb::make_mutex) text += std::string(": ") + executors[std::size_t(op.executor)];
  if (op.what != verb::lock) return text;
  text += std::string(": ") + executors[std::size_t(op.executor)] +
          limits[std::size_t(op.patient)] + thens[std::size_t(op.next)];
  return text + (op.slot ? ", with a slot" : "") + (op.coroutine ? ", a coroutine" : "");
}

}  // namespace asio_sync::test

#endif
