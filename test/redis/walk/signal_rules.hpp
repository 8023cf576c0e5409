// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_SIGNAL_RULES_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_SIGNAL_RULES_HPP

#include <asio_sync/redis/detail/session/requests.hpp>

#include "redis/walk/snapshot.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace redis_walk {

using namespace asio_sync::redis::detail;

// A client has asked for a signal, or has had its answer, without an error.
struct signal_news {
  std::uint64_t number;             // no other signal has it
  std::string kind;                 // object, condition and count
  std::set<std::string> clients{};  // the identifiers that its client has had
  bool is_answered = false;
};

inline std::string kind_of_signal(std::string_view object, std::string_view condition,
                                  std::string_view number) {
  return std::string(object).append(" ").append(condition).append(" ").append(number);
}

// Counts the signals that are executed.
class signal_rules {
 public:
  void begin_round() {
    executed_.clear();
    asked_.clear();
    numbers_.clear();
    begin();
  }

  // The server may have forgotten which it has executed.
  void begin() { remembered_.clear(); }

  // Returns the rule that this call has broken, or nothing.
  std::string operator()(snapshot const& now, request const& r, message const& reply) {
    is_new_ = false;
    if (r.what() != script::signal || reply.is_error()) return "";
    std::string const sid(r[1]);
    std::pair const number(sid, std::string(r[3]));
    is_new_ = numbers_.insert(number).second;
    ++executed_[{client_of(sid), kind_of_signal(r[2], r[4], r[5])}];
    bool const is_repeated = !remembered_.insert(number).second;
    if (is_repeated && now.is_alive(sid) && reply.number != 0)
      return "a repeated signal notifies again";
    return "";
  }

  // Returns the rule that is broken if a client knows this, or nothing.
  std::string operator()(signal_news const& told) {
    std::uint64_t count = 0;
    for (std::string const& client : told.clients)
      if (auto const e = executed_.find({client, told.kind}); e != executed_.end())
        count += e->second;
    if (!told.is_answered) asked_[told.number] = count;
    return told.is_answered && count == asked_[told.number]
               ? "a signal is answered that has not been executed"
               : "";
  }

  // True if the last call was a signal, executed for the first time.
  bool is_new() const noexcept { return is_new_; }

 private:
  using numbers = std::set<std::pair<std::string, std::string>>;  // sessions and their numbers

  std::map<std::pair<std::string, std::string>, std::uint64_t> executed_;  // by client and kind
  std::map<std::uint64_t, std::uint64_t> asked_;  // of its kind executed before, by number
  numbers numbers_, remembered_;                  // in this round; known to the server
  bool is_new_ = false;
};

}  // namespace redis_walk

#endif
