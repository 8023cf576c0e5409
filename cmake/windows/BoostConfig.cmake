# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# Boost for Windows: the headers of this system, through a folder with nothing else in it, and
# Program_options, compiled from ASIO_SYNC_PROGRAM_OPTIONS_SOURCE; without that it has headers only.

if(NOT TARGET Boost::headers)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/boost_headers)
  file(CREATE_LINK /usr/include/boost ${CMAKE_BINARY_DIR}/boost_headers/boost SYMBOLIC)
  add_library(Boost::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(Boost::headers INTERFACE ${CMAKE_BINARY_DIR}/boost_headers)
endif()

if("program_options" IN_LIST Boost_FIND_COMPONENTS AND NOT TARGET Boost::program_options)
  set(ASIO_SYNC_PROGRAM_OPTIONS_SOURCE "" CACHE PATH "The folder with the *.cpp of Program_options")
  if(ASIO_SYNC_PROGRAM_OPTIONS_SOURCE)
    file(GLOB sources ${ASIO_SYNC_PROGRAM_OPTIONS_SOURCE}/*.cpp)
    add_library(boost_program_options STATIC EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(boost_program_options PUBLIC Boost::headers)
    add_library(Boost::program_options ALIAS boost_program_options)
  else()
    add_library(Boost::program_options INTERFACE IMPORTED GLOBAL)
  endif()
endif()
