#include "conclave/chain/rational_chain.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/lifting.hpp"
#include "conclave/chain/detail/text_input.hpp"
#include "conclave/chain/hitting_times.hpp"

namespace conclave::chain {
namespace {

// Larger ones would make numbers of many bytes out of a few characters.
constexpr int most_exponent = 1000;

[[noreturn]] void reject(std::string_view text) {
  throw Error(
      fmt::format("'{}' is not a number such as 0.125, 1e-3 or 1/3", detail::excerpt(text)));
}

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

mpz_class whole(std::string_view digits, std::string_view text) {
  if (!are_digits(digits)) reject(text);
  return mpz_class(std::string(digits), 10);
}

// The e of 12.5e-3, 0 if there is none; takes it off `digits`.
int take_exponent(std::string_view& digits, std::string_view text) {
  const std::size_t place = digits.find_first_of("eE");
  if (place == std::string_view::npos) return 0;
  std::string_view power = digits.substr(place + 1);
  digits = digits.substr(0, place);
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (error != std::errc() || end != power.data() + power.size()) reject(text);
  if (std::abs(exponent) > most_exponent) reject(text);
  return exponent;
}

Rational parse_decimal(std::string_view text) {
  std::string_view digits = text;
  int exponent = take_exponent(digits, text);
  std::string all(digits);
  if (const std::size_t point = digits.find('.'); point != std::string_view::npos) {
    all.erase(point, 1);
    exponent -= static_cast<int>(digits.size() - point - 1);
  }
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::abs(exponent)));
  const mpz_class numerator = whole(all, text);
  Rational value = exponent < 0 ? Rational(numerator, power) : Rational(numerator * power);
  value.canonicalize();
  return value;
}

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

void RationalChain::end_row() {
  auto& row = rows_.back();
  std::ranges::stable_sort(row, {}, &Transition::to);
  std::size_t end = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (end > 0 && row[end - 1].to == row[k].to) {
      row[end - 1].probability += row[k].probability;
    } else {
      std::swap(row[end++], row[k]);
    }
  }
  row.resize(end);
  rows_.emplace_back();
}

MarkovChain RationalChain::rounded() const {
  ChainBuilder builder;
  for (StateIndex state = 0; state < size(); ++state) {
    for (const Transition& transition : row(state)) {
      builder.add(transition.to, transition.probability.get_d());
    }
    builder.end_row();
  }
  return std::move(builder).build();
}

Rational parse_rational(std::string_view text) {
  const std::size_t bar = text.find('/');
  if (bar == std::string_view::npos) return parse_decimal(text);
  const mpz_class denominator = whole(text.substr(bar + 1), text);
  if (denominator == 0) reject(text);
  Rational value(whole(text.substr(0, bar), text), denominator);
  value.canonicalize();
  return value;
}

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
