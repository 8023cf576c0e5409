// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_INSPECTION_READER_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_INSPECTION_READER_HPP

#include <asio_sync/redis/detail/wire/resp.hpp>
#include <asio_sync/redis/inspection.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace asio_sync::redis::detail {

// Reads the answer of `inspect`. Its numbers are as somebody has stored them: a negative one
// becomes 0.
class inspection_reader {
 public:
  // Returns false for a message that is no such answer. Throws what the memory for it throws.
  static bool read(resp::value message, inspection& found) {
    if (!is_array_of(message, 9) || message.size() != 9) return false;
    auto at = message.begin();
    resp::value const kind = *at, capacity = *++at, used = *++at, gate = *++at,
                      holder_count = *++at, waiter_count = *++at, parked_count = *++at,
                      holders = *++at, waiters = *++at;
    for (resp::value const each : {capacity, used, gate, holder_count, waiter_count, parked_count})
      if (each.type() != resp::kind::number) return false;
    if (kind.type() != resp::kind::string) return false;
    found.kind = kind.text();
    found.capacity = number(capacity);
    found.used = number(used);
    found.gate = std::chrono::milliseconds(number(gate));
    found.holder_count = number(holder_count);
    found.waiter_count = number(waiter_count);
    found.condition_waiter_count = number(parked_count);
    bool const is_whole =
        read(holders, found.holders,
             [](inspection::holder& h, std::uint64_t fence, std::uint64_t age) {
               h.fence = fence;
               h.age = std::chrono::milliseconds(age);
             }) &&
        read(waiters, found.waiters,
             [](inspection::waiter& w, std::uint64_t ticket, std::uint64_t is_reachable) {
               w.ticket = ticket;
               w.is_reachable = is_reachable != 0;
             });
    std::sort(found.holders.begin(), found.holders.end(),
              [](auto const& a, auto const& b) { return a.fence < b.fence; });
    return is_whole;
  }

 private:
  static constexpr std::size_t width = 5;  // of a member

  static bool is_array_of(resp::value v, std::size_t n) noexcept {
    return v.type() == resp::kind::array && v.size() % n == 0;
  }

  static std::uint64_t number(resp::value v) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(v.number(), 0));
  }

  // Reads members, and has `finish` take what only this kind of members has.
  template <class Member, class Finish>
  static bool read(resp::value from, std::vector<Member>& to, Finish finish) {
    if (!is_array_of(from, width)) return false;
    to.resize(from.size() / width);
    auto at = from.begin();
    for (Member& m : to) {
      resp::value const session = *at, who = *++at, first = *++at, weight = *++at, last = *++at;
      ++at;
      for (resp::value const each : {first, weight, last})
        if (each.type() != resp::kind::number) return false;
      m.session = session.text();
      m.who = who.text();
      m.is_alive = who.type() == resp::kind::string;
      m.weight = number(weight);
      finish(m, number(first), number(last));
    }
    return true;
  }
};

}  // namespace asio_sync::redis::detail

#endif
