// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "held_operations.hpp"
#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_group.hpp>

namespace asio_sync::test {

namespace {

using asio::cancellation_type;

// How many operations have begun and not ended. The waits of the world are joins and operations;
// its queue is that of the joins. An operation which is a coroutine is spawned with the group.
class grouping : public world_over<grouping, async_group> {
  using tuple_token = asio::as_tuple_t<asio::deferred_t>;

 public:
  grouping() : world_over(false, cancelling) {}

  template <class Handler>
  void ask(async_group& group, unsigned kind, Handler&& h) {
    if (kind < operating) return group.async_join(std::forward<Handler>(h));
    hold(begins_, group.track(std::forward<Handler>(h)));
  }
  template <class Handler>
  static void ask_for(async_group& group, unsigned, std::chrono::nanoseconds time, Handler&& h) {
    group.async_join_for(time, std::forward<Handler>(h));
  }
  static asio::awaitable<std::tuple<error_code>> ask(async_group& group, unsigned,
                                                     tuple_token const& token) {
    co_return co_await group.async_join(token);
  }
  static asio::awaitable<std::tuple<error_code>> ask_for(async_group& group, unsigned,
                                                         std::chrono::nanoseconds time,
                                                         tuple_token const& token) {
    co_return co_await group.async_join_for(time, token);
  }

  void compare_own() const {
    require(real_->pending() == count_, "pending()");
    for (auto const& [id, o] : tracked_) {
      require(o.by_slot == 0, "its own slot reaches an operation that is tracked");
      bool const on_its_way = o.by_queue ? queued(where(id)) > 0 : busy(where(id));
      require(o.due.empty() || o.loose || on_its_way, "cancel_pending() asks every operation");
    }
  }

  unsigned asked_for(std::size_t n, bool otherwise) const override {
    return otherwise ? operating + static_cast<unsigned>(n) % 3 : 1;
  }

 private:
  // What a tracked operation is, beside `wait`.
  struct tracked {
    unsigned group;                 // its number
    bool by_queue;                  // so it is asked
    std::multiset<unsigned> due{};  // the types by which it has yet to be asked
    unsigned by_slot = 0;           // it is asked by its own slot
    bool loose = false;             // it may be asked, or not
  };

  // Counts what is begun and ended at once.
  class counted {
   public:
    explicit counted(grouping& g) noexcept : grouping_(&g), group_(g.groups_) { ++g.count_; }
    counted(counted&& other) noexcept
        : grouping_(std::exchange(other.grouping_, nullptr)), group_(other.group_) {}
    counted& operator=(counted&&) = delete;
    ~counted() {
      if (grouping_) grouping_->over(group_);
    }

   private:
    grouping* grouping_;
    unsigned group_;
  };

  void make(asio::any_io_executor const& executor) override {
    executor_ = executor;
    real_.emplace(executor);
  }
  void destroy() override {
    ++groups_;
    count_ = added_ = 0;
    real_.reset();
  }

  std::optional<operation> way_on() const override {
    if (!held_.empty()) return operation{.what = verb::give, .item = complete_first};
    if (added_ == 0) return {};
    return operation{
        .what = verb::give, .item = take_back, .amount = static_cast<std::uint8_t>(added_)};
  }
  bool take(unsigned) override { return count_ == 0; }
  void put_back(unsigned) override {}
  bool at_rest() const override { return count_ == 0 && held_.empty(); }

  // --- The model --------------------------------------------------------------------------------

  bool is_operation(unsigned id) const { return plan_of(id).amount >= operating; }
  // Where it is asked to cancel itself: a coroutine where it was spawned, any other on its own
  // executor, or else on the group's.
  bool has_executor(unsigned id) const {
    return plan_of(id).coroutine || plan_of(id).executor != through::nothing;
  }
  unsigned where(unsigned id) const {
    return has_executor(id) && plan_of(id).executor != through::relay ? plan_of(id).target : 0;
  }
  bool is_by_queue(unsigned id) const {
    return has_executor(id) ? goes_by_queue(plan_of(id).executor) : home_by_queue();
  }

