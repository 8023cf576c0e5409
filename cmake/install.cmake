# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

# The headers, the package for find_package, the file for pkg-config and the printers for gdb.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

option(ASIO_SYNC_INSTALL "Make the install target contain asio_sync" ${PROJECT_IS_TOP_LEVEL})
if(NOT ASIO_SYNC_INSTALL)
  return()
endif()

set(asio_sync_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/asio_sync)

install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.hpp"
  PATTERN "*.ipp"
)
install(
  FILES ${PROJECT_SOURCE_DIR}/share/gdb/asio_sync.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/asio_sync/gdb
)
install(TARGETS asio_sync asio_sync_redis EXPORT asio_sync_targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(
  EXPORT asio_sync_targets
  NAMESPACE asio_sync::
  FILE asio_sync-targets.cmake
  DESTINATION ${asio_sync_package_dir}
)

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/asio_sync-config.cmake.in ${PROJECT_BINARY_DIR}/asio_sync-config.cmake
  INSTALL_DESTINATION ${asio_sync_package_dir}
  NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/asio_sync-config-version.cmake
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT
)
install(
  FILES ${PROJECT_BINARY_DIR}/asio_sync-config.cmake
        ${PROJECT_BINARY_DIR}/asio_sync-config-version.cmake
  DESTINATION ${asio_sync_package_dir}
)

configure_file(
  ${CMAKE_CURRENT_LIST_DIR}/asio_sync.pc.in ${PROJECT_BINARY_DIR}/asio_sync.pc @ONLY
)
install(FILES ${PROJECT_BINARY_DIR}/asio_sync.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
