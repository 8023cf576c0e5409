// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What the two styles of http_requests have in common, all that does not wait: URLs, the state of
// a transfer, and what is said of it in the end.

#ifndef ASIO_SYNC_EXAMPLE_HTTP_REQUESTS_HPP
#define ASIO_SYNC_EXAMPLE_HTTP_REQUESTS_HPP

#include <asio_sync/async_manual_reset_event.hpp>
#include <asio_sync/async_mutex.hpp>
#include <asio_sync/async_semaphore.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace http_requests {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// Why a transfer failed: all that is to be said of it.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct url {
  std::string authority;  // host and port, as they were given
  std::string host;
  std::string port;
  std::string target;
};

/// Without the segments "." and "..", which stand for a step that is not made or for one back up.
inline std::string without_dots(std::string const& path) {
  std::string result;
  for (std::size_t begin = 1, end = 0; begin <= path.size(); begin = end + 1) {
    end = std::min(path.find('/', begin), path.size());
    std::string const segment = path.substr(begin, end - begin);
    bool const is_up = segment == "..";
    if (is_up) result.erase(std::min(result.rfind('/'), result.size()));
    if (!is_up && segment != ".")
      result += '/' + segment;
    else if (end == path.size())
      result += '/';
  }
  return result;
}

inline url parse_url(std::string text) {
  auto const begins_with = [&text](std::string_view scheme) {
    return beast::iequals(text.substr(0, scheme.size()), {scheme.data(), scheme.size()});
  };
  if (begins_with("https://")) throw failure("only http is supported, not https");
  if (!begins_with("http://")) throw failure("not a URL that begins with http://");
  text.erase(std::min(text.find('#'), text.size()));
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }))
    throw failure("not a URL: a character has to be escaped");
  url result;
  text.erase(0, std::string_view("http://").size());
  auto const end = std::min(text.find_first_of("/?"), text.size());
  result.authority = text.substr(0, end);
  auto const query = std::min(text.find('?', end), text.size());
  result.target = query == end ? "/" : without_dots(text.substr(end, query - end));
  result.target += text.substr(query);
  if (result.authority.find('@') != std::string::npos)
    throw failure("not a URL that is supported: it names a user");
  bool const is_v6 = result.authority.starts_with('[');
  auto const colon = result.authority.find(':', is_v6 ? result.authority.find(']') : 0);
  result.host = result.authority.substr(0, colon);
  result.port = colon == std::string::npos ? "80" : result.authority.substr(colon + 1);
  if (is_v6 && result.host.ends_with(']'))
    result.host = result.host.substr(1, result.host.size() - 2);
  if (result.host.empty() || result.host.find_first_of("[]") != std::string::npos)
    throw failure("not a URL: no host");
  int number = 0;
  char const* const last = result.port.data() + result.port.size();
  auto const [stop, error] = std::from_chars(result.port.data(), last, number);
  if (error != std::errc() || stop != last || number < 1 || number > 65'535)
    throw failure("not a URL: no port '" + result.port + "'");
  return result;
}

/// Where a redirection leads to.
inline url follow(url const& from, std::string const& location) {
  auto const delimiter = location.find_first_of(":/?#");
  if (location.substr(std::min(delimiter, location.size()), 1) == ":") return parse_url(location);
  if (location.starts_with("//")) return parse_url("http:" + location);
  std::string const site = "http://" + from.authority;
  if (delimiter == 0 && location[0] == '/') return parse_url(site + location);
  if (location.empty() || location[0] == '#') return parse_url(site + from.target);
  std::string const path = from.target.substr(0, from.target.find('?'));
  if (location[0] == '?') return parse_url(site + path + location);
  return parse_url(site + path.substr(0, path.rfind('/') + 1) + location);
}

struct settings {
  int limit = 4;
  int redirects = 5;
  std::chrono::milliseconds timeout{10'000};
  std::string style = "coroutine";
  std::string body;
  bool print = false;
};

/// What all transfers share.
struct resources {
  resources(asio::io_context& c, settings const& s)
      : context(c), set(s), connections(c, s.limit, s.limit), console(c) {}

  asio::io_context& context;
  settings const& set;
  asio_sync::async_semaphore connections;
  asio_sync::async_mutex console;  // for a line, or with --print, for a body and its line
};

/// The state of what is done for one URL.
class transfer {
 public:
  transfer(resources& r, std::string address)
      : resolver(r.context),
        found(r.context),
        stream(r.context),
        given(std::move(address)),
        set_(r.set) {}

  // What the operations work with.
  tcp::resolver resolver;
  tcp::resolver::results_type endpoints;
  asio_sync::async_manual_reset_event found;  // what was looked up
  beast::tcp_stream stream;
  beast::flat_buffer buffer{64 * 1024};  // Beast limits no trailer, for one
  http::request<http::string_body> request;
  std::optional<http::response_parser<http::buffer_body>> response;
  asio_sync::async_mutex::lock_type console;

  std::string const given;
  url at;

  /// Before the first step.
  void begin() {
    at = parse_url(given);
    request.method(set_.body.empty() ? http::verb::get : http::verb::post);
    request.body() = set_.body;
  }

