// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "condition_waits.hpp"
#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_condition.hpp>
#include <asio_sync/async_mutex.hpp>

namespace asio_sync::test {

namespace {

using lock_type = async_mutex::lock_type;

// A condition, and the mutex that its waits are over. The queue of the world is that of the
// condition; that of the mutex has those who lock it, and those who have left the other one.
class notifying : public world_over<notifying, async_condition, lock_type> {
  using time = std::chrono::nanoseconds;

 public:
  notifying() : world_over(false, 7) {}

  template <class Token, class... Time>
  auto ask(async_condition& condition, unsigned kind, Token&& token, Time... t) {
    auto const looks = [this, id = begins_] { return look(id); };
    return begin_condition_wait(condition, *mutex_, courses_[begins_].lock, looks, kind,
                                std::forward<Token>(token), t...);
  }
  template <class Token>
  auto ask_for(async_condition& condition, unsigned kind, time t, Token&& token) {
    return ask(condition, kind, std::forward<Token>(token), t);
  }

  // Whatever the outcome, a wait has the mutex again, if that and the condition are there.
  void check(wait const& w, lock_type& arrived) {
    course& c = course_of(w);
    lock_type lock = w.plan.amount == for_condition || w.plan.amount == (for_condition | looking)
                         ? std::move(c.lock)
                         : std::move(arrived);
    require(lock.owns_lock() == c.holds, "C2: a wait completes with the mutex held again");
    bool const knows = c.holds || (w.plan.amount != for_mutex && c.brought && over_living(c));
    require(lock.mutex() == (knows ? &*mutex_ : nullptr), "C2: the mutex of the lock");
    if (!lock.owns_lock()) return;
    require(!held_.owns_lock(), "two hold the mutex");
    held_ = std::move(lock);
  }
  void hold(lock_type&&) {}

  void compare_own() const {
    if (mutex_) {
      require(mutex_->is_locked() == locked_, "is_locked()");
      require(mutex_->waiters() == lockers_.size(), "R19: waiters() of the mutex");
    }
    for (auto const& [id, c] : courses_)
      require(!c.lock.mutex(), "C2: the lock of a wait is empty until that completes");
  }

  unsigned asked_for(std::size_t n, bool second) const override {
    static constexpr std::array<unsigned, 4> kinds{
        for_condition, for_mutex, for_condition | looking, for_condition | carrying};
    unsigned const kind = kinds[n % kinds.size()];
    if (!second) return kind;
    return kind == for_mutex ? for_condition | carrying | looking : unsigned(for_mutex);
  }

 private:
  // What has become of a wait, beside `wait`.
  struct course {
    lock_type lock;                     // that it refers to or carries, until it begins
    unsigned mutex = 0, condition = 0;  // their numbers
    bool brought = false;               // it had locked that
    bool holds = false;                 // it has the mutex, on its way
    bool looks = false;                 // it is to look at its predicate
    bool alone = false;                 // notified by notify_one()
    error_code reason;                  // why it has left the queue
    error_code mark;                    // why it will not come back to it
  };

  void make(asio::any_io_executor const& executor) override {
    if (mutex_) end_mutex();
    ++conditions_;
    real_.emplace(executor);
    mutex_.emplace(executor);
  }
  void destroy() override { real_.reset(); }

  std::optional<operation> way_on() const override {
    if (held_.owns_lock()) return operation{.what = verb::give, .item = unlock};
    if (queue().empty()) return {};
    bool const looks = std::any_of(queue().begin(), queue().end(),
                                   [&](unsigned id) { return plan_of(id).amount & looking; });
    if (looks && !is_true_)
      return operation{.what = verb::give, .item = otherwise, .amount = flip};
    return operation{.what = verb::give, .item = notify_one};
  }
  bool take(unsigned) override { return !locked_; }
  void put_back(unsigned) override { locked_ = false; }
  bool at_rest() const override { return !locked_ && lockers_.empty(); }

  // --- The model --------------------------------------------------------------------------------

  course& course_of(wait const& w) {
    return std::find_if(courses_.begin(), courses_.end(),
                        [&](auto& each) { return &wait_of(each.first) == &w; })
        ->second;
  }
  bool over_living(course const& c) const { return mutex_ && c.mutex == mutexes_; }
  bool over_another(course const& c) const {
    return !queue().empty() && courses_.at(queue().front()).mutex != c.mutex;
  }

