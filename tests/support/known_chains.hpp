// Chains whose expected hitting times are known in closed form, and random ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/chain/explicit_files.hpp"
#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/rational_chain.hpp"

namespace conclave::tests {

using chain::Rational;
using chain::RationalChain;
using chain::StateIndex;
using chain::StateSet;

struct KnownChain {
  RationalChain chain;
  std::vector<StateIndex> target;
  StateIndex from = 0;

  StateSet target_set() const { return chain::set_of(target, chain.size()); }
};

inline Rational ratio(std::uint64_t numerator, std::uint64_t denominator) {
  Rational value{static_cast<unsigned long>(numerator), static_cast<unsigned long>(denominator)};
  value.canonicalize();
  return value;
}

// k + 1 leaders become k when two of them meet. From n leaders to one: (n-1)^2 steps.
inline KnownChain fratricide(StateIndex n) {
  KnownChain known{.chain = {}, .target = {0}, .from = n - 1};
  for (StateIndex k = 0; k < n; ++k) {
    const Rational meets = ratio(std::uint64_t{k + 1} * k, std::uint64_t{n} * (n - 1));
    if (k > 0) known.chain.add(k - 1, meets);
    known.chain.add(k, 1 - meets);
    known.chain.end_row();
  }
  return known;
}

// Which of n places on a ring hold a leader, as bits, brought to its smallest rotation.
inline std::uint32_t rotated(std::uint32_t places, unsigned n) {
  std::uint32_t best = places;
  for (unsigned k = 1; k < n; ++k) {
    places = (places >> 1) | ((places & 1) << (n - 1));
    best = std::min(best, places);
  }
  return best;
}

// Leaders on a ring that hand leadership along a random arc, clockwise, or either way where
// `undirected`; two that come together become one. From a leader everywhere to one: C(n+1, 3).
inline KnownChain coalescence(unsigned n, bool undirected) {
  KnownChain known;
  std::map<std::uint32_t, StateIndex> numbers;
  std::vector<std::uint32_t> configurations;
  const auto number = [&](std::uint32_t places) {
    const auto [entry, is_new] =
        numbers.try_emplace(rotated(places, n), static_cast<StateIndex>(configurations.size()));
    if (is_new) configurations.push_back(entry->first);
    return entry->second;
  };
  number((1u << n) - 1);
  for (std::size_t next = 0; next < configurations.size(); ++next) {
    const std::uint32_t places = configurations[next];
    if ((places & (places - 1)) == 0) known.target.push_back(static_cast<StateIndex>(next));
    for (unsigned from = 0; from < n; ++from) {
      for (const unsigned step : undirected ? std::vector{1u, n - 1} : std::vector{1u}) {
        const bool moves = (places >> from & 1) != 0;
        const std::uint32_t after =
            moves ? (places & ~(1u << from)) | 1u << ((from + step) % n) : places;
        known.chain.add(number(after), ratio(1, undirected ? 2 * n : n));
      }
    }
    known.chain.end_row();
  }
  return known;
}

// Itai and Rodeh's synchronous election: in every round each of n processes draws a number below
// `range`; the largest that was drawn once wins. If there is none, the next round begins.
inline KnownChain itai_rodeh(unsigned n, unsigned range) {
  std::uint64_t all = 1;
  for (unsigned k = 0; k < n; ++k) all *= range;
  std::uint64_t wins = 0;
  for (std::uint64_t draw = 0; draw < all; ++draw) {
    std::vector<unsigned> count(range);
    std::uint64_t rest = draw;
    for (unsigned k = 0; k < n; ++k, rest /= range) ++count[rest % range];
    wins += std::ranges::count(count, 1u) > 0 ? 1 : 0;
  }
  KnownChain known{.chain = {}, .target = {1}, .from = 0};
  known.chain.add(0, ratio(all - wins, all));
  known.chain.add(1, ratio(wins, all));
  known.chain.end_row();
  known.chain.add(1, 1);
  known.chain.end_row();
  return known;
}

// `out` random successors per state, with small random weights; the last state is the target.
inline KnownChain random_chain(StateIndex states, unsigned out, std::uint64_t seed) {
  Stream stream({.seed = seed});
  KnownChain known{.chain = {}, .target = {states - 1}, .from = 0};
  for (StateIndex state = 0; state < states; ++state) {
    std::vector<std::uint64_t> weights(out);
    std::uint64_t sum = 0;
    for (auto& weight : weights) sum += weight = 1 + stream.below(20);
    for (const std::uint64_t weight : weights) {
      known.chain.add(stream.below(states), ratio(weight, sum));
    }
    known.chain.end_row();
  }
  return known;
}

}  // namespace conclave::tests
