// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_MUTEX_WORLD_HPP
#define ASIO_SYNC_TEST_ORDERS_MUTEX_WORLD_HPP

#include "operation.hpp"
#include "support/executors.hpp"
#include "support/manual_queue.hpp"

#include <asio_sync/async_mutex.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The timers of these contexts must expire when their deadlines have passed, and not when the
// kernel gets to say so: with the reactor that looks at the clock itself.
#if !defined(BOOST_ASIO_DISABLE_EPOLL)
#error "compile with BOOST_ASIO_DISABLE_EPOLL"
#endif

namespace asio_sync::test {

/// Something is not as it has to be: each program says what happens then.
[[noreturn]] void violated(std::string const& text);

/// One mutex and some contexts on one thread, to which one operation after the other is done, and
/// beside them the naive model of what has to come of it: a queue of waits, and who has the lock.
/// After each operation, and whenever a handler is called or destroyed, the two are compared.
///
/// Nothing happens of itself: contexts and queues run one handler when they are told to, and no
/// time is waited for. The same operations have the same results.
class mutex_world {
 public:
  static constexpr unsigned contexts = 2;

  /// With two contexts, and no mutex yet.
  mutex_world();
  mutex_world(mutex_world const&) = delete;
  mutex_world& operator=(mutex_world const&) = delete;

  /// Whether an operation has a meaning now, and the contracts of mutex and Asio allow it.
  bool allows(operation const& op) const;
  /// False if there was nothing to poll.
  bool perform(operation const& op);

  /// Whether somebody holds the lock and could unlock it.
  bool held() const noexcept { return holder_.owns_lock(); }
  /// Whether poll() of the context can be expected to find something to do.
  bool busy(unsigned context) const;
  /// How many waits there have been.
  std::size_t waits() const noexcept { return waits_.size(); }
  /// How many functions are in the queue of the context.
  std::size_t queued(unsigned context) const { return places_[context].queue.size(); }

  /// Runs and unlocks until nothing is left to do, and destroys everything: the contexts before
  /// the mutex, or after it. Nobody may wait in vain, and no handler be left over.
  void finish(bool contexts_first);

 private:
  using error_code = boost::system::error_code;
  using lock_type = async_mutex::lock_type;
  using io_executor = asio::io_context::executor_type;
  static constexpr unsigned nowhere = contexts;

  struct place {
    asio::strand<io_executor> const& strand_of_its_own();

    std::optional<asio::io_context> io;
    std::optional<asio::strand<io_executor>> strand;
    manual_queue queue;
    bool timer_stirred = false;  // its timer may have something to do
    bool drops = false;          // a function in its queue was destroyed unrun
  };

  enum class state {
    starting,  // a coroutine that has not run yet
    queued,
    decided,  // on its way
    called,
    ended
  };

  // One wait, as it should be.
  struct wait {
    explicit wait(operation const& op) : plan(op) {}

    bool in_queue(unsigned context) const { return by_queue && where == context; }
    bool in_context(unsigned context) const { return !by_queue && where == context; }

    operation plan;
    unsigned where = nowhere;  // the context that its completion goes to,
    bool by_queue = false;     // or the queue of that context
    std::optional<asio::cancellation_signal> signal;
    test::mutex_world::state state = state::starting;
    error_code expected;
    bool at_once = false;  // decided when it was initiated
    unsigned turn = 0;     // decisions before it
  };

  // A handler, also that of a coroutine's end: tells when it is no more.
  class watch {
   public:
    using cancellation_slot_type = asio::cancellation_slot;

    watch(mutex_world& world, unsigned id) noexcept : world_(&world), id_(id) {
      if (auto& signal = world.waits_[id].signal) slot_ = signal->slot();
    }
    watch(watch&& other) noexcept
        : world_(std::exchange(other.world_, nullptr)), id_(other.id_), slot_(other.slot_) {}
    watch& operator=(watch&&) = delete;
    ~watch() {
      if (world_) world_->ended(id_);
    }

    asio::cancellation_slot get_cancellation_slot() const noexcept { return slot_; }

    void operator()(error_code error, lock_type lock) { world_->called(id_, error, lock); }
    void operator()(std::exception_ptr thrown) { world_->coroutine_ended(thrown); }

   private:
    mutex_world* world_;
    unsigned id_;
    asio::cancellation_slot slot_;
  };

  struct frame_guard;

  // The operations, on both.
  void lock(operation const& op);
  void start(unsigned id);
  void spawn(unsigned id);
  template <class Handler>
  void initiate(operation const& plan, Handler handler);
  asio::awaitable<void> coroutine(unsigned id);
  void try_lock(bool timed);
  void unlock();
  void emit(unsigned id, unsigned type);
  void cancel();
  void close();
  void end_mutex();
  void make_mutex(through executor);
  bool poll(unsigned context);
  void run(unsigned context, std::size_t item);
  void drop(unsigned context, std::size_t item);
  void end_context(unsigned context);
  bool run_anything();
  void perform_one(operation const& op);

  // What the real thing says.
  void called(unsigned id, error_code error, lock_type& lock);
  void coroutine_ended(std::exception_ptr thrown);
  void ended(unsigned id);
  void compare() const;
  void check_idle(unsigned context);
  void require(bool condition, char const* text) const;

  // The model.
  bool goes_by_queue(through executor) const;
  void initiated(unsigned id);
  void queue(unsigned id);
  void decide(unsigned id, error_code outcome);
  void pass_on();
  void refuse(unsigned id, error_code outcome);
  void refuse_all(error_code outcome);
  void expire(unsigned context);

  // Declared in the order in which their ends do not need each other.
  std::deque<wait> waits_;
  execution_log relayed_;
  std::array<place, contexts> places_;
  std::optional<async_mutex> mutex_;
  lock_type holder_;

  through home_ = through::erased_context;
  bool home_alive_ = false;
  std::deque<unsigned> queue_;
  std::optional<unsigned> on_its_way_;  // it was granted and has not arrived
  bool locked_ = false;
  bool closed_ = false;
  bool frame_holds_ = false;  // a coroutine holds the lock and keeps it to itself
  unsigned turns_ = 0;
  std::array<std::array<unsigned, 2>, contexts> last_turn_{};  // in context and strand

  // What goes on at present.
  unsigned running_ = nowhere;   // where a handler may be called
  unsigned dropping_ = nowhere;  // where handlers may be destroyed unrun
  unsigned depth_ = 0;
  bool initiating_ = false;
  std::vector<operation> history_;
};

}  // namespace asio_sync::test

#endif
