// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_HANDSHAKE_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_HANDSHAKE_HPP

#include <asio_sync/redis/detail/scripts/all.hpp>
#include <asio_sync/redis/detail/session/answers.hpp>
#include <asio_sync/redis/detail/session/requests.hpp>
#include <asio_sync/redis/detail/wire/resp.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace asio_sync::redis::detail {

struct login {
  std::string username, password;  // of ACL; without a user name the password is that of `default`
  std::string name;                // of the connection, if it is not empty
  int database = 0;
};

// Begins a new connection before the session uses it: logs in, learns what server this is,
// subscribes to a channel and loads the scripts. All of it is sent at once.
class handshake {
 public:
  enum class progress : std::uint8_t {
    goes_on,   // an answer is missing
    complete,  // append_call() can be used
    failed,    // close the connection, and try another one
    refused    // likewise, if the server has served this client before: see why()
  };

  // Appends the commands to `out`. Throws what the memory for them throws.
  void begin(std::string& out, login const& as, std::string_view channel);

  // Takes the next message of the server. A push that comes before the session can take it is
  // passed over: the next beat learns of a grant, and `open` of the loss of data.
  progress take(resp::value message);

  // Return the reason of `failed` and `refused`, and what to tell people about it.
  failure why() const noexcept { return why_; }
  std::string const& text() const noexcept { return text_; }

  // Appends a call of a script. Throws what the memory for it throws.
  void append_call(std::string& out, request const& r);

 private:
  enum class step : std::uint8_t { hello, select, info, subscribe, track, load, end };

  static std::string_view line_of(std::string_view info, std::string_view name) noexcept;

  progress refuse(failure why, std::string_view text) {
    why_ = why;
    text_ = text;
    return progress::refused;
  }

  progress take_error(resp::value message);
  progress take_info(std::string_view info);
  progress take_digest(std::string_view digest);

  step step_ = step::hello;
  bool selects_ = false;
  std::size_t loaded_ = 0;
  failure why_ = failure::none;
  std::string text_;
  std::array<std::string, scripts::all.size()> digests_;
  std::vector<std::string_view> arguments_;
};

inline void handshake::begin(std::string& out, login const& as, std::string_view channel) {
  arguments_ = {"HELLO", "3"};
  if (!as.password.empty() || !as.username.empty())
    arguments_.insert(
        arguments_.end(),
        {"AUTH", as.username.empty() ? "default" : std::string_view(as.username), as.password});
  if (!as.name.empty()) arguments_.insert(arguments_.end(), {"SETNAME", as.name});
  resp::append_command(out, arguments_);
  selects_ = as.database != 0;
  if (selects_) resp::append_command(out, {"SELECT", std::to_string(as.database)});
  resp::append_command(out, {"INFO", "server", "memory", "replication"});
  resp::append_command(out, {"SUBSCRIBE", channel});
  resp::append_command(out, {"CLIENT", "TRACKING", "ON", "OPTIN"});
  for (scripts::script const& each : scripts::all)
    resp::append_command(out, {"SCRIPT", "LOAD", scripts::text(each)});
}

inline handshake::progress handshake::take(resp::value message) {
  if (step_ > step::subscribe && message.type() == resp::kind::push) return progress::goes_on;
  if (message.type() == resp::kind::error && step_ != step::track) return take_error(message);
  switch (step_) {
    case step::hello:
      if (message.type() != resp::kind::map) break;
      step_ = selects_ ? step::select : step::info;
      return progress::goes_on;
    case step::select:
      if (message.type() != resp::kind::string) break;
      step_ = step::info;
      return progress::goes_on;
    case step::info:
      if (message.type() != resp::kind::string) break;
      return take_info(message.text());
    case step::subscribe:
      if (message.type() != resp::kind::push) break;
      step_ = step::track;
      return progress::goes_on;
    case step::track:  // a refusal costs only the early sign that the server has emptied its data
      step_ = step::load;
      return progress::goes_on;
    case step::load:
      if (message.text().size() != 40) break;
      return take_digest(message.text());
    case step::end: break;
  }
  why_ = failure::protocol_error;
  text_ = "the server answers in a way that does not belong to the handshake";
  return progress::failed;
}

inline handshake::progress handshake::take_error(resp::value message) {
  auto const [what, why] = consequence_of(message.code());
  bool const is_full = message.text().find("max number of clients") != std::string_view::npos;
  if (why == failure::access_denied) return refuse(why, message.text());
  if (what != reaction::reconnect && !is_full)
    return refuse(step_ == step::select ? failure::server_error : failure::unsupported_server,
                  message.text());
  why_ = why;
  text_ = message.text();
  return progress::failed;
}

// Returns what stands behind the name in a line of INFO, or nothing.
inline std::string_view handshake::line_of(std::string_view info, std::string_view name) noexcept {
  for (std::size_t at = info.find(name); at != std::string_view::npos;
       at = info.find(name, at + 1)) {
    std::size_t const end = at + name.size();
    if ((at == 0 || info[at - 1] == '\n') && end < info.size() && info[end] == ':')
      return info.substr(end + 1, info.find_first_of("\r\n", end) - end - 1);
  }
  return {};
}

inline handshake::progress handshake::take_info(std::string_view info) {
  std::string_view const version = line_of(info, "redis_version");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < 7) return refuse(failure::unsupported_server, "the server is older than Redis 7.0");
  std::string_view mode = line_of(info, "redis_mode");
  if (mode.empty()) mode = line_of(info, "server_mode");  // Valkey
  if (mode != "standalone")
    return refuse(failure::unsupported_server, "the server is not a standalone one");
  if (line_of(info, "role") != "master")
    return refuse(failure::not_a_master, "the server is a replica");
  if (line_of(info, "maxmemory_policy") != "noeviction")
    return refuse(failure::evicting_policy, "the server's maxmemory-policy is not noeviction");
  step_ = step::subscribe;
  return progress::goes_on;
}

inline handshake::progress handshake::take_digest(std::string_view digest) {
  digests_[loaded_++] = digest;
  if (loaded_ != digests_.size()) return progress::goes_on;
  step_ = step::end;
  return progress::complete;
}

inline void handshake::append_call(std::string& out, request const& r) {
  arguments_ = {"EVALSHA", digests_[static_cast<std::size_t>(r.what())], "0"};
  for (std::size_t i = 0; i != r.size(); ++i) arguments_.push_back(r[i]);
  resp::append_command(out, arguments_);
}

}  // namespace asio_sync::redis::detail

#endif
