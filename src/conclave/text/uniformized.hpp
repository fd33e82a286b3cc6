// A network of reactions as a population protocol, exactly.
//
// The molecules stay n, so that a reaction with one or two reactants is what may happen when two
// molecules meet. At the points of a Poisson process (ticks) an ordered pair of different molecules
// is drawn, all equally likely; the pair then reacts with a probability that makes the rate of each
// reaction right, or nothing happens. With volume V, and a molecules of A and b of B,
//
//   A -> ...          has propensity k a
//   A + B -> ...      has propensity k a b / V
//   A + A -> ...      has propensity k a (a - 1) / 2 / V
//
// per unit of time. With L n ticks per unit of time, an ordered pair is drawn at the rate L / (n -
// 1). So A -> ... happens with probability k / L when A is drawn first, and a reaction of A and B
// with probabilities that add up to k (n - 1) / V / L over the pairs (A, B) and (B, A); for A and
// A, which have one order only, it is half of that. L is the smallest number for which all
// probabilities of a pair are at most 1 together: the more of it one reaction needs, the more ticks
// are null for others. All of this is arithmetic of fractions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/text/mistake.hpp"
#include "conclave/text/number.hpp"
#include "conclave/text/rule.hpp"
#include "conclave/text/state_space.hpp"

namespace conclave::text {

// A reaction of one or two molecules, with as many products.
struct MassAction {
  Place place{};
  bool is_pair = false;
  std::array<StateIndex, 2> reactants{};
  std::array<StateIndex, 2> products{};
  Number rate{};  // exact, not negative

  // Whether it changes how many molecules of some species there are, and whether it ever happens.
  bool changes() const { return reactants != products && !swaps(); }
  bool is_active() const { return compare(rate, 0) > 0 && changes(); }

 private:
  bool swaps() const {
    return is_pair && reactants[0] == products[1] && reactants[1] == products[0];
  }
};

// A reaction of a network whose molecules do not stay n: at most two reactants, any products. It
// has propensity weight * a (a - 1) or weight * a b or weight * a or weight, over the scale of all.
struct OpenReaction {
  std::vector<StateIndex> reactants{};
  std::vector<StateIndex> products{};
  std::uint64_t weight = 0;
};
struct OpenNetwork {
  std::vector<OpenReaction> reactions{};
  double scale = 1;  // a whole number below 2^60
};

// With the propensities above; -> A has k V. Exact: throws Mistake where the rates have no common
// denominator, or a weight, of at most 2^60. `rates` belong to the reactions, whose weights are 0.
OpenNetwork open_network(std::vector<OpenReaction> reactions, const std::vector<Number>& rates,
                         const Number& volume, Place place);

struct Uniformized {
  static constexpr std::uint64_t most_species = 500;

  Number ticks_per_molecule;        // L: per unit of time
  std::vector<Reaction> reactions;  // of ordered pairs of species; row u begins at u * species
};

// For n >= 2 molecules of up to most_species species, in a volume that is positive. Throws Mistake
// if a fraction does not fit: the probabilities of a pair have a common denominator of at most
// 2^62. O(species^2 + reactions).
Uniformized uniformized(const std::vector<MassAction>& network, std::size_t species, AgentCount n,
                        const Number& volume);

// One way to react, for engines that draw reactions instead of pairs: with `a` molecules of the
// first reactant, a tick is this reaction with probability weight * a / total if it has one
// reactant, weight * a * b / total if the second is another one, and weight * a * (a - 1) / total
// if it is the same.
struct Channel {
  std::array<StateIndex, 2> reactants{};
  std::array<StateIndex, 2> products{};
  bool is_pair = false;
  std::uint64_t weight = 0;
};
// The reactions of a network; `total` as above, so that weights leave a rest in which nothing
// happens.
struct Channels {
  std::vector<Channel> list{};
  std::uint64_t total = 0;
};

// All reactions that can happen, exactly; a total of 0 where it would be larger than 2^62, as with
// rates of many digits, or in large populations. O(reactions).
Channels channels(const std::vector<MassAction>& network, AgentCount n, const Number& volume,
                  const Number& ticks_per_molecule);

// The probability that a pair reacts, in units of 1 / scale and rounded up: what engines that jump
// over null ticks weigh pairs with, before they decide by the exact probability.
std::uint32_t jump_weight(const Reaction& reaction, std::uint32_t scale);

// The largest scale, a power of two, whose products with n fit into 62 bits.
std::uint32_t jump_scale(AgentCount n);

}  // namespace conclave::text
