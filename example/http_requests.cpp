// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Shows sequential code over many requests at once. The steps of one are written from top to
// bottom: resolve, connect, send, read the response in parts, and hand each part on. That is done
// twice, with the steps of an async_enumerator, and with coroutines that an async_group counts. In
// both, an async_semaphore limits how many are under way, and an async_mutex gives the console to
// one of them at a time; errors have one place, and the program goes on when the last one has
// ended.
//
//     http_requests http://www.example.com/ http://www.example.org/
//
// Without a URL it starts the server of http_server.hpp, and fetches from that.

#include "http_requests.hpp"
#include "command_line.hpp"
#include "http_server.hpp"

#include <asio_sync/async_enumerator.hpp>
#include <asio_sync/async_group.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <exception>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::use_awaitable;
using asio_sync::async_enumerator;
using asio_sync::async_steps;
using boost::system::error_code;
using http_requests::resources;
using http_requests::settings;
using http_requests::transfer;
using transfers = std::list<transfer>;

// With the steps of an enumerator: each operation is begun with a callback, and co_yield waits for
// it.
namespace with_enumerator {

async_steps fetch(async_enumerator& e, transfer& t, resources& r) {
  error_code error;
  asio_sync::semaphore_permit permit;
  t.begin();
  r.connections.async_acquire(e.callback(error, permit));
  co_yield 1;
  do {
    t.prepare();
    t.look_up();
    t.found.async_wait_until(t.deadline(), e.callback(error));
    co_yield 1;
    t.check(error);
    t.open();
    t.stream.async_connect(t.endpoints, e.callback(error));
    co_yield 1;
    t.check(error);
    t.connected();
    http::async_write(t.stream, t.request, e.callback(error));
    co_yield 1;
    t.check(error);
    do {
      http::async_read_header(t.stream, t.buffer, *t.response, e.callback(error));
      co_yield 1;
      t.check(error);
    } while (t.is_interim());
  } while (t.is_redirected());
  if (r.set.print) {
    r.console.async_lock(e.callback(error, t.console));
    co_yield 1;
    t.start_clock();  // that we had to wait is nobody's fault
  }
  while (!t.response->is_done()) {
    t.expect_chunk();
    http::async_read_some(t.stream, t.buffer, *t.response, e.callback(error));
    co_yield 1;
    t.take_chunk(error);
  }
}  // closes nothing of its own: the permit goes back here, on every way out

async_steps fetch_and_report(async_enumerator& e, transfer& t, resources& r) {
  async_enumerator fetching(r.context);
  fetching.on_error([&t](std::exception_ptr thrown) {
    t.fail(thrown);
    return false;  // that was all
  });
  fetching.async_run(fetch(fetching, t, r), e.callback());
  co_yield 1;
  t.stream.close();
  if (!t.console) {
    r.console.async_lock(e.callback(std::ignore, t.console));
    co_yield 1;
  }
  t.report();
  t.console.unlock();
}

async_steps fetch_all(async_enumerator& e, transfers& all, resources& r) {
  std::list<async_enumerator> each;
  for (transfer& t : all) {
    async_enumerator& own = each.emplace_back(r.context);
    own.async_run(fetch_and_report(own, t, r), e.callback());
  }
  co_yield static_cast<std::ptrdiff_t>(all.size());
}

}  // namespace with_enumerator

