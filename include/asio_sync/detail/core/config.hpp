// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_DETAIL_CORE_CONFIG_HPP
#define ASIO_SYNC_DETAIL_CORE_CONFIG_HPP

// What the compiler is asked for. Every public header includes this first.

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error asio_sync needs C++20
#endif

#ifndef __cpp_exceptions
#error asio_sync needs exceptions
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ASIO_SYNC_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define ASIO_SYNC_OTHER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASIO_SYNC_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(undefined_behavior_sanitizer)
#define ASIO_SYNC_OTHER_SANITIZER 1
#endif
#endif

// On the few functions of a hand-off into which all calls are to be inlined, where compilers leave
// some six of them. None of these knows a handler of a user: what is flattened is compiled once
// for a program, not for each call. Not where sanitizers run, nor where nothing is optimised.
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(ASIO_SYNC_ADDRESS_SANITIZER) && \
    !defined(ASIO_SYNC_OTHER_SANITIZER)
#define ASIO_SYNC_FLATTEN __attribute__((flatten))
#else
#define ASIO_SYNC_FLATTEN
#endif

// On the free paths of a primitive, a few instructions each.
#if defined(__GNUC__) && defined(__OPTIMIZE__)
#define ASIO_SYNC_INLINE __attribute__((always_inline)) inline
#else
#define ASIO_SYNC_INLINE inline
#endif

// On what such functions call all the same, and on what is not to be compiled into each call.
#if defined(__GNUC__)
#define ASIO_SYNC_COLD __attribute__((noinline, cold))
#define ASIO_SYNC_NOINLINE __attribute__((noinline))
#else
#define ASIO_SYNC_COLD
#define ASIO_SYNC_NOINLINE
#endif

#endif
