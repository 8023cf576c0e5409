// Copyright (c) 2026 The asio_sync authors. Distributed under the Boost Software License, Version 1.0.
// SPDX-License-Identifier: BSL-1.0

#include "held_operations.hpp"
#include "support/test.hpp"
#include "world_over.hpp"

#include <asio_sync/async_enumerator.hpp>

namespace asio_sync::test {

namespace {

// With what a world asks of every primitive, though nothing closes an enumerator.
struct enumerator_type : async_enumerator {
  using async_enumerator::async_enumerator;

  void close() {}
  bool is_closed() const { return false; }
  std::size_t waiters() const { return 0; }
};

// What the steps begin: an operation of the home or of the other context, one that knows nothing
// of cancellation, one that completes inside its initiating function, loses its handler there, or
// cannot begin.
enum class begun { at_home, elsewhere, deaf, at_once, dropped, failing };
enum class act { nothing, cancel, run_another, end };

struct stage {
  std::vector<begun> begins;
  unsigned wants = 0;
  act acts = act::nothing;  // the end comes after what begins, the others before it
};
struct script {
  std::vector<stage> stages;
  bool throws = false;
};

// A wait says by its number which of these it runs; the last number has no steps at all.
std::vector<script> const scripts{
    {.stages = {{{begun::at_home, begun::elsewhere}, 1}, {{}, 1}}},
    {.stages = {{{begun::at_home, begun::elsewhere}, 2}, {{begun::at_once}, 1}}, .throws = true},
    {.stages = {{{begun::elsewhere, begun::deaf, begun::at_home}, 1}}},
    {.stages = {{{begun::at_once, begun::failing, begun::at_home}, 1, act::run_another},
                {{}, 0},
                {{}, 1}}},
    {.stages = {{{begun::at_home, begun::dropped}, 1}, {{}, 1}}},
    {.stages = {{{begun::at_home, begun::deaf}, 1}, {{begun::elsewhere}, 0, act::cancel}}},
    {.stages = {{{begun::at_home, begun::elsewhere}, 1, act::end}}, .throws = true},
    {.stages = {{{begun::at_once, begun::at_once, begun::elsewhere}, 1}, {{}, 2}, {{}, 1}}},
};
constexpr std::size_t results = 4;

// Calls the handler of an operation, or destroys it, and tells before.
template <class World, class Handler>
class arrival {
  using error_code = boost::system::error_code;

 public:
  using executor_type = typename Handler::executor_type;
  using cancellation_slot_type = typename Handler::cancellation_slot_type;

  arrival(World& w, unsigned operation, Handler&& handler)
      : world_(&w), operation_(operation), handler_(std::move(handler)) {}
  arrival(arrival&& other) noexcept
      : world_(std::exchange(other.world_, nullptr)),
        operation_(other.operation_),
        handler_(std::move(other.handler_)) {}
  arrival& operator=(arrival&&) = delete;
  ~arrival() {
    if (world_) world_->drops(operation_);
  }

  executor_type get_executor() const noexcept { return handler_.get_executor(); }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return handler_.get_cancellation_slot();
  }
  void operator()(error_code) {
    std::exchange(world_, nullptr)->arrives(operation_);
    std::move(handler_)(World::written_by(operation_));
  }

 private:
  World* world_;
  unsigned operation_;
  Handler handler_;
};

// The waits of the world are runs; its queue is that which is on, from its initiation until its
// steps are destroyed. What the steps do is a script; when they do it, they tell.
class enumerating : public world_over<enumerating, enumerator_type> {
  using tuple_token = asio::as_tuple_t<asio::deferred_t>;

 public:
  enumerating() : world_over(false, no_steps) {}

  template <class Handler>
  void ask(enumerator_type& e, unsigned, Handler&& h) {
    e.async_run(made_steps(begins_), std::forward<Handler>(h));
  }
  template <class Handler>
  void ask_for(enumerator_type&, unsigned, std::chrono::nanoseconds, Handler&&) {}  // never

