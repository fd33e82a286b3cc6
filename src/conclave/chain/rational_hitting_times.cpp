#include "conclave/chain/rational_hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/lifting.hpp"
#include "conclave/chain/detail/refinement.hpp"
#include "conclave/chain/hitting_times.hpp"

namespace conclave::chain {
namespace {

using detail::IntegerEquations;

using detail::nowhere;

// Multiplications in a factorization modulo a prime: half a second, and some minutes.
constexpr double little_work = 3e8;
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

struct Fractions {
  std::vector<Rational> values;
  MethodUse use;
};

// The one place where `auto` chooses: lifting where elimination fills in little; otherwise
// refinement, for which chains that mix well are the easiest; if that gains too few bits at a time,
// lifting at any price.
Fractions solve(const IntegerEquations& equations, std::span<const std::uint32_t> unknowns,
                double largest, Method method) {
  const mpz_class determinant = largest_determinant(equations);
  const auto result = [&](const auto& digits, Method used, const char* reason) -> Fractions {
    return {detail::reconstruct(digits, determinant),
            {used, equations.size(), method == used ? "it was requested" : reason}};
  };
  const mpz_class modulus = 2 * determinant * determinant * mpz_class(std::ceil(largest));
  if (method != Method::refinement) {
    const double limit = method == Method::lifting ? most_work : little_work;
    const auto found = detail::lift(equations, unknowns, modulus, limit);
    if (found) return result(*found, Method::lifting, "elimination fills in little");
  }
  const std::size_t bits = 2 * mpz_sizeinbase(determinant.get_mpz_t(), 2) + 1;
  if (method != Method::lifting) {
    const auto found = detail::refine(equations, unknowns, {.largest = largest, .bits = bits});
    if (found) return result(*found, Method::refinement, "elimination would fill in much");
  }
  if (method == Method::refinement) throw Error("refinement gains too few bits on this chain");
  if (method == Method::automatic) {
    const auto found = detail::lift(equations, unknowns, modulus, most_work);
    if (found) return result(*found, Method::lifting, "refinement gains too few bits");
  }
  throw Error("the chain is too intricate for exact fractions; leave out --exact");
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
  Fractions found = solve(equations, unknowns, largest, method);
  RationalHittingTimes times{{}, std::move(found.use)};
  auto next = found.values.begin();
  for (const StateIndex state : from) {
    times.mean.push_back(places[state] == nowhere ? Rational(0) : std::move(*next++));
  }
  return times;
}

}  // namespace conclave::chain
