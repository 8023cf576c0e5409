// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_TEST_SUPPORT_TSAN_ASIO_HPP
#define ASIO_SYNC_TEST_SUPPORT_TSAN_ASIO_HPP

// ThreadSanitizer does not see a standalone fence, and would report every count of references in
// Asio. Included before anything else of Asio's, this gives it one without the fence.

#define ref_count_down ref_count_down_with_fence
#include <boost/asio/detail/atomic_count.hpp>
#undef ref_count_down

namespace boost::asio::detail {

inline bool ref_count_down(atomic_count& count) {
  return count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace boost::asio::detail

#endif