  void admit(unsigned id) override {
    begins_ = id;
    wait& w = wait_of(id);
    course& c = courses_[id];
    c.mutex = mutexes_;
    c.condition = conditions_;
    if (w.plan.amount == for_mutex) return admit_to_mutex(id);
    c.lock = std::exchange(held_, lock_type());
    c.brought = c.holds = c.lock.owns_lock();
    bool const no_time = w.plan.patient == patience::none;
    if (!c.brought)
      return decide(id, make_error_code(boost::system::errc::operation_not_permitted));
    if (closed()) return lets_go(id, {}), decide(id, error::closed);
    if (over_another(c)) return decide(id, make_error_code(boost::system::errc::invalid_argument));
    if (!(w.plan.amount & looking)) {
      if (no_time) return decide(id, asio::error::timed_out);
      return queue_up(id);
    }
    c.looks = w.lasts = true;
    if (no_time) c.mark = asio::error::timed_out;
    decide(id, {});
  }
  void admit_to_mutex(unsigned id) {
    if (closed_mutex_) return decide(id, error::closed);
    if (!locked_) return hand_over(id);
    if (plan_of(id).patient == patience::none) return decide(id, asio::error::timed_out);
    join(id, false);
    queue_.pop_back();
    lockers_.push_back(id);
  }

  void queue_up(unsigned id) {
    course& c = courses_[id];
    c.holds = c.alone = false;
    join(id, false);
    free_mutex();
  }
  void lets_go(unsigned id, error_code outcome) {
    courses_[id].holds = false;
    expect(id, outcome);
    free_mutex();
  }

  // A predicate is called.
  bool look(unsigned id) {
    runs(id);
    course& c = courses_[id];
    require(std::exchange(c.looks, false) && c.holds && over_living(c),
            "C4: a predicate is looked at when the mutex is held");
    bool const is_true = is_true_;
    if (is_true)
      expect(id, {});
    else if (c.reason)
      expect(id, c.reason);
    else if (!real_ || c.condition != conditions_)
      lets_go(id, asio::error::operation_aborted);
    else if (closed())
      lets_go(id, error::closed);
    else if (over_another(c))
      expect(id, make_error_code(boost::system::errc::invalid_argument));
    else if (c.mark)
      expect(id, c.mark);
    else
      queue_up(id);
    return is_true;
  }

  // From the queue of the condition to that of the mutex.
  void go_on(unsigned id, error_code reason) {
    course& c = courses_[id];
    c.reason = reason;
    if (!over_living(c)) return decide(id, asio::error::operation_aborted);
    if (closed_mutex_) return decide(id, error::closed);
    if (!locked_) return hand_over(id);
    wait_of(id).state = state::moved;
    lockers_.push_back(id);
  }
  void hand_over(unsigned id) {
    course& c = courses_[id];
    locked_ = c.holds = true;
    c.looks = (plan_of(id).amount & looking) && (!c.reason || c.reason == asio::error::timed_out);
    decide(id, c.reason);
  }

  void serve() override {
    while (!locked_ && !lockers_.empty()) {
      unsigned const next = lockers_.front();
      lockers_.pop_front();
      hand_over(next);
    }
  }
  void free_mutex() {
    locked_ = false;
    serve();
  }

  // One who waits for the mutex again, or looks, remembers it.
  void refuse(unsigned id, error_code outcome) override {
    wait const& w = wait_of(id);
    if (w.state != state::queued) {
      if (!courses_[id].mark) courses_[id].mark = outcome;
    } else if (w.plan.amount == for_mutex) {
      std::erase(lockers_, id);
      decide(id, outcome);
    } else {
      std::erase(queue_, id);
      go_on(id, outcome);
    }
  }
  void next_goes_on(error_code reason) {
    unsigned const next = queue_.front();
    queue_.pop_front();
    go_on(next, reason);
  }
  void cancel_all() override {
    while (!queue_.empty()) next_goes_on(asio::error::operation_aborted);
  }
  void one_is_notified() {
    if (queue_.empty()) return;
    courses_[queue_.front()].alone = true;
    next_goes_on({});
  }

  // What notify_one() had for it goes to another, and so does the mutex.
  void lost(unsigned id, state) override {
    std::erase(queue_, id);
    std::erase(lockers_, id);
    course& c = courses_[id];
    if (std::exchange(c.holds, false)) free_mutex();
    if (c.alone && !c.reason && c.condition == conditions_) one_is_notified();
  }

  // It looks no more. One that was notified gives that back.
  void withdraw(wait& w) override {
    course& c = course_of(w);
    c.looks = false;
    if (w.expected) return;
    w.expected = asio::error::operation_aborted;
    if (w.plan.amount == for_mutex) {
      if (std::exchange(c.holds, false)) free_mutex();
      return;
    }
    if (w.plan.amount & looking) w.expected = c.mark;
    if (c.alone && c.condition == conditions_) one_is_notified();
  }

