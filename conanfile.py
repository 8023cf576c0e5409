# Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
# SPDX-License-Identifier: BSL-1.0

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load


class AsioSync(ConanFile):
    name = "asio_sync"
    description = "Asynchronous synchronization primitives for Boost.Asio"
    license = "BSL-1.0"
    topics = ("asio", "asynchronous", "mutex", "semaphore", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "include/*", "share/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include/asio_sync/version.hpp"))
        number = int(re.search(r"#define ASIO_SYNC_VERSION (\d+)", text)[1])
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def requirements(self):
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        source, target = self.source_folder, self.package_folder
        copy(self, "LICENSE", source, os.path.join(target, "licenses"))
        for pattern in ("*.hpp", "*.ipp"):
            copy(self, pattern, os.path.join(source, "include"), os.path.join(target, "include"))
        printers = os.path.join(target, "share/asio_sync/gdb")
        copy(self, "*.py", os.path.join(source, "share/gdb"), printers)

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "asio_sync")
        self.cpp_info.set_property("cmake_target_name", "asio_sync::asio_sync")
        self.cpp_info.set_property("pkg_config_name", "asio_sync")
        self.cpp_info.requires = ["boost::headers"]
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
