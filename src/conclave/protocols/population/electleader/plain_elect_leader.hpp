// ElectLeader_r as a protocol of agents with plain states, so that the exact module can visit all
// configurations of toy sizes. It calls the same transition function, on literal arrays of
// messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/protocols/population/electleader/about.hpp"
#include "conclave/protocols/population/electleader/census.hpp"
#include "conclave/protocols/population/electleader/plain_detect_collision.hpp"
#include "conclave/protocols/population/electleader/plain_parts.hpp"
#include "conclave/protocols/population/electleader/starts.hpp"
#include "conclave/protocols/population/electleader/transition.hpp"

namespace conclave::protocols::electleader {

class PlainElectLeader {
 public:
  using Ranking = PlainAssignRanks::State;
  using Detection = PlainDetectCollision::State;

  // With the toy sizes of its parts. Two agents may form one group, which the paper's r <= n/2 does
  // not allow: without it there would be no messages between fewer than four.
  struct Parameters : electleader::Parameters {
    static constexpr auto fields =
        std::tuple_cat(electleader::Parameters::fields, toy_fields, toy_identifiers);
  };
  static constexpr auto& info = about;
  static constexpr auto& starts = Starts::table;

  // The variables of other duties than its own are at their defaults. A verifier is in error if its
  // cause is, whatever that is.
  struct State : Ranking, Detection {
    Duty duty = Duty::resetting;
    std::uint32_t count = 0;
    std::uint32_t delay = 0;
    std::uint32_t countdown = 0;
    std::uint8_t generation = 0;
    std::uint32_t probation = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr auto fields = std::tuple_cat(
        std::tuple{Field{"role", &State::duty}, Field{"resetCount", &State::count},
                   Field{"delayTimer", &State::delay}, Field{"countdown", &State::countdown},
                   Field{"generation", &State::generation},
                   Field{"probationTimer", &State::probation}},
        Ranking::fields, Detection::fields);

    bool is(Duty which) const { return duty == which; }
    // The variables of rankers, and of verifiers; they mean something for agents of that duty only.
    Ranking& ranking() { return *this; }
    const Ranking& ranking() const { return *this; }
    Detection& detection() { return *this; }
    const Detection& detection() const { return *this; }
    bool is_verifier_of(std::uint32_t rank) const {
      return is(Duty::verifying) && detection().rank == rank;
    }
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    std::string general = PlainDetectCollision::objection(detection_part(parameters), n);
    if (!general.empty()) return general;
    if (*parameters.r > PlainAssignRanks::most_deputies) {
      return "electleader is verified for r = 1 and r = 2 only";
    }
    return {};
  }

  PlainElectLeader(const Parameters& parameters, AgentCount n)
      : constants_(parameters, n),
        ranking_(ranking_part(parameters), n),
        detection_(detection_part(parameters), n) {}

  const Constants& constants() const { return constants_; }
  const PlainDetectCollision& detection() const { return detection_; }

  State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const Starts all(constants_, detection_.groups());
    const auto u = static_cast<std::uint32_t>(agent);
    if (start == Starts::random) return arbitrary(choice);
    if (start == Starts::mixed_generations) {
      return started(all.of_any_generation(u + 1, generations, constants_.probation, choice),
                     choice);
    }
    if (start == Starts::three_generations) {
      return started(all.of_any_generation(u + 1, 3, 0, choice), choice);
    }
    Stream undrawn({});
    return started(all.make(start, u, undrawn), choice);
  }

  // Any state of the restricted state space.
  State arbitrary(Choice auto& choice) const {
    State state;
    state.duty = static_cast<Duty>(choice.below(3));
    if (state.is(Duty::resetting)) {
      state.count = choice.below(constants_.reset_count + 1);
      state.delay = state.count > 0 ? constants_.delay : choice.below(constants_.delay + 1);
    } else if (state.is(Duty::ranking)) {
      const Ranker ranker = Starts(constants_, detection_.groups()).arbitrary_ranker(choice);
      state.countdown = ranker.countdown;
      state.ranking() = PlainAssignRanks::state_of(ranker);
    } else {
      state.generation = static_cast<std::uint8_t>(choice.below(generations));
      state.probation = choice.below(constants_.probation + 1);
      state.detection() = choice.chance(1, 20)
                              ? Detection{1 + choice.below(constants_.n), Cause::same_rank}
                              : detection_.arbitrary(choice);
    }
    return state;
  }

