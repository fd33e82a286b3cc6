// The claims about optimal-silent: it is a silent self-stabilizing ranking, and from a single root
// ranks are handed out once each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "conclave/protocols/population/lemmas/silence.hpp"
#include "conclave/protocols/population/optimal_silent.hpp"

namespace conclave::protocols {

namespace detail {

// Whether the settled agents are a top part of the tree: a root, all others with their parents, and
// every rank has as many children as it believes. The others are unsettled.
class TopOfTree {
 public:
  using State = OptimalSilent::State;
  using Duty = OptimalSilent::Duty;

  explicit TopOfTree(ConfigurationView<State> agents) : agents_(agents) {}

  bool holds() const {
    return times_taken(1) == 1 &&
           std::ranges::all_of(agents_, [this](const State& s) { return is_in_place(s); });
  }

 private:
  std::size_t times_taken(std::uint32_t rank) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        agents_, [=](const State& s) { return s.is(Duty::settled) && s.number == rank; }));
  }
  bool is_in_place(const State& s) const {
    if (!s.is(Duty::settled)) return s.is(Duty::unsettled);
    if (times_taken(s.number) != 1) return false;
    if (s.number > 1 && times_taken(s.number / 2) != 1) return false;
    for (std::uint32_t child = 0; child < 2; ++child) {
      if (times_taken(2 * s.number + child) != (child < s.children ? 1u : 0u)) return false;
    }
    return true;
  }

  ConfigurationView<State> agents_;
};

}  // namespace detail

inline Claims<OptimalSilent::State> claims_of(const OptimalSilent& protocol) {
  using State = OptimalSilent::State;
  using Duty = OptimalSilent::Duty;
  using Agents = ConfigurationView<State>;
  Claims<State> claims = silent_ranking_claims(protocol);
  claims.sets.push_back({"tree", "a top part of the tree is settled, the rest unsettled",
                         [](Agents agents) { return detail::TopOfTree(agents).holds(); }});
  const auto grows_or_resets = [](const Step<State>& step) {
    return detail::TopOfTree(step.after).holds() || step.after[step.initiator].is(Duty::resetting);
  };
  const auto only_timeouts_reset = [](const Step<State>& step) {
    const State& a = step.before[step.initiator];
    const State& b = step.before[step.responder];
    const auto times_out = [](const State& s) { return s.is(Duty::unsettled) && s.number <= 1; };
    return !step.after[step.initiator].is(Duty::resetting) || times_out(a) || times_out(b);
  };
  const auto has_unsettled = [](const Step<State>& step) {
    return step.before[step.initiator].is(Duty::unsettled) ||
           step.before[step.responder].is(Duty::unsettled);
  };
  claims.claims.push_back({"tree", "a top part of the tree grows, until a reset", ClaimKind::steps,
                           "tree", grows_or_resets, has_unsettled});
  claims.claims.push_back({"timeouts", "from there only an agent that waits too long resets",
                           ClaimKind::steps, "tree", only_timeouts_reset, has_unsettled});
  claims.notation = [](const State& s) {
    if (s.is(Duty::settled)) return std::to_string(s.number) + "abc"[s.children];
    if (s.is(Duty::unsettled)) return 'u' + std::to_string(s.number);
    return (s.leader ? 'L' : 'F') + std::to_string(s.number) + '.' + std::to_string(s.delay);
  };
  return claims;
}

}  // namespace conclave::protocols
