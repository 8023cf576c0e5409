// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The benchmarks: ./dev bench. Prints the table of ratios against the targets.

#include <bench/table.hpp>
#include <bench/workload.hpp>
#include <example/command_line.hpp>

#include <benchmark/benchmark.h>
#include <boost/config.hpp>
#include <boost/version.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_sync::bench;

namespace options = command_line::options;
using command_line::usage_error;

struct settings {
  std::string filter;
  std::optional<int> repetitions;
  bool quick = false;
  std::string json;
};

// A number at the end of the filter is a whole number: W1 is not W10.
bool matches(std::string const& name, std::string const& filter) {
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = name.find(filter); at != name.npos; at = name.find(filter, at + 1)) {
    std::size_t const end = at + filter.size();
    if (filter.empty() || end == name.size() || !is_digit(filter.back()) || !is_digit(name[end]))
      return true;
  }
  return false;
}

// What is asked for.
struct tables {
  std::vector<ratio_row> ratios;
  std::vector<scale_row> scales;
};

tables tables_of(std::string const& filter) {
  tables result{all_rows(), all_scale_rows()};
  std::erase_if(result.ratios, [&](auto const& row) { return !matches(row.workload, filter); });
  std::erase_if(result.scales,
                [&](auto const& row) { return !matches("scale " + row.workload, filter); });
  if (result.ratios.empty())
    throw usage_error("--filter: no workload has '" + filter + "' in its name");
  return result;
}

void measure(benchmark::State& state, description const& what) {
  workload const work = what.make();
  auto const prepare = [&] {
    if (work.prepare) work.prepare(what.units);
  };
  prepare();
  work.run(what.units);
  for ([[maybe_unused]] auto _ : state) {
    if (work.prepare) {
      state.PauseTiming();
      prepare();
      state.ResumeTiming();
    }
    work.run(what.units);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(what.units));
}

std::set<std::string> names_of(tables const& asked) {
  std::set<std::string> names;
  for (ratio_row const& row : asked.ratios) names.insert({row.measured, row.limit, row.less});
  for (scale_row const& row : asked.scales)
    for (std::string& name : names_of(row)) names.insert(std::move(name));
  names.erase("");
  std::erase_if(names, [](auto const& name) { return !why_not_measured(name).empty(); });
  return names;
}

// Google Benchmark runs what is registered; the catalogue has to outlive it.
void register_all(std::set<std::string> const& names, catalogue const& all) {
  for (std::string const& name : names) {
    description const& what = *find(all, name);
    auto* const registered = benchmark::RegisterBenchmark(
        name.c_str(), [&what](benchmark::State& state) { measure(state, what); });
    if (what.threads) registered->UseRealTime();
  }
}

// Collects the nanoseconds of one unit, of each repetition, and writes all to a file, if one is
// named: one file for several runs.
class collector : public benchmark::BenchmarkReporter {
 public:
  explicit collector(std::string const& file) {
    if (file.empty()) return;
    stream_.open(file);
    if (!stream_) throw std::runtime_error("cannot write '" + file + "'");
    json_.SetOutputStream(&stream_);
  }

  bool ReportContext(Context const& context) override {
    if (!std::exchange(started_, true) && stream_.is_open()) json_.ReportContext(context);
    return true;
  }

  void ReportRuns(std::vector<Run> const& runs) override {
    if (stream_.is_open()) json_.ReportRuns(runs);
    for (Run const& run : runs)
      if (run.run_type == Run::RT_Iteration)
        times_[run.run_name.function_name].push_back(1e9 / run.counters.at("items_per_second"));
  }

  asio_sync::bench::medians finish() {
    if (stream_.is_open()) json_.Finalize();
    asio_sync::bench::medians result;
    for (auto& [name, times] : times_) {
      auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::nth_element(times.begin(), middle, times.end());
      result[name] = *middle;
    }
    return result;
  }

 private:
  std::ofstream stream_;
  benchmark::JSONReporter json_;
  bool started_ = false;
  std::map<std::string, std::vector<double>> times_;
};

void run(std::set<std::string> const& names, catalogue const& all, collector& results) {
  if (names.empty()) return;
  register_all(names, all);
  benchmark::RunSpecifiedBenchmarks(&results);
  benchmark::ClearRegisteredBenchmarks();
}

void initialize(char* program, settings const& set) {
  std::vector<std::string> arguments = {
      "--benchmark_enable_random_interleaving=true",
      "--benchmark_repetitions=" + std::to_string(set.repetitions.value_or(set.quick ? 3 : 9)),
      std::string("--benchmark_min_time=") + (set.quick ? "0.005" : "0.05"),
  };
  std::vector<char*> pointers = {program};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

// What needs one thread first, then what needs more.
medians run_all(char* program, settings const& set, tables const& asked, catalogue const& all) {
  collector results(set.json);
  initialize(program, set);
  std::set<std::string> of_one_thread = names_of(asked);
  std::set<std::string> of_more;
  for (auto name = of_one_thread.begin(); name != of_one_thread.end();) {
    auto const each = name++;
    if (is_with_threads(*each) || find(all, *each)->threads)
      of_more.insert(of_one_thread.extract(each));
  }
  run(of_one_thread, all, results);
  have_second_thread();
  run(of_more, all, results);
  benchmark::Shutdown();
  return results.finish();
}

bool show(char* program, settings const& set) {
  tables const asked = tables_of(set.filter);
  catalogue all;
  add_handler_workloads(all);
  add_free_lock_workloads(all);
  add_section_workloads(all);
  add_free_semaphore_workloads(all);
  add_semaphore_workloads(all);
  add_shared_mutex_workloads(all);
  add_event_workloads(all);
  add_flags_workloads(all);
  add_latch_workloads(all);
  add_barrier_workloads(all);
  add_condition_workloads(all);
  add_enumerator_workloads(all);
  add_group_workloads(all);
  add_monitor_workloads(all);
  add_lock_all_workloads(all);
  add_keyed_mutex_workloads(all);
  add_scale_workloads(all);
  add_http_workloads(all);
  add_bare_http_workload(all);
  add_limit_workloads(all);
  add_alternative_workloads(all);
  medians const times = run_all(program, set, asked, all);
  std::cout << BOOST_COMPILER << ", Boost " << BOOST_LIB_VERSION << '\n';
  print_table(std::cout, asked.ratios, times);
  print_table(std::cout, asked.scales, times);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  settings set;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("filter", options::value(&set.filter)->value_name("TEXT"),
       "only the workloads with it in their name")
      ("repetitions", command_line::number_option("repetitions", set.repetitions, 1, 1000),
       "of each: 1 to 1000; 9, or with --quick 3, unless given")
      ("quick", options::bool_switch(&set.quick), "shorter")
      ("json", options::value(&set.json)->value_name("FILE"), "all results, too");
  // clang-format on
  return command_line::run(argc, argv, "bench", "Measures async_mutex beside what bounds it.",
                           description, [&] { return show(argv[0], set); });
}
