// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The compiler of Lua 5.1, which is the server's, reads the scripts, also the lines that no other
// case runs. The package lua5.1 has it.

#include "support/test.hpp"

#include <asio_sync/redis/detail/scripts/all.hpp>

#include "redis/support/server.hpp"

#include <filesystem>

namespace redis_lua_test {

namespace scripts = asio_sync::redis::detail::scripts;

/// Returns the globals that a script names, with the instruction that does it.
std::set<std::string> globals(std::string const& luac, scripts::script const& of) {
  auto const file = std::filesystem::temp_directory_path() / (std::string(of.name) + ".lua");
  std::ofstream(file) << scripts::text(of);
  std::FILE* const listing = ::popen((luac + " -l -p " + file.string()).c_str(), "r");
  BOOST_REQUIRE(listing);
  std::set<std::string> names;
  char text[256];
  while (std::fgets(text, sizeof text, listing)) {
    std::string_view const line(text, std::strcspn(text, "\n"));
    if (auto const at = line.find("ETGLOBAL"); at != line.npos)
      names.insert(line[at - 1] + std::string(line.substr(line.rfind(' '))));
  }
  BOOST_TEST(::pclose(listing) == 0, of.name << " is not Lua");
  std::filesystem::remove(file);
  return names;
}

BOOST_AUTO_TEST_SUITE(lua_test)

BOOST_AUTO_TEST_CASE(scripts_compile_and_set_no_global) {
  auto const luac = asio_sync::test::redis::find_program({"luac5.1"}).string();
  if (luac.empty()) {
    BOOST_TEST_MESSAGE("There is no luac5.1 (package lua5.1).");
    return;
  }
  std::set<std::string> const known{"G ARGV",  "G ipairs", "G math",     "G pairs", "G pcall",
                                    "G redis", "G table",  "G tonumber", "G type",  "G unpack"};
  for (scripts::script const& each : scripts::all) BOOST_TEST(scripts::text(each).size() < 16384u);
  for (scripts::script const& each : scripts::all)
    for (std::string const& name : globals(luac, each))
      BOOST_TEST(known.count(name) == 1, each.name << " names the global " << name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redis_lua_test