  void admit(unsigned id) override {
    if (!is_operation(id)) return world::admit(id);
    wait& w = wait_of(id);
    w.plan.patient = patience::endless;
    w.at_once = false;
    w.state = state::queued;
    held_.push_back(id);
    begins_ = id;
    if (!w.plan.coroutine) count(id);
  }
  void count(unsigned id) {
    tracked_.emplace(id, tracked{.group = groups_, .by_queue = is_by_queue(id)});
    ++count_;
  }
  void ended(unsigned id) override {
    world::ended(id);
    std::erase(held_, id);
    if (auto const t = tracked_.extract(id); t) over(t.mapped().group);
  }
  void over(unsigned group) {
    heard();
    if (group != groups_) return;
    --count_;
    serve();
  }

  // Of an operation: it hears of that by its own slot.
  void refuse(unsigned id, error_code outcome) override {
    if (!is_operation(id)) return world::refuse(id, outcome);
    if (wait_of(id).state == state::queued) ++tracked_.at(id).by_slot;
    // The operation is kept until its executor has run what was posted before.
    if (plan_of(id).coroutine || !has_executor(id)) place_of(where(id)).timer_stirred = true;
  }

  // What is asked of those that are over is not heard.
  void expire(unsigned context) override {
    if (alive() && real_->waiters() != queue().size()) world::expire(context);
  }
  void loses(unsigned context, bool) override {
    for (auto& [id, o] : tracked_)
      if (where(id) == context) o.loose = true;
  }

  // --- The operations ---------------------------------------------------------------------------

  template <class Token>
  auto hold(unsigned id, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [this, id](auto h) {
          unsigned const outer = std::exchange(initiates_, plan_of(id).coroutine ? nobody : id);
          held_operations::of(*place_of(wait_of(id).where).io)
              .begin(id, executor_, true, std::move(h),
                     [this, id](cancellation_type type) { asked(id, type); });
          if (plan_of(id).amount == cancelling && alive())
            cancel_pending(cancellation_type::terminal);
          initiates_ = outer;
        },
        token);
  }

  void spawn_on(asio::any_io_executor const& executor, unsigned id) override {
    if (!is_operation(id)) return world::spawn_on(executor, id);
    count(id);
    asio::co_spawn(executor, coroutine(id), real_->track(watch(*this, id)));
  }
  asio::awaitable<void> coroutine(unsigned id) override {
    return is_operation(id) ? operate(id) : world_over::coroutine(id);
  }
  asio::awaitable<void> operate(unsigned id) {
    heard();
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    co_await asio::this_coro::throw_if_cancelled(false);
    initiated(id);
    auto const [error] = co_await hold(id, asio::as_tuple(asio::deferred));
    called(id, error);
    follow(id);
  }

  void end(unsigned id, error_code outcome) {
    std::erase(held_, id);
    tracked_.at(id).due.clear();
    decide(id, outcome);
    place& p = place_of(wait_of(id).where);
    held_operations::of(*p.io).complete(id, outcome);
    if (wait_of(id).by_queue) completions_[id] = p.queue.given() - 1;
  }

  // The slot of an operation says that this is to cancel itself.
  void asked(unsigned id, cancellation_type type) {
    heard();
    wait& w = wait_of(id);
    require(w.state == state::queued, "an operation is asked to cancel itself after its end");
    require(id != initiates_,
            "an operation is asked to cancel itself while it is being initiated");
    tracked& o = tracked_.at(id);
    if (o.by_slot > 0) {
      --o.by_slot;
    } else {
      auto const due = o.due.find(static_cast<unsigned>(type));
      require(due != o.due.end() || o.loose, "nobody has cancelled this operation");
      if (due != o.due.end()) o.due.erase(due);
      check_place(id);
    }
    if (w.plan.amount != deaf) end(id, asio::error::operation_aborted);
  }
  void check_place(unsigned id) {
    through const executor = plan_of(id).executor;
    if (has_executor(id) && executor == through::relay)
      return require(relayed().runs_here(), "an operation is asked by its handler's executor");
    require(running() == where(id), "an operation is asked on the executor of its handler");
    bool const in_strand = executor == through::strand || executor == through::erased_strand;
    require(!has_executor(id) || !in_strand ||
                place_of(where(id)).strand_of_its_own().running_in_this_thread(),
            "an operation is asked in the strand of its handler");
  }

