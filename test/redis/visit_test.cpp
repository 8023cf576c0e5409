// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The view and the operations of an entry, without a session.

#include "support/test.hpp"

#include <asio_sync/redis/detail/session/visit.hpp>

namespace redis_visit_test {

using namespace asio_sync::redis::detail;
using namespace std::string_literals;

// Returns the first string of a text in brackets and what is left; "none" if it is malformed.
std::string cut(std::string_view text) {
  std::optional<std::string_view> const word = cut_netstring(text);
  return (word ? '[' + std::string(*word) + ']' : "none ") + std::string(text);
}

std::string value(visit const& v, std::string_view variable) {
  std::string const* const found = v.find(variable);
  return found != nullptr ? *found : "none";
}

std::string operations(visit const& v) {
  request r;
  r.call(script::exit);
  v.write(r);
  std::string text;
  for (std::size_t i = 0; i != r.size(); ++i) text.append(i == 0 ? "" : " ").append(r[i]);
  return text;
}

BOOST_AUTO_TEST_SUITE(visit_test)

BOOST_AUTO_TEST_CASE(strings_are_cut_off_a_text) {
  BOOST_TEST(cut("1:n2:12") == "[n]2:12");
  BOOST_TEST(cut("0:") == "[]");
  BOOST_TEST(cut("0:x") == "[]x");
  BOOST_TEST(cut("3:1:x") == "[1:x]");
  BOOST_TEST(cut("5:\0\r\n:\xff"s) == "[\0\r\n:\xff]"s);
  BOOST_TEST(cut("12:abcdefghijkl") == "[abcdefghijkl]");
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_string_is_left_alone) {
  for (std::string const text :
       {"", "x", ":", ":x", "1", "12", "1x", "1 :x", "1:", "3:ab", "+1:x", "-1:x", " 1:x", "0x1:x",
        "18446744073709551615:x", "18446744073709551616:x", "99999999999999999999999999999:x"})
    BOOST_TEST(cut(text) == "none " + text);
  BOOST_TEST(cut({}) == "none ");
}

BOOST_AUTO_TEST_CASE(a_visit_begins_with_what_the_server_tells) {
  visit v;
  BOOST_TEST(v.begin("0:3:a:b1:n2:12"));
  BOOST_TEST(value(v, "") == "a:b");
  BOOST_TEST(value(v, "n") == "12");
  BOOST_TEST(value(v, "m") == "none");
  BOOST_TEST(!v.asks());
  BOOST_TEST(v.begin(""));
  BOOST_TEST(value(v, "n") == "none");
}

BOOST_AUTO_TEST_CASE(a_malformed_text_changes_nothing) {
  visit v;
  BOOST_TEST(v.begin("1:n2:12"));
  v.set("m", "1");
  v.notify("k", 1);
  for (std::string const text : {"1:n", "1:n2:1", "1:n1:11:m", "1:n1:1 ", "n", "1", ":"}) {
    BOOST_TEST(!v.begin(text));
    BOOST_TEST(operations(v) == "s m 1 n k 1");
    BOOST_TEST(value(v, "n") == "12");
  }
}

BOOST_AUTO_TEST_CASE(a_visit_sees_and_writes_what_it_has_set) {
  visit v;
  BOOST_TEST(v.begin("1:n1:51:o1:5"));
  v.set("n", "6");
  v.set("m", "");
  v.set("m", "7");
  BOOST_TEST(value(v, "n") == "6");
  BOOST_TEST(value(v, "m") == "7");
  BOOST_TEST(v.asks());
  BOOST_TEST(operations(v) == "s m 7 s n 6");
}

BOOST_AUTO_TEST_CASE(a_visit_knows_the_size_of_its_variables) {
  visit v;
  BOOST_TEST(v.size_with("n", 3) == 12u);
  BOOST_TEST(v.begin("1:n1:52:ab3:xyz"));
  BOOST_TEST(v.size_with("n", 1) == 23u);
  BOOST_TEST(v.size_with("n", 0) == 22u);
  BOOST_TEST(v.size_with("m", 10) == 42u);
  v.set("ab", "");
  v.set("m", "12345");
  v.set("m", "12");
  BOOST_TEST(v.size_with("n", 1) == 31u);
  BOOST_TEST(v.size_with_part("xy") == 58u);
  v.own({nullptr, "xy", "-3", "k"});
  BOOST_TEST(v.size_with("n", 1) == 58u);
  BOOST_TEST(v.begin(""));
  BOOST_TEST(v.size_with("n", 1) == 10u);
}

BOOST_AUTO_TEST_CASE(variables_are_set_before_the_others_and_notifications_keep_their_order) {
  visit v;
  v.parts().push_back({nullptr, "n", "-3", "k", 8});
  v.notify("k", 0);
  v.set("n", "6");
  v.notify("j", 1);
  BOOST_TEST(operations(v) == "s n 6 n k 0 n j 1 o n 8 -3 k");
}

BOOST_AUTO_TEST_CASE(each_operation_asks_and_a_new_beginning_none) {
  visit v;
  BOOST_TEST(!v.asks());
  v.notify("k", 1);
  BOOST_TEST(v.asks());
  BOOST_TEST(v.begin(""));
  BOOST_TEST(!v.asks());
  v.parts().push_back({nullptr, "n", "1", "k"});
  BOOST_TEST(v.asks());
  BOOST_TEST(v.begin(""));
  BOOST_TEST(!v.asks());
  BOOST_TEST(operations(v) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_visit_test
