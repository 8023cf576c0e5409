// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_shared_mutex.hpp>

namespace asio_sync::test {

namespace {

using writer_lock = async_shared_mutex::lock_type;
using reader_lock = async_shared_mutex::shared_lock_type;

// What a wait brings: one of the two.
struct either_lock {
  either_lock() = default;
  either_lock(writer_lock&& lock) noexcept : writes(std::move(lock)) {}
  either_lock(reader_lock&& lock) noexcept : reads(std::move(lock)) {}

  writer_lock writes;
  reader_lock reads;
};

// One writer, or so many readers. The amount of a wait is the mode.
class sharing : public world_over<sharing, async_shared_mutex, either_lock> {
  using tuple_token = asio::as_tuple_t<asio::deferred_t>;
  using result = std::tuple<error_code, either_lock>;
  using time = std::chrono::nanoseconds;

 public:
  sharing() : world_over(true, upgrading) {}

  template <class Handler>
  void ask(async_shared_mutex& mutex, unsigned mode, Handler&& h) {
    switch (mode) {
      case writing: return mutex.async_lock(std::forward<Handler>(h));
      case reading: return mutex.async_lock_shared(std::forward<Handler>(h));
      default: return mutex.async_upgrade(std::move(*lender_), std::forward<Handler>(h));
    }
  }
  template <class Handler>
  void ask_for(async_shared_mutex& mutex, unsigned mode, time t, Handler&& h) {
    switch (mode) {
      case writing: return mutex.async_lock_for(t, std::forward<Handler>(h));
      case reading: return mutex.async_lock_shared_for(t, std::forward<Handler>(h));
      default: return mutex.async_upgrade_for(std::move(*lender_), t, std::forward<Handler>(h));
    }
  }

  asio::awaitable<result> ask(async_shared_mutex& mutex, unsigned mode, tuple_token const& token) {
    switch (mode) {
      case writing: co_return co_await mutex.async_lock(token);
      case reading: co_return co_await mutex.async_lock_shared(token);
      default: co_return co_await mutex.async_upgrade(std::move(*lender_), token);
    }
  }
  asio::awaitable<result> ask_for(async_shared_mutex& mutex, unsigned mode, time t,
                                  tuple_token const& token) {
    switch (mode) {
      case writing: co_return co_await mutex.async_lock_for(t, token);
      case reading: co_return co_await mutex.async_lock_shared_for(t, token);
      default: co_return co_await mutex.async_upgrade_for(std::move(*lender_), t, token);
    }
  }

  // A lender has its lock again with an error, unless the mutex has died.
  void check(wait const& w, either_lock const& lock) {
    bool const reads = w.plan.amount == reading;
    require(lock.writes.owns_lock() == (!w.expected && !reads), "R3: a writer's lock");
    require(lock.reads.owns_lock() == (!w.expected && reads), "R3: a reader's lock");
    if (!w.expected) {
      require((reads ? lock.reads.mutex() : lock.writes.mutex()) == &*real_, "of that mutex");
      require(!writer_.owns_lock(), "somebody holds it beside a writer");
      require(reads || (readers_.empty() && frames_ == 0), "a writer beside others");
    }
    if (w.plan.amount != upgrading) return;
    reader_lock lent = std::move(lent_.extract(&w).mapped());
    bool const back = w.expected && w.got > 0 && !w.outlived;
    require(lent.owns_lock() == back, "an upgrade's argument owns again with an error");
    if (back) readers_.push_back(std::move(lent));
  }
  void hold(either_lock&& lock) {
    if (lock.writes.owns_lock()) writer_ = std::move(lock.writes);
    if (lock.reads.owns_lock()) readers_.push_back(std::move(lock.reads));
  }
  void compare_own() const {
    require(real_->is_locked() == (written_ || read_by_ > 0), "is_locked()");
    for (auto const& [w, lent] : lent_)
      require(!lent.owns_lock(), "an upgrade's argument does not own while it is waited");
  }

  unsigned asked_for(std::size_t n, bool otherwise) const override {
    static constexpr std::array<unsigned, 4> modes{writing, reading, reading, upgrading};
    return modes[(otherwise ? n / 2 + 2 : n) % modes.size()];
  }

 private:
  // The ways to let go.
  enum way : std::uint8_t { by_guard, downgrade, by_member, wrongly };

  void make(asio::any_io_executor const& executor) override {
    writer_ = {};
    readers_.clear();
    real_.emplace(executor);
  }
  // Its guards outlive it.
  void destroy() override {
    written_ = false;
    read_by_ = 0;
    real_.reset();
    require(!writer_.owns_lock() && !writer_.mutex(), "R9: the guard of a dead mutex");
    for (reader_lock const& reader : readers_)
      require(!reader.owns_lock() && !reader.mutex(), "R9: the guard of a dead mutex");
  }

