#include "conclave/chain/rational_hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/lifting.hpp"
#include "conclave/chain/hitting_times.hpp"

namespace conclave::chain {
namespace {

using detail::IntegerEquations;

using detail::nowhere;

// Multiplications in a factorization modulo a prime: some minutes.
constexpr double most_work = 1e11;

// The states that walks from the given ones can be in before they reach the target.
std::vector<StateIndex> visited(const MarkovChain& chain, const StateSet& target,
                                const std::vector<StateIndex>& from) {
  StateSet seen(chain.size());
  std::vector<StateIndex> states;
  const auto visit = [&](StateIndex state) {
    if (target.contains(state) || seen.contains(state)) return;
    seen.insert(state);
    states.push_back(state);
  };
  for (const StateIndex state : from) visit(state);
  for (std::size_t next = 0; next < states.size(); ++next) {
    for (const StateIndex to : chain.successors(states[next])) visit(to);
  }
  return states;
}

// The visited states in an order that is good for elimination.
std::vector<StateIndex> in_good_order(const MarkovChain& chain,
                                      const std::vector<StateIndex>& states) {
  const auto places = detail::places_of(states, chain.size());
  std::vector<StateIndex> result;
  for (const std::uint32_t i :
       detail::elimination_order(detail::local_system(chain, states, places))) {
    result.push_back(states[i]);
  }
  return result;
}

// One row of the equations, times the common denominator of its probabilities.
void add_equation(const std::vector<RationalChain::Transition>& row, StateIndex state,
                  const std::vector<std::uint32_t>& places, IntegerEquations& equations) {
  mpz_class denominator = 1;
  for (const auto& [to, probability] : row) {
    if (to != state) denominator = lcm(denominator, probability.get_den());
  }
  std::vector<std::pair<std::uint32_t, mpz_class>> entries;
  mpz_class diagonal = 0;
  for (const auto& [to, probability] : row) {
    if (to == state) continue;
    const mpz_class weight = probability.get_num() * (denominator / probability.get_den());
    diagonal += weight;
    if (places[to] != nowhere) entries.emplace_back(places[to], weight);
  }
  std::ranges::sort(entries);
  for (auto& [column, weight] : entries) {
    equations.pattern.columns.push_back(column);
    equations.values.push_back(std::move(weight));
  }
  equations.pattern.starts.push_back(equations.pattern.columns.size());
  equations.diagonal.push_back(diagonal);
  equations.right.push_back(denominator);
}

double largest_time(const MarkovChain& chain, const StateSet& target,
                    const std::vector<StateIndex>& states) {
  const HittingTimes times = hitting_times(chain, target, {.tolerance = 1e-4});
  double largest = 0;
  for (const StateIndex state : states) largest = std::max(largest, times.mean[state]);
  if (std::isinf(largest)) {
    throw Error("the expectation is infinite: the target may be missed from this state");
  }
  return 1.001 * largest + 1;  // the error counted
}

}  // namespace

RationalHittingTimes rational_hitting_times(const RationalChain& chain, const StateSet& target,
                                            const std::vector<StateIndex>& from, Method method) {
  const MarkovChain rounded = chain.rounded();
  const auto states = in_good_order(rounded, visited(rounded, target, from));
  const auto places = detail::places_of(states, chain.size());
  const double largest = largest_time(rounded, target, states);
  IntegerEquations equations;
  for (const StateIndex state : states) {
    add_equation(chain.row(state), state, places, equations);
  }
  std::vector<std::uint32_t> unknowns;
  for (const StateIndex state : from) {
    if (places[state] != nowhere) unknowns.push_back(places[state]);
  }
  auto found = detail::lift(equations, unknowns, largest, most_work);
  if (!found) throw Error("the chain is too intricate for exact fractions; leave out --exact");
  const bool is_requested = method == Method::lifting;
  RationalHittingTimes times{{},
                             {Method::lifting, equations.size(),
                              is_requested ? "it was requested" : "fractions were requested"}};
  auto next = found->begin();
  for (const StateIndex state : from) {
    times.mean.push_back(places[state] == nowhere ? Rational(0) : std::move(*next++));
  }
  return times;
}

}  // namespace conclave::chain
