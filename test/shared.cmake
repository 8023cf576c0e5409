# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# A program that shares mutexes with libraries: one that is compiled as it is, one that hides its
# symbols, and one that is loaded at run time, shares no symbols at all, and can be unloaded (which
# those that g++ makes unique in a process would prevent). Each has side.cpp.

function(asio_sync_side name type)
  set(target side_${name})
  add_library(${target} ${type} shared/side.cpp)
  target_link_libraries(${target} PRIVATE asio_sync::own)
  target_compile_definitions(
    ${target} PRIVATE ASIO_SYNC_TEST_SIDE=asio_sync_test_side_${name}
                      ASIO_SYNC_TEST_SIDE_NAME="${name}"
  )
  target_compile_options(${target} PRIVATE ${ARGN})
  asio_sync_see_counts(${target})
endfunction()

asio_sync_side(program OBJECT)
asio_sync_side(default SHARED)
asio_sync_side(hidden SHARED -fvisibility=hidden -fvisibility-inlines-hidden)
asio_sync_side(
  plugin MODULE -fvisibility=hidden $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
)
target_link_options(side_plugin PRIVATE -Wl,-Bsymbolic)
set(unloaded ${CMAKE_CURRENT_BINARY_DIR}/unloaded.so)
add_custom_command(
  TARGET side_plugin POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:side_plugin> ${unloaded}
)

file(GLOB sources CONFIGURE_DEPENDS shared/*_test.cpp)
add_executable(shared ${sources} support/memory.cpp)
target_link_libraries(
  shared PRIVATE side_program side_default side_hidden test_support test_main ${CMAKE_DL_LIBS}
)
target_compile_definitions(
  shared PRIVATE ASIO_SYNC_TEST_PLUGIN="$<TARGET_FILE:side_plugin>"
                 ASIO_SYNC_TEST_UNLOADED="${unloaded}"
)
target_precompile_headers(shared REUSE_FROM test_pch)
add_dependencies(shared side_plugin)
asio_sync_add_test(shared shared 1800 shared)