  /// Before each request.
  void prepare() {
    resolved_ = connected_ = false;
    buffer.clear();
    expect_header();
    request.target(at.target);
    request.set(http::field::host, at.authority);
    request.set(http::field::user_agent, "http_requests");
    request.set(http::field::connection, "close");
    request.prepare_payload();
    start_clock();
  }

  /// Looks the host up, on a thread, and then sets `found`. The system's function for that cannot
  /// be interrupted: at the deadline the transfer goes on without it, and the program ends when it
  /// has returned. Asio has one such thread for all, where one host would hold up the others.
  void look_up() {
    found.reset();
    lookup_ = std::async(std::launch::async, [this] {
      endpoints = resolver.resolve(at.host, at.port, lookup_error_);
      found.set();
    });
  }

  /// Before it connects. If there is no socket, connecting would only say that it was cancelled.
  void open() {
    check(lookup_error_);
    resolved_ = true;
    stream.socket().open(tcp::v4());
    stream.expires_at(deadline_);
  }

  /// From now on there is this time for all that follows.
  void start_clock() {
    deadline_ = std::chrono::steady_clock::now() + set_.timeout;
    stream.expires_at(deadline_);
  }

  std::chrono::steady_clock::time_point deadline() const { return deadline_; }

  void connected() { connected_ = true; }

  /// After a header: whether another one follows, as this was but a word on the way.
  bool is_interim() {
    unsigned const status = response->get().result_int();
    if (status < 100 || status >= 200 || status == 101) return false;
    check_clock();
    expect_header();
    return true;
  }

  /// After the header: whether there is another request to make.
  bool is_redirected() {
    http::status const status = response->get().result();
    bool const same_method =
        status == http::status::temporary_redirect || status == http::status::permanent_redirect;
    if (!same_method && status != http::status::moved_permanently &&
        status != http::status::found && status != http::status::see_other)
      return false;
    auto const location = response->get().find(http::field::location);
    if (location == response->get().end()) return false;
    if (redirects_++ == set_.redirects)
      throw failure("more than " + std::to_string(set_.redirects) + " redirects");
    at = follow(at, std::string(location->value()));
    if (!same_method) request.method(http::verb::get), request.body().clear();
    stream.close();
    return true;
  }

  /// Before each part of the body: where it is to go to.
  void expect_chunk() {
    check_clock();
    response->get().body().data = chunk_.data();
    response->get().body().size = chunk_.size();
  }

  /// Hands a part of the body on.
  void take_chunk(error_code error) {
    std::size_t const size = chunk_.size() - response->get().body().size;
    if (set_.print) std::cout << std::string_view(chunk_.data(), size);
    size_ += size;
    if (error != http::error::need_buffer) check(error);
  }

  static void check(error_code error) {
    if (error) throw boost::system::system_error(error);
  }

  /// The one place for errors.
  void fail(std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (boost::system::system_error const& error) {
      result_ = describe(error.code());
    } catch (std::exception const& error) {
      result_ = error.what();
    }
  }

  /// Prints the line for the URL.
  void report() {
    if (result_.empty()) {
      auto const& header = response->get();
      unsigned const kind = header.result_int() / 100;
      succeeded_ = kind == 2 || kind == 3;
      result_ = std::to_string(header.result_int()) + ' ' +
                std::string(http::obsolete_reason(header.result())) + ", " +
                std::to_string(size_) + " bytes";
      if (redirects_ != 0) result_ += ", redirects: " + std::to_string(redirects_);
    }
    std::string line = given + ": " + result_;
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    std::cout << line + '\n' << std::flush;
  }

  bool succeeded() const { return succeeded_; }
  std::size_t size() const { return size_; }

 private:
  void expect_header() {
    response.emplace();
    response->body_limit(boost::none);
  }

  // What comes may come so fast that nobody waits.
  void check_clock() const {
    if (std::chrono::steady_clock::now() >= deadline_)
      throw boost::system::system_error(beast::error::timeout);
  }

  std::string describe(error_code error) const {
    if (error == beast::error::timeout || (!resolved_ && error == asio::error::timed_out))
      return "timed out after " + std::to_string(set_.timeout.count()) + " ms";
    if (!resolved_) return "unknown host '" + at.host + "': " + error.message();
    if (!connected_) return "cannot connect to " + at.authority + ": " + error.message();
    bool const is_http = error.category() == make_error_code(http::error::bad_version).category();
    if (is_http && error != http::error::end_of_stream && error != http::error::partial_message)
      return "this is not HTTP: " + error.message();
    return "the connection was lost after " + std::to_string(size_) + " bytes: " + error.message();
  }

  settings const& set_;
  std::chrono::steady_clock::time_point deadline_;
  std::array<char, 8192> chunk_;
  std::size_t size_ = 0;
  int redirects_ = 0;
  bool resolved_ = false;
  bool connected_ = false;
  bool succeeded_ = false;
  std::string result_;
  error_code lookup_error_;
  std::future<void> lookup_;  // the last one: waits for the thread, which uses the others
};

}  // namespace http_requests

#endif
