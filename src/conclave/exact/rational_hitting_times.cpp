#include "conclave/exact/rational_hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/exact/detail/lifting.hpp"
#include "conclave/exact/detail/local_system.hpp"
#include "conclave/exact/hitting_times.hpp"

namespace conclave::exact {
namespace {

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
  LocalSystem system;
  for (const StateIndex state : states) {
    for (const StateIndex to : chain.successors(state)) {
      if (to == state || places[to] == nowhere) continue;
      system.pattern.columns.push_back(places[to]);
      system.values.push_back(1);
    }
    system.end_row(0);
  }
  std::vector<StateIndex> result;
  for (const std::uint32_t i : elimination_order(system)) result.push_back(states[i]);
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

// At least twice numerator times denominator of every unknown. The denominators divide the
// determinant, which is at most the product of the diagonal (the matrix is an M-matrix), and no
// unknown is larger than `largest`.
struct Bounds {
  mpz_class numerator;
  mpz_class modulus;
};

Bounds bounds(const IntegerEquations& equations, double largest) {
  mpz_class determinant = 1;
  for (const mpz_class& value : equations.diagonal) determinant *= value;
  const mpz_class numerator = determinant * mpz_class(std::ceil(1.001 * largest) + 1);
  return {numerator, 2 * numerator * determinant};
}

double largest_time(const MarkovChain& chain, const StateSet& target,
                    const std::vector<StateIndex>& states) {
  const HittingTimes times = hitting_times(chain, target, {.tolerance = 1e-4});
  double largest = 0;
  for (const StateIndex state : states) largest = std::max(largest, times.mean[state]);
  if (std::isinf(largest)) {
    throw Error("the expectation is infinite: the target may be missed from this state");
  }
  return largest;
}

// Fractions from residues. Most have the denominator of one before, which is tried first.
std::vector<Rational> fractions(const Residues& residues, const mpz_class& most_numerator) {
  std::vector<Rational> result;
  mpz_class denominator = 1;
  for (const mpz_class& residue : residues.values) {
    const mpz_class scaled = residue * denominator % residues.modulus;
    Rational rest = reconstruct(scaled, residues.modulus, most_numerator);
    denominator *= rest.get_den();
    result.push_back(Rational(rest.get_num(), denominator));
    result.back().canonicalize();
  }
  return result;
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
  const Bounds limit = bounds(equations, largest);
  const auto found = fractions(lift(equations, unknowns, limit.modulus), limit.numerator);
  std::vector<Rational> result;
  auto next = found.begin();
  for (const StateIndex state : from) {
    result.push_back(places[state] == nowhere ? Rational(0) : *next++);
  }
  return result;
}

}  // namespace conclave::exact
