# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# How the project compiles its own programs. Nothing here reaches those who use the library.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

# Compiles through ccache where it is installed. Clones share what g++ compiles. They do not share
# what clang compiles, because its precompiled headers name the files of the clone.
find_program(ASIO_SYNC_CCACHE ccache)
if(ASIO_SYNC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${ASIO_SYNC_CCACHE}
  )
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)  # a unity file has whole paths
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # what ccache wants of precompiled headers
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

# asio_sync::own: the library with our warnings, as errors, and the sanitizer of the build.
add_library(asio_sync_own INTERFACE)
add_library(asio_sync::own ALIAS asio_sync_own)
target_link_libraries(asio_sync_own INTERFACE asio_sync::asio_sync)
target_compile_options(asio_sync_own INTERFACE -Wall -Wextra -Wshadow -Werror)

if(ASIO_SYNC_SANITIZER STREQUAL "")
  set(asio_sync_sanitizer_flags "")
elseif(ASIO_SYNC_SANITIZER STREQUAL "address")
  set(asio_sync_sanitizer_flags -fsanitize=address,undefined,leak -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Clang 14 cannot check the types of functions that are coroutines.
    list(APPEND asio_sync_sanitizer_flags -fno-sanitize=function)
  endif()
  target_compile_definitions(asio_sync_own INTERFACE BOOST_USE_UCONTEXT BOOST_USE_ASAN)
elseif(ASIO_SYNC_SANITIZER STREQUAL "thread")
  set(asio_sync_sanitizer_flags -fsanitize=thread)
  target_compile_definitions(
    asio_sync_own
    INTERFACE BOOST_USE_UCONTEXT BOOST_USE_TSAN BOOST_ASIO_DISABLE_FENCED_BLOCK
              ASIO_SYNC_TEST_TSAN
  )
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # As the driver for C, which leaves out Clang's own allocation functions: a program of ours
    # could not replace them.
    target_link_options(asio_sync_own INTERFACE --driver-mode=gcc)
    target_link_libraries(asio_sync_own INTERFACE stdc++ m)
  endif()
else()
  message(FATAL_ERROR "ASIO_SYNC_SANITIZER is 'address', 'thread' or empty, not '${ASIO_SYNC_SANITIZER}'")
endif()
if(asio_sync_sanitizer_flags)
  # What takes twenty times as long does less then.
  target_compile_definitions(asio_sync_own INTERFACE ASIO_SYNC_TEST_SANITIZED)
  target_compile_options(
    asio_sync_own INTERFACE ${asio_sync_sanitizer_flags} -fno-omit-frame-pointer
  )
  target_link_options(asio_sync_own INTERFACE ${asio_sync_sanitizer_flags})
endif()

# One of the faults in test/mutants/faults: everything is built with it, to see who notices.
set(ASIO_SYNC_MUTANT "" CACHE STRING "The fault that tests, examples and benchmarks are built with, or none")
if(NOT ASIO_SYNC_MUTANT STREQUAL "")
  set(asio_sync_mutant ${PROJECT_BINARY_DIR}/mutant/${ASIO_SYNC_MUTANT})
  execute_process(
    COMMAND ${PROJECT_SOURCE_DIR}/test/mutants/apply ${ASIO_SYNC_MUTANT} ${asio_sync_mutant}
    ERROR_VARIABLE asio_sync_mutant_error
    ERROR_STRIP_TRAILING_WHITESPACE
  )
  if(asio_sync_mutant_error)
    message(FATAL_ERROR "${asio_sync_mutant_error}")
  endif()
  message(WARNING "Built with the fault '${ASIO_SYNC_MUTANT}'")
  file(GLOB_RECURSE asio_sync_headers ${PROJECT_SOURCE_DIR}/include/*.hpp)
  set_property(
    DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${asio_sync_headers}
                              ${PROJECT_SOURCE_DIR}/test/mutants/faults
  )
  target_include_directories(asio_sync_own BEFORE INTERFACE ${asio_sync_mutant})
endif()

# asio_sync_see_counts(TARGET): for a program of the thread sanitizer without the precompiled
# header, which does the same. See test/support/tsan_asio.hpp.
function(asio_sync_see_counts target)
  if(ASIO_SYNC_SANITIZER STREQUAL "thread")
    target_compile_options(
      ${target} PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/test/support/tsan_asio.hpp"
    )
  endif()
endfunction()

# asio_sync_add_test(NAME LABEL SECONDS COMMAND...): a test always has a label and a watchdog. Under
# wine one runs at a time: the first makes the Windows of all, and they share a server, which is
# what keeps them waiting.
function(asio_sync_add_test name label seconds)
  add_test(NAME ${name} COMMAND ${ARGN})
  # The higher its cost, the earlier it starts, so that none is alone at the end.
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${seconds} COST ${seconds})
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK wine)
  endif()
endfunction()
