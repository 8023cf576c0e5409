// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_SYNC_REDIS_DETAIL_HUB_HUB_HPP
#define ASIO_SYNC_REDIS_DETAIL_HUB_HUB_HPP

#include <asio_sync/detail/context/core_base.hpp>
#include <asio_sync/detail/core/wait_list.hpp>
#include <asio_sync/detail/platform/known_context.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>

// Marks the functions that users call and src.hpp compiles. The tag is a part of their names, so
// that the linker says what to do if no source file includes src.hpp.
#if defined(__GNUC__)
#define ASIO_SYNC_COMPILED_ONCE \
  [[gnu::abi_tag("include_asio_sync_redis_src_hpp_in_one_source_file")]]
#else
#define ASIO_SYNC_COMPILED_ONCE
#endif

namespace asio_sync::redis {

struct config;
struct event;
struct inspection;

class client;

namespace detail {

namespace asio = boost::asio;
namespace shell = asio_sync::detail;
using shell::verdict;
using shell::wait_outcome;

class remote_claim;
class remote_core;
class remote_entry;
class remote_question;
class result;
class result_core;
class strand_route;
class visit;

// An order to the driver of a client.
struct order {
  enum class kind : std::uint8_t { claim, question, run, stop, shut_down, end };

  explicit order(kind k) noexcept : what(k) {}

  kind const what;
  // hub::lock_ guards these.
  bool is_queued = false;
  order* next = nullptr;
  order* prev = nullptr;
};

// The parts of a claim's order.
struct wishes {
  bool ask = false;      // the driver has not seen the claim
  bool recall = false;   // a wait on a condition is to end
  bool release = false;  // a guard has given the hold back
  bool exit = false;     // likewise, and the server is to do what the visit asks for
  bool forget = false;   // nobody has had it
};

// Takes the orders of a hub.
class driver {
 public:
  // Takes orders, and asks to be called again if there are more; called on the strand.
  virtual void drain() noexcept = 0;

  // Ends everything that the driver knows: the client or its context goes.
  virtual void end() noexcept = 0;

 protected:
  ~driver() = default;
};

// Stands between the threads and primitives that use a client and its driver. Any thread gives
// orders; the driver takes them on the client's strand. The hub outlives the client, and the
// client's context, until the last primitive and guard have gone.
//
// Its members are compiled in src.hpp.
class hub final : public std::enable_shared_from_this<hub>, public shell::begun_task {
 public:
  explicit hub(asio::any_io_executor const& executor);
  hub(hub const&) = delete;
  hub& operator=(hub const&) = delete;

  // Creates the driver. Throws invalid_argument for a configuration that breaks its own rules.
  void open(config c);

  // Has this driver take the orders on this strand.
  void attach(std::shared_ptr<strand_route> strand, std::weak_ptr<driver> d) noexcept;

  asio::any_io_executor const& executor() const noexcept { return executor_; }

  // Returns the executor, or that of the system if the client's context has ended.
  ASIO_SYNC_COMPILED_ONCE asio::any_io_executor living_executor() const noexcept;

  std::chrono::milliseconds command_timeout() const noexcept { return command_timeout_; }

  // True if this thread runs the client's context, which must not be blocked.
  ASIO_SYNC_COMPILED_ONCE bool runs_here() const noexcept;

  // --- Claims ---

  // Returns why operations are refused at once; undecided if they are not.
  ASIO_SYNC_COMPILED_ONCE verdict refusal() const noexcept;

  // Has the driver ask the server for a claim. The driver owns a share of the claim until it ends
  // the claim. Called under the lock of the core; wake() follows after that lock.
  ASIO_SYNC_COMPILED_ONCE void ask(remote_claim& c) noexcept;

  // Has the driver recall a wait on a condition. Called under the lock of the core; post_orders()
  // follows after that lock.
  ASIO_SYNC_COMPILED_ONCE void recall(remote_claim& c) noexcept;

  // Begins the driver's share of a claim that is to own a part of a variable, which a visit with
  // this core has made. Returns false if it was given back before.
  bool begin(remote_claim& owned, remote_core& core) noexcept;

  // Has the driver forget a claim, which nobody here wants any more. Called under the lock of the
  // core; post_orders() follows after that lock.
  ASIO_SYNC_COMPILED_ONCE void give_up(remote_claim& c) noexcept;

  // Has the driver ask the server a question, which settles r if there is one. Returns a refusal;
  // also if the client does not run, unless the question waits for that.
  ASIO_SYNC_COMPILED_ONCE verdict ask(std::shared_ptr<remote_question> const& q,
                                      std::shared_ptr<result> const& r) noexcept;

  // Has the driver take its orders. Needs no memory on the executors of an io_context or a
  // thread_pool. Calls the user's executor, and so is called under no lock.
  ASIO_SYNC_COMPILED_ONCE void post_orders() noexcept;

