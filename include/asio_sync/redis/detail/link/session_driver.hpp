// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_SESSION_DRIVER_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_SESSION_DRIVER_HPP

#include <asio_sync/detail/context/context_ends.hpp>
#include <asio_sync/redis/detail/link/answer_reader.hpp>
#include <asio_sync/redis/detail/link/handshake.hpp>
#include <asio_sync/redis/detail/link/link.hpp>
#include <asio_sync/redis/detail/link/read_clock.hpp>
#include <asio_sync/redis/detail/session/session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace asio_sync::redis::detail {

// Connects a session to a server, and keeps it connected: it makes links, has them shake hands,
// carries requests and answers, and watches the clock. A derived class takes what the session
// tells.
//
// All members are called on the executor, which runs one function at a time, by somebody who has a
// reference. What the driver tells may let its last one go.
class session_driver : public session_host,
                       public std::enable_shared_from_this<session_driver>,
                       private link_host {
 public:
  session_driver(session_driver const&) = delete;
  session_driver& operator=(session_driver const&) = delete;

  void run() noexcept {
    follow([this] { session_.run(); });
  }
  void stop() noexcept {
    follow([this] { session_.stop(); });
  }
  void shutdown() noexcept {
    follow([this] { session_.shutdown(read_clock()); });
  }

  // See session; a claim is told of through the functions of session_host.
  void acquire(claim& c) noexcept {
    follow([&] { session_.acquire(read_clock(), c); });
  }
  void release(claim const& c) noexcept {
    follow([&] { session_.release(read_clock(), c); });
  }
  void forget(claim const& c) noexcept {
    follow([&] { session_.forget(read_clock(), c); });
  }

  session const& state() const noexcept { return session_; }

 protected:
  using milliseconds = std::chrono::milliseconds;

  // Does something with the session, and then what follows from it.
  template <class Function>
  void follow(Function f) noexcept;

  session& owned_session() noexcept { return session_; }

  // Returns Asio's error, or `protocol_error`, that has ended the last connection, or attempt to
  // make one, of whose end the session knows no better reason.
  boost::system::error_code link_error() const noexcept { return link_error_; }

  // Returns the endpoints of the server's name that are still to be tried.
  endpoint_list& endpoints() noexcept { return endpoints_; }

  // Closes the connection. A name that does not lead to a master is looked up again.
  void disconnect(failure why) noexcept override {
    drop_link();
    if (why == failure::not_a_master) endpoints_.clear();
  }

  // True in a child that was forked: the connection is its parent's.
  virtual bool is_away() const noexcept { return false; }

  session_driver(asio::any_io_executor executor, session_config config, address where, login as,
                 milliseconds patience)
      : executor_(std::move(executor)),
        where_(std::move(where)),
        login_(std::move(as)),
        prefix_(config.prefix),
        patience_(patience),
        pause_(executor_),
        alarm_(executor_),
        session_(std::move(config), *this) {}
  ~session_driver() { drop_link(); }

 private:
  static constexpr milliseconds shortest_pause{50}, longest_pause{2000};  // between two attempts

  void write();
  void set_alarm();
  void on_alarm();
  void reconnect_later();
  void connect();
  void drop_link() noexcept;
  void rest() noexcept;

  // Calls a member at a time, unless it is changed before or this object has gone.
  void wait(asio::steady_timer& timer, void (session_driver::*then)()) {
    timer.async_wait([self = weak_from_this(), then](boost::system::error_code error) {
      if (auto const driver = self.lock(); driver && !error) ((*driver).*then)();
    });
  }

  void linked() override;
  void received(resp::value message) override;
  void ready() override {
    auto const self = shared_from_this();
    follow([] {});
  }
  bool awaits_answer() const noexcept override { return !is_ready_ || session_.expects(); }
  void broken(std::string_view why, boost::system::error_code error) noexcept override;

  std::string new_client_id() override;

  bool shake_hands(resp::value message);

  asio::any_io_executor const executor_;
  address const where_;
  login const login_;
  std::string const prefix_;
  milliseconds const patience_;

  endpoint_list endpoints_;
  boost::system::error_code link_error_;
  std::shared_ptr<link> link_;  // null: there is none, and another one follows after a pause
  handshake handshake_;         // of the link
  bool is_ready_ = false;       // the handshake is complete
  answer_reader reader_;
  request request_;

  // Grows with each attempt, until a connection has lasted.
  milliseconds next_pause_ = shortest_pause;
  session_clock::time_point linked_at_{};
  bool pauses_ = false;
  asio::steady_timer pause_, alarm_;
  session_clock::time_point alarm_at_ = session_clock::time_point::max();
  std::minstd_rand random_{std::random_device{}()};

  session session_;
};

