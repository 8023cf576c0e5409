// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The sessions of the HTTP server. One serves the requests of a connection, one after the other;
// if one of them asks for a WebSocket, a session of that kind goes on, and sends every message
// back. Each session runs on a strand of its own.

#ifndef ASIO_SYNC_EXAMPLE_HTTP_SERVER_SESSIONS_HPP
#define ASIO_SYNC_EXAMPLE_HTTP_SERVER_SESSIONS_HPP

#include "http_server_pages.hpp"

#include <asio_sync/async_group.hpp>
#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/system/error_code.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace http_server {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

/// What all sessions share.
struct site {
  site(asio::any_io_executor const& ex, std::chrono::milliseconds patience)
      : executor(ex), timeout(patience), pages(ex), sessions(ex) {}

  static constexpr std::uint32_t header_limit = 8 * 1024;
  static constexpr std::uint32_t body_limit = 64 * 1024;  // of a WebSocket's messages, too
  static constexpr std::size_t buffer_limit = 16 * 1024;  // Beast limits no trailer, for one

  asio::any_io_executor executor;
  std::chrono::milliseconds timeout;  // of a request, of a response, of a WebSocket's message
  prime_pages pages;
  asio_sync::async_group sessions;
  std::atomic<bool> stopping{false};
  std::atomic<long> requests{0};
  std::atomic<long> messages{0};
};

/// What both kinds of session have. A session lives as long as one of its handlers.
class session : public std::enable_shared_from_this<session> {
 public:
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  virtual ~session() = default;

 protected:
  session(site& s, asio::any_io_executor const& strand, asio_sync::semaphore_permit permit)
      : site_(s), strand_(strand), permit_(std::move(permit)), over_(s.executor) {}

  /// For the group, a session is one operation: to wait for its end, which nothing but the
  /// destructor brings. The group cancels the wait to have the session stop.
  void join_group() {
    over_.async_wait(
        site_.sessions.track(asio::bind_executor(strand_, [weak = weak_from_this()](error_code) {
          if (auto const self = weak.lock()) {
            self->join_group();  // until it has really ended
            self->stop();
          }
        })));
  }

  /// Called on the strand when the server stops, and once more when it has waited long enough.
  virtual void stop() = 0;

  /// A member of the session as a handler on the strand, also for what has another executor.
  template <class Session, class... Args, class... Bound>
  auto handler(void (Session::*step)(Args...), Bound&&... bound) {
    return asio::bind_executor(
        strand_,
        beast::bind_front_handler(step, std::static_pointer_cast<Session>(shared_from_this()),
                                  std::forward<Bound>(bound)...));
  }

  site& site_;
  asio::any_io_executor strand_;
  asio_sync::semaphore_permit permit_;  // to be connected

 private:
  asio_sync::async_manual_reset_event over_;
};

/// Sends every message back. It reads on meanwhile, so several may be waiting to be written: a
/// mutex lets them, one by one, as Beast allows one write at a time. The first that holds it is
/// the handshake: who is let in just when the server stops is told so, too.
class websocket_session final : public session {
 public:
  websocket_session(site& s, beast::tcp_stream&& stream, asio_sync::semaphore_permit permit)
      : session(s, stream.get_executor(), std::move(permit)),
        stream_(std::move(stream)),
        clock_(strand_),
        room_(s.executor, most_messages, most_messages),
        writing_(s.executor) {}

  void start(http::request<http::string_body> const& upgrade) {
    join_group();
    if (site_.stopping) return;  // the group may have asked the session before us
    beast::get_lowest_layer(stream_).expires_never();
    stream_.set_option(websocket::stream_base::timeout{site_.timeout, site_.timeout, true});
    stream_.read_message_max(site::body_limit);
    stream_.control_callback([this](websocket::frame_type, beast::string_view) { start_clock(); });
    asio_sync::async_mutex::lock_type lock(writing_,
                                           std::try_to_lock);  // nobody else can have it yet
    stream_.async_accept(upgrade, handler(&websocket_session::on_accept, std::move(lock)));
  }

 private:
  static constexpr int most_messages = 16;

  // A message, and what it holds until it has been sent.
  struct message {
    asio_sync::semaphore_permit room;
    asio_sync::async_mutex::lock_type lock;
    beast::flat_buffer content;
    bool is_text = false;
  };
  using message_pointer = std::shared_ptr<message>;

  void on_accept(asio_sync::async_mutex::lock_type const&, error_code error) {
    if (error) return;
    start_clock();
    make_room();
  }