// With coroutines, and a group that knows when the last one has ended.
namespace with_coroutines {

asio::awaitable<void> fetch(transfer& t, resources& r) {
  t.begin();
  auto const permit = co_await r.connections.async_acquire();
  do {
    t.prepare();
    t.look_up();
    co_await t.found.async_wait_until(t.deadline());
    t.open();
    co_await t.stream.async_connect(t.endpoints, use_awaitable);
    t.connected();
    co_await http::async_write(t.stream, t.request, use_awaitable);
    do {
      co_await http::async_read_header(t.stream, t.buffer, *t.response, use_awaitable);
    } while (t.is_interim());
  } while (t.is_redirected());
  if (r.set.print) {
    t.console = co_await r.console.async_lock();
    t.start_clock();  // that we had to wait is nobody's fault
  }
  while (!t.response->is_done()) {
    t.expect_chunk();
    error_code error;
    co_await http::async_read_some(t.stream, t.buffer, *t.response,
                                   asio::redirect_error(use_awaitable, error));
    t.take_chunk(error);
  }
}

asio::awaitable<void> fetch_and_report(transfer& t, resources& r) {
  try {
    co_await fetch(t, r);
  } catch (...) {
    t.fail(std::current_exception());
  }
  t.stream.close();
  if (!t.console) t.console = co_await r.console.async_lock();
  t.report();
  t.console.unlock();
}

asio::awaitable<void> fetch_all(transfers& all, resources& r) {
  asio_sync::async_group fetching(r.context);
  for (transfer& t : all)
    asio::co_spawn(r.context, fetch_and_report(t, r), fetching.track(asio::detached));
  co_await fetching.async_join();
}

}  // namespace with_coroutines

// Fetches all; whether that went well, but for what each line says.
bool run_transfers(asio::io_context& context, transfers& all, resources& r,
                   std::optional<http_server::server>& own) {
  std::exception_ptr failed;
  bool ended = false;
  auto const at_end = [&](std::exception_ptr thrown) {
    failed = thrown;
    ended = true;
    if (own) own->stop();
  };
  async_enumerator enumerator(context);
  if (r.set.style == "enumerator")
    enumerator.async_run(with_enumerator::fetch_all(enumerator, all, r), at_end);
  else
    asio::co_spawn(context, with_coroutines::fetch_all(all, r), at_end);
  context.run();
  if (failed) std::rethrow_exception(failed);
  return ended && r.connections.available() == r.set.limit && !r.console.is_locked();
}

bool show(settings const& set, std::vector<std::string> urls) {
  if (set.style != "enumerator" && set.style != "coroutine")
    throw command_line::usage_error("--style is enumerator or coroutine, not '" + set.style + "'");
  asio::io_context context(1);
  std::optional<http_server::server> own;
  if (urls.empty()) {
    own.emplace(context, 0, 100, set.timeout).start();
    for (std::string const target :
         {"/", "/primes/1000", "/primes/1000", "/primes/100000", "/moved/3"})
      urls.push_back(own->url() + (set.body.empty() ? target : "/echo"));
  }
  resources r(context, set);
  transfers all;
  for (std::string const& url : urls) all.emplace_back(r, url);
  bool held = run_transfers(context, all, r, own);
  if (own) held = own->report() && held;
  std::size_t failed = 0;
  for (transfer const& t : all) failed += t.succeeded() ? 0 : 1;
  if (failed != 0)
    throw std::runtime_error(std::to_string(failed) + " of " + std::to_string(urls.size()) +
                             " failed");
  return held;
}

int main(int argc, char** argv) {
  using namespace command_line;
  settings set;
  arguments urls{"[URL...]", {}};
  options::options_description description("Options");
  // clang-format off
  description.add_options()
      ("limit", number_option("limit", set.limit, 1, 1000),
       "the most requests at a time: 1 to 1000")
      ("redirects", number_option("redirects", set.redirects, 0, 100),
       "the most redirects to follow: 0 to 100")
      ("timeout", time_option("timeout", set.timeout),
       "from looking a host up to the end of the response: 1ms to 3600s")
      ("style", options::value(&set.style)->value_name("STYLE")->default_value(set.style),
       "enumerator or coroutine")
      ("body", options::value(&set.body)->value_name("TEXT"), "POST this instead of GET")
      ("print", options::bool_switch(&set.print), "print what comes, too, one response at a time");
  // clang-format on
  return run(
      argc, argv, "http_requests",
      "Fetches URLs that begin with http://, several at a time, and prints a line for each; "
      "without a URL, from a server of its own.",
      description, [&] { return show(set, urls.given); }, &urls);
}
