// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

// What every primitive promises, of a shared mutex that is locked for reading: where it makes no
// difference that those who were let in keep nobody out.

#include "support/test.hpp"

#include <asio_sync/async_shared_mutex.hpp>

namespace rules_shared_mutex_reading_test {

struct subject {
  static constexpr bool carries = true;
  static constexpr bool shares = true;
  template <class Executor>
  using over = asio_sync::basic_async_shared_mutex<Executor>;
  using primitive_type = over<boost::asio::any_io_executor>;
  using reader = primitive_type::shared_lock_type;

  // That there was a reader, which has gone; or a writer, which keeps all readers out.
  class grant {
   public:
    grant() = default;
    grant(reader lock) noexcept : given_(lock.owns_lock()) { lock = reader(); }
    explicit grant(primitive_type& p)
        : writer_(p, std::try_to_lock), given_(writer_.owns_lock()) {}
    explicit operator bool() const noexcept { return given_; }

   private:
    primitive_type::lock_type writer_;
    bool given_ = false;
  };

  static bool occupy(auto& p) { return p.try_lock(); }
  static void serve(auto& p) { p.unlock(); }
  static grant hold(primitive_type& p) { return grant(p); }

  template <class... Token>
  static auto wait(auto& p, Token&&... token) {
    return p.async_lock_shared(std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_for(auto& p, auto time, Token&&... token) {
    return p.async_lock_shared_for(time, std::forward<Token>(token)...);
  }
  template <class... Token>
  static auto wait_until(auto& p, auto time, Token&&... token) {
    return p.async_lock_shared_until(time, std::forward<Token>(token)...);
  }

  static grant block(primitive_type& p) { return reader(p); }
  static grant block_for(primitive_type& p, auto time) { return reader(p, time); }

  static bool idle(auto const& p) { return !p.is_locked() && p.waiters() == 0; }
};

}  // namespace rules_shared_mutex_reading_test

#define ASIO_SYNC_RULES_SUITE rules_shared_mutex_reading_test
#include "rules/blocking.hpp"
#include "rules/coroutines.hpp"
#include "rules/lifetime.hpp"
#include "rules/memory.hpp"
#include "rules/threads.hpp"
#include "rules/withdrawal.hpp"

#include "rules/end.hpp"
