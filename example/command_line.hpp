// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The command line of the examples and of the benchmarks: what they have in common, and what is
// not about asio_sync.

#ifndef ASIO_SYNC_EXAMPLE_COMMAND_LINE_HPP
#define ASIO_SYNC_EXAMPLE_COMMAND_LINE_HPP

#include <boost/program_options.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

namespace command_line {

namespace options = boost::program_options;

/// The program was called wrongly: one line on the standard error, and exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value of an option that is a number from `least` to `most`. `target` is an int, which holds
/// the default, or an std::optional, for an option without one.
template <class Number>
auto* number_option(std::string const& option, Number& target, int least, int most) {
  auto* const value = options::value<std::string>()->value_name("N")->notifier(
      [=, &target](std::string const& text) {
        int result = 0;
        char const* const end = text.data() + text.size();
        auto const [stop, error] = std::from_chars(text.data(), end, result);
        if (error != std::errc() || stop != end || result < least || result > most)
          throw usage_error("--" + option + " takes a number from " + std::to_string(least) +
                            " to " + std::to_string(most) + ", not '" + text + "'");
        target = result;
      });
  if constexpr (std::is_same_v<Number, int>) value->default_value(std::to_string(target));
  return value;
}

/// The value of an option that is a time with its unit, ms or s, from `least` to `most`; `target`
/// holds the default.
inline auto* time_option(std::string const& option, std::chrono::milliseconds& target,
                         std::chrono::milliseconds least = std::chrono::milliseconds(1),
                         std::chrono::milliseconds most = std::chrono::hours(1)) {
  auto const text_of = [](std::chrono::milliseconds time) {
    bool const is_whole = time.count() % 1000 == 0;
    return std::to_string(time.count() / (is_whole ? 1000 : 1)) + (is_whole ? "s" : "ms");
  };
  auto const read = [=, &target](std::string const& text) {
    int number = 0;
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, number);
    std::string const unit(stop, end);
    std::chrono::milliseconds time(number);
    if (unit == "s") time = std::chrono::seconds(number);
    if (error != std::errc() || (unit != "ms" && unit != "s") || time < least || time > most)
      throw usage_error("--" + option + " takes a time from " + text_of(least) + " to " +
                        text_of(most) + ", not '" + text + "'");
    target = time;
  };
  return options::value<std::string>()->value_name("TIME")->notifier(read)->default_value(
      text_of(target));
}

/// The arguments that are no options, in a program that takes some: what its usage says of them,
/// and what they are.
struct arguments {
  std::string usage;
  std::vector<std::string> given;
};

/// Reads the command line into what `description` has bound; false if it asked for help.
inline bool parse(int argc, char** argv, options::options_description const& description,
                  arguments* others) {
  namespace style = options::command_line_style;
  auto const parsed = options::command_line_parser(argc, argv)
                          .options(description)
                          .style(style::unix_style & ~style::allow_guessing)
                          .run();
  for (auto const& option : parsed.options) {
    if (option.position_key < 0) continue;
    if (!others) throw usage_error("unexpected argument '" + option.value.front() + "'");
    others->given.push_back(option.value.front());
  }
  options::variables_map values;
  options::store(parsed, values);
  if (values.count("help") != 0) return false;
  options::notify(values);
  return true;
}

/// The main function: reads the command line, answers --help, calls `body`, and makes an exit
/// status of it. 0: `body` has returned true, what the program shows did hold; 1: it did not, or
/// something failed; 2: the command line was wrong.
template <class Body>
int run(int argc, char** argv, std::string const& name, std::string const& purpose,
        options::options_description description, Body body, arguments* others = nullptr) {
  auto const fail = [&](int status, std::string line) {
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    std::cerr << name + ": " + line + "\n";
    return status;
  };
  try {
    description.add_options()("help", "show this help");
    bool held = true;
    if (parse(argc, argv, description, others))
      held = body();
    else
      std::cout << "Usage: " << name << " [OPTION...]" << (others ? " " + others->usage : "")
                << '\n'
                << purpose << "\n\n"
                << description;
    if (!std::cout.flush()) return fail(1, "cannot write to the standard output");
    return held ? 0 : fail(1, "what this example shows did not hold");
  } catch (usage_error const& error) {
    return fail(2, std::string(error.what()) + " (see --help)");
  } catch (options::error const& error) {
    return fail(2, std::string(error.what()) + " (see --help)");
  } catch (std::exception const& error) {
    return fail(1, error.what());
  }
}

}  // namespace command_line

#endif