  // Not while a coroutine is about to start in a queue, which may take that first step behind the
  // cancellation: then Asio has an exception leave run().
  void cancel_pending(cancellation_type type) {
    for (auto const& [id, o] : tracked_)
      if (wait_of(id).state == state::starting && o.by_queue) return;
    for (auto& [id, o] : tracked_) {
      if (o.group != groups_) continue;
      // Of an executor that it cannot know, the group does not see that its context has gone.
      bool const by_dead = !has_executor(id) && !home_alive();
      if (by_dead && home_by_queue()) o.loose = true;
      if (by_dead) continue;
      place_of(where(id)).timer_stirred = true;
      // A coroutine that is about to start is asked behind its first step.
      state const now = wait_of(id).state;
      if (now == state::queued || now == state::starting)
        o.due.insert(static_cast<unsigned>(type));
    }
    real_->cancel_pending(type);
  }

  struct cannot_begin {};

  // One that completes inside its initiating function, is dropped there, or cannot begin.
  void begin_at_once(operation const& op) {
    bool const fails = op.item == 1, is_dropped = op.item == 2, cancels = op.item == 3;
    auto ends = [this, op, c = counted(*this)]() {
      require(real_->pending() == count_, "an operation counts until its handler has returned");
      if (op.next == then::end && allows({verb::end})) perform({verb::end});
      if (op.next == then::take && alive()) cancel_pending(cancellation_type::total);
    };
    auto const begin = [&](auto h) {
      if (cancels) cancel_pending(cancellation_type::partial);
      if (fails) throw cannot_begin();
      if (!is_dropped) std::move(h)();
    };
    auto token = real_->track(std::move(ends));
    bool failed = false;
    try {
      asio::async_initiate<decltype(token), void()>(begin, token);
    } catch (cannot_begin) {
      failed = true;
    }
    require(failed == fails, "R13: what an initiating function throws leaves that");
    if (home_alive()) place_of(0).timer_stirred = true;
  }

  // The coroutine of an operation is posted cancellations, too, and what is kept for them.
  bool is_completion(unsigned id, std::size_t number) const override {
    auto const posted = completions_.find(id);
    return posted == completions_.end() || posted->second == number;
  }
  bool allows_own(operation const& op) const override {
    return op.what != verb::give || op.item < complete_first || !held_.empty();
  }
  void perform_own(operation const& op) override {
    static constexpr std::array types{cancellation_type::terminal, cancellation_type::partial,
                                      cancellation_type::total};
    if (op.what == verb::take) return cancel_pending(types[op.item % types.size()]);
    if (op.what == verb::take_at_once) return begin_at_once(op);
    switch (op.item) {
      case take_back: return done(op.amount);
      case add_more:
        count_ += op.amount;
        added_ += op.amount;
        return real_->add(op.amount);
      case complete_first: return end(held_.front(), {});
      default: return end(held_.back(), {});
    }
  }
  void done(unsigned n) {
    error_code expected;
    if (n > added_) {
      expected = make_error_code(boost::system::errc::invalid_argument);
    } else {
      added_ -= n;
      count_ -= n;
      serve();
    }
    require(error_of([&] { real_->done(n); }) == expected,
            "R15: done() takes back what was added");
  }

  static constexpr unsigned nobody = static_cast<unsigned>(-1);

  // What a wait of the world is, if it is no join: an operation, one that knows nothing of
  // cancellation, one that cancels all while it is being initiated.
  static constexpr unsigned operating = 2, deaf = 3, cancelling = 4;
  // The ways of give.
  static constexpr std::uint8_t take_back = 0, add_more = 1, complete_first = 2;

  asio::any_io_executor executor_;
  std::map<unsigned, tracked> tracked_;
  std::map<unsigned, std::size_t> completions_;  // their numbers in a queue
  std::deque<unsigned> held_;                    // those that have begun, and can be ended
  unsigned begins_ = 0;
  unsigned initiates_ = nobody;  // it is inside its initiating function
  unsigned groups_ = 0;          // dead
  std::ptrdiff_t count_ = 0;
  unsigned added_ = 0;
};

}  // namespace

std::unique_ptr<world> group_world() { return std::make_unique<grouping>(); }

}  // namespace asio_sync::test