  // How many states `arbitrary` can give, of rankers at most; rounded where there are very many.
  Interactions state_count() const {
    const double n = constants_.n;
    const double r = constants_.r;
    const double labels = constants_.labels;
    const double identifiers =
        constants_.identifiers == 0 ? n * n * n : static_cast<double>(constants_.identifiers);
    const double channels = r == 1 ? labels + 1 : (labels + 1) * (labels + 1);
    const double rankers =
        identifiers * identifiers * (constants_.le_count + 2.0) + 1 +
        channels * (r * (r - 1) / 2 + r * labels + (r * labels + 1) * (constants_.sleep + 1.0));
    const double verifiers = (detection_.state_count().as_double() + n) * generations;
    const double all = verifiers * (constants_.probation + 1.0) +
                       rankers * n * (constants_.countdown + 1.0) + constants_.reset_count +
                       constants_.delay + 1;
    return all < 9e18 ? Interactions(static_cast<std::uint64_t>(all)) : Interactions::max();
  }

  void interact(State& u, State& v, Choice auto& choice) const {
    Transition<DenseMessages> transition(constants_, detection_.groups());
    DenseMessages& messages = transition.verify().messages();
    Agent a = agent_of(u, messages, 0);
    Agent b = agent_of(v, messages, 1);
    transition.interact({a, 0}, {b, 1}, choice);
    u = state_of(a, messages, 0);
    v = state_of(b, messages, 1);
  }

  Role role(const State& s) const { return s.is_verifier_of(1) ? Role::leader : Role::follower; }

  // As the engine knows it, from its census.
  bool is_safe(std::span<const State> agents) const {
    Census census(constants_.n);
    DenseMessages messages(detection_.groups(), constants_.n);
    for (AgentIndex u = 0; u < agents.size(); ++u) census.add(agent_of(agents[u], messages, u));
    return census.is_safe(
        [&](std::uint8_t generation) { return messages.are_consistent(generation); });
  }

  // Converged when safe.
  class Tally {
   public:
    explicit Tally(const PlainElectLeader& protocol) : protocol_(&protocol) {}
    void add(const State& state) { agents_.push_back(state); }
    bool converged() const { return protocol_->is_safe(agents_); }

   private:
    const PlainElectLeader* protocol_;
    std::vector<State> agents_;
  };

 private:
  static DetectionParameters detection_part(const Parameters& parameters) {
    DetectionParameters part;
    static_cast<electleader::Parameters&>(part) = parameters;
    return part;
  }
  static PlainAssignRanks::Parameters ranking_part(const Parameters& parameters) {
    PlainAssignRanks::Parameters part;
    static_cast<electleader::Parameters&>(part) = parameters;
    return part;
  }

  State started(const StartingAgent& made, Choice auto& choice) const {
    DenseMessages unused(detection_.groups(), 1);
    if (!made.agent.is(Duty::verifying)) return state_of(made.agent, unused, 0);
    State state = verifier_of(made.agent.verifier);
    state.detection() = detection_.started(made, choice);
    return state;
  }

  Agent agent_of(const State& s, DenseMessages& messages, AgentIndex index) const {
    if (s.is(Duty::resetting)) return resetter(s.count, s.delay, {});
    if (s.is(Duty::ranking)) {
      Agent agent = ranking_.agent_of(s.ranking());
      agent.ranker.countdown = s.countdown;
      return agent;
    }
    Agent agent{.duty = Duty::verifying};
    if (s.is_in_error()) {
      agent.verifier = {.rank = s.detection().rank, .standing = detection_.standing(s.detection())};
      agent.verifier.generation = s.generation;
      agent.verifier.error = true;
    } else {
      agent = detection_.agent_of(s.detection(), messages, index, s.generation);
    }
    agent.verifier.probation = s.probation;
    return agent;
  }

  static State verifier_of(const Verifier& verifier) {
    State state;
    state.duty = Duty::verifying;
    state.generation = verifier.generation;
    state.probation = verifier.probation;
    return state;
  }

  State state_of(const Agent& agent, const DenseMessages& messages, AgentIndex index) const {
    State state;
    state.duty = agent.duty;
    if (agent.is(Duty::resetting)) {
      state.count = agent.resetter.count;
      state.delay = agent.resetter.delay;
    } else if (agent.is(Duty::ranking)) {
      state.countdown = agent.ranker.countdown;
      state.ranking() = PlainAssignRanks::state_of(agent.ranker);
    } else {
      state = verifier_of(agent.verifier);
      state.detection() = agent.verifier.error
                              ? Detection{agent.verifier.rank, Cause::same_rank}
                              : detection_.state_of(agent.verifier, messages, index);
    }
    return state;
  }

  Constants constants_;
  PlainAssignRanks ranking_;
  PlainDetectCollision detection_;
};

}  // namespace conclave::protocols::electleader
