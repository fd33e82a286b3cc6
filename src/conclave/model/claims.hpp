// The claims of a paper about all configurations of its protocol, as predicates that an exact
// module can check in every one of them. A file protocols/population/lemmas/NAME.hpp states the
// claims of a protocol by its own overload of `claims_of`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/fields.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

// The agents' states; on a graph, agent i is at place i, otherwise the order means nothing.
template <class State>
using ConfigurationView = std::span<const State>;

// One interaction. Agents are at the same places before and after it.
template <class State>
struct Step {
  ConfigurationView<State> before;
  ConfigurationView<State> after;
  std::size_t initiator;
  std::size_t responder;
};

template <class State>
struct NamedSet {
  std::string name;
  std::string meaning;
  std::function<bool(ConfigurationView<State>)> contains;
};

enum class ClaimKind : std::uint8_t {
  everywhere,  // every configuration is in the set
  closed,      // no interaction leads out of the set
  safe,        // closed, with exactly one leader, and no interaction changes an output
  equal,       // the set is that of converged configurations
  reached,     // from every configuration the set is reached with probability 1
  steps,       // `holds` at every interaction in a configuration of the set
};

// The set that every protocol has: configurations in which its tally says "converged".
inline constexpr std::string_view converged_set = "converged";
// All configurations.
inline constexpr std::string_view whole_set{};

template <class State>
struct Claim {
  std::string name;       // "Lemma 2"
  std::string statement;  // in words
  ClaimKind kind = ClaimKind::everywhere;
  std::string set;  // the name of one of the sets, of converged_set or of whole_set
  std::function<bool(const Step<State>&)> holds{};  // of `steps` only
};

// The protocol must outlive them.
template <class State>
struct Claims {
  // Whether the claims are about all configurations, or about those an execution can reach.
  bool from_everywhere = false;
  // Whether it is about one leader that stays; a computation of something else has no safe set.
  bool elects = true;
  std::vector<NamedSet<State>> sets{};
  std::vector<Claim<State>> claims{};
  // The congruence: states with the same normal form behave alike, in outputs, sets and claims.
  // Empty if there is none.
  std::function<State(const State&)> normal_form{};
  std::function<std::string(const State&)> notation = [](const State& s) {
    return '(' + to_text(s) + ')';
  };
};

template <PopulationProtocol P>
std::size_t count_leaders(const P& protocol, ConfigurationView<typename P::State> agents) {
  return static_cast<std::size_t>(std::ranges::count_if(
      agents, [&](const auto& agent) { return protocol.role(agent) == Role::leader; }));
}

// The claims shared by all protocols in which leaders only resign.
template <PopulationProtocol P>
std::vector<Claim<typename P::State>> resigning_claims(const P& protocol) {
  using State = typename P::State;
  const auto fewer = [&protocol](const Step<State>& step) {
    return count_leaders(protocol, step.after) <= count_leaders(protocol, step.before) &&
           count_leaders(protocol, step.after) > 0;
  };
  return {{"leaders", "leaders are never made, and the last one never resigns", ClaimKind::steps,
           std::string(whole_set), fewer},
          {"stabilization", "a configuration with one leader is reached with probability 1",
           ClaimKind::reached, std::string(converged_set)}};
}

// The claims about a protocol without a file of lemmas: only that it converges.
template <PopulationProtocol P>
Claims<typename P::State> claims_of(const P&) {
  Claims<typename P::State> claims;
  claims.claims.push_back({"convergence", "reached with probability 1", ClaimKind::reached,
                           std::string(converged_set)});
  return claims;
}

}  // namespace conclave
