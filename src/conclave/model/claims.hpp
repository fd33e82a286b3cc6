// The claims of a paper about all configurations of its protocol, as predicates that the exact
// module evaluates in every one of them. A file protocols/population/lemmas/NAME.hpp states the
// claims of a protocol by its own overload of `claims_of`.
//
// A claim such as "a newly fired bullet is modest" says nothing about an instance in which no
// bullet is ever fired. A claim therefore names its premise, and the exact module reports a claim
// whose premise never occurs as vacuous. Where `closed`, `safe`, `equal` and `reached` say
// something follows from the set alone.
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
#include "conclave/base/small_function.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

// A view of the agents' states, which are owned elsewhere. On a graph, agent i is at place i; on
// the complete graph the order means nothing.
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
using ConfigurationPredicate = SmallFunction<bool(ConfigurationView<State>)>;
template <class State>
using StepPredicate = SmallFunction<bool(const Step<State>&)>;

// A set of configurations that claims refer to by its name.
template <class State>
struct NamedSet {
  std::string name;
  std::string meaning;
  ConfigurationPredicate<State> contains;
};

// The statement of a claim, and when it is vacuous.
enum class ClaimKind : std::uint8_t {
  everywhere,  // every configuration is in the set; vacuous: none satisfies the premise
  closed,      // no interaction leads out of the set; vacuous: the set is empty
  safe,        // closed, with exactly one leader and constant outputs; vacuous: the set is empty
  equal,       // the set is that of converged configurations; vacuous: both are empty
  reached,     // from every configuration the set is reached with probability 1; vacuous: every
               // configuration is in it
  steps,       // `holds` at every interaction in a configuration of the set; vacuous: no such
               // interaction satisfies the premise
};

// The set that every protocol has: configurations in which its tally says "converged".
inline constexpr std::string_view converged_set = "converged";
// All configurations.
inline constexpr std::string_view whole_set{};

// One claim. Its members beyond the statement depend on its kind; see ClaimKind.
template <class State>
struct Claim {
  std::string name;       // "Lemma 2"
  std::string statement;  // in words
  ClaimKind kind = ClaimKind::everywhere;
  std::string set;                      // the name of one of the sets, converged_set or whole_set
  StepPredicate<State> holds{};         // for `steps` only
  StepPredicate<State> step_premise{};  // for `steps`; empty: always true
  ConfigurationPredicate<State> premise{};  // for `everywhere`; empty: always true

  // One of kind `everywhere`, vacuous unless some configuration satisfies the premise.
  static Claim everywhere(const std::string& name, const std::string& statement,
                          const std::string& set, const ConfigurationPredicate<State>& premise) {
    return {.name = name, .statement = statement, .set = set, .premise = premise};
  }
};

// All that is claimed about a protocol, which must outlive its claims.
template <class State>
struct Claims {
  // Whether the claims are about all configurations, or about those an execution can reach.
  bool from_everywhere = false;
  // Whether the protocol elects one leader that stays. If not, no safe set is reported.
  bool elects = true;
  std::vector<NamedSet<State>> sets{};
  std::vector<Claim<State>> claims{};
  // The congruence: states with the same normal form behave alike in outputs, sets and claims.
  // Empty: no two states are merged. Before the exact module merges states, it checks all pairs.
  SmallFunction<State(const State&)> normal_form{};
  // A state as one word of a trace.
  std::function<std::string(const State&)> notation = [](const State& s) {
    return '(' + to_text(s) + ')';
  };
};

// O(agents).
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
