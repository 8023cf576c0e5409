// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include <bench/lock_workloads.hpp>

#include <asio_sync/async_lock_all.hpp>
#include <asio_sync/async_mutex.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

namespace asio_sync::bench {

namespace {

// So many mutexes, locked together.
template <std::size_t K>
class lock_all {
  using indices = std::make_index_sequence<K>;

  template <std::size_t>
  struct member {
    explicit member(boost::asio::io_context& context) : mutex(context) {}
    async_mutex mutex;
  };
  template <class>
  struct members;
  template <std::size_t... I>
  struct members<std::index_sequence<I...>> : member<I>... {
    explicit members(boost::asio::io_context& context) : member<I>(context)... {}
    auto tied() { return std::tie(member<I>::mutex...); }
  };

 public:
  using held = decltype(std::apply(
      [](auto&... mutex) {
        return std::tuple<typename std::decay_t<decltype(mutex)>::lock_type...>();
      },
      std::declval<members<indices>&>().tied()));

  explicit lock_all(boost::asio::io_context& context) : mutexes_(context) {}

  template <class Token>
  auto async_lock(Token&& token) {
    return async_lock_all(mutexes_.tied(), std::forward<Token>(token));
  }

  static void release(held&) noexcept {}  // at the end of their scope

 private:
  members<indices> mutexes_;
};

template <std::size_t K>
void add(catalogue& all, reactor r) {
  std::string const subject = "/lock_all " + std::to_string(K);
  for_plain_tokens([&](std::string const& name, auto token) {
    all["W3/" + name + subject + r] = {4096, [=] { return free_lock<lock_all<K>>(r, token); }};
    all["W4/" + name + "/64" + subject + r] = {
        8192, [=] { return sections<lock_all<K>>(r, token, 64); }};
  });
}

}  // namespace

void add_lock_all_workloads(catalogue& all) {
  for (reactor const r : reactors) {
    add<2>(all, r);
    add<4>(all, r);
  }
}

}  // namespace asio_sync::bench
