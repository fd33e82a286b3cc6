// The parts of ElectLeader_r on their own, for experiments: each runs one sub-protocol alone, from
// the starts that make sense for it, to the event that ends its phase.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/electleader/about.hpp"
#include "conclave/protocols/population/electleader/assign_ranks.hpp"
#include "conclave/protocols/population/electleader/census.hpp"
#include "conclave/protocols/population/electleader/propagate_reset.hpp"
#include "conclave/protocols/population/electleader/stable_verify.hpp"
#include "conclave/protocols/population/electleader/starts.hpp"

namespace conclave::protocols::electleader {

// Some of the parameters, by their places in the list.
template <std::size_t... which>
struct SomeParameters : Parameters {
  static constexpr std::tuple fields{std::get<which>(Parameters::fields)...};
};

// Those of DetectCollision_r. Its groups may be larger than n/2: the proofs of Appendix E are about
// a single group of m ranks first, with any number of agents in it.
struct DetectionParameters : Parameters {
  static constexpr auto fields = std::tuple_cat(
      std::tuple{Parameter{"r", &Parameters::r,
                           "size of the groups of ranks, at most n (in electleader n/2): larger is "
                           "faster, with more states, 2^O(r^2 log n)",
                           "min(n/2, ceil(lg n)^2)", 1, most_groups_size}},
      SomeParameters<1, 9, 10, 11>::fields, toy_fields);
};

// PropagateReset between agents that otherwise do nothing; rankers stand for computing agents.
class PropagateResetAlone {
 public:
  using Parameters = SomeParameters<1, 2, 3, 11>;
  static constexpr std::array starts{
      Start{"triggered", "one agent has just executed TriggerReset, the others compute"},
      Start{"dormant", "all resetting, resetCount 0, delayTimer D_max", true},
      Start{"dormant0", "the same with delayTimer 0", true}};
  static constexpr std::array observables{
      Observable{"all_dormant",
                 "whether all agents were dormant at once before the first woke up: only then do "
                 "all start afresh"},
      Observable{"dormant_at", "when the last agent fell dormant; absent if all_dormant is false"},
      Observable{"awakening_at", "when the first agent woke up"}};
  static constexpr ProtocolInfo info{
      .name = "propagate-reset",
      .title = "part of electleader: one agent resets all, which fall dormant and wake up",
      .paper = paper,
      .network = "complete graph",
      .only_there = why_complete,
      .part_of = "electleader",
      .convergence = "everybody awake again",
      .bound = "O(log n) parallel time",
      .states = "1 + R_max + D_max + 1",
      .demo_n = 3'000,
      .variables = std::span(variables).subspan(1, 2),
      .observables = observables,
      .errata = std::span(errata).subspan(2, 1),
      .steps = std::span(steps).first(1),
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    return objection_to(parameters, n);
  }
  static std::uint64_t bytes_per_trial(const Parameters&, AgentCount n, std::size_t, bool) {
    return n * sizeof(Agent);
  }

  PropagateResetAlone(const Parameters& parameters, AgentCount n, std::size_t start, Stream&)
      : constants_(parameters, n), reset_(constants_), agents_(n), census_(constants_.n) {
    for (Agent& agent : agents_) {
      reset_.reset(agent);
      if (start > 0) agent = resetter(0, start == 1 ? constants_.delay : 0, {});
    }
    if (start == 0) reset_.trigger(agents_[0]);
    for (const Agent& agent : agents_) census_.add(agent);
    if (census_.dormant() == n) dormant_at_ = Interactions();
  }

  void meet(AgentCount first, AgentCount second, Interactions number, Choice auto& choice) {
    Agent& u = agents_[first];
    Agent& v = agents_[second];
    if (!u.is(Duty::resetting) && !v.is(Duty::resetting)) return;
    note(choice, "1: 1-2");
    census_.remove(u);
    census_.remove(v);
    if (u.is(Duty::resetting)) {
      reset_.interact(u, v);
    } else {
      reset_.interact(v, u);
    }
    census_.add(u);
    census_.add(v);
    const bool woke = u.is(Duty::ranking) && v.is(Duty::ranking);
    if (woke && !awakening_at_) awakening_at_ = number;
    if (!awakening_at_ && !dormant_at_ && census_.dormant() == size()) dormant_at_ = number;
  }

