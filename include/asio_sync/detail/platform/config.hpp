// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_PLATFORM_CONFIG_HPP
#define ASIO_SYNC_DETAIL_PLATFORM_CONFIG_HPP

// On functions of the hot path into which all calls are to be inlined: compilers leave some six of
// them otherwise, a fifth of the time of a hand-off. Costs minutes where sanitizers run.
#if defined(__GNUC__) && !defined(ASIO_SYNC_NO_FLATTEN)
#define ASIO_SYNC_FLATTEN __attribute__((flatten))
#else
#define ASIO_SYNC_FLATTEN
#endif

// On what such functions call all the same: their other paths, and the user's code.
#if defined(__GNUC__)
#define ASIO_SYNC_COLD __attribute__((noinline, cold))
#define ASIO_SYNC_NOINLINE __attribute__((noinline))
#else
#define ASIO_SYNC_COLD
#define ASIO_SYNC_NOINLINE
#endif

#endif
