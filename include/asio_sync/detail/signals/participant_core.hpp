// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_SIGNALS_PARTICIPANT_CORE_HPP
#define ASIO_SYNC_DETAIL_SIGNALS_PARTICIPANT_CORE_HPP

// A core with waits that are participants: others wait for them to come, and may go then.

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/context/homed_core.hpp>
#include <asio_sync/detail/context/waiter.hpp>

namespace asio_sync::detail {

template <class Core, class Waiter>
class participant_core final : public homed_core<participant_core<Core, Waiter>, Core, Waiter> {
  using base = homed_core<participant_core, Core, Waiter>;

 public:
  using base::base;
  using typename base::node;

  using Core::is_participant;

  // A participant may let others go, which may end the primitive.
  bool hold_for(node& w) noexcept {
    bool const comes = Core::is_participant(w);
    if (comes) this->count_up();
    return comes;
  }

  bool enter(node& w) noexcept {
    return this->decide([&](decided_waits& decided) { return Core::enter(w, decided); });
  }

  void turn_away(node& w) noexcept {
    if (Core::is_participant(w))
      this->decide([&](decided_waits& decided) { Core::turned_away(decided); });
  }

 private:
  ~participant_core() override = default;
};

}  // namespace asio_sync::detail

#endif
