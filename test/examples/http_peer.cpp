// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The other side of the examples http_server and http_requests: a server that misbehaves, and
// clients that do; and clients that look whether the server serves them well all the same.
//
// http_peer serve            a server, until it is killed
// http_peer PORT MODE...     clients, one mode after the other; status 0 if all went as it has to

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using boost::system::system_error;
using websocket = beast::websocket::stream<tcp::socket>;

// The server.

void reset(tcp::socket& socket) {
  socket.set_option(asio::socket_base::linger(true, 0));
  socket.close();
}

void send(tcp::socket& socket, std::string const& text) {
  asio::write(socket, asio::buffer(text));
}

void wait_for_end(tcp::socket& socket) {
  error_code error;
  for (char data[4096]; !error;) socket.read_some(asio::buffer(data), error);
}

void misbehave(tcp::socket socket, std::string const& target) {
  std::string const ok = "HTTP/1.1 200 OK\r\n", ten = "Content-Length: 10\r\n\r\n0123456789";
  std::string const hundred = "Content-Length: 100\r\n\r\n0123456789";
  std::string const moved = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ";
  if (target == "/ten") send(socket, ok + ten);
  if (target == "/until_the_end") send(socket, ok + "\r\n0123456789");
  if (target == "/gone") send(socket, "HTTP/1.1 404 Not Found\r\n" + ten);
  if (target == "/hang_up") send(socket, ok + hundred);
  if (target == "/reset") send(socket, ok + hundred), reset(socket);
  if (target == "/garbage") send(socket, "SSH-2.0-OpenSSH\r\n\r\n");
  if (target == "/long_header") send(socket, ok + "X: " + std::string(1'000'000, 'x'));
  if (target == "/loop") send(socket, moved + "/loop\r\n\r\n");
  if (target == "/directory/moved") send(socket, moved + "../ten\r\n\r\n");
  if (target == "/up") send(socket, moved + "/a/./b/../../ten?/../x\r\n\r\n");
  if (target == "/ten?/../x") send(socket, ok + ten);
  if (target == "/secure") send(socket, moved + "https://127.0.0.1/\r\n\r\n");
  if (target == "/colours") send(socket, "HTTP/1.1 200 \x1b[31mred\r\n" + ten);
  if (target == "/more_colours") send(socket, "HTTP/1.1 200 \xc2\x9bred\r\n" + ten);
  if (target == "/no_status") send(socket, "HTTP/1.1 000 OK\r\n" + ten);
  std::string const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n",
                    early = "HTTP/1.1 103 Early\r\n\r\n";
  if (target == "/hints") send(socket, early + early + ok + ten);
  if (target == "/trailer") send(socket, chunked + "a\r\n0123456789\r\n0\r\nX: y\r\n\r\n");
  if (target == "/nothing_new") send(socket, "HTTP/1.1 304 Not Modified\r\n" + ten);
  if (target == "/login?to=http://here/") send(socket, ok + ten);
  if (target == "/moved_to_login") send(socket, moved + "login?to=http://here/\r\n\r\n");
  if (target == "/moved?") send(socket, moved + "?again\r\n\r\n");
  if (target == "/moved?again") send(socket, ok + ten);
  if (target == "/moved_to_itself") send(socket, moved + "#part\r\n\r\n");
  if (target == "/mail") send(socket, moved + "mailto:somebody\r\n\r\n");
  if (target == "/long_extension") send(socket, chunked + "1;" + std::string(1'000'000, 'x'));
  if (target == "/long_trailer") send(socket, chunked + "0\r\nX: " + std::string(1'000'000, 'x'));
  if (target == "/endless_hints")
    for (;;) send(socket, early);
  if (target == "/half_a_header") send(socket, ok + "Content-"), wait_for_end(socket);
  if (target == "/half_a_body") send(socket, ok + hundred), wait_for_end(socket);
  if (target == "/endless") {
    send(socket, chunked);
    for (std::string const chunk = "3e8\r\n" + std::string(1000, 'x') + "\r\n";;)
      send(socket, chunk);
  }
}

void answer(tcp::socket socket) try {
  std::string request;
  asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n");
  auto const begin = request.find(' ') + 1;
  misbehave(std::move(socket), request.substr(begin, request.find(' ', begin) - begin));
} catch (system_error const&) {  // the client has gone
}

