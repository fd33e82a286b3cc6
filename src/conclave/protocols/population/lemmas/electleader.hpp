// Lemmas 6.1 to 6.3 and Appendix F of ElectLeader_r. Statements with high probability and a time
// are checked as far as they hold with certainty: the set is reached from every configuration with
// probability 1, and `verify --target SET --within SET` gives the largest expected time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/electleader/plain_elect_leader.hpp"
#include "conclave/protocols/population/lemmas/electleader_detection.hpp"
#include "conclave/protocols/population/lemmas/electleader_parts.hpp"

namespace conclave::protocols::electleader {

namespace detail {

// Predicates of configurations and interactions, for a protocol that must outlive them. They scan
// all agents and share nothing with the census by which the engine knows C_safe.
class ElectLeaderLemmas {
 public:
  using State = PlainElectLeader::State;
  using Agents = ConfigurationView<State>;

  explicit ElectLeaderLemmas(const PlainElectLeader& protocol)
      : protocol_(&protocol), detection_(protocol.detection()) {}

  static bool all_are(Agents agents, Duty duty) {
    return std::ranges::all_of(agents, [=](const State& s) { return s.is(duty); });
  }
  static bool has_resetter(Agents agents) {
    return std::ranges::any_of(agents, [](const State& s) { return s.is(Duty::resetting); });
  }
  bool is_triggered(Agents agents) const {
    return std::ranges::any_of(agents, [this](const State& s) {
      return s.is(Duty::resetting) && s.count == protocol_->constants().reset_count;
    });
  }

  // C_1 to C_5 of the proof of Lemma 6.3, each inside the one before.
  static bool is_in(int number, Agents agents) {
    const auto same = [&](auto member) {
      return std::ranges::all_of(agents,
                                 [&](const State& s) { return s.*member == agents[0].*member; });
    };
    if (number == 1) return !has_resetter(agents);
    if (number == 2) return all_are(agents, Duty::verifying);
    if (!is_in(number - 1, agents)) return false;
    if (number == 3) return same(&State::generation);
    if (number == 4) return same(&State::probation) && agents[0].probation == 0;
    return is_permutation(agents);
  }

  // Lemma 6.1: (a), and (b) for some generation i.
  bool is_safe(Agents agents) const {
    if (!all_are(agents, Duty::verifying) || !is_permutation(agents)) return false;
    for (std::uint8_t i = 0; i < generations; ++i) {
      if (is_safe_from(i, agents)) return true;
    }
    return false;
  }

  // Lemma F.1, and how it goes on: a correct ranking that is complete, which agents take with them
  // into generation 0 one after the other.
  bool is_ranked(Agents agents) const {
    std::vector<PlainDetectCollision::State> verifiers;
    for (const State& s : agents) {
      const bool is_ranker = s.is(Duty::ranking) && s.ranking().type == Type::ranked;
      const bool is_verifier = s.is(Duty::verifying) && s.generation == 0;
      if (!is_ranker && !is_verifier) return false;
      verifiers.push_back(is_ranker ? fresh(s.ranking().rank) : s.detection());
    }
    return detection_.is_consistent(verifiers);
  }

  // Verifiers before and after the interaction: `holds(before, after)`, which says something where
  // `premise(before, after)`.
  template <class Holds>
  static bool every_verifier(const Step<State>& step, Holds holds) {
    for (std::size_t i = 0; i < step.before.size(); ++i) {
      const bool stays = step.before[i].is(Duty::verifying) && step.after[i].is(Duty::verifying);
      if (stays && !holds(step.before[i], step.after[i])) return false;
    }
    return true;
  }
  static bool keeps_ranks(const Step<State>& step) {
    return every_verifier(step, [](const State& before, const State& after) {
      return before.detection().rank == after.detection().rank;
    });
  }
  static bool has_verifier(const Step<State>& step) {
    return !every_verifier(step, [](const State&, const State&) { return false; });
  }
  static bool advances_by_one(const Step<State>& step) {
    return every_verifier(step, [](const State& before, const State& after) {
      const int advance = (after.generation + 6 - before.generation) % 6;
      return advance == 0 || advance == 1;
    });
  }
  bool advances_off_probation(const Step<State>& step) const {
    return every_verifier(step, [&](const State& before, const State& after) {
      if (before.generation == after.generation) return true;
      return before.probation <= 1 && after.probation == protocol_->constants().probation;
    });
  }
  static bool has_advance(const Step<State>& step) {
    return !every_verifier(step, [](const State& before, const State& after) {
      return before.generation == after.generation;
    });
  }

  // Identifiers and counters that make no difference any more.
  State normal_form(State s) const {
    if (s.is(Duty::verifying)) s.detection() = detection_.normal_form(s.detection());
    return s;
  }

  // "R1.2", "5:E1/2.1", "0.2|1:s1.1(1.|.2)12": resetCount and delayTimer; countdown and ranker;
  // generation, probationTimer and verifier, each as in its part.
  std::string notation(const State& s) const {
    if (s.is(Duty::resetting)) {
      return 'R' + std::to_string(s.count) + '.' + std::to_string(s.delay);
    }
    if (s.is(Duty::ranking)) {
      return std::to_string(s.countdown) + ':' + electleader::notation(s.ranking());
    }
    return std::to_string(s.generation) + '.' + std::to_string(s.probation) + '|' +
           detection_.notation(s.detection());
  }

