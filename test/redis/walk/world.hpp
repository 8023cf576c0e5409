// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_WALK_WORLD_HPP
#define ASIO_SYNC_TEST_REDIS_WALK_WORLD_HPP

#include <asio_sync/redis/detail/scripts/all.hpp>
#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>

#include "redis/support/connection.hpp"
#include "redis/support/server.hpp"
#include "redis/walk/clock.hpp"
#include "redis/walk/snapshot.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redis_walk {

using namespace asio_sync::redis::detail;
using namespace std::chrono_literals;

// A server with the scripts, whose keys live on a clock of ours, and whose restarts are pretended.
class world {
 public:
  using image = std::vector<std::pair<std::string, std::string>>;

  explicit world(std::vector<std::string> objects) : objects_(std::move(objects)) {
    for (scripts::script const& each : scripts::all) {
      std::string const text = scripts::text(each, lua::life);
      if (text.size() == scripts::text(each).size())
        throw std::logic_error("the clock is not ours");
      scripts_.push_back(load(text));
    }
    nothing_ = load("return 0");
    clear();
  }

  // Begins anew, with an empty server at the first hour.
  void clear() {
    for (auto const& [client, count] : ears_) link_.send({"UNSUBSCRIBE", "as:ch:" + client});
    ears_.clear();
    now_ = milliseconds(1'700'000'000'000);
    lives_ = 0;
    flush();
    restart();
    pushes();
  }

  milliseconds now() const noexcept { return now_; }
  void pass(milliseconds time) noexcept { now_ += time; }
  // Counts the runs of the server, and its promotions from replica to master.
  unsigned life() const noexcept { return lives_; }
  snapshot const& seen() const noexcept { return seen_; }
  bool hears(std::string const& client) const { return ears_.count(client) != 0; }

  // --- Clients ---

  // Calls a script, and looks at what it has left. `chance` decides which sessions it sweeps.
  message call(request const& r, unsigned chance, bool looks = true) {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i != r.size(); ++i) arguments.emplace_back(r[i]);
    return run(scripts_.at(std::size_t(r.what())), chance, looks, arguments);
  }

  // Returns what was published since the last call.
  std::vector<std::string> pushes() { return link_.pushes(); }

  void subscribe(std::string const& client) {
    if (++ears_[client] == 1) link_.subscribe("as:ch:" + client);
  }
  void unsubscribe(std::string const& client) {
    if (--ears_[client] != 0) return;
    ears_.erase(client);
    link_.send({"UNSUBSCRIBE", "as:ch:" + client});
  }

  // Returns the answer of HLEN, ZCARD, SCARD and the like.
  std::int64_t count(std::string const& command, std::string const& key) {
    return link_({command, key}).number;
  }

  // --- Disasters ---

  void look() { run(nothing_, 0, true, {}); }

  void flush() { link_({"FLUSHALL"}); }

  // From now on it is another run of the server, with what is stored.
  void restart() {
    run_ = begin_life();
    promotion_.clear();
  }

  // The server has been a replica, and has what its master had.
  void promote() { promotion_ = begin_life(); }

  // The server forgets that it was a replica.
  void free_backlog() { promotion_.clear(); }

  // Returns the names of the keys that match, sorted, but not the walk's own.
  std::vector<std::string> keys(std::string const& pattern) {
    std::vector<std::string> names;
    for (message const& name : link_({"KEYS", pattern}).elements)
      if (!name.text.starts_with("walk:")) names.push_back(name.text);
    std::sort(names.begin(), names.end());
    return names;
  }

  void remove(std::string const& key) { link_({"DEL", key}); }

  image save() {
    image all;
    for (message const& name : link_({"KEYS", "*"}).elements)
      all.emplace_back(name.text, link_({"DUMP", name.text}).text);
    return all;
  }
  void restore(image const& all) {
    flush();
    for (auto const& [name, value] : all) link_({"RESTORE", name, "0", value});
  }

 private:
  std::string load(std::string const& text) {
    message const answer =
        link_({"SCRIPT", "LOAD", std::string(lua::before) + text + std::string(lua::after)});
    if (answer.is_error()) throw std::runtime_error(answer.text);
    return answer.text;
  }

  // Returns what the server answers to INFO.
  std::string info() const {
    bool const was_replica = !promotion_.empty();
    return "run_id:" + run_ + "\r\nmaster_replid2:" + (was_replica ? promotion_ : "0") +
           "\r\nsecond_repl_offset:" + (was_replica ? "1" : "-1") + "\r\n";
  }

  message run(std::string const& digest, unsigned chance, bool looks,
              std::vector<std::string> const& arguments) {
    std::vector<std::string> command{"EVALSHA",
                                     digest,
                                     std::to_string(looks ? 3 + objects_.size() : 3),
                                     std::to_string(now_.count()),
                                     std::to_string(chance),
                                     info()};
    if (looks) command.insert(command.end(), objects_.begin(), objects_.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    message answer = link_(command);
    if (answer.is_error()) throw std::runtime_error(answer.text);
    if (looks) seen_ = snapshot(answer, objects_);
    return answer.elements.at(0);
  }

  // Returns its number. It takes time, because the epoch of an empty server is the time.
  std::string begin_life() {
    pass(milliseconds(1));
    return std::to_string(++lives_);
  }

  asio_sync::test::redis::server server_;
  asio_sync::test::redis::connection link_{server_.socket()};
  std::vector<std::string> const objects_;
  std::vector<std::string> scripts_;
  std::string nothing_;
  milliseconds now_{0};
  unsigned lives_ = 0;
  std::string run_, promotion_;
  std::map<std::string, unsigned> ears_;  // connections by client, at the server
  snapshot seen_;
};

// --- Answers, as the session takes them ---

inline token_state decode_state(message const* m) {
  token_state s;
  s.where = m[0].number == 1   ? standing::holds
            : m[0].number == 0 ? standing::waits
            : m[0].number == 2 ? standing::parked
                               : standing::unknown;
  s.number = std::uint64_t(m[1].number);
  if (m[2].number >= 0) s.hint = milliseconds(m[2].number);
  return s;
}

// Returns the state of one token, perhaps with the variables of a monitor.
inline answer decode_state(std::vector<message> const& parts) {
  if (parts.size() != 3 && parts.size() != 4) return malformed{};
  token_state s = decode_state(parts.data());
  if (parts.size() == 4) s.variables = parts[3].text;
  return s;
}

// Returns the answer of a script. `states` keeps those of a beat.
inline answer decode(script what, message const& m, std::vector<token_state>& states) {
  auto const& parts = m.elements;
  if (m.is_error()) return refusal{m.text};
  switch (what) {
    case script::open:
      if (parts.size() != 3) break;
      return opened{
          parts[0].number == 0, parts[1].text,
          parts[2].number < 0 ? std::nullopt : std::optional(milliseconds(parts[2].number))};
    case script::beat:
      states.clear();
      for (std::size_t i = 0; i + 2 < parts.size(); i += 3)
        states.push_back(decode_state(&parts[i]));
      return std::span<token_state const>(states);
    case script::acquire:
    case script::cond_wait:
    case script::unwait: return decode_state(parts);
    default: return m.number;
  }
  return malformed{};
}

}  // namespace redis_walk

#endif