template <class Function>
void session_driver::follow(Function f) noexcept {
  if (is_away()) return drop_link();
  asio_sync::detail::context_ends::held_off const meanwhile;
  try {
    f();
    write();
    if (session_.state() != session_state::stopped && !link_) reconnect_later();
    set_alarm();
  } catch (std::bad_alloc const& e) {
    session_.fail(failure::no_memory, e.what());
  } catch (std::exception const& e) {
    session_.fail(failure::server_error, e.what());
  }
  if (session_.state() == session_state::stopped) rest();
}

// Leaves nothing to be done.
inline void session_driver::rest() noexcept {
  drop_link();
  pause_.cancel();
  alarm_.cancel();
  pauses_ = false;
  next_pause_ = shortest_pause;
  alarm_at_ = session_clock::time_point::max();
}

inline void session_driver::write() {
  while (link_ && is_ready_ && session_.next(read_clock(), request_))
    handshake_.append_call(link_->out(), request_);
  if (link_ && is_ready_) link_->flush();
}

// Sets the alarm for the next tick if it would come too late.
inline void session_driver::set_alarm() {
  auto const at = session_.next_tick();
  if (session_.state() == session_state::stopped || at >= alarm_at_) return;
  alarm_.expires_after(std::max(at - read_clock(), session_clock::duration::zero()));
  wait(alarm_, &session_driver::on_alarm);
  alarm_at_ = at;
}

inline void session_driver::on_alarm() {
  alarm_at_ = session_clock::time_point::max();
  follow([this] { session_.tick(read_clock()); });
}

// --- Links ---

inline void session_driver::reconnect_later() {
  if (pauses_) return;
  auto const half = next_pause_.count() / 2;
  pause_.expires_after(milliseconds(half + std::uniform_int_distribution<long>(0, half)(random_)));
  wait(pause_, &session_driver::connect);
  next_pause_ = std::min(2 * next_pause_, longest_pause);
  pauses_ = true;
}

inline void session_driver::connect() {
  follow([this] {
    pauses_ = false;
    if (session_.state() == session_state::stopped || link_) return;  // an old pause has ended
    is_ready_ = false;
    handshake_ = {};
    link_ = std::make_shared<link>(executor_, static_cast<link_host&>(*this), patience_);
    link_->connect(where_, endpoints_);
  });
}

inline void session_driver::drop_link() noexcept {
  if (link_) link_->close();
  link_.reset();
}

inline void session_driver::linked() {
  if (is_away()) return drop_link();
  linked_at_ = read_clock();
  handshake_.begin(link_->out(), login_, prefix_ + "ch:" + session_.client_id());
  link_->flush();
}

inline void session_driver::broken(std::string_view why,
                                   boost::system::error_code error) noexcept {
  auto const self = shared_from_this();
  link_.reset();
  if (is_away()) return;
  link_error_ = error;
  follow([&] {
    is_ready_ ? session_.disconnected(read_clock(), why)
              : session_.connect_failed(read_clock(), why);
  });
}

// --- Messages ---

// Nothing is written before ready(), unless the link is gone.
inline void session_driver::received(resp::value message) {
  auto const self = shared_from_this();
  if (is_away()) return drop_link();
  asio_sync::detail::context_ends::held_off const meanwhile;
  auto const now = read_clock();
  if (!is_ready_) {
    if (!shake_hands(message)) follow([] {});
    return;
  }
  if (message.type() == resp::kind::push) {
    if (auto const text = read_published(message)) session_.pushed(now, *text);
    if (is_emptying(message)) session_.emptied(now);
  } else if (auto const what = session_.expects()) {
    session_.answered(now, reader_.read(*what, message));
    if (what == script::beat && now - linked_at_ >= longest_pause) next_pause_ = shortest_pause;
  } else {
    drop_link();
    session_.disconnected(now, "the server answers what was not asked", failure::protocol_error);
  }
  if (!link_) follow([] {});
}

// Returns false if the link is of no use.
inline bool session_driver::shake_hands(resp::value message) {
  switch (handshake_.take(message)) {
    case handshake::progress::goes_on: break;
    case handshake::progress::complete:
      is_ready_ = true;
      endpoints_.clear();
      session_.connected(read_clock());
      break;
    case handshake::progress::failed:
      disconnect(handshake_.why());
      session_.connect_failed(read_clock(), handshake_.text(), handshake_.why());
      return false;
    case handshake::progress::refused:
      session_.refused(read_clock(), handshake_.text(), handshake_.why());
      return false;
  }
  return true;
}

inline std::string session_driver::new_client_id() {
  std::random_device device;
  std::string id;
  while (id.size() != 32) id += "0123456789abcdef"[device() % 16];
  return id;
}

}  // namespace asio_sync::redis::detail

#endif