  AgentCount size() const { return agents_.size(); }
  const Agent& agent(AgentCount u) const { return agents_[u]; }
  AgentCount leaders() const { return 0; }
  bool is_leader(AgentCount) const { return false; }
  bool converged() const { return census_.resetters() == 0; }
  bool hopeless() const { return false; }
  std::vector<Observation> observations() const {
    return {{observables[0].name, dormant_at_.has_value()},
            time_observation(observables[1].name, dormant_at_),
            time_observation(observables[2].name, awakening_at_)};
  }

 private:
  Constants constants_;
  PropagateReset reset_;
  std::vector<Agent> agents_;
  Census census_;
  std::optional<Interactions> dormant_at_;
  std::optional<Interactions> awakening_at_;
};

// AssignRanks_r without countdown, from the clean start.
class AssignRanksAlone {
 public:
  using Parameters = SomeParameters<0, 1, 4, 5, 6, 10, 11>;
  static constexpr std::array starts{Start{"clean", "all agents in q_0,AR", true}};
  static constexpr std::array observables{
      Observable{"sheriffs", "winners of FastLeaderElect; the ranking fails unless there is one"},
      Observable{"sheriff_at", "when the first of them won, or absent"},
      Observable{"asleep_at", "when the first agent knew n labels, or absent"},
      Observable{"first_ranked_at", "when the first agent found its rank, or absent"},
      Observable{"most_meetings",
                 "interactions of the busiest agent: what the countdown must at least allow"}};
  static constexpr ProtocolInfo info{
      .name = "assign-ranks",
      .title = "part of electleader: from a clean configuration, all agents get different ranks",
      .paper = paper,
      .network = "complete graph",
      .only_there = why_complete,
      .part_of = "electleader",
      .convergence = "all ranked, with different ranks 1 ... n",
      .bound = "O(n/r log n) parallel time",
      .states = "2^O(r log n)",
      .memory = ", and 4 r more while ranking",
      .demo_n = 3'000,
      .variables = std::span(variables).subspan(4, 9),
      .observables = observables,
      .errata = std::span(errata).subspan(3, 6),
      .steps = std::span(steps).subspan(2, 6),
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    return objection_to(parameters, n);
  }
  static std::uint64_t bytes_per_trial(const Parameters& parameters, AgentCount n, std::size_t,
                                       bool) {
    return n * (sizeof(Agent) + 4 * *parameters.r);
  }

  AssignRanksAlone(const Parameters& parameters, AgentCount n, std::size_t, Stream&)
      : constants_(parameters, n), ranks_(constants_), agents_(n), meetings_(n), with_rank_(n) {
    for (Agent& agent : agents_) agent.duty = Duty::ranking;
    active_ = n;
  }

  void meet(AgentCount first, AgentCount second, Interactions number, Choice auto& choice) {
    Agent& u = agents_[first];
    Agent& v = agents_[second];
    const Type u_before = u.ranker.type;
    const Type v_before = v.ranker.type;
    const bool is_election = u_before == Type::electing && v_before == Type::electing;
    active_ -= is_active(u.ranker) + is_active(v.ranker);
    if (constants_.derandomize) exchange_coins(u.coins, v.coins);
    ranks_.interact(u, v, choice);
    active_ += is_active(u.ranker) + is_active(v.ranker);
    for (const AgentCount agent : {first, second}) {
      most_meetings_ = std::max(most_meetings_, ++meetings_[agent]);
    }
    note(u.ranker, u_before, is_election, number);
    note(v.ranker, v_before, is_election, number);
    if (u.ranker.type != u_before || v.ranker.type != v_before) {
      is_hopeless_ = sheriffs_ > 1 || active_ == 0 || is_doubly_ranked_ || is_stuck();
    }
  }

