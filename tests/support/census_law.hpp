// The exact law of the census after a fixed number of interactions, and the chi-square test of a
// sampler against it, over all censuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/statistics.hpp"

#include "tests/support/census_chain.hpp"
#include "tests/support/small_protocols.hpp"

namespace conclave::tests {

// Up to 15 agents in each of up to 16 states.
inline std::uint64_t key_of(Letter state, AgentCount count) { return count << 4 * state.value; }

class CensusLaw {
 public:
  CensusLaw(const RandomTable& table, std::uint64_t interactions)
      : table_(table), interactions_(interactions) {
    const CensusChain<RandomTable> chain(table, table.agents());
    std::vector<double> now(chain.size(), 0.0);
    now[0] = 1;
    for (std::uint64_t i = 0; i < interactions; ++i) now = step(chain.chain(), now);
    for (std::size_t index = 0; index < chain.size(); ++index) {
      std::uint64_t key = 0;
      for (const Letter state : chain.states(index)) key += key_of(state, 1);
      probabilities_[key] += now[index];
    }
  }

  const RandomTable& table() const { return table_; }
  std::uint64_t interactions() const { return interactions_; }

  // sampler(trial) gives the key of a census: the sum of key_of over its states.
  template <class KeySampler>
  TestResult fit(std::uint64_t trials, KeySampler sampler) const {
    std::map<std::uint64_t, double> found;
    for (std::uint64_t trial = 0; trial < trials; ++trial) ++found[sampler(trial)];
    std::vector<std::pair<double, double>> cells;  // expected, observed
    for (const auto& [key, probability] : probabilities_) {
      if (probability == 0 && !found.contains(key)) continue;
      cells.emplace_back(probability * static_cast<double>(trials), found[key]);
      found.erase(key);
    }
    if (std::ranges::any_of(found, [](const auto& each) { return each.second > 0; }))
      return {1e9, 0};
    std::ranges::sort(cells);
    std::vector<double> expected, observed;
    for (const auto& [wanted, seen] : cells) {
      expected.push_back(wanted);
      observed.push_back(seen);
    }
    const Buckets buckets = pool_buckets(observed, expected);
    if (buckets.expected.size() < 2) return {};
    return chi_square(buckets.observed, buckets.expected);
  }

 private:
  static std::vector<double> step(const MarkovChain& chain, const std::vector<double>& now) {
    std::vector<double> next(now.size(), 0.0);
    for (std::size_t from = 0; from < now.size(); ++from) {
      if (now[from] == 0) continue;
      for (const auto& arc : chain.row(from)) next[arc.to] += now[from] * arc.probability;
    }
    return next;
  }

  RandomTable table_;
  std::uint64_t interactions_;
  std::map<std::uint64_t, double> probabilities_;
};

// A table, how it was made, and its law.
struct TableCase {
  std::string name;
  CensusLaw law;
};

inline std::vector<TableCase> table_cases() {
  using Shapes = std::vector<std::pair<std::string, TableShape>>;
  const Shapes shapes{
      {"two-way", {.states = 4}},
      {"two-way, no nulls", {.states = 3, .null_percent = 0}},
      {"initiators change", {.states = 5, .responders_change = false}},
      {"responders change", {.states = 5, .initiators_change = false}},
      {"lotteries", {.states = 4, .outcomes = 3}},
      {"lotteries of initiators", {.states = 4, .responders_change = false, .outcomes = 4}},
      {"equal columns", {.states = 6, .null_percent = 20, .classes = 2}},
      {"equal columns with lotteries", {.states = 5, .outcomes = 2, .classes = 2}},
      {"many states", {.states = 6, .null_percent = 60}},
  };
  std::vector<TableCase> cases;
  std::uint64_t seed = 0;
  for (const auto& [name, shape] : shapes) {
    const AgentCount n = 12 - shape.states + seed % 2;
    for (const std::uint64_t interactions : {3u, 17u}) {
      ++seed;
      std::string text = name + ", n=" + std::to_string(n) + ", after " +
                         std::to_string(interactions) + " interactions, table " +
                         std::to_string(seed);
      cases.push_back({std::move(text), CensusLaw(RandomTable(shape, n, seed), interactions)});
    }
  }
  return cases;
}

}  // namespace conclave::tests
