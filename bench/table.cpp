// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/table.hpp>
#include <bench/workload.hpp>

#include <boost/asio/detail/config.hpp>

#include <array>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace asio_sync::bench {

namespace {

using rows = std::vector<ratio_row>;
constexpr double as_fast = 1.0;  // as what people use today

std::string with(reactor r) { return r == reactor::present ? ", reactor" : ""; }

void add_uncontended(rows& all) {
  all.push_back({"W1 / compare-exchange pair", "W1/mutex", "W1/compare-exchange pair", 1.25, 1.1});
  all.push_back({"W1 / std::mutex", "W1/mutex", "W1/std::mutex", as_fast});
  all.push_back({"W1 / concurrent_channel", "W1/mutex", "W1/channel", as_fast});
  for (reactor const r : reactors) {
    all.push_back({"W2 / post" + with(r), "W2/mutex" + r, "W2/post" + r, 1.2, 1.05});
    all.push_back({"W2 / post to a strand" + with(r), "W2/mutex" + r, "W2/strand" + r, as_fast});
    all.push_back(
        {"W2 / concurrent_channel" + with(r), "W2/mutex" + r, "W2/channel" + r, as_fast});
  }
  all.push_back({"W2 / steady_timer, reactor", "W2/mutex/reactor", "W2/timer/reactor", as_fast});
}

void add_free_lock(rows& all) {
  struct target {
    std::string name, limit;
    double at_the_latest, goal, with_reactor, goal_with_reactor;
  };
  // as_tuple has no targets of its own with a reactor; those are its token's.
  target const targets[] = {
      {"deferred", "deferred", 0.12, 0.08, 0.05, 0.03},
      {"as_tuple(deferred)", "deferred", 0.2, 0.12, 0.05, 0.03},
      {"use_awaitable", "use_awaitable", 0.4, 0.3, 0.12, 0.1},
      {"as_tuple(use_awaitable)", "use_awaitable", 0.45, 0.35, 0.12, 0.1},
  };
  for (reactor const r : reactors) {
    for (target const& t : targets) {
      bool const idle = r == reactor::present;
      all.push_back({"W3 " + t.name + " / post(" + t.limit + ")" + with(r),
                     "W3/" + t.name + "/mutex" + r, "W3/" + t.limit + "/post" + r,
                     idle ? t.with_reactor : t.at_the_latest,
                     idle ? t.goal_with_reactor : t.goal});
    }
    for (std::string const token : {"deferred", "use_awaitable"}) {
      std::string const path = "W3/" + token;
      all.push_back({"W3 " + token + " / concurrent_channel" + with(r), path + "/mutex" + r,
                     path + "/channel" + r, as_fast});
      all.push_back({"W3 " + token + " / a trip through a strand" + with(r), path + "/mutex" + r,
                     path + "/strand" + r, as_fast});
    }
  }
  // A flag: no atomics, one thread.
  all.push_back({"W3 use_awaitable / steady_timer, reactor", "W3/use_awaitable/mutex/reactor",
                 "W3/use_awaitable/timer/reactor"});
  for (std::string const token : {"deferred", "use_awaitable"})
    all.push_back(
        {"W3 " + token + " / ready awaitable", "W3/" + token + "/mutex", "W3/ready awaitable"});
}

void add_contended(rows& all) {
  for (std::string const token : {"deferred", "use_awaitable"}) {
    bool const deferred = token == "deferred";
    std::string const path = "W4/" + token + "/";
    for (std::string const k : {"2", "8", "64", "1024"}) {
      ratio_row row{"W4 " + token + " / two posts, K = " + k, path + k + "/mutex",
                    path + k + "/two posts"};
      if (k != "1024") {
        row.at_the_latest = deferred ? 0.95 : 1.0;
        row.goal = deferred ? 0.85 : 0.9;
      }
      all.push_back(row);
    }
    for (std::string const k : {"2", "8", "64"}) {
      std::string const name = "W4 " + token + " / two serial posts, K = " + k;
      all.push_back({name, path + k + "/mutex", path + "two serial posts"});
      all.push_back({name + ", reactor", path + k + "/mutex/reactor",
                     path + "two serial posts/reactor", 1.05, 1.0});
    }
    for (reactor const r : reactors) {
      for (std::string const k : {"2", "64"}) {
        all.push_back({"W4 " + token + " / concurrent_channel, K = " + k + with(r),
                       path + k + "/mutex" + r, path + k + "/channel" + r, as_fast});
        all.push_back({"W4 " + token + " / two trips through a strand, K = " + k + with(r),
                       path + k + "/mutex" + r, path + k + "/strand" + r});
      }
    }
  }
  for (std::string const k : {"2", "64"}) {
    std::string const path = "W4/use_awaitable/" + k;
    all.push_back({"W4 use_awaitable / steady_timer, K = " + k + ", reactor",
                   path + "/mutex/reactor", path + "/timer/reactor", as_fast});
  }
  for (std::string const k : {"2", "8", "64"})
    all.push_back({"W4 hand-off, deferred / execute, K = " + k, "W4/deferred/" + k + "/mutex",
                   "W4/execute", 3.2, 2.0, "W4/deferred/" + k + "/post"});
}

void add_threads(rows& all) {
  for (std::string const token : {"deferred", "use_awaitable"}) {
    for (reactor const r : reactors) {
      for (std::string const k : {"2", "64"}) {
        std::string const path = "W5/" + token + "/" + k;
        std::string const name = "W5 " + token;
        all.push_back({name + " / no lock, K = " + k + with(r), path + "/mutex" + r,
                       path + "/no lock" + r, k == "2" ? 1.6 : 1.3, k == "2" ? 1.3 : 1.0});
        all.push_back({name + " / concurrent_channel, K = " + k + with(r), path + "/mutex" + r,
                       path + "/channel" + r, as_fast});
        all.push_back({name + " / two trips through a strand, K = " + k + with(r),
                       path + "/mutex" + r, path + "/strand" + r});
      }
      std::string const path = "W5b/" + token;
      all.push_back(
          {"W5b " + token + " / ping-pong" + with(r), path + "/mutex" + r, "W5b/ping-pong" + r});
      all.push_back({"W5b " + token + " / concurrent_channel" + with(r), path + "/mutex" + r,
                     path + "/channel" + r, as_fast});
    }
  }
  for (reactor const r : reactors) {
    std::string const measured = "W5b/to and fro/mutex" + r;
    all.push_back({"W5b to and fro / ping-pong" + with(r), measured, "W5b/ping-pong" + r});
    all.push_back({"W5b to and fro / concurrent_channel" + with(r), measured,
                   "W5b/to and fro/channel" + r, as_fast});
  }
}

void add_queue(rows& all) {
  for (reactor const r : reactors) {
    std::string const measured = "W6/1000/mutex" + r;
    ratio_row row{"W6 / post of 1000" + with(r), measured, "W6/1000/post" + r};
    // Each hand-off is a trip of its own, for which the reactor is asked; the posts are one.
    if (r == reactor::absent) {
      row.at_the_latest = 1.3;
      row.goal = 1.0;
    }
    all.push_back(row);
    all.push_back({"W6 / 1000 to a strand" + with(r), measured, "W6/1000/strand" + r});
    all.push_back(
        {"W6 / concurrent_channel, 1000" + with(r), measured, "W6/1000/channel" + r, as_fast});
  }
  all.push_back({"W6 / steady_timer, 1000, reactor", "W6/1000/mutex/reactor",
                 "W6/1000/timer/reactor", as_fast});
  all.push_back({"W6 / post of 1000000", "W6/1000000/mutex", "W6/1000000/post"});
  all.push_back({"W6 1000000 / 10000", "W6/1000000/mutex", "W6/10000/mutex", 1.3, 1.1});
}

void add_semaphore(rows& all) {
  for (reactor const r : reactors)
    for (std::string const token : {"deferred", "use_awaitable"}) {
      all.push_back({"W7 " + token + " / no lock" + with(r), "W7/" + token + "/semaphore" + r,
                     "W4/" + token + "/64/post" + r, 2.2, 1.8});
      all.push_back({"W3 semaphore " + token + " / mutex" + with(r),
                     "W3/" + token + "/semaphore" + r, "W3/" + token + "/mutex" + r, 1.3});
    }
}

void add_shared_mutex(rows& all) {
  for (reactor const r : reactors)
    for (std::string const token : {"deferred", "use_awaitable"}) {
      std::string const measured = "W9/" + token + "/shared mutex" + r;
      all.push_back({"W9 " + token + " / no lock" + with(r), measured,
                     "W4/" + token + "/64/post" + r, 2.0, 1.6});
      all.push_back({"W9 " + token + " / mutex" + with(r), measured,
                     "W4/" + token + "/64/mutex" + r, as_fast});
      for (std::string const mode : {"read", "write"})
        all.push_back({"W3 shared mutex, " + mode + " " + token + " / mutex" + with(r),
                       "W3/" + token + "/shared mutex, " + mode + r, "W3/" + token + "/mutex" + r,
                       1.3});
    }
  for (std::string const token : {"deferred", "use_awaitable"})
    all.push_back({"W9 " + token + " / no lock, two threads",
                   "W9/two threads/" + token + "/shared mutex", "W5/" + token + "/64/no lock", 1.5,
                   1.2});
}

void add_event(rows& all) {
  for (reactor const r : reactors) {
    for (std::string const token : {"deferred", "use_awaitable"})
      all.push_back({"W3 event " + token + " / mutex" + with(r), "W3/" + token + "/event" + r,
                     "W3/" + token + "/mutex" + r, 1.3});
    ratio_row row{"W6 event / post of 1000" + with(r), "W6/1000/event" + r, "W6/1000/post" + r};
    if (r == reactor::absent) {
      row.at_the_latest = 1.5;
      row.goal = 1.1;
    }
    all.push_back(row);
  }
  all.push_back({"W6 event 1000000 / post", "W6/1000000/event", "W6/1000000/post"});
}

void add_flags(rows& all) {
  for (reactor const r : reactors) {
    for (std::string const token : {"deferred", "use_awaitable"}) {
      std::string const path = "W3/" + token;
      for (std::string const subject : {"auto event", "mailbox", "mailbox, look"}) {
        ratio_row row{"W3 " + subject + ' ' + token + " / mutex" + with(r),
                      path + '/' + subject + r, path + "/mutex" + r};
        if (subject != "mailbox") row.at_the_latest = 1.3;  // a raise beside the wait, no unlock
        all.push_back(row);
      }
      std::string const ball = "ping-pong/" + token;
      all.push_back({"ping-pong mailbox " + token + " / post" + with(r), ball + "/mailbox" + r,
                     path + "/post" + r});
      all.push_back({"ping-pong mailbox " + token + " / concurrent_channel" + with(r),
                     ball + "/mailbox" + r, ball + "/channel" + r, as_fast});
    }
  }
  all.push_back({"ping-pong mailbox use_awaitable / steady_timer, reactor",
                 "ping-pong/use_awaitable/mailbox/reactor",
                 "ping-pong/use_awaitable/timer/reactor", as_fast});
}

void add_latch(rows& all) {
  for (reactor const r : reactors)
    for (std::string const token : {"deferred", "use_awaitable"})
      all.push_back({"W3 latch " + token + " / mutex" + with(r), "W3/" + token + "/latch" + r,
                     "W3/" + token + "/mutex" + r, 1.3});
}

void add_condition(rows& all) {
  for (reactor const r : reactors) {
    for (std::string const token : {"deferred", "use_awaitable"})
      all.push_back({"W8 ping-pong " + token + " / post" + with(r),
                     "W8/" + token + "/condition" + r, "W3/" + token + "/post" + r, 1.5, 1.2});
    ratio_row notify_all{"W8 notify_all / post of 1000" + with(r),
                         "W8/notify_all/1000/condition" + r, "W6/1000/post" + r};
    if (r == reactor::absent) notify_all.at_the_latest = 1.5, notify_all.goal = 1.1;
    all.push_back(notify_all);
    all.push_back({"W8 waits and notify_all / post of 1000" + with(r),
                   "W8/waits and notify_all/1000/condition" + r, "W6/1000/post" + r});
  }
}

// Steps that wait for one completion each, beside a coroutine.
void add_enumerator(rows& all) {
  for (reactor const r : reactors)
    all.push_back({"steps of an enumerator, one post each / post deferred" + with(r),
                   "steps/post/enumerator" + r, "W3/deferred/post" + r});
}

// For each of a hundred operations.
void add_group(rows& all) {
  for (reactor const r : reactors) {
    all.push_back({"fork and join, group / counter and timer" + with(r), "fork/group" + r,
                   "fork/counter" + r});
    all.push_back({"fork and join, group / make_parallel_group" + with(r), "fork/group" + r,
                   "fork/parallel_group" + r, as_fast});
  }
}

// What the primitives take of a server's requests per second: at most 3 %.
void add_http(rows& all) {
  all.push_back(
      {"requests, http_server / without primitives", "http/primitives", "http/bare", 1 / 0.97});
}

// Entered and left; and a function that runs inside.
void add_monitor(rows& all) {
  for (reactor const r : reactors) {
    for (std::string const token : {"deferred", "use_awaitable"})
      all.push_back({"W3 monitor " + token + " / mutex" + with(r), "W3/" + token + "/monitor" + r,
                     "W3/" + token + "/mutex" + r, 1.3});
    all.push_back({"W2 monitor / post to a strand" + with(r), "W2/monitor" + r, "W2/strand" + r});
    all.push_back({"invoke on the strand / mutex and post to a strand" + with(r),
                   "invoke/deferred/monitor" + r, "invoke/deferred/mutex and strand" + r,
                   as_fast});
  }
}

// So many mutexes at once, beside one.
void add_lock_all(rows& all) {
  for (reactor const r : reactors)
    for (std::string const token : {"deferred", "use_awaitable"})
      for (int const k : {2, 4}) {
        std::string const subject = "/lock_all " + std::to_string(k);
        ratio_row row{"W3 lock_all of " + std::to_string(k) + ' ' + token + " / mutex" + with(r),
                      "W3/" + token + subject + r, "W3/" + token + "/mutex" + r};
        if (token == "deferred") row.at_the_latest = 1.5 * k;
        all.push_back(row);
        all.push_back(
            {"W4 lock_all of " + std::to_string(k) + ' ' + token + " / mutex, K = 64" + with(r),
             "W4/" + token + "/64" + subject + r, "W4/" + token + "/64/mutex" + r});
      }
}

// Once more, with a second thread: what needs no atomic operations without one. A pair of them is
// the least that a lock takes then, which some targets allow for.
void add_second_thread(rows& all) {
  rows again;
  for (ratio_row row : all) {
    if (!row.at_the_latest || row.measured.ends_with("/reactor")) continue;
    if (row.workload == "W2 / post") row.at_the_latest = 1.5, row.goal = 1.3;
    if (row.workload == "W3 deferred / post(deferred)") row.at_the_latest = 0.22, row.goal = 0.18;
    row.workload += ", threads";
    for (std::string* const name : {&row.measured, &row.limit, &row.less})
      if (!name->empty()) *name += with_threads;
    again.push_back(row);
  }
  all.insert(all.end(), again.begin(), again.end());
}

void add_timed(rows& all) {
  for (reactor const r : reactors) {
    for (std::string const token : {"deferred", "use_awaitable"}) {
      std::string const free = "W10/free/" + token;
      all.push_back({"W10 free " + token + ", timed / untimed" + with(r), free + "/timed" + r,
                     "W3/" + token + "/mutex" + r, 1.3, 1.1});
      all.push_back({"W10 free " + token + ", timed / lock || timer" + with(r),
                     free + "/timed" + r, "W10/free/use_awaitable/lock || timer" + r, 0.05, 0.01});
      all.push_back({"W10 free " + token + ", timed / cancel_after" + with(r), free + "/timed" + r,
                     free + "/cancel_after" + r, as_fast});
    }
  }
  for (std::string const token : {"deferred", "use_awaitable"}) {
    std::string const path = "W10/contended/" + token;
    std::string const name = "W10 contended " + token;
    all.push_back({name + ", timed / untimed, reactor", path + "/timed/reactor",
                   "W4/" + token + "/64/mutex/reactor", 1.3, 1.15});
    all.push_back({name + ", timed / lock || timer, reactor", path + "/timed/reactor",
                   "W10/contended/use_awaitable/lock || timer/reactor", as_fast});
    all.push_back({name + ", timed / cancel_after, reactor", path + "/timed/reactor",
                   path + "/cancel_after/reactor", as_fast});
  }
  all.push_back({"W10 queue of 1000, timed / untimed, reactor", "W10/queue/timed/reactor",
                 "W6/1000/mutex/reactor", 1.3, 1.15});
}

void add_cancelled(rows& all) {
  all.push_back({"W11 in order, 100000 / 1000", "W11/in order/100000/mutex",
                 "W11/in order/1000/mutex", 1.3, 1.1});
  for (std::string const order : {"in order", "at random"})
    all.push_back({"W11 " + order + ", 100000 / slots that post", "W11/" + order + "/100000/mutex",
                   "W11/" + order + "/100000/slots that post"});
  all.push_back({"W11 in order, 1000 / concurrent_channel", "W11/in order/1000/mutex",
                 "W11/in order/1000/channel", as_fast});
  all.push_back({"W11 at random, 10000 / concurrent_channel", "W11/at random/10000/mutex",
                 "W11/at random/10000/channel", 0.01, 0.005});
}

std::string path_of(scale_row const& row, std::size_t n) {
  return row.path + "/" + std::to_string(n) + "/" + row.subject;
}

void add_scale(rows& all) {
  std::size_t const few = std::begin(scale)[0];
  std::size_t const many = std::rbegin(scale)[0];
  std::string const sizes = ", " + std::to_string(many) + " / " + std::to_string(few);
  for (scale_row const& row : all_scale_rows()) {
    ratio_row ratio{"scale " + row.workload + sizes, path_of(row, many), path_of(row, few)};
    if (row.subject == "mutex") {
      ratio.at_the_latest = 1.3;
      ratio.goal = 1.1;
    }
    all.push_back(ratio);
  }
  for (std::string const order : {"in order", "at random"}) {
    std::string const size = "/" + std::to_string(many);
    std::string const cancelled = "W11/" + order + size;
    std::string const timed_out = "scale/timed out " + order + size;
    all.push_back({"scale cancelled " + order + " / slots that post, 1000000",
                   cancelled + "/mutex", cancelled + "/slots that post"});
    all.push_back({"scale timed out " + order + " / a steady_timer each, 1000000",
                   timed_out + "/mutex", timed_out + "/timers", as_fast});
  }
  all.push_back({"scale 4 waits on each of 1000 mutexes / 4000 on one",
                 "scale/4 waits each/1000 mutexes", "W6/4000/mutex"});
  all.push_back({"scale 1000 free mutexes / one", "scale/free/1000 mutexes", "W3/deferred/mutex"});
}

using line = std::array<std::string, 5>;
constexpr int name_width = 64;

std::string number(std::optional<double> value) {
  if (!value) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(*value < 0.1 ? 4 : 2) << *value;
  return text.str();
}

enum class verdict { goal, kept, above, no_target, not_measured };
constexpr char const* verdict_names[] = {"goal", "kept", "ABOVE", "", "not measured"};

std::string why_not(ratio_row const& row, medians const& times) {
  for (std::string const& name : {row.measured, row.limit, row.less}) {
    if (name.empty() || times.contains(name)) continue;
    std::string const reason = why_not_measured(name);
    return reason.empty() ? "it did not run" : reason;
  }
  return {};
}

double ratio(ratio_row const& row, medians const& times) {
  double const less = row.less.empty() ? 0 : times.at(row.less);
  return (times.at(row.measured) - less) / times.at(row.limit);
}

verdict judge(ratio_row const& row, double ratio) {
  if (!row.at_the_latest) return verdict::no_target;
  if (ratio > *row.at_the_latest) return verdict::above;
  return ratio <= row.goal.value_or(*row.at_the_latest) ? verdict::goal : verdict::kept;
}

void print(std::ostream& out, line const& cells) {
  out << std::left << std::setw(name_width) << cells[0] << std::right;
  for (std::size_t i = 1; i != 4; ++i) out << std::setw(i == 2 ? 15 : 9) << cells[i];
  out << "  " << cells[4] << '\n';
}

}  // namespace

