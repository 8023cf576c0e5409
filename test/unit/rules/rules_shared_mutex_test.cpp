// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of a shared mutex that is locked for writing.

#include "rules/mutex_subject.hpp"
#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

namespace rules_shared_mutex_test {

using subject = asio_sync::test::mutex_subject<asio_sync::basic_async_shared_mutex>;

}  // namespace rules_shared_mutex_test

#define ASIO_SYNC_RULES_SUITE rules_shared_mutex_test
#include "rules/blocking.hpp"
#include "rules/carried.hpp"
#include "rules/completions.hpp"
#include "rules/coroutines.hpp"
#include "rules/grants.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/one_by_one.hpp"
#include "rules/order.hpp"
#include "rules/threads.hpp"
#include "rules/time.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