  asio::awaitable<std::tuple<error_code>> ask(enumerator_type& e, unsigned,
                                              tuple_token const& token) {
    auto const [thrown] = co_await e.async_run(made_steps(begins_), token);
    co_return error_of([t = thrown] {
      if (t) std::rethrow_exception(t);
    });
  }
  asio::awaitable<std::tuple<error_code>> ask_for(enumerator_type& e, unsigned n,
                                                  std::chrono::nanoseconds,
                                                  tuple_token const& token) {
    return ask(e, n, token);
  }

  void compare_own() const {}

  unsigned asked_for(std::size_t n, bool otherwise) const override {
    auto const number = static_cast<unsigned>(n);
    return otherwise ? 1 + number % no_steps : 1 + number % 3;
  }

  static unsigned written_by(unsigned operation) { return operation + 1; }

  // --- What the operations say ------------------------------------------------------------------

  void arrives(unsigned number) {
    heard();
    operation_state& o = operations_.at(number);
    run_state& r = runs_.at(o.run);
    require(running() == 0, "R2: completions go through the enumerator's executor");
    o.is = operation_state::over;
    r.pending.erase(number);
    if (r.is != run_state::going) return;
    if (r.in_step)
      r.arrived.push_back(number);
    else
      deliver(r, number);
  }
  // Its handler is destroyed.
  void drops(unsigned number) {
    heard();
    operation_state& o = operations_.at(number);
    run_state& r = runs_.at(o.run);
    o.is = operation_state::over;
    r.pending.erase(number);
    if (o.kind != begun::failing) stop(r);
  }

 private:
  struct run_state {
    enum phase { fresh, going, halted, cancelling, over };

    unsigned script;
    unsigned enumerator;  // its number
    bool by_queue;        // the home
    phase is = fresh;
    bool refused = false;
    bool home_gone = false;
    bool loose = false;  // its start, or its cancellation, may have been dropped
    bool frame = true;   // the steps are there
    bool in_step = false;
    bool waits = false;  // for completions
    bool judged = true;  // or need not be
    unsigned wanted = 0, surplus = 0;
    error_code outcome{};
    std::set<unsigned> pending{};     // operations that have begun
    std::vector<unsigned> arrived{};  // inside a step
    std::array<unsigned, results> written{};
    std::array<unsigned, results> began{};
    unsigned begun_operations = 0;
  };
  struct operation_state {
    enum phase { beginning, held, posted, over };

    unsigned run;
    begun kind;
    unsigned result;
    unsigned where;  // the context whose operation it is
    phase is = beginning;
    bool asked = false;
  };

  // The results of the steps, in their frame.
  class local {
   public:
    local(enumerating& over, unsigned run) : over_(&over), run_(run) {}
    local(local&& other) noexcept
        : values(other.values), over_(std::exchange(other.over_, nullptr)), run_(other.run_) {}
    local& operator=(local&&) = delete;
    ~local() {
      if (over_) over_->frame_destroyed(run_, values);
    }

    std::array<unsigned, results> values{};

   private:
    enumerating* over_;
    unsigned run_;
  };

  void compare_real() const override {}
  void close_real() override {}
  bool closes() const override { return false; }
  // The steps run there.
  bool can_begin() const override { return home_alive(); }
  void make(asio::any_io_executor const& executor) override {
    judge_ = judge::none;
    executor_ = executor;
    real_.emplace(executor);
  }
  void destroy() override {
    real_.reset();
    queue_.clear();
    judges_.push_back(judge_);
  }

  // --- The model --------------------------------------------------------------------------------

  void admit(unsigned id) override {
    wait& w = wait_of(id);
    w.plan.patient = patience::endless;
    begins_ = id;
    unsigned const number = w.plan.amount == 0 ? 1 : w.plan.amount;
    run_state r{.script = number - 1, .enumerator = enumerators(), .by_queue = home_by_queue()};
    r.refused = number == no_steps || !queue_.empty();
    if (r.refused) r.is = run_state::over;
    runs_.emplace(id, r);
    if (number == no_steps) return decide(id, make_error_code(errc::invalid_argument));
    if (r.refused) return decide(id, make_error_code(errc::operation_not_permitted));
    join(id, false);
    stir();
  }

