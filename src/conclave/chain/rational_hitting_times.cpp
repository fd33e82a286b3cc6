#include "conclave/chain/rational_hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/lifting.hpp"
#include "conclave/chain/detail/refinement.hpp"
#include "conclave/chain/hitting_times.hpp"

namespace conclave::chain {
namespace {

using detail::IntegerEquations;

// Multiplications in a factorization modulo a prime.
constexpr double little_work = 3e8;
constexpr double most_work = 1e11;

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

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
std::vector<StateIndex> in_good_order(const MarkovChain& chain, std::vector<StateIndex> states) {
  std::vector<std::uint32_t> places(chain.size(), nowhere);
  for (std::uint32_t i = 0; i < states.size(); ++i) places[states[i]] = i;
  detail::LocalSystem system;
  for (const StateIndex state : states) {
    for (const StateIndex to : chain.successors(state)) {
      if (to == state || places[to] == nowhere) continue;
      system.pattern.columns.push_back(places[to]);
      system.values.push_back(1);
    }
    system.end_row(0);
  }
  std::vector<StateIndex> result;
  for (const std::uint32_t i : detail::elimination_order(system)) result.push_back(states[i]);
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

// The denominators of the unknowns divide the determinant, which is at most the product of the
// diagonal, because the matrix is an M-matrix.
mpz_class largest_determinant(const IntegerEquations& equations) {
  mpz_class product = 1;
  for (const mpz_class& value : equations.diagonal) product *= value;
  return product;
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

// By lifting where elimination fills in little; otherwise by refinement, for which chains that mix
// well are the easiest; if that gains nothing, by lifting at any cost.
std::vector<Rational> solve(const IntegerEquations& equations,
                            std::span<const std::uint32_t> unknowns, double largest) {
  const mpz_class determinant = largest_determinant(equations);
  const mpz_class modulus = 2 * determinant * determinant * mpz_class(std::ceil(largest));
  if (const auto found = detail::lift(equations, unknowns, modulus, little_work)) {
    return detail::reconstruct(*found, determinant);
  }
  const std::size_t bits = 2 * mpz_sizeinbase(determinant.get_mpz_t(), 2) + 1;
  if (const auto found = detail::refine(equations, unknowns, {.largest = largest, .bits = bits})) {
    return detail::reconstruct(*found, determinant);
  }
  if (const auto found = detail::lift(equations, unknowns, modulus, most_work)) {
    return detail::reconstruct(*found, determinant);
  }
  throw Error("the chain is too intricate for exact fractions; leave out --exact");
}

}  // namespace

std::vector<Rational> rational_hitting_times(const RationalChain& chain, const StateSet& target,
                                             const std::vector<StateIndex>& from) {
  const MarkovChain rounded = chain.rounded();
  const auto states = in_good_order(rounded, visited(rounded, target, from));
  std::vector<std::uint32_t> places(chain.size(), nowhere);
  for (std::uint32_t i = 0; i < states.size(); ++i) places[states[i]] = i;
  const double largest = largest_time(rounded, target, states);
  IntegerEquations equations;
  for (const StateIndex state : states) {
    add_equation(chain.row(state), state, places, equations);
  }
  std::vector<std::uint32_t> unknowns;
  for (const StateIndex state : from) {
    if (places[state] != nowhere) unknowns.push_back(places[state]);
  }
  const auto found = solve(equations, unknowns, largest);
  std::vector<Rational> result;
  auto next = found.begin();
  for (const StateIndex state : from) {
    result.push_back(places[state] == nowhere ? Rational(0) : *next++);
  }
  return result;
}

}  // namespace conclave::chain
