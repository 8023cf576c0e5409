// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// The end of a suite: the next one of the translation unit includes its rules anew.

#undef ASIO_SYNC_RULES_SUITE
#undef ASIO_SYNC_TEST_RULES_BLOCKING_HPP
#undef ASIO_SYNC_TEST_RULES_CARRIED_HPP
#undef ASIO_SYNC_TEST_RULES_COMMON_HPP
#undef ASIO_SYNC_TEST_RULES_COMPLETIONS_HPP
#undef ASIO_SYNC_TEST_RULES_COROUTINES_HPP
#undef ASIO_SYNC_TEST_RULES_GRANTS_HPP
#undef ASIO_SYNC_TEST_RULES_LIFETIME_HPP
#undef ASIO_SYNC_TEST_RULES_MEMORY_HPP
#undef ASIO_SYNC_TEST_RULES_ONE_BY_ONE_HPP
#undef ASIO_SYNC_TEST_RULES_ORDER_HPP
#undef ASIO_SYNC_TEST_RULES_THREADS_HPP
#undef ASIO_SYNC_TEST_RULES_TIME_HPP