  void stir() {
    if (place_of(0).io) place_of(0).timer_stirred = true;
  }
  void stop(run_state& r) {
    if (r.is != run_state::fresh && r.is != run_state::going) return;
    r.is = run_state::halted;
    r.arrived.clear();
    stir();
  }
  void stop(unsigned id) {
    if (auto const at = runs_.find(id); at != runs_.end()) stop(at->second);
  }
  void refuse(unsigned id, error_code) override {
    if (wait_of(id).state == state::queued) stop(id);
  }
  void refuse_all(error_code) override {
    for (unsigned const id : queue_) stop(id);
  }
  void cancel_all() override { refuse_all({}); }
  void lost(unsigned id, state was) override {
    if (was == state::queued) stop(id);
  }
  bool take(unsigned) override { return false; }
  void put_back(unsigned) override {}
  void serve() override {}
  bool at_rest() const override {
    return !first_held() && std::all_of(runs_.begin(), runs_.end(), [](auto const& each) {
      return each.second.is == run_state::over;
    });
  }

  void loses(unsigned context, bool all) override {
    if (context != 0) return;
    for (auto& [id, r] : runs_) {
      if (r.is == run_state::over || r.home_gone) continue;
      bool const starts_or_ends = r.is != run_state::going;
      if (all) stop(r);
      r.home_gone = all;
      if (all || (r.by_queue && starts_or_ends)) r.loose = true;
    }
  }
  bool keeps_running(unsigned context) const override {
    if (context != 0) return false;
    auto const lives = [&](run_state const& r) { return !r.by_queue && !r.home_gone; };
    bool const run = std::any_of(runs_.begin(), runs_.end(), [&](auto const& each) {
      return lives(each.second) && each.second.is < run_state::cancelling;
    });
    return run || std::any_of(operations_.begin(), operations_.end(), [&](auto const& o) {
             return lives(runs_.at(o.run)) && o.is == operation_state::held && o.where == 0;
           });
  }

  void compare_outliving() const override {
    for (auto const& [id, r] : runs_) compare_run(r);
  }
  void compare_run(run_state const& r) const {
    require(!r.in_step, "a step ends in co_yield");
    require(r.judged, "on_error() judges what leaves the steps");
    require(r.frame == (r.is != run_state::over), "steps are destroyed at their end");
    if (r.is == run_state::over) return;
    require(r.is != run_state::going || !r.waits || r.surplus < r.wanted,
            "steps go on when so much has completed");
    if (r.home_gone) return require(!r.pending.empty(), "R10: steps end with their context");
    bool const all_asked = std::all_of(r.pending.begin(), r.pending.end(), [&](unsigned n) {
      operation_state const& o = operations_.at(n);
      return o.is != operation_state::held || o.asked;
    });
    if (r.is == run_state::cancelling && !r.loose)
      require(all_asked, "R4: operations of a run that is cancelled are asked");
    bool const idle = r.by_queue ? queued(0) == 0 : !busy(0);
    if (!idle || r.is == run_state::going) return;
    require(r.is != run_state::fresh, "R1: a run has not begun");
    require(!r.pending.empty() && (all_asked || r.loose), "R4: a run is not cancelled");
  }

  // --- The steps --------------------------------------------------------------------------------

  async_steps made_steps(unsigned id) {
    async_steps steps = take_steps(id, local(*this, id));
    if (plan_of(id).amount == no_steps) async_steps const moved(std::move(steps));
    return steps;
  }

  async_steps take_steps(unsigned id, local kept) {
    script const& s = scripts[runs_.at(id).script];
    for (stage const& each : s.stages) {
      begins_step(id);
      if (each.acts != act::end) acts(each.acts);
      for (begun const kind : each.begins) begin_operation(id, kind, kept);
      if (each.acts == act::end) acts(each.acts);
      yields(id, each.wants, kept);
      co_yield static_cast<std::ptrdiff_t>(each.wants);
      goes_on(id, kept);
    }
    ends(id, s.throws);
    if (s.throws) throw boost::system::system_error(make_error_code(thrown_by_steps));
  }

