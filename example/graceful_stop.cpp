// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows how an async_manual_reset_event stops everybody at once. Workers do a step, wait for the
// time of the next, and do that. They wait for the event, with the pause as the time-out: so when
// somebody sets the event, nobody sleeps on, and each worker ends between two steps.

#include "command_line.hpp"

#include <asio_sync/async_manual_reset_event.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio_sync::async_manual_reset_event;
using namespace std::chrono_literals;

struct tally {
  int steps = 0;
  int stopped = 0;
};

// One worker: a step, a pause, and so on, until the event is set.
asio::awaitable<void> work(async_manual_reset_event& stop, int last_step, tally& seen) {
  for (;;) {
    auto [error] = co_await stop.async_wait_for(1ms, asio::as_tuple(use_awaitable));
    if (error && error != asio::error::timed_out) throw boost::system::system_error(error);
    if (stop.is_set()) break;                   // perhaps only after the pause was over
    if (++seen.steps == last_step) stop.set();  // releases all who wait, now and later
  }
  ++seen.stopped;  // a worker would clean up here
}

bool show(int workers, int steps) {
  asio::io_context context;
  async_manual_reset_event stop(context);
  tally seen;
  for (int i = 0; i < workers; ++i)
    asio::co_spawn(context, work(stop, steps, seen), [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    });
  context.run();
  std::cout << "steps: " << seen.steps << ", workers stopped: " << seen.stopped << '\n';
  return seen.steps == steps && seen.stopped == workers;
}

int main(int argc, char** argv) {
  using namespace command_line;
  int workers = 4;
  int steps = 20;
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("workers", number_option("workers", workers, 1, 1000), "number of workers: 1 to 1000")
      ("steps", number_option("steps", steps, 1, 1000),
       "number of steps, of all workers together, after which they stop: 1 to 1000");
  // clang-format on
  return run(argc, argv, "graceful_stop",
             "Stops workers between two of their steps, with an async_manual_reset_event.",
             description, [&] { return show(workers, steps); });
}
