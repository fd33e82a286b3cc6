// PropagateReset and AssignRanks_r as protocols of agents with plain states, so that the exact
// module can visit all configurations of toy sizes. They call the same transition functions as
// ElectLeader_r.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

namespace conclave::protocols::electleader {

class PlainPropagateReset {
 public:
  using Parameters = PropagateResetAlone::Parameters;
  static constexpr auto& info = PropagateResetAlone::info;
  static constexpr auto& starts = PropagateResetAlone::starts;

  struct State {
    bool resetting = false;  // otherwise it computes
    std::uint32_t count = 0;
    std::uint32_t delay = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"resetting", &State::resetting},
                                       Field{"resetCount", &State::count},
                                       Field{"delayTimer", &State::delay}};

    bool is_dormant() const { return resetting && count == 0; }
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    return PropagateResetAlone::objection(parameters, n);
  }
  PlainPropagateReset(const Parameters& parameters, AgentCount n)
      : constants_(parameters, n), reset_(constants_) {}

  State initial(std::size_t start, AgentCount agent, Choice auto&) const {
    if (start > 0) return {true, 0, start == 1 ? constants_.delay : 0};
    return agent == 0 ? State{true, constants_.reset_count, constants_.delay} : State{};
  }

  State arbitrary(Choice auto& choice) const {
    if (choice.chance(1, 2)) return {};
    const std::uint32_t count = choice.below(constants_.reset_count + 1);
    return {true, count, choice.below(constants_.delay + 1)};
  }

  void interact(State& u, State& v, Choice auto&) const {
    Agent a = agent_of(u);
    Agent b = agent_of(v);
    if (u.resetting) {
      reset_.interact(a, b);
    } else if (v.resetting) {
      reset_.interact(b, a);
    }
    u = state_of(a);
    v = state_of(b);
  }

  Role role(const State&) const { return Role::follower; }

  // Converged when all agents compute.
  class Tally {
   public:
    explicit Tally(const PlainPropagateReset&) {}
    void add(const State& state) { resetters_ += state.resetting ? 1 : 0; }
    bool converged() const { return resetters_ == 0; }

   private:
    AgentCount resetters_ = 0;
  };

 private:
  static Agent agent_of(const State& s) {
    return s.resetting ? resetter(s.count, s.delay, {}) : Agent{.duty = Duty::ranking};
  }
  static State state_of(const Agent& a) {
    if (!a.is(Duty::resetting)) return {};
    return {true, a.resetter.count, a.resetter.delay};
  }

  Constants constants_;
  PropagateReset reset_;
};

class PlainAssignRanks {
 public:
  using Parameters = AssignRanksAlone::Parameters;
  static constexpr auto& info = AssignRanksAlone::info;
  static constexpr auto& starts = AssignRanksAlone::starts;
  static constexpr std::size_t most_deputies = 2;

  // A Ranker without its countdown, with a channel of fixed size.
  struct State {
    Type type = Type::electing;
    bool done = false;
    std::uint32_t rank = 1;
    std::uint32_t le_count = 0;
    std::uint64_t identifier = 0;
    std::uint64_t min_identifier = 0;
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t counter = 0;
    std::uint32_t deputy = 0;  // of the label
    std::uint32_t number = 0;
    std::uint32_t sleep = 0;
    std::uint32_t first = 0;  // of the channel
    std::uint32_t second = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"type", &State::type},
                                       Field{"LeaderDone", &State::done},
                                       Field{"rank", &State::rank},
                                       Field{"LECount", &State::le_count},
                                       Field{"identifier", &State::identifier},
                                       Field{"MinIdentifier", &State::min_identifier},
                                       Field{"lowBadge", &State::low},
                                       Field{"highBadge", &State::high},
                                       Field{"counter", &State::counter},
                                       Field{"deputy", &State::deputy},
                                       Field{"number", &State::number},
                                       Field{"sleepTimer", &State::sleep},
                                       Field{"channel1", &State::first},
                                       Field{"channel2", &State::second}};

    bool has_label() const { return deputy != 0; }
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    std::string general = AssignRanksAlone::objection(parameters, n);
    if (!general.empty()) return general;
    if (*parameters.r > most_deputies) return "assign-ranks is verified for r = 1 and r = 2 only";
    if (parameters.derandomize == Derandomize::yes) {
      return "assign-ranks is verified with derandomize=0 only";
    }
    return {};
  }
  PlainAssignRanks(const Parameters& parameters, AgentCount n)
      : constants_(parameters, n), ranks_(constants_) {}

  AgentCount size() const { return constants_.n; }

  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }

  void interact(State& u, State& v, Choice auto& choice) const {
    Agent a = agent_of(u);
    Agent b = agent_of(v);
    ranks_.interact(a, b, choice);
    u = state_of(a.ranker);
    v = state_of(b.ranker);
  }

  // A ranker and its plain state, without the countdown.
  Agent agent_of(const State& s) const {
    Agent a{.duty = Duty::ranking};
    a.ranker = {.type = s.type,
                .rank = s.rank,
                .done = s.done,
                .le_count = s.le_count,
                .identifier = s.identifier,
                .min_identifier = s.min_identifier,
                .low = s.low,
                .high = s.high,
                .counter = s.counter,
                .label = {s.deputy, s.number},
                .sleep = s.sleep,
                .sum = std::uint64_t{s.first} + s.second};
    if (a.ranker.has_channel()) {
      a.ranker.channel = {s.first, s.second};
      a.ranker.channel.resize(constants_.r);
    }
    return a;
  }
  // Without the countdown; channels have at most two deputies here.
  static State state_of(const Ranker& a) {
    const auto heard = [&](std::size_t i) { return i < a.channel.size() ? a.channel[i] : 0; };
    return {a.type,           a.done,  a.rank,   a.le_count, a.identifier,
            a.min_identifier, a.low,   a.high,   a.counter,  a.label.deputy,
            a.label.number,   a.sleep, heard(0), heard(1)};
  }

  Role role(const State& s) const {
    return s.type == Type::ranked && s.rank == 1 ? Role::leader : Role::follower;
  }

  // Converged when all are ranked, with different ranks.
  class Tally {
   public:
    explicit Tally(const PlainAssignRanks& protocol) : with_rank_(protocol.size()) {}
    void add(const State& state) {
      if (state.type == Type::ranked) ++with_rank_[state.rank - 1];
    }
    bool converged() const {
      return std::ranges::all_of(with_rank_, [](std::uint32_t agents) { return agents == 1; });
    }

   private:
    std::vector<std::uint32_t> with_rank_;
  };

 private:
  Constants constants_;
  AssignRanks ranks_;
};

}  // namespace conclave::protocols::electleader