  AgentCount size() const { return agents_.size(); }
  const Agent& agent(AgentCount u) const { return agents_[u]; }
  AgentCount leaders() const { return with_rank_[0]; }
  bool is_leader(AgentCount u) const {
    return agents_[u].ranker.type == Type::ranked && agents_[u].ranker.rank == 1;
  }
  bool converged() const { return ranked_ == size() && !is_doubly_ranked_; }
  bool hopeless() const { return is_hopeless_; }
  std::vector<Observation> observations() const {
    std::vector<Observation> all{{observables[0].name, sheriffs_}};
    for (std::size_t i = 0; i < times_.size(); ++i) {
      all.push_back(time_observation(observables[1 + i].name, times_[i]));
    }
    all.push_back({observables[4].name, most_meetings_});
    return all;
  }

 private:
  // Whether an agent can still advance the ranking; without such agents it is stuck.
  static std::uint64_t is_active(const Ranker& u) {
    return u.type == Type::electing ? !u.done : u.type != Type::recipient;
  }

  void note(const Ranker& u, Type before, bool is_election, Interactions number) {
    if (u.type == before) return;
    const bool has_won = u.type == Type::sheriff || u.type == Type::deputy;
    if (is_election && has_won) {
      ++sheriffs_;
      note_first(0, number);
    }
    if (before == Type::sleeper) --sleepers_;
    if (u.type == Type::sleeper) {
      ++sleepers_;
      note_first(1, number);
    }
    if (u.type != Type::ranked) return;
    ++ranked_;
    note_first(2, number);
    is_doubly_ranked_ |= with_rank_[u.rank - 1]++ > 0;
  }

  void note_first(std::size_t which, Interactions number) {
    if (!times_[which]) times_[which] = number;
  }

  // Some agents are ranked, none sleeps, and the others can never hear of n labels: all labels are
  // given out once an agent knows of n, so the others would have to know all of them together.
  bool is_stuck() const {
    if (ranked_ == 0 || sleepers_ > 0 || ranked_ == size()) return false;
    std::vector<std::uint32_t> known(constants_.r);
    std::uint64_t awake = 0;
    for (const Agent& agent : agents_) {
      if (!agent.ranker.has_channel()) continue;
      ++awake;
      for (std::size_t i = 0; i < known.size(); ++i) {
        known[i] = std::max(known[i], agent.ranker.channel[i]);
      }
    }
    std::uint64_t sum = 0;
    for (const std::uint32_t labels : known) sum += labels;
    return awake < 2 || sum < constants_.n;
  }

  Constants constants_;
  AssignRanks ranks_;
  std::vector<Agent> agents_;
  std::vector<std::uint64_t> meetings_;
  std::vector<std::uint32_t> with_rank_;  // ranked agents by rank
  std::uint64_t active_ = 0;
  std::uint64_t sheriffs_ = 0;
  std::uint64_t sleepers_ = 0;
  std::uint64_t ranked_ = 0;
  std::uint64_t most_meetings_ = 0;
  bool is_doubly_ranked_ = false;
  bool is_hopeless_ = false;
  std::array<std::optional<Interactions>, 3> times_;
};

// DetectCollision_r between verifiers, to the first error.
template <MessageSystem M>
class DetectCollisionAlone {
 public:
  using Parameters = DetectionParameters;
  static constexpr std::array starts{
      Starts::table[Starts::dup],
      Starts::table[Starts::dupq0],
      Start{"correct-one-corrupt", "a correct ranking, one circulating message wrong"},
      Start{"correct-corrupt", "a correct ranking, all contents and observations random"},
      Starts::table[Starts::same],
      Start{"correct", "a correct ranking, everybody in q_0,DC: no error is ever raised"}};
  static constexpr std::array observables{
      Observable{"cause", "what was found: same rank, message twice or wrong content"}};
  static constexpr ProtocolInfo info{
      .name = "detect-collision",
      .title = "part of electleader: messages that circulate prove that a rank is there twice",
      .paper = paper,
      .network = "complete graph",
      .only_there = why_complete,
      .part_of = "electleader",
      .convergence = "the first error",
      .bound = "O(n/r log n) parallel time",
      .states = "2^O(r^2 log r)",
      .memory = ", and its messages where they may matter",
      .demo_n = 1'000,
      .variables = std::span(variables).subspan(15, 3),
      .observables = observables,
      .errata = std::span(errata).subspan(10, 5),
      .steps = std::span(steps).subspan(11, 2),
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    if (*parameters.r > n) {
      return "r = " + std::to_string(*parameters.r) + " is too large for n = " + std::to_string(n) +
             ": a group has at most n ranks";
    }
    if (parameters.c_m && *parameters.c_m <= 0) return "c_M must be positive";
    const std::string objection = objection_to_reading(parameters, M::is_literal);
    return objection.empty() ? objection_to_constants(parameters, n) : objection;
  }
  static std::uint64_t bytes_per_trial(const Parameters& parameters, AgentCount n, std::size_t,
                                       bool) {
    return n * sizeof(Agent) + M::bytes(n, *parameters.r, true);
  }

