# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# One program under the flags that users compile with: every level of optimisation, both standards,
# with and without RTTI. The warnings of each level are errors, in the headers too.

# asio_sync_variant(STANDARD FLAG...)
function(asio_sync_variant standard)
  string(JOIN "" name variant_${standard} ${ARGN})
  string(MAKE_C_IDENTIFIER ${name} name)
  add_executable(${name} variants/variants.cpp)
  target_link_libraries(${name} PRIVATE asio_sync::own)
  target_compile_options(${name} PRIVATE ${ARGN} -g0)
  target_link_options(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_STANDARD ${standard} CXX_STANDARD_REQUIRED ON)
  asio_sync_add_test(${name} variants 120 ${name})
endfunction()

# Each two of standard, RTTI and half of the levels meet.
asio_sync_variant(20 -O0)
asio_sync_variant(23 -O1 -fno-rtti)
asio_sync_variant(20 -O2 -fno-rtti)
asio_sync_variant(23 -O3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT WIN32)  # all else has the sanitizers of clang
  # Under them g++ 12 takes what Asio's use_future keeps for uninitialized, in a timer's wait, too.
  asio_sync_variant(
    20 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wno-maybe-uninitialized
  )
endif()

# A session of Beast over TLS, where the headers for that are there: only compiled.
if(OpenSSL_FOUND)
  add_library(beast_ssl_session OBJECT variants/beast_ssl_session.cpp)
  target_include_directories(beast_ssl_session SYSTEM PRIVATE ${OPENSSL_INCLUDE_DIR})
  target_link_libraries(beast_ssl_session PRIVATE asio_sync::own)
endif()

# With Asio's handler tracking, which the program switches on.
add_executable(handler_tracking variants/handler_tracking.cpp)
target_link_libraries(handler_tracking PRIVATE asio_sync::own)
if(NOT WIN32)  # where errors have other numbers than in the page
  set(page ${PROJECT_SOURCE_DIR}/doc/debugging.md)
endif()
asio_sync_add_test(
  handler_tracking variants 120 handler_tracking handler_tracking.txt ${page}
)
