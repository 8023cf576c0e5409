// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Walks through the protocol of asio_sync::redis at random, over a server of its own. This is what
// `./dev walk` runs.

#include "redis/walk/walk.hpp"

#include <boost/program_options.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <random>

namespace {

namespace options = boost::program_options;
using namespace redis_walk;

// Returns the value of an option, from 1 to `most`.
std::uint64_t number(options::variables_map const& given, char const* name, std::uint64_t most) {
  auto const n = given[name].as<std::int64_t>();
  if (n < 1 || std::uint64_t(n) > most)
    throw options::error(std::string("--") + name + " takes a number from 1 to " +
                         std::to_string(most));
  return std::uint64_t(n);
}

// Walks, a round for each seed. Returns false if a rule was broken.
bool run(std::uint32_t seed, std::uint64_t calls) {
  auto const start = std::chrono::steady_clock::now();
  std::cout << "walk: --seed " << seed << " --calls " << calls << std::endl;
  world w(names_of(subjects));
  tally total;
  for (; total.calls < calls; ++seed) {
    std::string const problem = walk(w, seed, total).run(round_calls);
    if (problem.empty()) continue;
    std::cerr << problem << "\nwalk: failed; run it again with --seed " << seed << " --calls 1\n";
    return false;
  }
  std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
  std::cout << "walk: " << total << ", " << time.count() << " s\n";
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    options::options_description known("Options");
    auto add = known.add_options();
    add("help", "show this");
    add("seed", options::value<std::int64_t>()->default_value(std::random_device()() | 1u),
        "where to start, 1 to 4294967295; at random by default");
    add("calls", options::value<std::int64_t>()->default_value(100000),
        "how many calls of scripts, 1 to 1000000000");
    options::variables_map given;
    options::store(options::parse_command_line(argc, argv, known), given);
    if (given.count("help") != 0) {
      std::cout << known;
      return 0;
    }
    auto const seed = std::uint32_t(number(given, "seed", 4294967295));
    return run(seed, number(given, "calls", 1000000000)) ? 0 : 1;
  } catch (options::error const& e) {
    std::cerr << "walk: " << e.what() << " (see --help)\n";
    return 2;
  } catch (std::exception const& e) {
    std::cerr << "walk: " << e.what() << '\n';
    return 1;
  }
}