  void begins_step(unsigned id) {
    heard();
    run_state& r = runs_.at(id);
    require(running() == 0, "R2: steps run on the enumerator's executor");
    require(r.is == run_state::fresh || r.is == run_state::going,
            "no step is taken once a run was cancelled");
    if (r.is == run_state::fresh) r.loose = false;
    r.is = run_state::going;
    r.in_step = true;
  }

  void acts(act a) {
    if (a == act::cancel && allows({verb::cancel})) perform({verb::cancel});
    if (a == act::end && allows({verb::end})) perform({verb::end});
    if (a == act::run_another && allows({verb::wait})) perform({verb::wait});
  }

  void begin_operation(unsigned id, begun kind, local& kept) {
    run_state& r = runs_.at(id);
    auto const number = static_cast<unsigned>(operations_.size());
    unsigned const where = kind == begun::elsewhere && place_of(1).io ? 1 : 0;
    operations_.push_back({.run = id, .kind = kind, .result = r.begun_operations, .where = where});
    r.pending.insert(number);
    r.began[r.begun_operations] = number;
    auto token = real_->callback(kept.values[r.begun_operations++]);
    bool failed = false;
    try {
      asio::async_initiate<decltype(token), void(unsigned)>(
          [this, number](auto h) {
            initiate_operation(number,
                               arrival<enumerating, decltype(h)>(*this, number, std::move(h)));
          },
          token);
    } catch (cannot_begin) {
      failed = true;
    }
    require(failed == (kind == begun::failing),
            "R13: what an initiating function throws leaves it");
  }
  template <class Handler>
  void initiate_operation(unsigned number, Handler h) {
    operation_state& o = operations_.at(number);
    if (o.kind == begun::failing) throw cannot_begin();
    if (o.kind == begun::dropped) return;
    if (o.kind == begun::at_once) return std::move(h)(error_code());
    o.is = operation_state::held;
    held_operations::of(*place_of(o.where).io)
        .begin(number, executor_, o.where == 0, std::move(h),
               [this, number](asio::cancellation_type type) { asked(number, type); });
  }

  void yields(unsigned id, unsigned n, local const& kept) {
    run_state& r = runs_.at(id);
    check_results(r, kept.values);
    r.in_step = false;
    r.waits = true;
    r.wanted = n;
    if (r.is != run_state::going || r.surplus >= n) return;
    for (unsigned const number : std::exchange(r.arrived, {})) deliver(r, number);
  }
  void goes_on(unsigned id, local const& kept) {
    heard();
    run_state& r = runs_.at(id);
    require(running() == 0, "R2: steps run on the enumerator's executor");
    require(r.is == run_state::going, "no step is taken once a run was cancelled");
    require(r.surplus >= r.wanted, "steps go on when so much has completed");
    r.surplus -= r.wanted;
    r.waits = false;
    r.in_step = true;
    check_results(r, kept.values);
  }
  void ends(unsigned id, bool throws) {
    run_state& r = runs_.at(id);
    r.in_step = false;
    r.is = run_state::over;
    judge const j = r.enumerator == enumerators() ? judge_ : judges_[r.enumerator];
    if (!throws) return;
    r.judged = j == judge::none;
    if (j != judge::handles)
      r.outcome = make_error_code(j == judge::throws ? thrown_by_judge : thrown_by_steps);
  }

  void deliver(run_state& r, unsigned number) {
    ++r.surplus;
    r.written[operations_.at(number).result] = written_by(number);
  }
  void check_results(run_state const& r, std::array<unsigned, results> const& values) const {
    require(values == r.written, "results change inside co_yield, and before the end");
  }

  void frame_destroyed(unsigned id, std::array<unsigned, results> const& values) {
    heard();
    run_state& r = runs_.at(id);
    require(std::exchange(r.frame, false), "steps are destroyed once");
    if (r.refused) return;
    check_results(r, values);
    if (r.is != run_state::over) {
      require(r.is >= run_state::halted || r.loose, "steps are destroyed at their end");
      require(r.pending.empty(), "steps are destroyed once their operations are over");
      r.outcome = asio::error::operation_aborted;
    }
    r.is = run_state::over;
    std::erase(queue_, id);
    stir();
    if (wait_of(id).state == state::queued) decide(id, r.outcome);
  }

  // --- The operations ---------------------------------------------------------------------------