  void end_mutex() {
    refuse_lockers(asio::error::operation_aborted, false);
    for (auto& [id, c] : courses_) {
      if (wait_of(id).state != state::decided || !c.holds) continue;
      c.holds = c.looks = false;
      wait_of(id).expected = asio::error::operation_aborted;
    }
    locked_ = closed_mutex_ = false;
    ++mutexes_;
    mutex_.reset();
    require(!held_.owns_lock() && !held_.mutex(), "R9: the guard of a dead mutex");
  }
  // Those alone who lock it, or also those who wait for it again.
  std::size_t refuse_lockers(error_code outcome, bool alone) {
    std::deque<unsigned> const all = std::exchange(lockers_, {});
    for (unsigned const id : all)
      if (alone && plan_of(id).amount != for_mutex)
        lockers_.push_back(id);
      else
        decide(id, outcome);
    return all.size() - lockers_.size();
  }

  // --- The operations ---------------------------------------------------------------------------

  // What the item of `give` says, and where that is `otherwise`, the amount.
  enum way : std::uint8_t { unlock, notify_one, notify_all, otherwise };
  enum other_way : std::uint8_t { cancel_mutex, close_mutex, another_mutex, flip };

  bool allows_own(operation const& op) const override {
    if (op.what != verb::give) return true;
    if (op.item == unlock) return held_.owns_lock();
    return op.item != otherwise || op.amount != another_mutex || home_alive();
  }
  void perform_own(operation const& op) override {
    if (op.what == verb::give) return give(op);
    if (op.what == verb::take_at_once && op.item % 2 != 0) return wait_at_once();
    bool const tries = op.what == verb::take;
    bool got = false;
    error_code const thrown =
        error_of([&] { got = tries ? mutex_->try_lock() : mutex_->try_lock_for(time(0)); });
    require(thrown == (closed_mutex_ && !tries ? error_code(error::closed) : error_code()),
            "R18: what is closed refuses those who might wait");
    require(got == (!closed_mutex_ && !locked_), "R7: try_lock() gets what is free");
    if (!got) return;
    locked_ = true;
    held_ = lock_type(*mutex_, std::adopt_lock);
  }

  void give(operation const& op) {
    switch (op.item) {
      case unlock:
        held_.unlock();
        held_ = {};
        return free_mutex();
      case notify_one: one_is_notified(); return real_->notify_one();
      case notify_all:
        while (!queue_.empty()) next_goes_on({});
        return real_->notify_all();
      default: break;
    }
    switch (op.amount) {
      case cancel_mutex: {
        std::size_t const refused = refuse_lockers(asio::error::operation_aborted, true);
        return require(mutex_->cancel() == refused,
                       "C2: cancel() of the mutex leaves those alone who come from the condition");
      }
      case close_mutex:
        closed_mutex_ = true;
        refuse_lockers(error::closed, false);
        return mutex_->close();
      case another_mutex: {
        end_mutex();
        mutex_.emplace(real_->get_executor());
        return;
      }
      default: is_true_ = !is_true_;
    }
  }

  // No time: the mutex is not let go of, unless the condition is closed.
  void wait_at_once() {
    bool const owns = held_.owns_lock();
    course self;
    self.mutex = mutexes_;
    error_code expected;
    if (!owns)
      expected = make_error_code(boost::system::errc::operation_not_permitted);
    else if (closed())
      expected = error::closed;
    else if (over_another(self))
      expected = make_error_code(boost::system::errc::invalid_argument);
    error_code const thrown = error_of([&] {
      require(real_->wait_for(held_, time(0)) == std::cv_status::timeout, "R11: no time");
    });
    require(thrown == expected, "R15, R18: refused without for_condition");
    require(held_.owns_lock() == (owns && expected != error::closed), "R11: the lock stays");
    if (!owns || expected != error::closed) return;
    held_ = {};
    free_mutex();
  }

  std::optional<async_mutex> mutex_;
  unsigned mutexes_ = 0, conditions_ = 0;  // so many have there been
  std::deque<unsigned> lockers_;           // the queue of the mutex
  bool locked_ = false, closed_mutex_ = false;
  bool is_true_ = false;  // what all predicates look at
  lock_type held_;
  std::map<unsigned, course> courses_;
  unsigned begins_ = 0;  // the wait that is initiated
};

}  // namespace

std::unique_ptr<world> condition_world() { return std::make_unique<notifying>(); }

}  // namespace asio_sync::test
