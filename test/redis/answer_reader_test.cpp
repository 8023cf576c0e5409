// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// Messages of a server as the answers that a session takes.

#include "support/test.hpp"

#include <asio_sync/redis/detail/link/answer_reader.hpp>
#include <asio_sync/redis/inspection.hpp>

#include "redis/support/resp_text.hpp"

namespace redis_answer_reader_test {

using namespace asio_sync::redis::detail;

std::string text_of(token_state const& s) {
  std::string const where = s.where == standing::holds    ? "holds "
                            : s.where == standing::waits  ? "waits "
                            : s.where == standing::parked ? "parked "
                                                          : "unknown ";
  return where + std::to_string(s.number) +
         (s.hint ? " hint " + std::to_string(s.hint->count()) : "") +
         (s.variables ? " variables " + std::string(*s.variables) : "");
}

std::string text_of(asio_sync::redis::inspection const& i) {
  std::string text = i.kind + ' ' + std::to_string(i.used) + '/' + std::to_string(i.capacity) +
                     " gate " + std::to_string(i.gate.count());
  auto const append = [&text](auto const& m) {
    text += "; " + m.who + ' ' + m.session + ' ' + std::to_string(m.weight) +
            (m.is_alive ? "" : " dead");
  };
  for (auto const& h : i.holders) {
    append(h);
    text += " fence " + std::to_string(h.fence) + " age " + std::to_string(h.age.count());
  }
  for (auto const& w : i.waiters) {
    append(w);
    text += " ticket " + std::to_string(w.ticket) + (w.is_reachable ? "" : " unreachable");
  }
  return text + "; " + std::to_string(i.holder_count) + '+' + std::to_string(i.waiter_count) +
         '+' + std::to_string(i.condition_waiter_count);
}

// Returns the answer that the bytes are to a script.
std::string read(script what, std::string_view bytes) {
  resp::parser parser;
  answer_reader reader;
  asio_sync::test::codec::feed(parser, bytes);
  answer const a = reader.read(what, parser.next().value());
  if (auto const* const r = std::get_if<refusal>(&a)) return "refusal " + std::string(r->text);
  if (auto const* const n = std::get_if<std::int64_t>(&a)) return std::to_string(*n);
  if (auto const* const s = std::get_if<token_state>(&a)) return text_of(*s);
  if (auto const* const o = std::get_if<opened>(&a))
    return (o->resumed ? "resumed " : "new ") + std::string(o->epoch) +
           (o->gate ? " gate " + std::to_string(o->gate->count()) : "");
  if (auto const* const i = std::get_if<asio_sync::redis::inspection*>(&a)) return text_of(**i);
  if (std::holds_alternative<malformed>(a)) return "malformed";
  std::string text;
  for (token_state const& s : std::get<std::span<token_state const>>(a))
    text += (text.empty() ? "" : ", ") + text_of(s);
  return '[' + text + ']';
}

BOOST_AUTO_TEST_SUITE(answer_reader_test)

BOOST_AUTO_TEST_CASE(each_script_has_answers_of_its_own) {
  BOOST_TEST(read(script::open, "*3\r\n:1\r\n$3\r\ne.1\r\n:-1\r\n") == "new e.1");
  BOOST_TEST(read(script::open, "*3\r\n:0\r\n+e.1\r\n:17\r\n") == "resumed e.1 gate 17");
  BOOST_TEST(read(script::acquire, "*3\r\n:1\r\n:12\r\n:-1\r\n") == "holds 12");
  BOOST_TEST(read(script::acquire, "*3\r\n:0\r\n:13\r\n:0\r\n") == "waits 13 hint 0");
  BOOST_TEST(read(script::acquire, "*3\r\n:-1\r\n:0\r\n:-1\r\n") == "unknown 0");
  BOOST_TEST(read(script::beat, "*0\r\n") == "[]");
  BOOST_TEST(read(script::beat, "*6\r\n:1\r\n:12\r\n:-1\r\n:0\r\n:13\r\n:400\r\n") ==
             "[holds 12, waits 13 hint 400]");
  for (script const what : {script::release, script::forget, script::shutdown, script::force,
                            script::exit, script::signal})
    BOOST_TEST(read(what, ":-1\r\n") == "-1");
}

BOOST_AUTO_TEST_CASE(an_error_is_a_refusal_of_each_script) {
  for (script const what : {script::open, script::beat, script::acquire, script::release,
                            script::forget, script::shutdown, script::inspect, script::force,
                            script::cond_wait, script::unwait, script::signal, script::exit})
    BOOST_TEST(read(what, "-STALE a newer one\r\n") == "refusal STALE a newer one");
}

BOOST_AUTO_TEST_CASE(a_message_of_another_form_is_malformed) {
  std::string const states[] = {"*3\r\n:0\r\n:1\r\n:4294967297\r\n",
                                "*3\r\n:3\r\n:1\r\n:-1\r\n",
                                "*3\r\n:-2\r\n:1\r\n:-1\r\n",
                                "*3\r\n:1\r\n:-1\r\n:-1\r\n",
                                "*3\r\n:1\r\n+1\r\n:-1\r\n",
                                "*3\r\n:1\r\n:9007199254740992\r\n:-1\r\n",
                                "*2\r\n:1\r\n:1\r\n",
                                "*1\r\n*3\r\n:1\r\n:1\r\n:-1\r\n",
                                ":1\r\n",
                                "_\r\n"};
  for (std::string const& bytes : states) {
    BOOST_TEST(read(script::acquire, bytes) == "malformed");
    BOOST_TEST(read(script::beat, bytes) == "malformed");
  }
  BOOST_TEST(read(script::acquire, "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n") == "malformed");
  BOOST_TEST(read(script::acquire, "*0\r\n") == "malformed");
  for (std::string const bytes :
       {"*3\r\n:1\r\n$0\r\n\r\n:-1\r\n", "*3\r\n+1\r\n+e\r\n:-1\r\n", "*3\r\n:1\r\n:2\r\n:-1\r\n",
        "*3\r\n:1\r\n+e\r\n_\r\n", "*2\r\n:1\r\n+e\r\n", "+OK\r\n",
        "*3\r\n:1\r\n+e\r\n:4294967297\r\n"})
    BOOST_TEST(read(script::open, bytes) == "malformed");
  for (std::string const bytes : {"+1\r\n", "*0\r\n", "_\r\n", "#t\r\n", ",1\r\n"})
    BOOST_TEST(read(script::release, bytes) == "malformed");
}

BOOST_AUTO_TEST_CASE(a_grant_may_have_variables) {
  for (script const what : {script::acquire, script::cond_wait, script::unwait}) {
    BOOST_TEST(read(what, "*4\r\n:1\r\n:12\r\n:-1\r\n$6\r\n1:n1:5\r\n") ==
               "holds 12 variables 1:n1:5");
    BOOST_TEST(read(what, "*4\r\n:1\r\n:12\r\n:7\r\n$0\r\n\r\n") == "holds 12 hint 7 variables ");
    BOOST_TEST(read(what, "*3\r\n:2\r\n:13\r\n:-1\r\n") == "parked 13");
  }
}

BOOST_AUTO_TEST_CASE(variables_are_a_text_and_follow_a_grant_of_one_token_alone) {
  std::string const grant = "*4\r\n:1\r\n:12\r\n:-1\r\n", text = "$6\r\n1:n1:5\r\n";
  for (std::string const state :
       {"*4\r\n:0\r\n:13\r\n:-1\r\n", "*4\r\n:2\r\n:13\r\n:-1\r\n", "*4\r\n:-1\r\n:0\r\n:-1\r\n",
        "*4\r\n:3\r\n:12\r\n:-1\r\n", "*4\r\n:1\r\n+12\r\n:-1\r\n"})
    BOOST_TEST(read(script::acquire, state + text) == "malformed");
  for (std::string const variables : {":5\r\n", "_\r\n", "*0\r\n", "*1\r\n+5\r\n", "#t\r\n"})
    BOOST_TEST(read(script::acquire, grant + variables) == "malformed");
  BOOST_TEST(read(script::acquire, "*5\r\n:1\r\n:12\r\n:-1\r\n" + text + text) == "malformed");
  for (script const what : {script::beat, script::exit, script::release, script::open})
    BOOST_TEST(read(what, grant + text) == "malformed");
}

std::string const nobody = "*9\r\n$0\r\n\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n*0\r\n*0\r\n";

BOOST_AUTO_TEST_CASE(inspections_are_read_and_their_holders_are_in_the_order_of_fences) {
  BOOST_TEST(read(script::inspect, nobody) == " 0/0 gate 0; 0+0+0");
  BOOST_TEST(read(script::inspect,
                  "*9\r\n+semaphore\r\n:5\r\n:3\r\n:250\r\n:2\r\n:1\r\n:7\r\n"
                  "*10\r\n$3\r\nb.1\r\n_\r\n:17\r\n:2\r\n:70\r\n$3\r\na.1\r\n$0\r\n\r\n:12\r\n:"
                  "1\r\n:80\r\n"
                  "*5\r\n$3\r\nc.1\r\n$3\r\ncat\r\n:18\r\n:4\r\n:0\r\n") ==
             "semaphore 3/5 gate 250;  a.1 1 fence 12 age 80;  b.1 2 dead fence 17 age 70; "
             "cat c.1 4 ticket 18 unreachable; 2+1+7");
  BOOST_TEST(read(script::inspect,
                  "*9\r\n+mutex\r\n:-1\r\n:-2\r\n:-3\r\n:-4\r\n:-5\r\n:-6\r\n*0\r\n"
                  "*5\r\n+c\r\n+d\r\n:-6\r\n:-7\r\n:1\r\n") ==
             "mutex 0/0 gate 0; d c 0 ticket 0; 0+0+0");
}

BOOST_AUTO_TEST_CASE(an_inspection_of_another_form_is_malformed) {
  for (std::string const bytes : {"*0\r\n", ":1\r\n", "_\r\n"})
    BOOST_TEST(read(script::inspect, bytes) == "malformed");
  auto const spoilt = [](std::string const& from, std::string const& to) {
    std::string bytes = nobody;
    bytes.replace(bytes.rfind(from), from.size(), to);
    return read(script::inspect, bytes);
  };
  BOOST_TEST(spoilt("*9", "*8") == "malformed");
  BOOST_TEST(spoilt("$0\r\n\r\n", ":0\r\n") == "malformed");
  BOOST_TEST(spoilt(":0", "+0") == "malformed");
  BOOST_TEST(spoilt("*0", ":0") == "malformed");
  BOOST_TEST(spoilt("*0", "*4\r\n+a\r\n+b\r\n:1\r\n:1\r\n") == "malformed");
  BOOST_TEST(spoilt("*0", "*5\r\n+a\r\n+b\r\n:1\r\n:1\r\n_\r\n") == "malformed");
}

BOOST_AUTO_TEST_CASE(what_is_published_is_read_and_other_pushes_are_not) {
  auto const published = [](std::string_view bytes) {
    resp::parser parser;
    asio_sync::test::codec::feed(parser, bytes);
    return std::string(read_published(parser.next().value()).value_or("nothing"));
  };
  BOOST_TEST(published(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nG a.1\r\n") == "G a.1");
  BOOST_TEST(published(">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n") == "nothing");
  BOOST_TEST(published(">2\r\n$7\r\nmessage\r\n$1\r\nc\r\n") == "nothing");
  BOOST_TEST(published(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n_\r\n") == "nothing");
  BOOST_TEST(published("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n+x\r\n") == "nothing");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_answer_reader_test
