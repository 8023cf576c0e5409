// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_CLAIM_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_REMOTE_CLAIM_HPP

#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace asio_sync::redis::detail {

class remote_core;

// The part of a primitive that its claims share.
struct handle {
  handle(std::shared_ptr<hub> c, asio::any_io_executor ex, char const* t, std::uint64_t n);
  handle(handle const&) = delete;
  handle& operator=(handle const&) = delete;
  virtual ~handle() = default;

  // Returns the executor of handlers that have none; that of the system if its context has ended.
  ASIO_SYNC_COMPILED_ONCE asio::any_io_executor living_executor() const;

  std::shared_ptr<hub> const client;
  asio::any_io_executor const executor;
  char const* const type;  // of the primitive: "redis::async_mutex"
  std::uint64_t const capacity;
  std::atomic<void*> primitive = nullptr;  // null once it has gone
  std::shared_ptr<result> const life;      // knows whether the context of the executor has ended
};

// Throws invalid_argument for a name that the protocol does not allow.
ASIO_SYNC_COMPILED_ONCE std::shared_ptr<handle> make_handle(std::shared_ptr<hub> client,
                                                            asio::any_io_executor executor,
                                                            char const* type, char const* kind,
                                                            std::string name,
                                                            std::uint64_t capacity);

// Throws the error of a blocking function. Its text names the object.
[[noreturn]] ASIO_SYNC_COMPILED_ONCE void throw_refusal(handle const& of, verdict refused,
                                                        char const* function);

// Says what becomes of a claim that finds its object held.
enum class attempt : std::uint8_t {
  waits,
  tries,  // it is granted nothing
  times_out
};

class claim_ref;

// One operation on an object. It is made before its wait queues. Two share it: the wait, and after
// a grant the guard; and the driver of the client, from hub::ask() until hub::finish().
//
// Its members are compiled in src.hpp.
class alignas(16) remote_claim : public order {
 public:
  remote_claim(remote_claim const&) = delete;
  remote_claim& operator=(remote_claim const&) = delete;
  virtual inline ~remote_claim();

  ASIO_SYNC_COMPILED_ONCE static claim_ref make(std::shared_ptr<handle> of, std::uint64_t weight,
                                                attempt how);

  // Makes the claim of a wait on a condition. It begins with the end of the hold that is at `lock`
  // when the wait queues, and its own hold goes there when the completion arrives.
  ASIO_SYNC_COMPILED_ONCE static claim_ref make_wait(std::shared_ptr<handle> of,
                                                     std::string condition, claim_ref& lock);

  detail::handle& handle() const noexcept { return *handle_; }
  std::shared_ptr<detail::handle> const& shared_handle() const noexcept { return handle_; }
  hub& client() const noexcept { return *handle_->client; }
  std::uint64_t weight() const noexcept { return weight_; }
  attempt how() const noexcept { return attempt_; }
  bool waits_on_condition() const noexcept { return lock_ != nullptr; }

  // Returns the verdict of a wait that has the claim: with a grant, the claim.
  ASIO_SYNC_COMPILED_ONCE verdict outcome(wait_outcome decided) const noexcept;

  // Returns the claim in a grant, which was its wait's; null if there is none.
  ASIO_SYNC_COMPILED_ONCE static claim_ref in(verdict granted) noexcept;

  // Called by who has decided the wait, before the wait is handed out.
  void fail(verdict why) noexcept { failure_ = why; }

  // Returns how a wait ends whose time is up: it fails if there was no session since it began.
  ASIO_SYNC_COMPILED_ONCE wait_outcome time_out() noexcept;

  // True if a wait on a condition has nothing to give back any more.
  inline bool has_no_lock() const noexcept;

  // Gives the lock back whose wait on a condition was refused.
  inline void give_lock_back() noexcept;

  // Takes the hold that a wait on a condition gives back.
  inline void take_lock() noexcept;

  // Puts the claim of a granted wait on a condition into the lock. Returns how the wait has ended.
  inline wait_outcome return_to_lock() noexcept;

  // --- The guard ---

  // True while nobody else can have been granted what the guard has, and the guard has not given
  // it back.
  ASIO_SYNC_COMPILED_ONCE bool holds() const noexcept;

  // True if the attempt was not granted.
  bool is_empty() const noexcept {
    return standing_.load(std::memory_order_relaxed) == standing::none;
  }

