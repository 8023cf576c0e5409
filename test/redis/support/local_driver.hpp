// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_LOCAL_DRIVER_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_LOCAL_DRIVER_HPP

#include "support/test.hpp"

#include <asio_sync/redis/client.hpp>
#include <asio_sync/redis/detail/client/strand_route.hpp>
#include <asio_sync/redis/detail/hub/hub.hpp>
#include <asio_sync/redis/detail/hub/remote_claim.hpp>

#include <memory_resource>

namespace asio_sync::test::redis {

namespace detail = asio_sync::redis::detail;

/// Runs the driver at once, on the thread that has an order for it; not inside itself.
class local_strand final : public detail::strand_route {
 public:
  boost::asio::any_io_executor executor() const override { return {}; }

  void post(std::shared_ptr<detail::hub> to) override {
    if (posts_++ != 0) return;
    do to->drain();
    while (--posts_ != 0);
  }

 private:
  std::atomic<unsigned> posts_ = 0;
};

/// Grants the claims of each handle in their order, without a server, and with memory of its own.
class local_driver final : public detail::driver {
 public:
  explicit local_driver(detail::hub& h) noexcept : hub_(h) {
    h.extend(std::numeric_limits<std::int64_t>::max());
  }

  void drain() noexcept override {
    for (auto t = hub_.take(); t.what; t = hub_.take()) {
      if (t.what->what != detail::order::kind::claim) continue;
      auto& c = static_cast<detail::remote_claim&>(*t.what);
      t.claim.ask ? ask(c) : give_up(c);
    }
  }

  void end() noexcept override {}

 private:
  struct object {
    explicit object(std::pmr::polymorphic_allocator<> memory) : queue(memory) {}

    std::uint64_t used = 0;
    std::pmr::map<std::uint64_t, detail::remote_claim*> queue;
  };
  struct place {
    object* of;
    std::uint64_t ticket;
    bool holds;
  };

  void ask(detail::remote_claim& c) noexcept {
    object& o = objects_.try_emplace(&c.handle(), std::pmr::polymorphic_allocator<>(&memory_))
                    .first->second;
    places_[&c] = {&o, ++tickets_, false};
    o.queue[tickets_] = &c;
    pump(o, c.handle().capacity);
    if (places_.at(&c).holds || c.how() == detail::attempt::waits) return;
    leave(c);
    bool const tries = c.how() == detail::attempt::tries;
    hub_.finish(c, tries ? detail::wait_outcome::granted : detail::wait_outcome::timed_out);
  }

  void give_up(detail::remote_claim& c) noexcept {
    auto const capacity = c.handle().capacity;
    object& o = leave(c);
    hub_.finish(c, detail::wait_outcome::granted);
    pump(o, capacity);
  }

  object& leave(detail::remote_claim& c) noexcept {
    place const p = places_.at(&c);
    places_.erase(&c);
    if (p.holds)
      p.of->used -= c.weight();
    else
      p.of->queue.erase(p.ticket);
    return *p.of;
  }

  void pump(object& o, std::uint64_t capacity) noexcept {
    while (!o.queue.empty() && o.used + o.queue.begin()->second->weight() <= capacity) {
      detail::remote_claim& next = *o.queue.begin()->second;
      o.queue.erase(o.queue.begin());
      o.used += next.weight();
      places_.at(&next).holds = true;
      next.grant(++fences_);
    }
  }

  static constexpr std::size_t size = 256 << 20;

  detail::hub& hub_;
  std::unique_ptr<std::byte[]> const room_{new std::byte[size]};
  std::pmr::monotonic_buffer_resource buffer_{room_.get(), size};
  std::pmr::unsynchronized_pool_resource memory_{&buffer_};
  std::pmr::map<detail::handle*, object> objects_{&memory_};
  std::pmr::map<detail::remote_claim*, place> places_{&memory_};
  std::uint64_t tickets_ = 0, fences_ = 0;
};

/// A client whose driver is a local one. It lives until the program ends.
class local_client : public asio_sync::redis::client {
 public:
  explicit local_client(boost::asio::any_io_executor const& ex) : client(ex) {
    detail::hub_of(*this)->attach(std::make_shared<local_strand>(), driver_);
  }

 private:
  std::shared_ptr<local_driver> driver_ = std::make_shared<local_driver>(*detail::hub_of(*this));
};

}  // namespace asio_sync::test::redis

#endif