std::vector<ratio_row> all_rows() {
  rows all;
  add_uncontended(all);
  add_free_lock(all);
  add_contended(all);
  add_queue(all);
  add_semaphore(all);
  add_shared_mutex(all);
  add_event(all);
  add_flags(all);
  add_latch(all);
  add_condition(all);
  add_enumerator(all);
  add_group(all);
  add_monitor(all);
  add_http(all);
  add_lock_all(all);
  add_second_thread(all);
  add_threads(all);
  add_timed(all);
  add_cancelled(all);
  add_scale(all);
  return all;
}

std::vector<scale_row> all_scale_rows() {
  std::vector<scale_row> all = {{"queued", "scale/queued", "mutex"},
                                {"drained", "scale/drained", "mutex"},
                                {"post and run", "W6", "post"}};
  for (std::string const order : {"in order", "at random"}) {
    all.push_back({"cancelled " + order, "W11/" + order, "mutex"});
    all.push_back({"slots that post, " + order, "W11/" + order, "slots that post"});
  }
  for (std::string const order : {"in order", "at random"}) {
    all.push_back({"timed out " + order, "scale/timed out " + order, "mutex"});
    all.push_back({"a steady_timer each, " + order, "scale/timed out " + order, "timers"});
  }
  return all;
}

std::vector<std::string> names_of(scale_row const& row) {
  std::vector<std::string> names;
  for (std::size_t const n : scale) names.push_back(path_of(row, n));
  return names;
}

