// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_BENCH_TABLE_HPP
#define ASIO_SYNC_BENCH_TABLE_HPP

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace asio_sync::bench {

// One line of the table: (measured - less) / limit, all of them names of the catalogue. The ratio
// has to be `at_the_latest` at most, and should be the goal.
struct ratio_row {
  std::string workload;
  std::string measured;
  std::string limit;
  std::optional<double> at_the_latest = {};
  std::optional<double> goal = {};
  std::string less = {};
};

std::vector<ratio_row> all_rows();

// One line of the table of scale: nanoseconds for each of so many, of the workloads
// "path/so many/subject".
struct scale_row {
  std::string workload;
  std::string path;
  std::string subject;
};

std::vector<scale_row> all_scale_rows();
std::vector<std::string> names_of(scale_row const& row);

// Nanoseconds by name, medians of the repetitions; of those that could be measured.
using medians = std::map<std::string, double>;

// What cannot be measured here, and why; empty if the name is measured.
std::string why_not_measured(std::string const& name);

void print_table(std::ostream& out, std::vector<ratio_row> const& rows, medians const& times);
void print_table(std::ostream& out, std::vector<scale_row> const& rows, medians const& times);

}  // namespace asio_sync::bench

#endif