[[noreturn]] void serve() {
  asio::io_context context;
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  std::cout << "listening on http://127.0.0.1:" << acceptor.local_endpoint().port() << std::endl;
  for (;;) std::thread(answer, acceptor.accept()).detach();
}

// The clients.

tcp::endpoint server;

void require(bool held, std::string const& what) {
  if (!held) throw std::runtime_error(what);
}

tcp::socket connected(asio::io_context& context) {
  tcp::socket socket(context);
  socket.connect(server);
  return socket;
}

std::string next_answer(tcp::socket& socket, beast::flat_buffer& buffer) {
  http::response_parser<http::string_body> response;
  http::read(socket, buffer, response);
  return std::to_string(response.get().result_int()) + ' ' + response.get().body();
}

std::string answer_to(std::string const& request) {
  asio::io_context context;
  tcp::socket socket = connected(context);
  send(socket, request);  // the server lets us, although it may know enough before the end
  beast::flat_buffer buffer;
  return next_answer(socket, buffer);
}

// The server may be too busy for the little time that it gives its clients, but it has to live.
template <class Function>
auto repeat_until_served(Function attempt) {
  for (;;) try {
      return attempt();
    } catch (system_error const& error) {
      if (error.code() == asio::error::connection_refused) throw;
    }
}

void is_served() {
  auto const attempt = [] { return answer_to("GET /primes/20 HTTP/1.1\r\n\r\n"); };
  require(repeat_until_served(attempt) == "200 2\n3\n5\n7\n11\n13\n17\n19\n",
          "a client is not served well");
}

// Sends this, and then nothing, until the server has had enough.
void expect_end_after(std::string const& text) {
  asio::io_context context;
  tcp::socket socket = connected(context);
  send(socket, text);
  is_served();
  wait_for_end(socket);
}

std::string const upgrade =
    "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
std::string const half_a_frame = "\x81\xfe\x10";

