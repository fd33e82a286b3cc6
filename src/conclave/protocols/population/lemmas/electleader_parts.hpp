// The claims about its parts that ElectLeader_r relies on, as far as they hold with certainty.
#pragma once

#include <algorithm>
#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/electleader/plain_parts.hpp"

namespace conclave::protocols::electleader {

inline std::uint32_t largest_count(ConfigurationView<PlainPropagateReset::State> agents) {
  std::uint32_t largest = 0;
  for (const auto& agent : agents) largest = std::max(largest, agent.resetting ? agent.count : 0);
  return largest;
}

// Claims about single interactions.
class ResetSteps {
 public:
  using State = PlainPropagateReset::State;

  static bool wave_falls(const Step<State>& step) {
    return largest_count(step.after) <= largest_count(step.before);
  }
  static bool has_wave(const Step<State>& step) { return largest_count(step.before) > 0; }

  static bool stay_awake(const Step<State>& step) {
    for (std::size_t i = 0; i < step.before.size(); ++i) {
      if (!step.before[i].resetting && step.after[i].resetting) return false;
    }
    return true;
  }
  static bool has_awake(const Step<State>& step) {
    return !std::ranges::all_of(step.before, &State::resetting);
  }
};

inline Claims<PlainPropagateReset::State> claims_of(const PlainPropagateReset&) {
  using State = PlainPropagateReset::State;
  const auto nobody_spreads = [](ConfigurationView<State> agents) {
    return largest_count(agents) == 0;
  };
  const auto all_dormant = [](ConfigurationView<State> agents) {
    return std::ranges::all_of(agents, &State::is_dormant);
  };
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.elects = false;
  claims.sets = {{"calm", "no resetCount is positive", nobody_spreads},
                 {"dormant", "everybody is resetting with resetCount 0", all_dormant}};
  claims.claims = {
      {"wave",
       "the largest resetCount never grows",
       ClaimKind::steps,
       std::string(whole_set),
       ResetSteps::wave_falls,
       {},
       ResetSteps::has_wave},
      {"calm", "once no resetCount is positive, none becomes positive", ClaimKind::closed, "calm"},
      {"awake",
       "and then nobody who computes is reset again",
       ClaimKind::steps,
       "calm",
       ResetSteps::stay_awake,
       {},
       ResetSteps::has_awake},
      {"end", "when everybody computes, nothing happens any more", ClaimKind::closed,
       std::string(converged_set)},
      {"awakening", "from every configuration everybody computes in the end", ClaimKind::reached,
       std::string(converged_set)}};
  claims.notation = [](const State& s) {
    if (!s.resetting) return std::string("C");
    return 'R' + std::to_string(s.count) + '.' + std::to_string(s.delay);
  };
  return claims;
}

inline std::string notation(const PlainAssignRanks::State& s) {
  std::string text(1, "ESDRZ#"[static_cast<std::size_t>(s.type)]);
  if (s.type == Type::ranked) return text + std::to_string(s.rank);
  if (s.type == Type::electing) {
    return text + std::to_string(s.identifier) + '/' + std::to_string(s.min_identifier) +
           (s.done ? "!" : "." + std::to_string(s.le_count));
  }
  if (s.type == Type::sheriff) text += std::to_string(s.low) + '-' + std::to_string(s.high);
  if (s.has_label()) text += std::to_string(s.deputy) + ':' + std::to_string(s.number);
  if (s.type == Type::sleeper) text += 'z' + std::to_string(s.sleep);
  return text + '(' + std::to_string(s.first) + ',' + std::to_string(s.second) + ')';
}

inline Claims<PlainAssignRanks::State> claims_of(const PlainAssignRanks&) {
  using State = PlainAssignRanks::State;
  const auto is_active = [](const State& s) {
    return s.type == Type::electing ? !s.done : s.type != Type::recipient;
  };
  const auto has_active = [=](ConfigurationView<State> agents) {
    return std::ranges::any_of(agents, is_active);
  };
  const auto keep_ranks = [](const Step<State>& step) {
    for (std::size_t i = 0; i < step.before.size(); ++i) {
      const bool is_ranked = step.before[i].type == Type::ranked;
      if (is_ranked && step.after[i] != step.before[i]) return false;
    }
    return true;
  };
  const auto has_ranked = [](const Step<State>& step) {
    return std::ranges::any_of(step.before, [](const State& s) { return s.type == Type::ranked; });
  };
  Claims<State> claims;
  claims.sets = {
      {"active", "somebody still elects, leads, labels, sleeps or is ranked", has_active}};
  claims.claims = {
      {"election", "the election never ends without a sheriff", ClaimKind::everywhere, "active"},
      {"ranks",
       "who is ranked keeps its rank",
       ClaimKind::steps,
       std::string(whole_set),
       keep_ranks,
       {},
       has_ranked},
      {"ranking", "a complete ranking has one agent of rank 1 and is final", ClaimKind::safe,
       std::string(converged_set)}};
  claims.notation = [](const State& s) { return notation(s); };
  return claims;
}

}  // namespace conclave::protocols::electleader