  // From now on the client has this time for a whole message, ping or pong: Beast waits on for
  // whoever sends a byte now and then.
  void start_clock() {
    clock_.expires_after(site_.timeout);
    clock_.async_wait([this, weak = weak_from_this()](error_code) {
      auto const self = weak.lock();
      if (self && clock_.expiry() <= std::chrono::steady_clock::now())
        beast::get_lowest_layer(stream_).close();
    });
  }

  // A client that only sends, and does not read, soon finds that nobody reads it, either.
  void make_room() { room_.async_acquire(handler(&websocket_session::on_room)); }

  void on_room(error_code error, asio_sync::semaphore_permit room) {
    if (error) return;
    auto const next = std::make_shared<message>();
    next->room = std::move(room);
    stream_.async_read(
        next->content,
        asio::bind_cancellation_slot(reading_.slot(), handler(&websocket_session::on_read, next)));
  }

  void on_read(message_pointer const& m, error_code error, std::size_t) {
    if (error) return;
    start_clock();
    m->is_text = stream_.got_text();
    writing_.async_lock(handler(&websocket_session::on_lock, m));
    make_room();
  }

  void on_lock(message_pointer const& m, error_code error,
               asio_sync::async_mutex::lock_type lock) {
    if (error || !stream_.is_open()) return;
    m->lock = std::move(lock);
    stream_.text(m->is_text);
    stream_.async_write(m->content.data(), handler(&websocket_session::on_write, m));
  }

  void on_write(message_pointer const&, error_code error, std::size_t) {
    if (!error) ++site_.messages;
  }  // the message goes, and unlocks: the next one is written

  // Closes once the messages that have come are sent back. If the client breaks the protocol just
  // then, the operations of Beast that read and that close wait for each other, without end: the
  // second time, they are cancelled.
  void stop() override {
    if (!std::exchange(stopping_, true))
      return writing_.async_lock(handler(&websocket_session::on_last_lock));
    beast::get_lowest_layer(stream_).close();
    closing_.emit(asio::cancellation_type::terminal);
    reading_.emit(asio::cancellation_type::terminal);
  }

  void on_last_lock(error_code error, asio_sync::async_mutex::lock_type lock) {
    if (error) return;
    if (!stream_.is_open()) return beast::get_lowest_layer(stream_).close();
    auto const last = std::make_shared<message>();
    last->lock = std::move(lock);
    stream_.async_close(websocket::close_code::going_away,
                        asio::bind_cancellation_slot(closing_.slot(),
                                                     handler(&websocket_session::on_close, last)));
  }

  void on_close(message_pointer const&, error_code) {}

  websocket::stream<beast::tcp_stream> stream_;
  asio::steady_timer clock_;
  asio_sync::async_semaphore room_;
  asio_sync::async_mutex writing_;
  asio::cancellation_signal reading_;
  asio::cancellation_signal closing_;
  bool stopping_ = false;
};

/// Serves the requests of a connection.
class http_session final : public session {
 public:
  http_session(site& s, tcp::socket socket, asio_sync::semaphore_permit permit)
      : session(s, socket.get_executor(), std::move(permit)), stream_(std::move(socket)) {}

  void start() {
    join_group();  // now: the server may be about to wait for the end of all
    asio::dispatch(handler(&http_session::read));
  }

 private:
  void read() {
    parser_.emplace();
    parser_->header_limit(site::header_limit);
    parser_->body_limit(site::body_limit);
    stream_.expires_after(site_.timeout);
    http::async_read_header(stream_, buffer_, *parser_, handler(&http_session::on_header));
  }

