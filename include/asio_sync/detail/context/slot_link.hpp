// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CONTEXT_SLOT_LINK_HPP
#define ASIO_SYNC_DETAIL_CONTEXT_SLOT_LINK_HPP

// Connects a wait with the cancellation slot of its handler. A signal may be emitted on any thread
// while the wait is on its way or arrives on another one: so the delivery leaves the slot alone.
// The canceller stays in the slot, and refers to nothing once the wait has taken leave of it.
//
// The canceller and the link in the waiter refer to each other, and either may end first, also at
// the same time on two threads. Each has a lock. The order of the locks: the link's, then the
// canceller's, then a core's. The destructor of the canceller needs the first two in the reverse
// order, so it only tries the link's. No thread takes leave while it holds a lock of a core or of
// a service.

#include <asio_sync/detail/context/completion_queue.hpp>
#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/waiter.hpp>
#include <asio_sync/detail/core/config.hpp>
#include <asio_sync/detail/platform/asio_compat.hpp>
#include <asio_sync/detail/platform/threading.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

namespace asio_sync::detail {

class slot_canceller;

// The waiter's end of the connection, in waiters of handlers that have a slot.
class slot_link {
 public:
  // Takes leave of the canceller: no cancellation counts from now on. Waits for an emission that
  // is under way on another thread, but not for the code that the emission enables.
  ASIO_SYNC_NOINLINE inline void leave(waiter& w) noexcept;

 private:
  friend class slot_canceller;

  locked_pointer<slot_canceller> canceller_;
};

// The slot's end of the connection. It lives until its slot gets another handler, or until the
// signal ends.
class slot_canceller {
 public:
  slot_canceller(waiter& w, slot_link& link) noexcept : waiter_(w) {
    link_.unlock(&link);
    link.canceller_.unlock(this);
    w.set_slot_bits(waiter::connected);
  }
  slot_canceller(slot_canceller const&) = delete;
  slot_canceller& operator=(slot_canceller const&) = delete;
  ~slot_canceller() {
    for (back_off pass_time; !disconnect(); pass_time()) {
    }
  }

  // Marks the wait and refuses it under the lock. Hands out what that has decided after the lock,
  // when this may be gone.
  void operator()(asio::cancellation_type type) {
    if (type == asio::cancellation_type::none) return;
    decided_under_lock decided;
    slot_link* const link = link_.lock();
    if (link) {
      waiter_.set_slot_bits(waiter::connected | waiter::withdrawn);
      waiter_.core->cancel(waiter_, decided);
    }
    link_.unlock(link);
    decided.hand_out();
  }

 private:
  friend class slot_link;

  // Returns false if the wait is just taking leave.
  bool disconnect() noexcept {
    slot_link* const link = link_.lock();
    bool const is_free = !link || link->canceller_.try_lock();
    if (link && is_free) link->canceller_.unlock(nullptr);
    link_.unlock(is_free ? nullptr : link);
    return is_free;
  }

  waiter& waiter_;  // alive while the link is there
  locked_pointer<slot_link> link_;
};

void slot_link::leave(waiter& w) noexcept {
  if (slot_canceller* const canceller = canceller_.lock()) {
    static_cast<void>(canceller->link_.lock());
    canceller->link_.unlock(nullptr);
  }
  canceller_.unlock(nullptr);
  w.set_slot_bits(w.slot_bits() & waiter::withdrawn);
}

// Puts a canceller into a slot. Throws what that throws.
ASIO_SYNC_NOINLINE inline void connect(waiter& w, slot_link& link, asio::cancellation_slot slot) {
  slot.template emplace<slot_canceller>(w, link);
}

}  // namespace asio_sync::detail

#endif
