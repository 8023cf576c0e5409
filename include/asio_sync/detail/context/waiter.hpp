// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_WAITER_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_WAITER_HPP

// One wait, as all but its handler see it.

#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/execution_context.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace asio_sync::detail {

class core_base;
class route;
class wait_service;

// What a waiter is told to do; how is up to its handler's type.
enum class waiter_action : std::uint8_t {
  complete,    // on its executor: arrive at the core, free the memory, call the handler
  connect,     // put a canceller into the handler's cancellation slot
  disconnect,  // take leave of that canceller, which stays in the slot
  destroy      // free the memory and destroy the handler
};

// Who holds the work that keeps the waiter's context running.
enum class wait_work : std::uint8_t {
  none,   // nobody: it is not queued, or is a thread's
  home,   // its core, as it belongs to the context of its primitive
  guest,  // that of another primitive, where it is at home, too, and goes on to
  own,    // its route
  kept    // likewise, until it ends: a lasting_waiter
};

// Whether a guard holds its primitive. Lent: to a wait, which gives the hold back unless it is
// granted.
enum class hold_state : std::uint8_t { none, owned, lent };

// At any time one party owns a waiter, see doc/wait-states.md: the initiating thread (fresh), the
// core (queued), whoever took it out of the queue (decided), its completion on the executor.
struct waiter : tracked_waiter {
  using function = void(waiter&, waiter_action);

  // What a wait asks its core for: nothing but to be let in.
  struct asked_type {};

  waiter(function* f, core_base* c, asked_type) noexcept : act(f), core(c) {}
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;

  function* const act;
  core_base* const core;
  route* way = nullptr;  // to its executor; none where that is the plain one of the core's home

  static constexpr std::uint32_t not_timed = ~std::uint32_t(0);
  std::uint32_t heap_index = not_timed;            // the service's, under its lock
  wait_state state = wait_state::fresh;            // the core's, under its lock
  wait_outcome outcome = wait_outcome::undecided;  // likewise
  wait_work work = wait_work::none;                // set before it queues
  threading::atomic<std::uint8_t> slot_state{0};   // the bits below

  // A canceller in the handler's slot knows the wait, until the wait takes leave of it. Set by the
  // initiating thread, cleared by the thread that owns the wait.
  static constexpr std::uint8_t connected = 1;
  // The slot has cancelled the wait, which counts until its handler is called: if the wait was
  // granted before, the grant goes on. Set by any thread, under the lock of the canceller. It is
  // final once the wait has taken leave.
  static constexpr std::uint8_t withdrawn = 2;

  // Relaxed: the lock of the canceller orders the bits with all else.
  bool has_slot_state() const noexcept { return slot_bits() != 0; }
  bool is_connected() const noexcept { return (slot_bits() & connected) != 0; }
  bool is_withdrawn() const noexcept { return (slot_bits() & withdrawn) != 0; }
  void set_slot_bits(int bits) noexcept {
    slot_state.store(static_cast<std::uint8_t>(bits), std::memory_order_relaxed);
  }
  int slot_bits() const noexcept { return slot_state.load(std::memory_order_relaxed); }

  // From here on the room: links while the waiter is queued or known to a service, afterwards the
  // memory in which its executor keeps the completion, so that a hand-off allocates nothing.
  waiter* next = nullptr;  // the core's, under its lock; then whose list it is in
  waiter* prev = nullptr;
  waiter* service_next = nullptr;  // the service's, under its lock
  waiter* service_prev = nullptr;
  wait_service* service = nullptr;  // that knows it, or, once it is dropped, has postponed its end

  // Asio's operation, the completion and the allocator that hands the room out.
  static constexpr std::size_t room_size =
      std::max(5 * sizeof(void*), operation_size + 2 * sizeof(void*));
  [[no_unique_address]] more_room<room_size - 5 * sizeof(void*)> more;

  void* room() noexcept { return &next; }

  // The same for one that has a route, and may be lasting.
  inline void* room_of_any() noexcept;

  // Whether its route holds work.
  bool is_tracked() const noexcept { return work >= wait_work::own; }

  // Of one that is queued: whether the core takes it out when its home ends. Others are known to
  // the service of their context.
  bool is_at_home() const noexcept { return work == wait_work::home || work == wait_work::guest; }

  verdict decided() const noexcept { return outcome; }

  // True if the wait takes something from its caller, which gets it back if the end of the
  // initiation throws: an initiation_scope.
  static constexpr bool has_initiation = false;
  // The wait has arrived, or queues: it belongs to its initiation no more.
  static void leave_initiation() noexcept {}
};

// One that may queue again after it has arrived. It stays linked to its service meanwhile, so that
// its completion needs another room.
struct lasting_waiter : waiter {
  using waiter::waiter;

  alignas(void*) std::byte completion_room[room_size];
};

void* waiter::room_of_any() noexcept {
  if (work != wait_work::kept) return room();
  return static_cast<lasting_waiter*>(this)->completion_room;
}

// One that asks for a number, and may be told one.
struct valued_waiter : waiter {
  using asked_type = std::uint64_t;

  valued_waiter(function* f, core_base* c, asked_type asked) noexcept
      : waiter(f, c, {}), value(asked) {}

  verdict decided() const noexcept { return {outcome, value}; }

  std::uint64_t value;  // asked for; once it is decided, told
};

// How a completion reaches an executor that is not the plain one of its primitive's home. Stands
// behind the waiter, in the same block.
class route {
 public:
  route(route const&) = delete;
  route& operator=(route const&) = delete;

  // Hands the completion to the executor. The waiter, and this with it, may be gone when it
  // returns, and also when it throws.
  virtual void post(waiter& w) = 0;

  // The second step of a completion that cannot be posted to its executor.
  virtual void relay(waiter&) {}

  // From now on the executor's context is kept running, until post().
  virtual void track(waiter& w) = 0;

  virtual asio::execution_context& context(waiter const& w) const = 0;

  // Whether the waiter is a visit_waiter.
  virtual bool is_of_visit() const noexcept { return false; }

  // Whether what is posted does not go to the executor yet, but to a strand, at once.
  virtual bool goes_to_strand(waiter const&) const noexcept { return false; }

  // Destroys this.
  virtual void destroy(waiter const& w) noexcept = 0;

  // True if the executor still uses memory of the block: the waiter will be dropped again.
  virtual bool keeps_block() noexcept { return false; }

  // post() runs no code but Asio's, and leaves nothing behind here: it may be called with other
  // completions outstanding. Otherwise it may run anything, and is called last.
  bool const at_once;

  // The bytes that this takes behind the waiter, with the route that stands behind this.
  std::uint32_t size = 0;

 protected:
  constexpr explicit route(bool runs_no_user_code) noexcept : at_once(runs_no_user_code) {}
  ~route() = default;
};

}  // namespace asio_sync::detail

#endif