  std::uint64_t fence() const noexcept { return fence_; }
  ASIO_SYNC_COMPILED_ONCE std::chrono::steady_clock::time_point expires_at() const noexcept;

  // Gives the hold back; called once. Settles `end`, if there is one, when the server has
  // answered. `exits`: the server is to do what the visit asks for.
  ASIO_SYNC_COMPILED_ONCE void give_back(std::shared_ptr<result> end, bool exits = false) noexcept;

  // Returns the result that the loss of the hold settles. Throws what making it throws.
  ASIO_SYNC_COMPILED_ONCE std::shared_ptr<result> loss();

  // --- The driver ---

  // Grants the wait. Does nothing more if nobody waits any more: the claim is being given up.
  void grant(std::uint64_t fence) noexcept;

  // The hold is lost.
  void lose() noexcept;

  // The core's, under its lock.
  shell::waiter* wait = nullptr;
  wait_outcome recalled = wait_outcome::undecided;  // of a wait on a condition

  remote_core* core = nullptr;  // set before it is asked for; alive until the driver ends it

 protected:
  remote_claim(std::shared_ptr<detail::handle> of, std::uint64_t weight, attempt how,
               claim_ref* lock) noexcept
      : order(kind::claim),
        handle_(std::move(of)),
        weight_(weight),
        attempt_(how),
        past_sessions_(handle_->client->past_sessions()),
        lock_(lock),
        wishes_{.ask = weight != 0},
        is_ended_(weight == 0) {}

 private:
  friend class claim_ref;
  friend class hub;

  enum class standing : std::uint8_t { none, held, lost, given_back };

  std::shared_ptr<detail::handle> const handle_;
  std::uint64_t const weight_;
  attempt const attempt_;
  std::uint64_t const past_sessions_;  // that were over when the claim was made
  claim_ref* const lock_;              // of a wait on a condition
  std::atomic<standing> standing_ = standing::none;
  std::uint64_t fence_ = 0;
  verdict failure_;  // of a wait that has failed

  std::atomic<std::uint32_t> owners_ = 1;

  // hub::lock_ guards these.
  wishes wishes_;
  bool is_ended_;            // by the driver; what is to be owned has not begun yet
  bool is_settled_ = false;  // likewise: its operation has ended
  std::shared_ptr<result> loss_, end_;
  remote_claim* from_ = nullptr;  // the hold that a wait gives back, and an owner of it
};

// A share of a claim.
class claim_ref {
 public:
  claim_ref() noexcept = default;
  explicit claim_ref(remote_claim* adopted) noexcept : claim_(adopted) {}
  claim_ref(claim_ref&& other) noexcept : claim_(other.release()) {}
  claim_ref& operator=(claim_ref&& other) noexcept {
    claim_ref old(std::move(other));
    std::swap(claim_, old.claim_);
    return *this;
  }
  ~claim_ref() {
    if (claim_) let_go();
  }

  remote_claim* get() const noexcept { return claim_; }
  remote_claim& operator*() const noexcept { return *claim_; }
  remote_claim* operator->() const noexcept { return claim_; }
  explicit operator bool() const noexcept { return claim_ != nullptr; }

  remote_claim* release() noexcept { return std::exchange(claim_, nullptr); }

  // Adds an owner.
  static claim_ref share(remote_claim& c) noexcept {
    c.owners_.fetch_add(1, std::memory_order_relaxed);
    return claim_ref(&c);
  }

 private:
  // Acquire and release: what other owners did to the claim happens before its end.
  void let_go() noexcept {
    if (claim_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete claim_;
  }

  remote_claim* claim_ = nullptr;
};

remote_claim::~remote_claim() { claim_ref const last(from_); }

bool remote_claim::has_no_lock() const noexcept { return lock_ && !*lock_; }

void remote_claim::give_lock_back() noexcept {
  if (!lock_) return;
  claim_ref const given(std::move(*lock_));
  given->give_back(nullptr);
}

void remote_claim::take_lock() noexcept {
  if (!lock_) return;
  from_ = lock_->release();
  auto held = standing::held;
  from_->standing_.compare_exchange_strong(held, standing::given_back, std::memory_order_acq_rel);
}

wait_outcome remote_claim::return_to_lock() noexcept {
  *lock_ = claim_ref(this);
  return recalled == wait_outcome::undecided ? wait_outcome::granted : recalled;
}

}  // namespace asio_sync::redis::detail

#endif
