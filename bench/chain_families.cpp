#include "bench/chain_families.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "conclave/base/random.hpp"

namespace conclave::bench {
namespace {

using chain::ChainBuilder;
using chain::MarkovChain;
using chain::StateIndex;
using chain::StateSet;

constexpr int successors_per_state = 5;
constexpr double rare = 1e-6;

using Row = std::vector<std::pair<StateIndex, double>>;  // successors and their weights

double random_weight(Stream& stream) { return static_cast<double>((stream.word() >> 11) + 1); }

// Weights of 1 to 10, which make some states attractive and others not.
double small_weight(Stream& stream) { return 1 + static_cast<double>(stream.below(10)); }

void add_row(const Row& row, ChainBuilder& builder) {
  double sum = 0;
  for (const auto& [to, weight] : row) sum += weight;
  for (const auto& [to, weight] : row) builder.add(to, weight / sum);
  builder.end_row();
}

template <class RowOf>
MarkovChain built(StateIndex states, RowOf row_of) {
  ChainBuilder builder;
  builder.reserve(states, std::uint64_t{successors_per_state} * states);
  Row row;
  for (StateIndex state = 0; state < states; ++state) {
    row.clear();
    row_of(state, row);
    add_row(row, builder);
  }
  return std::move(builder).build();
}

StateSet only(StateIndex state, StateIndex states) {
  StateSet set(states);
  set.insert(state);
  return set;
}

FamilyChain random(StateIndex states) {
  Stream stream({.seed = 1});
  return {built(states,
                [&](StateIndex, Row& row) {
                  for (int k = 0; k < successors_per_state; ++k) {
                    const double weight = random_weight(stream);
                    row.emplace_back(stream.below(states), weight);
                  }
                }),
          only(states - 1, states)};
}

// Most of the time a state stays as it is.
FamilyChain lazy(StateIndex states) {
  Stream stream({.seed = 2});
  return {built(states,
                [&](StateIndex state, Row& row) {
                  for (int k = 0; k < successors_per_state; ++k) {
                    row.emplace_back(stream.below(states), rare * small_weight(stream));
                  }
                  row.emplace_back(state, 1);
                }),
          only(states - 1, states)};
}

FamilyChain near_by(StateIndex states) {
  constexpr StateIndex distance = 200;
  Stream stream({.seed = 3});
  return {built(states,
                [&](StateIndex state, Row& row) {
                  for (int k = 0; k < successors_per_state; ++k) {
                    const StateIndex step = stream.below(2 * distance + 1);
                    row.emplace_back((state + states + step - distance) % states, 1);
                  }
                }),
          only(0, states)};
}

FamilyChain line(StateIndex states) {
  return {built(states,
                [&](StateIndex state, Row& row) {
                  if (state > 0) row.emplace_back(state - 1, 1);
                  if (state + 1 < states) row.emplace_back(state + 1, 1);
                }),
          only(states - 1, states)};
}

// Away from the target with odds of 1 + 100 / states, so that the time is some e^100 steps.
FamilyChain against_the_drift(StateIndex states) {
  return {built(states,
                [&](StateIndex state, Row& row) {
                  if (state > 0) row.emplace_back(state - 1, 1 + 100.0 / states);
                  if (state + 1 < states) row.emplace_back(state + 1, 1);
                }),
          only(states - 1, states)};
}

FamilyChain deep(StateIndex states) {
  return {built(states,
                [&](StateIndex state, Row& row) {
                  row.emplace_back(state, 1);
                  if (state + 1 < states) row.emplace_back(state + 1, 1);
                }),
          only(states - 1, states)};
}

// A walk on a box of `dimensions`, to its first corner.
template <class Weight>
FamilyChain box(StateIndex states, int dimensions, Weight weight) {
  const auto width = static_cast<StateIndex>(std::lround(std::pow(states, 1.0 / dimensions)));
  StateIndex size = 1;
  for (int k = 0; k < dimensions; ++k) size *= width;
  return {built(size,
                [&](StateIndex state, Row& row) {
                  StateIndex step = 1;
                  for (int k = 0; k < dimensions; ++k, step *= width) {
                    const StateIndex place = state / step % width;
                    if (place > 0) row.emplace_back(state - step, weight());
                    if (place + 1 < width) row.emplace_back(state + step, weight());
                  }
                }),
          only(0, size)};
}

FamilyChain square(StateIndex states) {
  return box(states, 2, [] { return 1.0; });
}

FamilyChain rough_square(StateIndex states) {
  Stream stream({.seed = 4});
  return box(states, 2, [&] { return small_weight(stream); });
}

FamilyChain cube(StateIndex states) {
  return box(states, 3, [] { return 1.0; });
}

FamilyChain rough_cube(StateIndex states) {
  Stream stream({.seed = 5});
  return box(states, 3, [&] { return small_weight(stream); });
}

// Clusters that mix well, in a circle, with a rare way from each state to the next or last cluster.
FamilyChain clusters(StateIndex states) {
  constexpr StateIndex size = 1000;
  Stream stream({.seed = 6});
  return {built(states,
                [&](StateIndex state, Row& row) {
                  const StateIndex first = state / size * size;
                  const StateIndex here = std::min(size, states - first);
                  for (int k = 0; k + 1 < successors_per_state; ++k) {
                    row.emplace_back(first + stream.below(here), small_weight(stream));
                  }
                  const StateIndex way = stream.below(2) == 0 ? size : states - size;
                  row.emplace_back((state + way) % states, rare);
                }),
          only(states - 1, states)};
}

// Strongly connected components of all sizes, each leading to those with smaller numbers.
FamilyChain components(StateIndex states) {
  Stream stream({.seed = 7});
  StateIndex first = 0;
  StateIndex end = 1;
  return {built(states,
                [&](StateIndex state, Row& row) {
                  if (state == end) {
                    first = end;
                    end = std::min<StateIndex>(states, first + (1u << stream.below(15)));
                  }
                  for (int k = 0; k + 1 < successors_per_state; ++k) {
                    row.emplace_back(first + stream.below(end - first), small_weight(stream));
                  }
                  row.emplace_back(state == first ? stream.below(first + 1) : first, 1);
                }),
          only(0, states)};
}

// Ten states lead everywhere, and every state leads to one of them.
FamilyChain hubs(StateIndex states) {
  constexpr StateIndex count = 10;
  Stream stream({.seed = 8});
  return {built(states,
                [&](StateIndex state, Row& row) {
                  if (state < count) {
                    for (StateIndex to = count + state; to < states; to += count) {
                      row.emplace_back(to, small_weight(stream));
                    }
                  } else {
                    row.emplace_back(stream.below(count), small_weight(stream));
                    row.emplace_back(stream.below(states), small_weight(stream));
                  }
                }),
          only(states - 1, states)};
}

// A circle with a way across it from every hundredth state.
FamilyChain small_world(StateIndex states) {
  Stream stream({.seed = 9});
  return {built(states,
                [&](StateIndex state, Row& row) {
                  row.emplace_back((state + 1) % states, small_weight(stream));
                  row.emplace_back((state + states - 1) % states, small_weight(stream));
                  if (state % 100 == 0) row.emplace_back(stream.below(states), 1);
                }),
          only(0, states)};
}

// A walk on a binary tree, from the leaves to the root.
FamilyChain tree(StateIndex states) {
  return {built(states,
                [&](StateIndex state, Row& row) {
                  if (state > 0) row.emplace_back((state - 1) / 2, 1);
                  for (const StateIndex child : {2 * state + 1, 2 * state + 2}) {
                    if (child < states) row.emplace_back(child, 1);
                  }
                }),
          only(0, states)};
}

}  // namespace

const std::vector<Family>& chain_families() {
  static const std::vector<Family> families{
      {"random", "five random successors", random},
      {"lazy", "five random successors, rarely left", lazy},
      {"near-by", "five random successors at a distance of at most 200", near_by},
      {"line", "a walk on a line", line},
      {"drift", "a walk on a line against the drift", against_the_drift},
      {"deep", "one state after the other", deep},
      {"tree", "a walk on a binary tree", tree},
      {"square", "a walk on a square", square},
      {"rough-square", "a walk on a square with random weights", rough_square},
      {"cube", "a walk on a cube", cube},
      {"rough-cube", "a walk on a cube with random weights", rough_cube},
      {"clusters", "clusters of 1000 states, left rarely (5*10^-8)", clusters},
      {"components", "strongly connected components of all sizes", components},
      {"hubs", "ten states that lead everywhere", hubs},
      {"small-world", "a circle with ways across", small_world},
  };
  return families;
}

FamilyChain shuffled(const FamilyChain& family) {
  const auto states = static_cast<StateIndex>(family.chain.size());
  Stream stream({.seed = 10});
  std::vector<StateIndex> order(states);  // the old number of each state
  std::iota(order.begin(), order.end(), StateIndex{0});
  for (StateIndex k = states; k > 1; --k) std::swap(order[k - 1], order[stream.below(k)]);
  std::vector<StateIndex> number(states);
  for (StateIndex k = 0; k < states; ++k) number[order[k]] = k;
  ChainBuilder builder;
  builder.reserve(states, family.chain.transitions());
  FamilyChain result{{}, StateSet(states)};
  for (const StateIndex old : order) {
    if (family.target.contains(old)) result.target.insert(number[old]);
    for (std::size_t k = 0; k < family.chain.successors(old).size(); ++k) {
      builder.add(number[family.chain.successors(old)[k]], family.chain.probabilities(old)[k]);
    }
    builder.end_row();
  }
  result.chain = std::move(builder).build();
  return result;
}

}  // namespace conclave::bench
