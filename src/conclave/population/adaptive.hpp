// The engine behind `auto` for large populations on the complete graph: starts with the `counts`
// engine, and where that takes more work per interaction than an array of agents would, goes on
// with the `agents` engine; from time to time it looks whether to go back. Networks of reactions of
// which few ticks are reactions go on, or begin, with the direct method. Exact in law, for agents
// in the same state are exchangeable; the decisions follow from the census and the work counted,
// never from a clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/population/direct_method.hpp"

namespace conclave::population {

// Every change of engine goes on with a stream of its own (StreamName::part). `memory` is the
// caller's, is used while the agents engine runs, and must outlive the trial.
template <PopulationProtocol P>
class Adaptive {
 public:
  using State = typename P::State;

  // Larger arrays are not made: counts alone must do.
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  static constexpr bool may_use_agents(AgentCount n) {
    return n <=
           std::min<AgentCount>(Agents<P>::most_agents, most_bytes / Agents<P>::bytes_per_agent);
  }

  Adaptive(const P& protocol, AgentCount n, StartingPoint<State> start, const StreamName& name,
           AgentMemory& memory)
      : protocol_(protocol), n_(n), name_(name), memory_(memory) {
    if (n < least_agents_to_batch && offers_channels()) {
      begin_small_network(start);
    } else {
      counts_ = std::make_unique<Counts<P>>(protocol, n, start, name);
    }
  }

  // Goes on exactly as the other one does, the state of its generators included.
  Adaptive(const Adaptive& other, AgentMemory& memory)
      : protocol_(other.protocol_),
        n_(other.n_),
        name_(other.name_),
        memory_(memory),
        before_(other.before_),
        look_after_(other.look_after_),
        next_look_(other.next_look_),
        compare_at_(other.compare_at_),
        most_cost_(other.most_cost_) {
    if (other.counts_) counts_ = std::make_unique<Counts<P>>(*other.counts_);
    if (other.agents_) agents_ = std::make_unique<Agents<P>>(*other.agents_, memory);
    if (other.direct_) direct_ = std::make_unique<Direct>(*other.direct_);
  }

  // Simulates up to `budget` interactions, fewer only if what is watched for happens, or after
  // about so much work. Where the budget ends before the horizon, the trial goes on after it as if
  // it had not ended there.
  Interactions advance(Interactions budget, std::uint64_t most_work, Interactions horizon) {
    const Interactions before = now();
    for (std::uint64_t work = 0; work < most_work && !has_stopped();) {
      const Interactions done = now() - before;
      if (done == budget) break;
      if (counts_) {
        work += step_counts(budget - done, horizon - done);
      } else {
        work += agents_ ? step_agents(budget - done, most_work - work)
                        : step_directly(budget - done, most_work - work);
      }
    }
    return now() - before;
  }
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    return advance(budget, most_work, budget);
  }

  void watch(Watch what) {
    visit([&](auto& engine) { engine.watch(what); });
  }
  bool has_stopped() const {
    return visit([](const auto& engine) { return engine.has_stopped(); });
  }
  AgentCount size() const { return n_; }
  Interactions now() const {
    return before_ + visit([](const auto& engine) { return engine.now(); });
  }
  AgentCount leaders() const {
    return visit([](const auto& engine) { return engine.leaders(); });
  }
  bool converged() const {
    return visit([](const auto& engine) { return engine.converged(); });
  }
  bool hopeless() const {
    return visit([](const auto& engine) { return engine.hopeless(); });
  }
  std::vector<Observation> observations() const {
    return visit([](const auto& engine) { return engine.observations(); });
  }
  const P& protocol() const { return protocol_; }
  // The states that some agent is in, with how many; O(n) where there is an array of agents.
  Census<State> census() const {
    return visit([](const auto& engine) { return engine.census(); });
  }
  AgentCount strike(const Fault& fault) requires Corruptible<P> {
    if (direct_) use_counts();
    return agents_ ? agents_->strike(fault) : counts_->strike(fault);
  }
  void hold() requires MeasuresHolding<P> {
    visit([](auto& engine) { engine.hold(); });
  }
  bool measures_holding() const requires MeasuresHolding<P> { return protocol_.measures_holding(); }
  bool violated() const requires MeasuresHolding<P> {
    return visit([](const auto& engine) { return engine.violated(); });
  }

 private:
  struct NoDirectMethod {};
  static constexpr bool may_be_direct = HasChannels<P>;
  template <class Q>
  struct DirectFor : std::type_identity<NoDirectMethod> {};
  template <HasChannels Q>
  struct DirectFor<Q> : std::type_identity<DirectMethod<Q>> {};
  using Direct = typename DirectFor<P>::type;

  static constexpr std::uint64_t work_per_look = 4096;
  // Networks of fewer molecules begin in an array, whose interactions, decided by chance, take
  // about so long.
  static constexpr AgentCount least_agents_to_batch = AgentCount{1} << 14;
  static constexpr double cost_of_chance = 10;
  static constexpr std::size_t most_channels = 100;

  bool offers_channels() const {
    if constexpr (may_be_direct) {
      return protocol_.channel_total() != 0 && protocol_.channels().size() <= most_channels;
    }
    return false;
  }

  void begin_small_network(const StartingPoint<State>& start) {
    if constexpr (may_be_direct) {
      Census<State> census;
      Stream choice(name_.with(Purpose::start));
      for_each_starting_state(
          protocol_, start, n_, choice,
          [&](const State& state, AgentCount count) { census.emplace_back(state, count); });
      direct_ = std::make_unique<Direct>(protocol_, n_, census, name_);
      most_cost_ = cost_of_chance;
      if (direct_->cost() > most_cost_) return use_agents();
      set_next_look();
    }
  }