  DetectCollisionAlone(const Parameters& parameters, AgentCount n, std::size_t start,
                       Stream& choice)
      : constants_(parameters, n),
        groups_(constants_.n, constants_.r, constants_.messages),
        detect_(constants_, groups_),
        messages_(groups_, constants_.n),
        agents_(n) {
    const Starts all(constants_, groups_);
    for (AgentIndex u = 0; u < n; ++u) {
      const StartingAgent agent = all.make(start_of_all[start], u, choice);
      agents_[u] = agent.agent;
      messages_.enter(u, agent.agent.verifier.standing, 0, agent.beginning);
    }
    is_hopeless_ = is_ranking_correct(start) && messages_.are_consistent(0);
  }

  DetectCollisionAlone(const DetectCollisionAlone&) = delete;
  DetectCollisionAlone& operator=(const DetectCollisionAlone&) = delete;

  void meet(AgentCount first, AgentCount second, Interactions, Choice auto& choice) {
    Agent& u = agents_[first];
    Agent& v = agents_[second];
    if (cause_ != Cause::none) return;
    if (constants_.derandomize) exchange_coins(u.coins, v.coins);
    cause_ = detect_.interact(u, v, static_cast<AgentIndex>(first), static_cast<AgentIndex>(second),
                              messages_, choice);
  }

  AgentCount size() const { return agents_.size(); }
  const Agent& agent(AgentCount u) const { return agents_[u]; }
  AgentCount leaders() const {
    return static_cast<AgentCount>(std::ranges::count_if(
        agents_, [](const Agent& agent) { return agent.verifier.rank == 1; }));
  }
  bool is_leader(AgentCount u) const { return agents_[u].verifier.rank == 1; }
  bool converged() const { return cause_ != Cause::none; }
  bool hopeless() const { return is_hopeless_; }
  std::vector<Observation> observations() const {
    return {{observables[0].name, std::string(name_of(cause_))}};
  }

  // The numbers of its starts among those of ElectLeader_r.
  static constexpr std::array start_of_all{
      Starts::dup,  Starts::dupq0,  Starts::correct_one_corrupt, Starts::correct_corrupt,
      Starts::same, Starts::correct};
  static bool is_ranking_correct(std::size_t start) {
    return start_of_all[start] == Starts::correct_one_corrupt ||
           start_of_all[start] == Starts::correct_corrupt || start_of_all[start] == Starts::correct;
  }

 private:
  Constants constants_;
  Groups groups_;
  DetectCollision detect_;
  M messages_;
  std::vector<Agent> agents_;
  Cause cause_ = Cause::none;
  bool is_hopeless_ = false;
};

}  // namespace conclave::protocols::electleader