  // Has the driver take its orders, or ends claims and questions here if operations are refused.
  ASIO_SYNC_COMPILED_ONCE void wake() noexcept;

  // True while the session holds what it has been granted.
  bool is_valid() const noexcept;
  std::chrono::steady_clock::time_point valid_until() const noexcept;

  // Return the number of sessions that have begun, and of those that are over.
  std::uint64_t sessions() const noexcept { return sessions_.load(std::memory_order_acquire); }
  std::uint64_t past_sessions() const noexcept {
    std::uint64_t const all = sessions();  // read first: a session that begins now is not over
    return is_valid() ? all - 1 : all;
  }

  // True in a process that was forked after the hub was made. Then with the refusal.
  ASIO_SYNC_COMPILED_ONCE bool is_forked() const noexcept;
  ASIO_SYNC_COMPILED_ONCE verdict forked() const noexcept;

  // --- The client ---

  // Begins a run that settles r. Returns a refusal if another run has begun.
  ASIO_SYNC_COMPILED_ONCE verdict begin_run(std::shared_ptr<result> const& r) noexcept;

  // Ends the run by a shutdown that settles r. Without a run only waits are left, and it is
  // granted at once.
  ASIO_SYNC_COMPILED_ONCE verdict begin_shutdown(std::shared_ptr<result> const& r) noexcept;

  // Has the driver end the run; only the one that settles `of`, if that is not null. wake()
  // follows.
  ASIO_SYNC_COMPILED_ONCE void ask_to_stop(result_core const* of) noexcept;
  ASIO_SYNC_COMPILED_ONCE void stop() noexcept;

  // A wait was cancelled, and an order says so: has the driver take it.
  void cancel(std::shared_ptr<shell::begun_task> const& self) noexcept override;

  // Calls f for each event. Replaces the function before.
  ASIO_SYNC_COMPILED_ONCE void on_event(std::function<void(event const&)> f);

  // The client has gone.
  void end() noexcept;

  // --- The driver ---

  // Has the driver take the orders; on the strand.
  void drain() noexcept;

  struct taken {
    order* what = nullptr;         // null: there is none
    wishes claim{};                // of a claim
    remote_claim* from = nullptr;  // the hold that a new claim gives back, and an owner of it
  };
  taken take() noexcept;

  // The session lives until then, in ticks of session_clock, unless it is extended again. `over`:
  // there is none.
  void extend(std::int64_t valid_until) noexcept {
    std::int64_t const before = valid_until_.exchange(valid_until, std::memory_order_acq_rel);
    if (before == over && valid_until != over) sessions_.fetch_add(1, std::memory_order_release);
  }

  // Ends the operation of a claim: decides the wait if the claim still waits, and settles the
  // result of its giving back. Does nothing the second time.
  void settle(remote_claim& c, verdict why) noexcept;

  // Ends the driver's share of a claim, and its operation if that has not ended.
  void finish(remote_claim& c, verdict why) noexcept;

  // Ends the driver's share of a question, and settles its result.
  static void finish(remote_question& q, verdict why) noexcept;

  // The run has ended. Later operations are refused until the next run, unless `refusal` is
  // undecided.
  void end_run(verdict run, verdict shutdown, verdict refusal) noexcept;

  using listener_type = std::function<void(event const&)>;
  std::shared_ptr<listener_type const> listener() const noexcept;

  // The driver has ended: nobody takes orders any more.
  void close() noexcept;

 private:
  friend remote_claim;

  bool has_strand() const noexcept;

  // Below: under the lock.
  void queue(order& o) noexcept;
  bool is_fresh(order const& o) const noexcept;

  // Below: without it.
  void end_fresh_orders() noexcept;

  static constexpr std::int64_t over = std::numeric_limits<std::int64_t>::min();

  asio::any_io_executor const executor_;
  shell::known_context const home_;
  std::chrono::milliseconds command_timeout_{};
  std::uint64_t const fork_count_;

  std::atomic<std::int64_t> valid_until_;
  std::atomic<std::uint64_t> sessions_ = 0;  // that have begun
  std::atomic<bool> is_ending_ = false;  // the run: from the order on, nothing is held any more
  std::atomic<verdict> refusal_{verdict()};

  mutable std::mutex lock_;  // of what follows
  shell::wait_list<order> orders_;
  order run_order_{order::kind::run}, stop_order_{order::kind::stop},
      shutdown_order_{order::kind::shut_down}, end_order_{order::kind::end};
  bool is_woken_ = false;
  std::shared_ptr<result> run_, shutdowns_;
  std::shared_ptr<listener_type const> listener_;
  std::weak_ptr<driver> driver_;
  std::shared_ptr<strand_route> strand_;  // null once the driver has ended
};

std::shared_ptr<hub> const& hub_of(client const& c) noexcept;

}  // namespace detail
}  // namespace asio_sync::redis

#endif
