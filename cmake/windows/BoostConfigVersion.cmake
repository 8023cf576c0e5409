# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

file(STRINGS /usr/include/boost/version.hpp line REGEX "#define BOOST_LIB_VERSION ")
string(REGEX MATCH "[0-9]+_[0-9]+" line "${line}")
string(REPLACE "_" "." PACKAGE_VERSION "${line}")
if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