  void on_header(error_code error, std::size_t) {
    if (error || parser_->is_done()) return on_read(error, 0);
    auto const& header = parser_->get();
    bool const asks_first = beast::iequals(header[http::field::expect], "100-continue");
    if (!asks_first || header.version() < 11 || buffer_.size() != 0) return read_body({}, 0);
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(go_on), handler(&http_session::read_body));
  }

  void read_body(error_code error, std::size_t) {
    if (!error) http::async_read(stream_, buffer_, *parser_, handler(&http_session::on_read));
  }

  void on_read(error_code error, std::size_t) {
    if (error == http::error::end_of_stream) return linger();
    bool const is_malformed =
        error.category() == make_error_code(http::error::end_of_stream).category();
    if (error && !is_malformed) return;  // gone, or too slow
    if (error == http::error::header_limit)
      return refuse(http::status::request_header_fields_too_large);
    if (error == http::error::body_limit) return refuse(http::status::payload_too_large);
    if (error) return refuse(http::status::bad_request);
    ++site_.requests;
    if (!websocket::is_upgrade(parser_->get())) return answer(parser_->get());
    if (buffer_.size() != 0) return refuse(http::status::bad_request);  // it has to wait
    if (site_.stopping) return refuse(http::status::service_unavailable);
    std::make_shared<websocket_session>(site_, std::move(stream_), std::move(permit_))
        ->start(parser_->get());
  }

  void answer(http::request<http::string_body> const& request) {
    std::string_view const target(request.target().data(), request.target().size());
    if (target == "/echo") {
      if (request.method() != http::verb::post) return refuse_method("POST");
      return respond(http::status::ok, std::make_shared<std::string const>(request.body()));
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return refuse_method("GET, HEAD");
    if (target == "/")
      return respond(http::status::ok, std::make_shared<std::string const>(
                                           "GET /primes/1000\nGET /moved/3\nPOST /echo\n"));
    if (auto const n = number_after("/primes/", target, prime_pages::greatest))
      return asio::co_spawn(strand_, site_.pages.get(*n), handler(&http_session::on_page));
    if (auto const n = number_after("/moved/", target, 100)) {
      response_.set(http::field::location, *n > 0 ? "/moved/" + std::to_string(*n - 1) : "/");
      return respond(http::status::found, std::make_shared<std::string const>());
    }
    respond(http::status::not_found);
  }

  // The number that follows this in the target, if that is all, and it is not too great.
  static std::optional<int> number_after(std::string_view begin, std::string_view target,
                                         int most) {
    if (!target.starts_with(begin)) return std::nullopt;
    int n = 0;
    char const* const end = target.data() + target.size();
    auto const [stop, error] = std::from_chars(target.data() + begin.size(), end, n);
    if (error != std::errc() || stop != end || n < 0 || n > most) return std::nullopt;
    return n;
  }

  void on_page(std::exception_ptr const& thrown, page const& p) {
    if (thrown) return refuse(http::status::internal_server_error);
    auto const& request = parser_->get();
    bool const has_body = request.method() == http::verb::get && !p->empty();
    response_.chunked(has_body && request.version() == 11);  // Beast ends one without a body twice
    respond(http::status::ok, p);
  }

  void refuse_method(std::string_view allowed) {
    response_.set(http::field::allow, {allowed.data(), allowed.size()});
    respond(http::status::method_not_allowed);
  }

  // After this the connection is of no use: where the next request begins is not known.
  void refuse(http::status status) {
    broken_ = true;
    respond(status);
  }

  void respond(http::status status, page text = nullptr) {
    auto const reason = http::obsolete_reason(status);
    if (!text) text = std::make_shared<std::string const>(std::string(reason) + '\n');
    page_ = std::move(text);
    auto const& request = parser_->get();
    response_.result(status);
    response_.version(request.version() == 10 ? 10 : 11);
    response_.keep_alive(request.keep_alive() && !broken_ && !stopping_);
    response_.set(http::field::content_type, "text/plain");
    if (!response_.chunked()) response_.content_length(page_->size());
    if (request.method() != http::verb::head)
      response_.body() = decltype(response_)::body_type::value_type(page_->data(), page_->size());
    stream_.expires_after(site_.timeout);
    http::async_write(stream_, response_, handler(&http_session::on_write));
  }

  void on_write(error_code error, std::size_t) {
    bool const goes_on = response_.keep_alive() && !stopping_;
    response_ = {};
    page_ = nullptr;
    if (error) return;
    goes_on ? read() : linger();
  }

  // Says that this was all, and waits until the client has closed, too: it would lose the answer
  // if there were still something to read.
  void linger() {
    lingering_ = true;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(site_.timeout);
    on_rest(ignored, 0);
  }

  void on_rest(error_code error, std::size_t) {
    if (!error) stream_.async_read_some(asio::buffer(rest_), handler(&http_session::on_rest));
  }

  // Answers the request that has begun to come, the first time.
  void stop() override {
    bool const has_request = parser_ && parser_->got_some() && !lingering_;
    if (std::exchange(stopping_, true) || !has_request) stream_.close();
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{site::buffer_limit};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::span_body<char const>> response_;
  page page_;  // the body of the response
  std::array<char, 4096> rest_;
  bool lingering_ = false;
  bool broken_ = false;
  bool stopping_ = false;
};

}  // namespace http_server

#endif