  std::optional<operation> way_on() const override {
    if (holds()) return operation{.what = verb::give, .item = by_guard};
    return {};
  }

  // Who upgrades brings the hold of the oldest reader along, if there is one.
  error_code come(wait& w) override {
    if (w.plan.amount != upgrading) return {};
    lender_ = &lent_[&w];
    if (readers_.empty()) return make_error_code(boost::system::errc::operation_not_permitted);
    *lender_ = std::move(readers_.front());
    readers_.pop_front();
    w.got = reading;
    bool const second = !queue().empty() && goes_first(wait_of(queue().front()));
    return second ? make_error_code(boost::system::errc::resource_deadlock_would_occur)
                  : error_code();
  }
  bool goes_first(wait const& w) const override { return w.plan.amount == upgrading; }
  bool grant(wait& w) override {
    if (!take(w.plan.amount)) return false;
    w.got = w.plan.amount == reading ? reading : writing;
    return true;
  }
  bool take(unsigned mode) override {
    if (written_ || (mode != reading && read_by_ != (mode == upgrading))) return false;
    written_ = mode != reading;
    read_by_ = mode == reading ? read_by_ + 1 : 0;
    return true;
  }
  void put_back(unsigned mode) override {
    if (mode == reading)
      --read_by_;
    else
      written_ = false;
  }
  bool at_rest() const override { return !written_ && read_by_ == 0; }

  // An upgrade goes back to the reader that it was.
  void withdraw(wait& w) override {
    if (w.expected || w.plan.amount != upgrading) return world::withdraw(w);
    w.expected = asio::error::operation_aborted;
    w.got = reading;
    written_ = false;
    read_by_ = 1;
    serve();
  }

  bool holds() const { return writer_.owns_lock() || (!readers_.empty() && real_); }
  bool allows_own(operation const& op) const override {
    return op.what != verb::give || holds() || op.item == wrongly;
  }
  void perform_own(operation const& op) override {
    if (op.what == verb::give) return give(op.item);
    bool const reads = op.item % 2 != 0, tries = op.what == verb::take;
    bool const got = got_at_once(op, [&] {
      if (reads) return tries ? real_->try_lock_shared() : real_->try_lock_shared_for(time(0));
      return tries ? real_->try_lock() : real_->try_lock_for(time(0));
    });
    bool const its_turn = !closed() && queue().empty();
    require(got == (its_turn && take(reads ? reading : writing)),
            "R7: what is tried gets what is free, and nothing else");
    if (got && reads) readers_.emplace_back(*real_, std::adopt_lock);
    if (got && !reads) writer_ = writer_lock(*real_, std::adopt_lock);
  }

  void give(std::uint8_t item) {
    switch (item) {
      case downgrade: return make_reader();
      case wrongly: return unlock_wrongly();
      default: break;
    }
    if (writer_.owns_lock()) {
      let_go(writer_, item == by_member);
      return returned(writing);
    }
    reader_lock reader = std::move(readers_.front());
    readers_.pop_front();
    let_go(reader, item == by_member);
    returned(reading);
  }
  template <class Lock>
  void let_go(Lock& lock, bool by_its_mutex) {
    Lock from = std::move(lock);
    if (!by_its_mutex) return from.unlock();
    if constexpr (std::is_same_v<Lock, writer_lock>)
      from.release()->unlock();
    else
      from.release()->unlock_shared();
  }

  // Lets in the readers who are next.
  void make_reader() {
    bool const wrote = writer_.owns_lock();
    reader_lock reader = async_shared_mutex::downgrade(std::move(writer_));
    require(reader.owns_lock() == wrote, "downgrade() of what owns, and of nothing else");
    if (!wrote) return;
    readers_.push_back(std::move(reader));
    written_ = false;
    read_by_ = 1;
    serve();
  }

  // No member holds it.
  void unlock_wrongly() {
    for (bool const reads : {false, true})
      require(error_of([&] { reads ? real_->unlock_shared() : real_->unlock(); }) ==
                  boost::system::errc::operation_not_permitted,
              "R15: unlock() of what only guards hold");
  }

  writer_lock writer_;
  std::deque<reader_lock> readers_;
  std::map<wait const*, reader_lock> lent_;  // by those who upgrade
  reader_lock* lender_ = nullptr;            // of the upgrade that begins
  bool written_ = false;
  unsigned read_by_ = 0;
};

}  // namespace

std::unique_ptr<world> shared_mutex_world() { return std::make_unique<sharing>(); }

}  // namespace asio_sync::test