void malformed() {
  std::string const long_text(1'000'000, 'x');
  for (auto const& [request, status] : std::map<std::string, std::string>{
           {"\r\n\r\n\r\n", "400"},
           {"GET\r\n\r\n", "400"},
           {std::string("\0\1\2\3 / HTTP/1.1\r\n\r\n", 19), "400"},
           {"GET / HTTP/1.1\r\nNo colon\r\n\r\n", "400"},
           {"POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"},
           {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"},
           {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long_text, "400"},
           {"GET / HTTP/1.1\r\nX: " + std::string(8'000'000, 'x') + "\r\n\r\n", "431"},
           {"POST /echo HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", "413"},
           {"PUT / HTTP/1.1\r\n\r\n", "405"},
           {"GET /echo HTTP/1.1\r\n\r\n", "405"},
           {"GET /primes/1000001 HTTP/1.1\r\n\r\n", "404"},
           {"GET /primes/ HTTP/1.1\r\n\r\n", "404"},
           {upgrade + half_a_frame, "400"}})
    require(answer_to(request).starts_with(status),
            "answer to '" + request.substr(0, 20) + "': " + answer_to(request));
  std::string const to_trailer =
      answer_to("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + long_text);
  require(to_trailer.starts_with("400") || to_trailer.starts_with("431"),  // newer Beast's limit
          "answer to a long trailer: " + to_trailer);
  is_served();
}

tcp::socket upgraded(asio::io_context& context) {
  return repeat_until_served([&] {
    tcp::socket socket = connected(context);
    send(socket, upgrade);
    std::string answer;
    asio::read_until(socket, asio::dynamic_buffer(answer), "\r\n\r\n");
    return socket;
  });
}

// Sends this byte by byte; the server has to end it before all of it has gone.
void expect_end_within(tcp::socket socket, std::string const& text) {
  error_code error;
  for (std::size_t i = 0; !error && i < text.size(); ++i) {
    is_served();
    asio::write(socket, asio::buffer(&text[i], 1), error);
  }
  require(error.failed(), "a client that sends slowly keeps its place");
}

std::string frame(std::string const& head, std::size_t size) {
  return head + std::string(4, '\0') + std::string(size, 'x');  // with a mask that changes nothing
}

// A WebSocket that only answers the pings: it is not taken for a slow one.
void answer_pings() {
  asio::io_context context;
  tcp::socket socket = upgraded(context);
  for (int i = 0; i < 10; ++i) {
    std::string ping(2, '\0');
    asio::read(socket, asio::buffer(ping));
    require(ping == std::string("\x89\0", 2), "a WebSocket gets something else than a ping");
    send(socket, frame("\x8a\x80", 0));
  }
}

// One connection: the body comes when the server has asked for it, and a page without a body does
// not confuse who reads the next one.
void polite() {
  asio::io_context context;
  tcp::socket socket = connected(context);
  beast::flat_buffer buffer;
  auto const expect_answer = [&](std::string const& request, std::string const& expected) {
    send(socket, request);
    std::string const answer = next_answer(socket, buffer);
    require(answer == expected, "answer to '" + request + "': " + answer);
  };
  expect_answer("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
                "100 ");
  expect_answer("body", "200 body");
  expect_answer("GET /primes/1 HTTP/1.1\r\n\r\n", "200 ");
  expect_answer("GET /primes/2 HTTP/1.1\r\n\r\n", "200 2\n");
  expect_answer("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 65537\r\n\r\n",
                "413 Payload Too Large\n");
}

void slow() {
  expect_end_after("");
  expect_end_after("GET / HT");
  expect_end_after("POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\n01234");
  asio::io_context context;
  expect_end_within(connected(context), std::string(5000, 'G'));
  expect_end_within(upgraded(context), frame("\x82\xfe\x13\x88", 5000));
  std::string empty_frames = frame("\x01\x80", 0);
  for (int i = 0; i < 1000; ++i) empty_frames += frame(std::string("\0\x80", 2), 0);
  expect_end_within(upgraded(context), empty_frames);
  repeat_until_served(answer_pings);
}

void vanish() {
  asio::io_context context;
  for (int i = 0; i < 100; ++i) {
    connected(context);
    for (std::string const begin : {"", "GET / HT", "GET /primes/1000000 HTTP/1.1\r\n\r\n"}) {
      tcp::socket socket = connected(context);
      error_code ignored;
      asio::write(socket, asio::buffer(begin), ignored);
      reset(socket);
    }
    tcp::socket socket = upgraded(context);
    send(socket, half_a_frame);
    if (i % 2 == 0) reset(socket);
  }
  is_served();
  tcp::socket socket = upgraded(context);  // stays, with half a frame
  send(socket, half_a_frame);
  is_served();
  wait_for_end(socket);
}

// Sends as long as the server takes it, and reads nothing.
void send_and_never_read(tcp::socket socket, std::string const& text) {
  error_code error;
  while (!error) asio::write(socket, asio::buffer(text), error);
  is_served();
}

void deaf() {
  asio::io_context context;
  send_and_never_read(connected(context), "GET /primes/1000000 HTTP/1.1\r\n\r\n");
  send_and_never_read(upgraded(context), frame("\x82\xfe\xea\x60", 0xea60));
}

// More connections than the server accepts.
void crowd() {
  asio::io_context context;
  std::vector<tcp::socket> sockets;
  sockets.reserve(100);
  for (int i = 0; i < 100; ++i) sockets.push_back(connected(context));
  wait_for_end(sockets.back());
  sockets.clear();
  is_served();
}

// Many WebSockets, each of which sends on before it has its answers.

std::string message(int client, int number) {
  std::string const head = std::to_string(client) + ' ' + std::to_string(number) + ' ';
  return head + std::string(static_cast<std::size_t>(number * 7919 % 60'000),
                            static_cast<char>('a' + (client + number) % 26));
}

asio::awaitable<void> send_messages(websocket& stream, int client, int count) {
  for (int i = 0; i < count; ++i) {
    std::string const text = message(client, i);
    co_await stream.async_write(asio::buffer(text), use_awaitable);
  }
}

asio::awaitable<void> receive_messages(websocket& stream, int client, int count,
                                       std::function<void()> on_message) {
  for (int i = 0; i < count; ++i) {
    beast::flat_buffer buffer;
    co_await stream.async_read(buffer, use_awaitable);
    require(beast::buffers_to_string(buffer.data()) == message(client, i),
            "a message has come back damaged, or out of order");
    on_message();
  }
}

// Runs them all; whether they came to their end, and were not closed before.
bool exchange_messages(int clients, int count, std::function<void()> const& on_message) {
  asio::io_context context;
  std::list<websocket> streams;
  bool complete = true;
  auto const at_end = [&](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (system_error const&) {
      complete = false;
    }
  };
  for (int client = 0; client < clients; ++client) {
    websocket& stream = streams.emplace_back(connected(context));
    stream.handshake("localhost", "/");
    asio::co_spawn(context, send_messages(stream, client, count), at_end);
    asio::co_spawn(context, receive_messages(stream, client, count, on_message), at_end);
  }
  context.run();
  return complete;
}

void frames() {
  int received = 0;
  require(exchange_messages(50, 40, [&] { ++received; }) && received == 50 * 40,
          "messages are missing");
}

// Until the server ends, which it may do as soon as this is printed.
void load() {
  int received = 0;
  bool const complete = exchange_messages(20, 1'000'000, [&] {
    if (++received == 100) std::cout << "loaded" << std::endl;
  });
  require(!complete && received >= 100, "the server has not ended");
}

// WebSockets that break the protocol, each at another moment, over and over, until the server
// ends.
asio::awaitable<void> break_protocol(int client, int& begun) try {
  for (int i = client;; ++i) try {
      tcp::socket socket(co_await asio::this_coro::executor);
      co_await socket.async_connect(server, use_awaitable);
      co_await asio::async_write(socket, asio::buffer(upgrade), use_awaitable);
      std::string answer;
      co_await asio::async_read_until(socket, asio::dynamic_buffer(answer), "\r\n\r\n",
                                      use_awaitable);
      if (++begun == 500) std::cout << "loaded" << std::endl;
      std::string const ping = frame("\x89\x80", 0), wrong = frame("\xff\x80", 0);
      std::string const message =
          i % 2 == 0 ? frame(std::string("\x82\xfe\x10\0", 4), 0x1000) : "";
      std::string const first = i % 3 == 0 ? ping + wrong : ping + message;
      co_await asio::async_write(socket, asio::buffer(first), use_awaitable);
      co_await socket.async_read_some(asio::buffer(answer), use_awaitable);
      std::string const second = ping + wrong;
      co_await asio::async_write(socket, asio::buffer(second), use_awaitable);
    } catch (system_error const& error) {
      if (error.code() == asio::error::connection_refused) throw;
    }
} catch (system_error const&) {  // the server has ended
}

void rude() {
  asio::io_context context;
  int begun = 0;
  for (int client = 0; client < 100; ++client)
    asio::co_spawn(context, break_protocol(client, begun), asio::detached);
  context.run();
}

// Opens one WebSocket after the other until the server ends. The last one that it lets in is told
// so, however late it came.
void expect_last_to_be_told(std::atomic<int>& begun) {
  asio::io_context context;
  tcp::socket last(context);
  std::string told;
  auto const open_another = [&] {
    tcp::socket next = connected(context);
    send(next, upgrade);
    std::string answer;
    std::size_t const head = asio::read_until(next, asio::dynamic_buffer(answer), "\r\n\r\n");
    if (answer.starts_with("HTTP/1.1 503")) throw system_error(asio::error::shut_down);
    last = std::move(next);
    told = answer.substr(head);
    if (++begun == 500) std::cout << "loaded" << std::endl;
  };
  try {
    for (;;) open_another();
  } catch (system_error const&) {  // the server has ended, or is about to
  }
  char next = 0;
  error_code error;
  while (told.empty() && asio::read(last, asio::buffer(&next, 1), error) == 1) told += next;
  require(told.starts_with('\x88'), "a WebSocket is not told that the server ends");
}

void late() {
  std::atomic<int> begun{0};
  std::vector<std::future<void>> clients;
  for (int i = 0; i < 4; ++i)
    clients.push_back(std::async(std::launch::async, [&] { expect_last_to_be_told(begun); }));
  for (auto& client : clients) client.get();
}

std::map<std::string, void (*)()> const modes = {
    {"malformed", malformed}, {"polite", polite}, {"slow", slow},     {"vanish", vanish},
    {"deaf", deaf},           {"crowd", crowd},   {"frames", frames}, {"load", load},
    {"rude", rude},           {"late", late},
};

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> const arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "serve") serve();
  server = {asio::ip::address_v4::loopback(),
            static_cast<unsigned short>(std::stoi(arguments.at(0)))};
  for (std::size_t i = 1; i < arguments.size(); ++i) modes.at(arguments[i])();
  return 0;
} catch (std::exception const& error) {
  std::cerr << "http_peer: " << error.what() << '\n';
  return 1;
}
