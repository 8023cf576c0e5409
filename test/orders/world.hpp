// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_ORDERS_WORLD_HPP
#define ASIO_SYNC_TEST_ORDERS_WORLD_HPP

#include "operation.hpp"
#include "support/executors.hpp"
#include "support/manual_queue.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// One primitive and some contexts on one thread, to which one operation after the other is done,
/// and beside them the naive model of what has to come of it: a queue of waits, and who has got
/// what. After each operation, and whenever a handler is called or destroyed, the two are
/// compared.
///
/// Nothing happens of itself: contexts and queues run one handler when they are told to, and no
/// time is waited for. The same operations have the same results.
///
/// What is the same for all primitives is here; world_over.hpp has what depends on their types;
/// and `mutex_world` and its sisters say who gets what, and what else can be done to the
/// primitive.
class world {
 public:
  static constexpr unsigned contexts = 2;

  world(world const&) = delete;
  world& operator=(world const&) = delete;
  virtual ~world() = default;

  /// Whether an operation has a meaning now, and the contracts of primitive and Asio allow it.
  bool allows(operation const& op) const;
  /// False if there was nothing to poll.
  bool perform(operation const& op);

  /// What has to be done for the next wait to be served, if anything can be.
  virtual std::optional<operation> way_on() const = 0;
  /// How many a wait can ask for.
  unsigned most() const noexcept { return most_; }
  /// What the n-th wait of a walk asks for, in either of two ways.
  virtual unsigned asked_for(std::size_t n, bool otherwise) const;
  /// Whether poll() of the context can be expected to find something to do.
  bool busy(unsigned context) const;
  /// How many waits there have been.
  std::size_t waits() const noexcept { return waits_.size(); }
  /// How many functions are in the queue of the context.
  std::size_t queued(unsigned context) const { return places_[context].queue.size(); }

  /// Runs, and serves whoever waits, until nothing is left to do, and destroys everything: the
  /// contexts before the primitive, or after it. Nobody may wait in vain, and no handler be left
  /// over.
  void finish(bool contexts_first);

