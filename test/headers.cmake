# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Reads each header alone, which takes two thirds of the time of compiling it. Compiles everything in
# two translation units, and Asio separately. Building this is most of the test.

file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/include/*.hpp
)
# g++ takes twice as long to read Asio, and its library includes more of itself: what a header has
# forgotten is found with libc++. Here, those that users include.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(FILTER headers EXCLUDE REGEX "/detail/")
endif()
if(NOT TARGET asio_sync::redis_tls)
  list(FILTER headers EXCLUDE REGEX "/tls[a-z_]*\\.hpp$")
endif()
set(asio_is_not_included [[
#if defined(BOOST_ASIO_DETAIL_CONFIG_HPP)
#error "includes Asio"
#endif
]])
set(sources "")
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  set(text "#include <${header}>\n#include <${header}>\n")
  if(header MATCHES "/(fwd|error|version|core/[a-z_]+)\\.hpp$")
    string(APPEND text "${asio_is_not_included}")
  endif()
  file(CONFIGURE OUTPUT headers/${name}.cpp CONTENT "${text}" @ONLY)
  list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()
add_library(headers_alone OBJECT ${sources})
target_link_libraries(
  headers_alone PRIVATE asio_sync::own $<TARGET_NAME_IF_EXISTS:asio_sync::redis_tls>
)
target_compile_definitions(
  headers_alone PRIVATE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_NO_TS_EXECUTORS
)
set_target_properties(
  headers_alone
  PROPERTIES CXX_COMPILER_LAUNCHER
             "${CMAKE_CURRENT_SOURCE_DIR}/headers/only_read;${CMAKE_CXX_COMPILER_LAUNCHER}"
)

add_executable(headers_twice headers/first.cpp headers/second.cpp)
target_link_libraries(headers_twice PRIVATE asio_sync::own)
asio_sync_add_test(headers_twice headers 60 headers_twice)

add_executable(headers_separate headers/first.cpp headers/second.cpp headers/separate.cpp)
# On Windows what Asio compiles separately draws random numbers from bcrypt.
target_link_libraries(headers_separate PRIVATE asio_sync::own $<$<PLATFORM_ID:Windows>:bcrypt>)
target_compile_definitions(headers_separate PRIVATE BOOST_ASIO_SEPARATE_COMPILATION)
asio_sync_add_test(headers_separate headers 60 headers_separate)