  // Up to the next look; all return about how much work it was. Where they look follows from the
  // run alone, not from how it is cut into pieces of work.
  std::uint64_t step_agents(Interactions budget, std::uint64_t most_work) {
    const std::uint64_t most = std::min(most_work, until_next_look(*agents_));
    agents_->advance(std::min<Interactions>(budget, most));
    if (!has_stopped() && until_next_look(*agents_) == 0) use_counts();
    return std::max<std::uint64_t>(1, most);
  }
  std::uint64_t step_counts(Interactions budget, Interactions horizon) {
    const Interactions done =
        counts_->advance(budget, compare_at_ - std::min(compare_at_, counts_->work()), horizon);
    const bool is_due = counts_->work() >= compare_at_ && counts_->stands_still();
    if (!is_due && done < horizon && !has_stopped()) return work_per_look;  // only a look
    compare_at_ = counts_->work() + work_per_look;
    if (!has_stopped()) change_over();
    return work_per_look;
  }
  std::uint64_t step_directly(Interactions budget, std::uint64_t most_work) {
    if constexpr (may_be_direct) {
      const std::uint64_t before = direct_->reactions();
      const Interactions most = std::min<Interactions>(budget, until_next_look(*direct_));
      direct_->advance(most, std::min(most_work, compare_at_ - before));
      const std::uint64_t after = direct_->reactions();
      if (!has_stopped() && (after == compare_at_ || until_next_look(*direct_) == 0)) {
        const bool is_late = until_next_look(*direct_) == 0;
        compare_at_ = after + work_per_look;
        if (is_late || direct_->cost() > most_cost_) use_counts();
      }
      return 1 + after - before;
    }
    return 1;
  }

  // The counts engine stands still: is another one cheaper?
  void change_over() {
    const double cost = counts_->cost();
    const bool is_small = n_ < least_agents_to_batch;
    if (offers_channels() && use_direct_method(is_small ? std::min(cost, cost_of_chance) : cost)) {
      return;
    }
    if (may_use_agents(n_) && cost > cost_of_agents()) use_agents();
  }

  // False where that would cost more than the others do per interaction, or hardly less. It is left
  // again where it does.
  bool use_direct_method(double cost_of_others) {
    if constexpr (may_be_direct) {
      StreamName name = name_;
      ++name.part;
      auto next = std::make_unique<Direct>(protocol_, n_, counts_->census(), name);
      if (next->cost() > 0.75 * cost_of_others) return false;
      name_ = name;
      most_cost_ = cost_of_others;
      compare_at_ = work_per_look;
      go_on_with(direct_, std::move(next));
      set_next_look();
      return true;
    }
    return false;
  }

  template <class Call>
  decltype(auto) visit(Call call) const {
    if constexpr (may_be_direct) {
      if (direct_) return call(std::as_const(*direct_));
    }
    if (agents_) return call(std::as_const(*agents_));
    return call(std::as_const(*counts_));
  }
  template <class Call>
  decltype(auto) visit(Call call) {
    if constexpr (may_be_direct) {
      if (direct_) return call(*direct_);
    }
    if (agents_) return call(*agents_);
    return call(*counts_);
  }

  // An interaction in an array, in nanoseconds on a common machine: in the caches, or not.
  double cost_of_agents() const {
    const std::uint64_t bytes = n_ * Agents<P>::bytes_per_agent;
    if (bytes <= std::uint64_t{1} << 20) return 3;
    return bytes <= std::uint64_t{1} << 25 ? 5 : 20;
  }

  template <class Engine>
  std::uint64_t until_next_look(const Engine& engine) const {
    const Interactions now = engine.now();
    return now < next_look_ ? static_cast<std::uint64_t>((next_look_ - now).as_wide()) : 0;
  }
  void set_next_look() {
    look_after_ = look_after_ * 2u;
    next_look_ = look_after_ * Interactions(n_);
  }

  StreamName next_part() {
    ++name_.part;
    return name_;
  }

  void use_agents() {
    go_on_with(agents_, std::make_unique<Agents<P>>(protocol_, n_, census(), next_part(), memory_));
    set_next_look();
  }

  void use_counts() {
    go_on_with(counts_, std::make_unique<Counts<P>>(protocol_, n_, census(), next_part()));
    compare_at_ = work_per_look;
  }

  template <class Engine>
  void go_on_with(std::unique_ptr<Engine>& place, std::unique_ptr<Engine> next) {
    before_ = now();
    visit([&](const auto& engine) { next->take_over(engine); });
    counts_.reset();
    agents_.reset();
    direct_.reset();
    place = std::move(next);
  }

  P protocol_;
  AgentCount n_;
  StreamName name_;
  AgentMemory& memory_;
  Interactions before_;                // simulated by the engines before this one
  std::unique_ptr<Counts<P>> counts_;  // one of these three
  std::unique_ptr<Agents<P>> agents_;
  std::unique_ptr<Direct> direct_;
  Interactions look_after_ = 16u;  // interactions per agent, twice as many each time
  Interactions next_look_;
  std::uint64_t compare_at_ = work_per_look;  // of counts_ or direct_: when to compare with others
  double most_cost_ = 0;                      // of direct_
};

}  // namespace conclave::population
