// The tests of P_LL share these: its parameters in short, and the sentences of the paper that hold
// for every state and every configuration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "conclave/protocols/population/pll.hpp"

namespace conclave::tests {

using protocols::Pll;

// Toy constants; both 0 stands for those of the paper.
struct PllConstants {
  std::uint64_t c_max = 0;
  std::uint64_t k = 0;
  Pll::Reading reading = Pll::Reading::corrected;
};

inline Pll::Parameters parameters_of(const PllConstants& constants) {
  Pll::Parameters parameters;
  parameters.reading = constants.reading;
  if (constants.c_max == 0) return parameters;
  parameters.c_max = constants.c_max;
  parameters.k = constants.k;
  return parameters;
}

inline Pll pll_with(const PllConstants& constants, AgentCount n) {
  return {parameters_of(constants), n};
}

inline std::string text_of(const PllConstants& constants) {
  std::string text = constants.c_max == 0 ? "default constants"
                                          : "c_max=" + std::to_string(constants.c_max) +
                                                " k=" + std::to_string(constants.k);
  if (constants.reading == Pll::Reading::printed) text += " reading=printed";
  return text;
}

// The domains of Table 3, of the corrected reading.
struct PllDomains {
  std::uint64_t c_max;
  std::uint64_t k;

  bool holds(const Pll::State& s) const {
    return s.epoch >= 1 && s.epoch <= 3 && has_color(s) && has_variable(s);
  }

 private:
  // The k-th change of colour begins epoch k+1, until epoch 3, which sees all colours.
  static bool has_color(const Pll::State& s) {
    return s.color < 3 && (s.epoch == 3 || s.color + 1 == s.epoch);
  }

  bool has_variable(const Pll::State& s) const {
    if (s.is_x()) return s == Pll::State{};
    if (s.is_b()) return !s.leader && !s.done && s.variable < c_max;
    if (s.epoch == 1) return s.variable <= c_max && (s.done || s.leader);
    if (s.epoch == 2) return s.done && s.variable >= 1 && s.variable >> (k + 1) == 0;
    return s.done && s.variable <= c_max;
  }
};

inline PllDomains domains_of(const PllConstants& constants, AgentCount n) {
  Pll::Parameters parameters = parameters_of(constants);
  parameters.resolve(n);
  std::uint64_t k = 0;
  while (std::uint64_t{1} << k < *parameters.m) ++k;
  return {parameters.c_max.value_or(41 * *parameters.m), parameters.k.value_or(k)};
}

// How many agents of a configuration are what.
struct PllCensus {
  std::size_t agents = 0;
  std::size_t leaders = 0;
  std::size_t x = 0;
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t beyond_epoch_3 = 0;

  void add(const Pll::State& s) {
    ++agents;
    leaders += s.leader ? 1 : 0;
    x += s.is_x() ? 1 : 0;
    a += s.is_a() ? 1 : 0;
    b += s.is_b() ? 1 : 0;
    beyond_epoch_3 += s.epoch > 3 ? 1 : 0;
  }

  // Lemma 4, after the first interaction.
  bool has_timer() const { return b >= 1; }
  // Lemma 5.
  bool is_balanced() const { return x > 0 || (2 * a >= agents && 2 * leaders <= agents); }
  // Lemma 11.
  bool has_leader() const { return leaders >= 1; }
  // Erratum L1: nothing can happen any more to several leaders.
  bool is_frozen() const { return beyond_epoch_3 == agents && leaders > 1; }
};

inline PllCensus census_of(std::span<const Pll::State> states) {
  PllCensus census;
  for (const Pll::State& state : states) census.add(state);
  return census;
}

}  // namespace conclave::tests