 private:
  static bool is_permutation(Agents agents) {
    std::vector<bool> taken(agents.size());
    for (const State& s : agents) {
      if (taken[s.detection().rank - 1]) return false;
      taken[s.detection().rank - 1] = true;
    }
    return true;
  }

  bool is_safe_from(std::uint8_t i, Agents agents) const {
    std::vector<PlainDetectCollision::State> verifiers;
    for (const State& s : agents) {
      if (s.generation != i && s.generation != (i + 1) % generations) return false;
      if (s.generation == i && s.probation > 0) return false;
      verifiers.push_back(s.generation == i ? fresh(s.detection().rank) : s.detection());
    }
    return detection_.is_consistent(verifiers);
  }

  // q_0,DC.
  PlainDetectCollision::State fresh(std::uint32_t rank) const {
    const Standing standing = protocol_->detection().groups().of_rank(rank);
    StartingAgent agent;
    agent.agent.verifier = {.rank = rank, .standing = standing};
    agent.beginning = Beginning::clean_at(standing.position);
    Stream undrawn({});
    return protocol_->detection().started(agent, undrawn);
  }

  const PlainElectLeader* protocol_;
  DetectionLemmas detection_;
};

inline std::vector<NamedSet<PlainElectLeader::State>> recovery_sets(
    const ElectLeaderLemmas& lemmas) {
  using Agents = ElectLeaderLemmas::Agents;
  using Lemmas = ElectLeaderLemmas;
  const auto set = [](int number) {
    return [number](Agents agents) { return Lemmas::is_in(number, agents); };
  };
  const auto or_reset = [](auto contains) {
    return [contains](Agents agents) { return Lemmas::has_resetter(agents) || contains(agents); };
  };
  const auto safe = [=](Agents agents) { return lemmas.is_safe(agents); };
  return {{"C_1", "nobody is resetting", set(1)},
          {"C_2", "everybody verifies", set(2)},
          {"C_3", "and all generations are equal", set(3)},
          {"C_4", "and everybody is off probation", set(4)},
          {"C_5", "and the ranking is correct", set(5)},
          {"C_safe", "the set of Lemma 6.1", safe},
          {"triggered", "somebody has just executed TriggerReset",
           [=](Agents agents) { return lemmas.is_triggered(agents); }},
          {"ranked", "a complete correct ranking, some of whose agents may verify already",
           [=](Agents agents) { return lemmas.is_ranked(agents); }},
          {"C_safe-or-reset", "C_safe, or somebody is resetting", or_reset(safe)},
          {"C_2-or-reset", "C_2, or somebody is resetting", or_reset(set(2))},
          {"C_3-or-reset", "C_3, or somebody is resetting", or_reset(set(3))},
          {"C_4-or-reset", "C_4, or somebody is resetting", or_reset(set(4))},
          {"C_5-or-reset", "C_5, or somebody is resetting", or_reset(set(5))}};
}

inline std::vector<Claim<PlainElectLeader::State>> recovery_claims(
    const ElectLeaderLemmas& lemmas) {
  using State = PlainElectLeader::State;
  const std::string everywhere(whole_set);
  const auto off_probation = [=](const Step<State>& step) {
    return lemmas.advances_off_probation(step);
  };
  return {
      {"Lemma 6.1", "C_safe is closed, with one leader and constant outputs", ClaimKind::safe,
       "C_safe"},
      {"detection", "the engine stops in C_safe and nowhere else", ClaimKind::equal, "C_safe"},
      {"Lemma 6.2", "C_safe is reached, after a reset and from everywhere", ClaimKind::reached,
       "C_safe"},
      {"Lemma 6.3", "C_safe is reached, or a reset is triggered", ClaimKind::reached,
       "C_safe-or-reset"},
      {"Lemma F.1", "a complete correct ranking is kept until all verify", ClaimKind::closed,
       "ranked"},
      {"Lemma F.2", "nobody is resetting any more", ClaimKind::reached, "C_1"},
      {"Lemma F.3", "all verify, or a reset is triggered", ClaimKind::reached, "C_2-or-reset"},
      {"Lemma F.4", "all generations become equal, or a reset is triggered", ClaimKind::reached,
       "C_3-or-reset"},
      {"Lemma F.5", "probation ends, or a reset is triggered", ClaimKind::reached, "C_4-or-reset"},
      {"Lemma F.6", "where the ranking is wrong, a reset is triggered", ClaimKind::reached,
       "C_5-or-reset"},
      {"ranks", "a verifier keeps its rank until it is reset", ClaimKind::steps, everywhere,
       ElectLeaderLemmas::keeps_ranks, ElectLeaderLemmas::has_verifier},
      {"Observation F.1",
       "who changes its generation was off probation and is now on full probation",
       ClaimKind::steps, everywhere, off_probation, ElectLeaderLemmas::has_advance},
      {"Observation F.2", "an agent of generation m moves to generation m + 1 only",
       ClaimKind::steps, everywhere, ElectLeaderLemmas::advances_by_one,
       ElectLeaderLemmas::has_advance}};
}

}  // namespace detail

inline Claims<PlainElectLeader::State> claims_of(const PlainElectLeader& protocol) {
  using State = PlainElectLeader::State;
  const detail::ElectLeaderLemmas lemmas(protocol);
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.sets = detail::recovery_sets(lemmas);
  claims.claims = detail::recovery_claims(lemmas);
  claims.normal_form = [=](const State& s) { return lemmas.normal_form(s); };
  claims.notation = [=](const State& s) { return lemmas.notation(s); };
  return claims;
}

}  // namespace conclave::protocols::electleader
