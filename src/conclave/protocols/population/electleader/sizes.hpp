// How many bits name any state of an agent of ElectLeader_r, variable by variable: Figures 1, 2 and
// 4 with the constants in effect. There are 2^O(r^2 log n) states, far more than any integer holds,
// so that all is computed in logarithms, rounded. Of several kinds of states, each with its own
// variables, the largest counts, and a tag that tells them apart.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/groups.hpp"

namespace conclave::protocols::electleader {

inline double bits_of_one(std::initializer_list<double> kinds) {
  return binary_logarithm(kinds.size()) + std::max(kinds);
}

// The binary logarithm of the binomial coefficient. O(some).
inline double bits_of_choices(std::uint32_t all, std::uint32_t some) {
  double bits = 0;
  for (std::uint32_t i = 0; i < some; ++i) {
    bits += binary_logarithm(all - i) - binary_logarithm(i + 1);
  }
  return bits;
}

inline double resetter_bits(const Constants& constants) {
  return binary_logarithm(std::uint64_t{constants.reset_count} + constants.delay + 1);
}

// By the types of Protocol 7: electing, sheriff, deputy, recipient, sleeper, ranked.
inline double ranker_bits(const Constants& constants) {
  const std::uint64_t r = constants.r;
  const std::uint64_t labels = constants.labels;
  const double channel = static_cast<double>(r) * binary_logarithm(labels + 1);
  const double label = binary_logarithm(r * labels + 1);
  const double electing =
      2 * 3 * binary_logarithm(constants.n) + binary_logarithm(constants.le_count + 2u);
  const double sheriff = channel + (r > 1 ? binary_logarithm(r * (r - 1) / 2) : 0);
  return binary_logarithm(constants.countdown + 1u) +
         bits_of_one({electing, sheriff, binary_logarithm(r * labels) + channel, label + channel,
                      label + channel + binary_logarithm(constants.sleep),
                      binary_logarithm(constants.n)});
}

// A verifier of a group of m ranks holds, of every rank, one of the sets of `block` IDs, with any
// contents except those of its own rank, which are as it has observed them; or it is in error.
inline double verifier_bits(const Constants& constants, const MessageSpace& space) {
  const double free = 1.0 + space.ids() + double(space.block) * (space.m - 1);
  const double detection = binary_logarithm(constants.signature_period(space.m)) +
                           free * binary_logarithm(space.contents) +
                           space.m * bits_of_choices(space.ids(), space.block);
  return binary_logarithm(constants.n) + binary_logarithm(generations) +
         binary_logarithm(constants.probation + 1u) + bits_of_one({0, detection});
}

// The groups differ by one rank at most; the largest is taken for all.
inline double state_bits(const Constants& constants) {
  const Groups groups(constants.n, constants.r, constants.messages);
  return bits_of_one({resetter_bits(constants), ranker_bits(constants),
                      verifier_bits(constants, groups.space_of(0))});
}

}  // namespace conclave::protocols::electleader
