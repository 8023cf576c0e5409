// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_LINK_LINK_HPP
#define ASIO_SYNC_REDIS_DETAIL_LINK_LINK_HPP

#include <asio_sync/redis/detail/link/transport.hpp>
#include <asio_sync/redis/detail/wire/resp.hpp>
#include <asio_sync/redis/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace asio_sync::redis::detail {

// The endpoints of a server's name that have not been tried. Each attempt to connect takes one, so
// that each has all of the time that the server may be silent.
class endpoint_list {
 public:
  using endpoint = asio::generic::stream_protocol::endpoint;

  bool is_empty() const noexcept { return left_.empty(); }

  template <class Results>
  void assign(Results const& found) {
    left_.clear();
    for (auto const& each : found) left_.push_back(each.endpoint());
  }

  endpoint take() {
    endpoint const first = left_.front();
    left_.pop_front();
    return first;
  }

  void clear() noexcept { left_.clear(); }

 private:
  std::deque<endpoint> left_;
};

// Names the place at which a server listens.
struct address {
  std::string host, port;
  std::string unix_socket;  // if it is not empty, host and port are not used
  std::shared_ptr<detail::security> security = nullptr;  // null: the bytes are sent as they are
};

// A link calls these on its executor. Each of them may call close(). If one throws, the link is
// broken.
class link_host {
 public:
  virtual void linked() = 0;

  virtual void received(resp::value message) = 0;

  // All that has come was received, or a write has ended: there may be something to write.
  virtual void ready() = 0;

  // Returns true while the server owes an answer.
  virtual bool awaits_answer() const noexcept = 0;

  // The link is closed, and calls nothing any more. `error` is Asio's, or `protocol_error`.
  virtual void broken(std::string_view why, boost::system::error_code error) noexcept = 0;

 protected:
  ~link_host() = default;
};

// A link is one connection to a server, from its making to its end. All members are called on the
// executor, which runs one function at a time.
class link : public std::enable_shared_from_this<link> {
 public:
  using duration = std::chrono::steady_clock::duration;

  // `patience`: for how long the server may be silent while it connects or owes an answer, and
  // how long a look-up of its name may take.
  link(asio::any_io_executor const& executor, link_host& host, duration patience)
      : host_(&host),
        patience_(patience),
        resolver_(executor),
        socket_(executor),
        alarm_(executor) {}

  // Connects to the next endpoint of a list, which has to live until the link is closed. If no
  // endpoint is left in the list, looks the address up first. Throws what the memory for it
  // throws, and if the path of the socket is too long.
  void connect(address const& to, endpoint_list& known);

  // Returns where to append what is to be written by the next flush().
  std::string& out() noexcept { return out_; }
  void flush();

  void close() noexcept;

 private:
  using endpoint = endpoint_list::endpoint;
  using clock = std::chrono::steady_clock;

  static constexpr std::size_t read_size = 16 * 1024;

  // Calls f unless the link is closed, and breaks the link for an error.
  template <class Function, class... Results>
  void go_on(boost::system::error_code error, Function f, Results const&... results) noexcept;

  // Return a handler that goes on with f: for Asio, and for the transport.
  template <class Function>
  auto then(Function f);
  template <class Function>
  link_handler when_done(Function f);

  void connect(endpoint const& to);
  void connected();
  void linked();
  void read();
  void take_messages(std::size_t n);
  void watch();
  void check_silence();
  void fail(std::string_view why, boost::system::error_code error) noexcept;

  link_host* host_;  // null: it is closed
  duration const patience_;
  asio::ip::tcp::resolver resolver_;
  transport::socket socket_;
  std::unique_ptr<transport> transport_;
  asio::steady_timer alarm_;
  clock::time_point heard_at_{};
  bool owes_ = true;      // the server: a connection, or an answer
  bool watches_ = false;  // the alarm is set

  resp::parser parser_;
  std::string out_, in_flight_;
};

// --- Connecting ---