  void asked(unsigned number, asio::cancellation_type type) {
    heard();
    operation_state& o = operations_.at(number);
    run_state& r = runs_.at(o.run);
    require(o.is == operation_state::held, "an operation is asked to cancel itself after its end");
    require(!std::exchange(o.asked, true), "an operation is asked once");
    require(type == asio::cancellation_type::terminal, "operations are to end");
    require(running() == 0, "R2: operations are cancelled on the enumerator's executor");
    require(r.is == run_state::halted || r.is == run_state::cancelling,
            "nobody has cancelled this");
    r.is = run_state::cancelling;
    if (o.kind != begun::deaf) complete(number, asio::error::operation_aborted);
  }
  void complete(unsigned number, error_code outcome) {
    operation_state& o = operations_.at(number);
    o.is = operation_state::posted;
    stir();
    held_operations::of(*place_of(o.where).io).complete(number, outcome);
  }

  template <class Predicate>
  std::optional<unsigned> find_held(Predicate p, bool last) const {
    std::optional<unsigned> found;
    for (unsigned n = 0; n < operations_.size() && (last || !found); ++n)
      if (operations_[n].is == operation_state::held && p(operations_[n])) found = n;
    return found;
  }
  std::optional<unsigned> first_held() const {
    return find_held([](auto const&) { return true; }, false);
  }
  // Whose handler can still be called.
  std::optional<unsigned> completable(bool last) const {
    return find_held([&](operation_state const& o) { return !runs_.at(o.run).home_gone; }, last);
  }

  std::optional<operation> way_on() const override {
    if (completable(false)) return operation{.what = verb::give, .item = complete_first};
    if (first_held()) return operation{.what = verb::give, .item = drop_first};
    if (queue().empty() || !alive()) return {};
    run_state const& r = runs_.at(queue().front());
    if (r.is != run_state::going || !r.pending.empty()) return {};
    return operation{verb::cancel};
  }
  bool allows_own(operation const& op) const override {
    if (op.what == verb::take) return true;
    if (op.what == verb::take_at_once) return false;
    return op.item < drop_first ? completable(false).has_value() : first_held().has_value();
  }
  void perform_own(operation const& op) override {
    if (op.what == verb::take) return set_judge(static_cast<judge>(op.item % 4));
    if (op.item < drop_first) return complete(*completable(op.item == complete_last), {});
    unsigned const number = *find_held([](auto const&) { return true; }, op.item != drop_first);
    held_operations::of(*place_of(operations_[number].where).io).drop(number);
  }

  // What on_error() is given.
  enum class judge { none, fails, handles, throws };

  void set_judge(judge j) {
    judge_ = j;
    if (j == judge::none) return real_->on_error({});
    real_->on_error([this, j](std::exception_ptr const& thrown) {
      heard();
      require(running() == 0, "on_error() judges on the enumerator's executor");
      require(error_of([&] { std::rethrow_exception(thrown); }) == thrown_by_steps,
              "on_error() is given what the steps throw");
      auto const run = std::find_if(runs_.begin(), runs_.end(),
                                    [](auto const& each) { return !each.second.judged; });
      require(run != runs_.end() && !run->second.frame, "on_error() judges what was thrown");
      run->second.judged = true;
      if (j == judge::throws) throw boost::system::system_error(make_error_code(thrown_by_judge));
      return j == judge::fails;
    });
  }

  unsigned enumerators() const { return static_cast<unsigned>(judges_.size()); }

  struct cannot_begin {};
  static constexpr errc::errc_t thrown_by_steps = errc::io_error,
                                thrown_by_judge = errc::bad_message;
  static constexpr unsigned no_steps = 9;
  // The ways of give.
  static constexpr std::uint8_t complete_first = 0, complete_last = 1, drop_first = 2;

  asio::any_io_executor executor_;
  std::map<unsigned, run_state> runs_;
  std::deque<operation_state> operations_;
  unsigned begins_ = 0;
  judge judge_ = judge::none;
  std::vector<judge> judges_;  // of those that are dead
};

}  // namespace

std::unique_ptr<world> enumerator_world() { return std::make_unique<enumerating>(); }

}  // namespace asio_sync::test
