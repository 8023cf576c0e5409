// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_REDIS_SUPPORT_FALSE_ANSWERS_HPP
#define ASIO_SYNC_TEST_REDIS_SUPPORT_FALSE_ANSWERS_HPP

#include "support/test.hpp"

#include <asio_sync/redis/detail/scripts/all.hpp>
#include <asio_sync/redis/detail/wire/resp.hpp>

namespace asio_sync::test::redis {

/// The bytes that a false server sends for a command, and how.
struct lie {
  enum class manner { at_once, byte_by_byte, for_ever };

  std::optional<std::string> bytes = {};  // the truth; an empty text: it is silent
  manner how = manner::at_once;
  bool closes = false;  // afterwards
};

/// Returns the lie about a command, or nothing for the truth. The text is "connect", or the name
/// of a command or script. Called on the thread of the server.
using liar = std::function<std::optional<lie>(std::string const&)>;

/// Returns a liar about one command, or about all of them if there is no name.
inline liar lies(std::string const& about, lie const& told) {
  return [about, told](std::string const& what) {
    bool const tells = what == about || (about.empty() && what != "connect");
    return tells ? std::optional(told) : std::nullopt;
  };
}

/// The words of a command.
using words = std::vector<std::string>;

inline words words_of(asio_sync::redis::detail::resp::value command) {
  words all;
  for (auto const word : command) all.emplace_back(word.text());
  return all;
}

inline std::string blob(std::string const& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

/// Returns the answer to INFO of a server of this version.
inline std::string info(std::string const& version) {
  return blob("redis_version:" + version +
              "\r\nredis_mode:standalone\r\nmaxmemory_policy:noeviction\r\nrole:master\r\n");
}

/// The answers on one connection to a server that grants every lock, and keeps nothing.
class false_answers {
 public:
  /// Returns the first word of a command, or the name of the script that it calls.
  std::string name(words const& command) const {
    if (command[0] != "EVALSHA") return command[0];
    auto const digit = static_cast<std::size_t>(command[1].back() - '0');
    return std::string(asio_sync::redis::detail::scripts::all[digit].name);
  }

  std::string answer(words const& command) {
    std::string const what = name(command);
    if (what == "HELLO") return "%1\r\n+server\r\n+redis\r\n";
    if (what == "INFO") return info("7.0.15");
    if (what == "SUBSCRIBE") return ">3\r\n+subscribe\r\n" + blob(command[1]) + ":1\r\n";
    if (what == "CLIENT") return "+OK\r\n";
    if (what == "SCRIPT") return blob(std::string(39, '0') + char('0' + scripts_++));
    if (what == "open") return opened(command[12] == "new" ? 1 : 0);
    if (what == "acquire") return held(1);
    if (what == "beat") return held(tokens(command));
    return what == "shutdown" ? ":0\r\n" : ":1\r\n";
  }

  /// Returns the answer of `open`: 1 for a new session, 0 for one that is resumed.
  static std::string opened(int how) {
    return "*3\r\n:" + std::to_string(how) + "\r\n+e\r\n:-1\r\n";
  }

 private:
  static std::string held(std::size_t n) {
    std::string all = "*" + std::to_string(3 * n) + "\r\n";
    while (n-- != 0) all += ":1\r\n:1000\r\n:-1\r\n";
    return all;
  }

  // Returns how many tokens a beat names.
  static std::size_t tokens(words const& beat) {
    std::size_t all = 0;
    for (std::size_t group = 10 + std::stoul(beat[9]); group < beat.size();) {
      std::size_t const n = std::stoul(beat[group + 1]);
      all += n;
      group += 2 + n;
    }
    return all;
  }

  int scripts_ = 0;  // that were loaded
};

}  // namespace asio_sync::test::redis

#endif