std::string why_not_measured([[maybe_unused]] std::string const& name) {
#ifndef BOOST_ASIO_HAS_EPOLL
  if (name.ends_with("/reactor")) return "Asio has no epoll here";
#endif
  if (name.find("/cancel_after") != name.npos) return "this Boost has no cancel_after";
  return {};
}

void print_table(std::ostream& out, std::vector<ratio_row> const& rows, medians const& times) {
  std::size_t counts[std::size(verdict_names)] = {};
  print(out, {"workload", "ratio", "at the latest", "goal", "verdict"});
  for (ratio_row const& row : rows) {
    std::string const reason = why_not(row, times);
    std::optional<double> value;
    verdict result = verdict::not_measured;
    if (reason.empty()) {
      value = ratio(row, times);
      result = judge(row, *value);
    }
    std::string text = verdict_names[static_cast<std::size_t>(result)];
    if (!reason.empty()) text += ": " + reason;
    print(out, {row.workload, number(value), number(row.at_the_latest), number(row.goal), text});
    ++counts[static_cast<std::size_t>(result)];
  }
  out << counts[0] << " at the goal, " << counts[1] << " kept, " << counts[2] << " above, "
      << counts[3] << " without a target, " << counts[4] << " not measured\n";
}

void print_table(std::ostream& out, std::vector<scale_row> const& rows, medians const& times) {
  if (rows.empty()) return;
  auto const print_line = [&](std::string const& first, auto const& cells) {
    out << std::left << std::setw(name_width) << first << std::right;
    for (auto const& cell : cells) out << std::setw(12) << cell;
    out << '\n';
  };
  print_line("scale: nanoseconds for each of so many", scale);
  for (scale_row const& row : rows) {
    std::vector<std::string> cells;
    for (std::string const& name : names_of(row)) {
      auto const found = times.find(name);
      cells.push_back(found != times.end() ? number(found->second) : "-");
    }
    print_line("scale " + row.workload, cells);
  }
}

}  // namespace asio_sync::bench
