// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_MODEL_SCHEDULE_HPP
#define ASIO_SYNC_TEST_MODEL_SCHEDULE_HPP

#include <charconv>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace model::detail {

/// A choice is of the thread that takes a step, of a number out of `choose`, or of the store that
/// a load returns: so many before the newest. A load that returns the newest makes no choice.
enum class choice_of { thread, data, stale };

/// What was decided at one point of a run.
struct choice {
  choice_of kind;
  int value;

  bool operator==(const choice&) const = default;
};

/// One line of a run's trace. The operation is null unless a thread takes a step.
struct event {
  choice what;
  int thread;
  const char* operation;
  const void* object;
};

inline const char* prefix(choice_of kind) {
  return kind == choice_of::data ? "c" : kind == choice_of::stale ? "s" : "";
}

/// `0x3.1.c2.2.s1`: three steps of thread 0, one of thread 1, 2 out of a `choose`; a step of
/// thread 2, which reads the value before the newest.
inline std::string to_text(const std::vector<event>& events) {
  std::string text;
  for (std::size_t i = 0; i < events.size();) {
    const choice what = events[i].what;
    std::size_t same = 1;
    while (i + same < events.size() && events[i + same].what == what) {
      ++same;
    }
    text += (text.empty() ? "" : ".") + std::string(prefix(what.kind));
    text += std::to_string(what.value) + (same > 1 ? "x" + std::to_string(same) : "");
    i += same;
  }
  return text;
}

inline std::vector<choice> parse(std::string_view text) {
  std::vector<choice> choices;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto accept = [&](char wanted) { return at != end && *at == wanted && ++at; };
  const auto number = [&] {
    int value = 0;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || value < 0) {
      throw std::invalid_argument("not a schedule: " + std::string(text));
    }
    at = rest;
    return value;
  };
  while (at != end) {
    const choice_of kind = accept('c')   ? choice_of::data
                           : accept('s') ? choice_of::stale
                                         : choice_of::thread;
    const choice what{kind, number()};
    choices.insert(choices.end(), accept('x') ? static_cast<std::size_t>(number()) : 1, what);
    if (at != end && (!accept('.') || at == end)) {
      throw std::invalid_argument("not a schedule: " + std::string(text));
    }
  }
  return choices;
}

/// Numbers the objects of a run in the order of their appearance, as addresses tell nothing.
class object_names {
 public:
  explicit object_names(const std::vector<event>& events) {
    for (const event& each : events) {
      static_cast<void>((*this)(each.object));
    }
  }

  std::string operator()(const void* object) {
    if (object == nullptr) {
      return {};
    }
    return " #" + std::to_string(numbers_.try_emplace(object, numbers_.size() + 1).first->second);
  }

 private:
  std::map<const void*, std::size_t> numbers_;
};

inline std::string to_name(int thread) {
  return thread < 0 ? "the scenario" : "thread " + std::to_string(thread);
}

/// The last steps of a run, a line for each.
inline std::string to_trace(const std::vector<event>& events) {
  constexpr std::size_t most = 200;
  object_names name{events};
  std::string text;
  for (std::size_t i = events.size() > most ? events.size() - most : 0; i < events.size(); ++i) {
    const event& each = events[i];
    text += "  " + std::to_string(i + 1) + "  " + to_name(each.thread) + ": ";
    switch (each.what.kind) {
      case choice_of::thread: text += each.operation + name(each.object); break;
      case choice_of::data: text += "choose " + std::to_string(each.what.value); break;
      case choice_of::stale:
        text += "reads a stale value, " + std::to_string(each.what.value) + " before the newest";
    }
    text += '\n';
  }
  return text;
}

}  // namespace model::detail

#endif