template <class Function, class... Results>
void link::go_on(boost::system::error_code error, Function f, Results const&... results) noexcept {
  if (host_ == nullptr) return;
  try {
    if (error) return fail(transport_->explain(error.message()), error);
    f(*this, results...);
  } catch (std::exception const& e) {
    fail(e.what(), make_error_code(boost::system::errc::not_enough_memory));
  }
}

template <class Function>
auto link::then(Function f) {
  return [self = shared_from_this(), f = std::move(f)](boost::system::error_code error,
                                                       auto const&... results) -> void {
    self->go_on(error, f, results...);
  };
}

template <class Function>
link_handler link::when_done(Function) {
  return {shared_from_this(), [](link& l, boost::system::error_code error, std::size_t n) {
            l.go_on(error, Function(), n);
          }};
}

inline void link::connect(address const& to, endpoint_list& known) {
  if (to.security)
    transport_ = to.security->secure(socket_, to.host);
  else
    transport_ = std::make_unique<plain_transport>(socket_);
  heard_at_ = clock::now();
  watch();
  if (!to.unix_socket.empty())
    return connect(asio::local::stream_protocol::endpoint(to.unix_socket));
  if (!known.is_empty()) return connect(known.take());
  resolver_.async_resolve(to.host, to.port, then([&known](link& l, auto const& found) {
                            known.assign(found);
                            l.heard_at_ = clock::now();
                            l.connect(known.take());
                          }));
}

inline void link::connect(endpoint const& to) {
  socket_.async_connect(to, then([](link& l) { l.connected(); }));
}

inline void link::connected() {
  boost::system::error_code not_tcp;
  socket_.set_option(asio::ip::tcp::no_delay(true), not_tcp);
  transport_->shake_hands(when_done([](link& l, std::size_t) { l.linked(); }));
}

inline void link::linked() {
  owes_ = false;
  read();
  host_->linked();
}

// --- Reading ---

inline void link::read() {
  auto const room = parser_.prepare(read_size);
  transport_->read(asio::buffer(room.data(), room.size()),
                   when_done([](link& l, std::size_t n) { l.take_messages(n); }));
}

inline void link::take_messages(std::size_t n) {
  heard_at_ = clock::now();
  parser_.commit(n);
  while (host_ != nullptr) {
    std::optional<resp::value> const message = parser_.next();
    if (!message) break;
    host_->received(*message);
  }
  if (host_ != nullptr && parser_.error() != resp::fault::none)
    return fail(describe(parser_.error()), error::protocol_error);
  if (host_ == nullptr) return;
  owes_ = host_->awaits_answer();
  host_->ready();
  if (host_ != nullptr) read();
}

// --- Writing ---

inline void link::flush() {
  if (out_.empty() || !in_flight_.empty()) return;
  if (!std::exchange(owes_, true)) heard_at_ = clock::now();
  watch();
  in_flight_.swap(out_);
  transport_->write(asio::buffer(in_flight_), when_done([](link& l, std::size_t) {
                      l.in_flight_.clear();
                      l.host_->ready();
                      if (l.host_ != nullptr) l.flush();
                    }));
}

// --- Silence ---

// Sets the alarm, unless it is set or the server owes nothing. It is not reset for each byte.
inline void link::watch() {
  if (watches_ || !owes_) return;
  alarm_.expires_at(heard_at_ + patience_);
  alarm_.async_wait(then([](link& l) { l.check_silence(); }));
  watches_ = true;
}

inline void link::check_silence() {
  watches_ = false;
  if (owes_ && clock::now() - heard_at_ >= patience_)
    return fail(transport_->explain("the server does not answer in time"), asio::error::timed_out);
  watch();
}

// --- The end ---

inline void link::fail(std::string_view why, boost::system::error_code error) noexcept {
  link_host* const host = host_;
  if (host == nullptr) return;  // it has closed the link, and then thrown
  close();
  host->broken(why, error);
}

inline void link::close() noexcept {
  host_ = nullptr;
  boost::system::error_code ignored;
  socket_.close(ignored);
  resolver_.cancel();
  alarm_.cancel();
}

}  // namespace asio_sync::redis::detail

#endif
