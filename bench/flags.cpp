// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>
#include <bench/ping_pong.hpp>

#include <asio_sync/async_auto_reset_event.hpp>
#include <asio_sync/async_mailbox.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace asio_sync::bench {

namespace {

namespace asio = boost::asio;

// What W3 does in each turn. An event is set and waited for, which resets it; a flag is raised and
// taken, or only looked at.
struct set_and_wait {
  explicit set_and_wait(asio::io_context& context) : event(context) {}

  template <class Token>
  auto turn(Token&& token) {
    event.set();
    return event.async_wait(std::forward<Token>(token));
  }

  async_auto_reset_event event;
};

struct raise_and_take {
  explicit raise_and_take(asio::io_context& context) : mailbox(context) {}

  template <class Token>
  auto turn(Token&& token) {
    mailbox.raise(1);
    return mailbox.async_take_any(1, std::forward<Token>(token));
  }

  async_mailbox mailbox;
};

struct look {
  explicit look(asio::io_context& context) : mailbox(context) { mailbox.raise(1); }

  template <class Token>
  auto turn(Token&& token) {
    return mailbox.async_wait_any(1, std::forward<Token>(token));
  }

  async_mailbox mailbox;
};

template <class Subject, class Token>
asio::awaitable<void> turn_repeatedly(Subject& subject, std::type_identity<Token>, std::size_t n) {
  for (; n != 0; --n) static_cast<void>(co_await subject.turn(Token()));
}

template <class Subject, class Token>
workload turns(reactor r, std::type_identity<Token> token) {
  auto const s = std::make_shared<scene<Subject>>(r);
  return {[s, token](std::size_t n) {
    co_spawn(s->context.io(), turn_repeatedly(s->lock, token, n), asio::detached);
    s->context.run();
  }};
}

// A flag for each side.
struct mailbox_ball {
  explicit mailbox_ball(asio::io_context& context) : mailbox(context) {}

  void send(std::size_t side) { mailbox.raise(1u << side); }
  template <class Token>
  auto async_receive(std::size_t side, Token&& token) {
    return mailbox.async_take_any(1u << side, std::forward<Token>(token));
  }

  async_mailbox mailbox;
};

}  // namespace

void add_flags_workloads(catalogue& all) {
  for (reactor const r : reactors)
    for_plain_tokens([&](std::string const& name, auto token) {
      all["W3/" + name + "/auto event" + r] = {4096,
                                               [=] { return turns<set_and_wait>(r, token); }};
      all["W3/" + name + "/mailbox" + r] = {4096, [=] { return turns<raise_and_take>(r, token); }};
      all["W3/" + name + "/mailbox, look" + r] = {4096, [=] { return turns<look>(r, token); }};
      all["ping-pong/" + name + "/mailbox" + r] = {
          4096, [=] { return ping_pong<mailbox_ball>(r, token); }};
    });
}

}  // namespace asio_sync::bench
