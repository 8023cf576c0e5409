// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_CLIENT_EVENT_IPP
#define ASIO_SYNC_REDIS_DETAIL_CLIENT_EVENT_IPP

#include <asio_sync/redis/config.hpp>
#include <asio_sync/redis/detail/client/failures.hpp>

#include <ostream>
#include <string>

namespace asio_sync::redis {

std::ostream& operator<<(std::ostream& out, event const& e) {
  std::string const text = detail::printable(e.text);
  out << to_string(e.what);
  if (!text.empty()) out << ": " << text;
  if (e.time.count() != 0) out << " (" << e.time.count() << " ms)";
  if (e.error) out << " [" << e.error << ']';
  return out;
}

}  // namespace asio_sync::redis

#endif