 protected:
  using error_code = boost::system::error_code;
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
    moved,    // queued elsewhere, whatever becomes of it: it cannot be refused any more
    decided,  // on its way
    called,
    ended
  };

  // One wait, as it should be.
  struct wait {
    explicit wait(operation const& op) : plan(op) {}

    bool in_context(unsigned context) const { return !by_queue && where == context; }
    bool is_queued() const {
      return state == world::state::queued || state == world::state::moved;
    }

    operation plan;
    unsigned where = nowhere;  // the context that its completion goes to,
    bool by_queue = false;     // or the queue of that context
    std::optional<asio::cancellation_signal> signal;
    world::state state = state::starting;
    error_code expected;
    bool at_once = false;    // decided when it was initiated
    bool lasts = false;      // on its way it may still be refused, and come back to the queue
    bool outlived = false;   // on its way when the primitive died
    bool cancelled = false;  // by its slot, which counts until it is called
    unsigned turn = 0;       // decisions before it
    unsigned got = 0;        // what goes back if it never arrives
  };

  // A handler, also that of a coroutine's end: tells when it is no more.
  class watch {
   public:
    using cancellation_slot_type = asio::cancellation_slot;

    watch(world& w, unsigned id) noexcept : world_(&w), id_(id) {
      if (auto& signal = w.waits_[id].signal) slot_ = signal->slot();
    }
    watch(watch&& other) noexcept
        : world_(std::exchange(other.world_, nullptr)), id_(other.id_), slot_(other.slot_) {}
    watch& operator=(watch&&) = delete;
    ~watch() {
      if (world_) world_->ended(id_);
    }

    asio::cancellation_slot get_cancellation_slot() const noexcept { return slot_; }
    void operator()(std::exception_ptr thrown) { world_->coroutine_ended(thrown); }

   protected:
    unsigned id() const noexcept { return id_; }

   private:
    world* world_;
    unsigned id_;
    asio::cancellation_slot slot_;
  };

  // With two contexts, and no primitive yet. `carries`: what is granted is held until it is given
  // back, and does not outlive the primitive.
  world(bool carries, unsigned most);

  // The primitive itself.
  virtual bool alive() const = 0;
  virtual void make(asio::any_io_executor const& executor) = 0;
  virtual void destroy() = 0;
  virtual void start(unsigned id) = 0;
  virtual asio::awaitable<void> coroutine(unsigned id) = 0;
  virtual void spawn_on(asio::any_io_executor const& executor, unsigned id);
  virtual std::size_t cancel_real() = 0;
  virtual void close_real() = 0;
  virtual std::size_t waiters() const = 0;
  virtual void compare_real() const = 0;
  virtual void compare_outliving() const {}  // what need not end with it

  // Whether handlers without an executor run where the primitive was made, and on no strand of it.
  virtual bool relays() const { return true; }
  // Whether it can be closed, and whether a wait can begin now, if the primitive is there.
  virtual bool closes() const { return true; }
  virtual bool can_begin() const { return true; }

  // What a subject says of itself. come() of the model is told of each wait that begins, and says
  // if that is refused whatever else there is. take() of the model takes so many if it has them,
  // whoever waits; put_back() ends that. left() is told when one has left the queue without the
  // others. at_rest(): nobody holds anything. grant(): the wait gets what it asks for, if that is
  // there; in_turn(): not before those who came earlier; goes_first(): ahead of them.
  // gives_back(): a wait that was granted, and is cancelled on its way, is withdrawn.
  virtual error_code come(wait&) { return {}; }
  virtual bool goes_first(wait const&) const { return false; }
  virtual void left() {}
  virtual bool take(unsigned n) = 0;
  virtual bool grant(wait& w);
  virtual bool in_turn() const { return true; }
  virtual void put_back(unsigned n) = 0;
  virtual bool at_rest() const = 0;
  virtual bool gives_back(wait const& w) const { return carries_ && w.got > 0; }
  // True if the function of that number in a queue completes the wait, for which it was posted.
  virtual bool is_completion(unsigned, std::size_t) const { return true; }
  virtual bool allows_own(operation const& op) const = 0;
  virtual void perform_own(operation const& op) = 0;

  // What else happens: loses(), of what is on its way in the context, some or `all` is about to be
  // destroyed; expire(), something has run there that nobody has heard of, which is the timer.
  // keeps_running(): the context runs for more than the handlers of waits.
  virtual void loses(unsigned, bool) {}
  virtual void expire(unsigned context);
  virtual bool keeps_running(unsigned) const { return false; }

  static bool goes_by_queue(through executor);
  void let_pass() const;
  static std::chrono::nanoseconds time_of(patience p);
  void require(bool condition, char const* text) const;
  place& place_of(unsigned context) { return places_[context]; }
  wait& wait_of(unsigned id) { return waits_[id]; }
  operation const& plan_of(unsigned id) const { return waits_[id].plan; }
  execution_log& relayed() { return relayed_; }
  bool home_alive() const noexcept { return home_alive_; }
  bool home_by_queue() const { return goes_by_queue(home_); }
  // The context in which something is being called.
  unsigned running() const noexcept { return running_; }
  bool closed() const noexcept { return closed_; }
  std::deque<unsigned> const& queue() const noexcept { return queue_; }

  // What the real thing says. heard(): it is not the timer that runs. runs(): something of a wait
  // is called where its handler would be.
  void heard() noexcept { heard_ = true; }
  void runs(unsigned id);
  void called(unsigned id, error_code error);
  void gives_deadline_up(wait const& w);
  void follow(unsigned id);
  void coroutine_ended(std::exception_ptr thrown);
  virtual void ended(unsigned id);

  // The model. admit(): a wait that begins is decided at once, or queues. serve(): whoever is at
  // the head of the queue gets what there is. granted(): one who is queued has got it. refuse():
  // does nothing to one who can not be refused. lost(): a wait, queued or on its way before, will
  // never arrive. withdraw(): a wait arrives that its slot has cancelled.
  bool keeps_to_itself(wait const& w) const;
  void initiated(unsigned id);
  virtual void admit(unsigned id);
  void join(unsigned id, bool in_front);
  void decide(unsigned id, error_code outcome);
  void expect(unsigned id, error_code outcome);
  void granted(unsigned id);
  void returned(unsigned n);
  virtual void serve();
  virtual void refuse(unsigned id, error_code outcome);
  virtual void cancel_all();
  virtual void refuse_all(error_code outcome);
  virtual void lost(unsigned id, state was);
  virtual void withdraw(wait& w);

  unsigned frames_ = 0;  // coroutines that keep to themselves what they got
  std::deque<unsigned> queue_;

 private:
  // The operations, on both.
  void begin(operation const& op);
  void spawn(unsigned id);
  void emit(unsigned id, unsigned type);
  void cancel();
  void close();
  void end();
  void make_at(through executor);
  bool poll(unsigned context);
  void run(unsigned context, std::size_t item);
  void drop(unsigned context, std::size_t item);
  void end_context(unsigned context);
  bool run_anything();
  void perform_one(operation const& op);

  void compare() const;
  void check_idle(unsigned context);

  void unwound(unsigned id);

  bool const carries_;
  unsigned const most_;

  // Declared in the order in which their ends do not need each other.
  std::deque<wait> waits_;
  execution_log relayed_;
  std::array<place, contexts> places_;

  through home_ = through::erased_context;
  bool home_alive_ = false;
  std::vector<unsigned> initiated_;  // in this order
  bool closed_ = false;
  unsigned turns_ = 0;
  std::array<std::array<unsigned, 2>, contexts> last_turn_{};  // in context and strand

  // What goes on at present.
  unsigned running_ = nowhere;   // where a handler may be called
  unsigned dropping_ = nowhere;  // where handlers may be destroyed unrun
  unsigned depth_ = 0;
  bool initiating_ = false;
  bool heard_ = false;
  std::vector<operation> history_;
};

/// The primitives that there are worlds of; a corpus of walks has the same name.
inline constexpr std::array<std::string_view, 13> subjects{
    "mutex",     "semaphore",   "manual_reset_event", "latch",     "barrier", "auto_reset_event",
    "mailbox",   "keyed_mutex", "shared_mutex",       "condition", "monitor", "group",
    "enumerator"};

std::unique_ptr<world> mutex_world();
std::unique_ptr<world> semaphore_world();
std::unique_ptr<world> manual_reset_event_world();
std::unique_ptr<world> latch_world();
std::unique_ptr<world> auto_reset_event_world();
std::unique_ptr<world> mailbox_world();
std::unique_ptr<world> barrier_world();
std::unique_ptr<world> keyed_mutex_world();
std::unique_ptr<world> shared_mutex_world();
std::unique_ptr<world> condition_world();
std::unique_ptr<world> monitor_world();
std::unique_ptr<world> group_world();
std::unique_ptr<world> enumerator_world();

/// The world of one of the subjects.
std::unique_ptr<world> world_of(std::string_view subject);

}  // namespace asio_sync::test

#endif
