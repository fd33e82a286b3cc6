// A protocol file for every population size: how many agents are in each state, the transitions
// that change these counts, and the file's initial configuration and conditions as formulas of
// linear integer arithmetic in SMT-LIB 2 text. Both the prover and the checker of its certificates
// read protocol files through this, and share nothing else.
//
// Variables of the formulas: n, c0, c1, ... (agents in state 0, 1, ... now), i0, i1, ... (at the
// start), and `others` (parameters that are open, numbers of agents that could not be expressed).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/compiled.hpp"

namespace conclave::text {

// The value given to a parameter that is to be left open, besides those whose default depends on n.
inline constexpr const char* any_value = "any";

// Two agents in states pre[0] <= pre[1] come into states post[0] <= post[1].
struct CountsTransition {
  std::array<std::size_t, 2> pre;
  std::array<std::size_t, 2> post;
  friend auto operator<=>(const CountsTransition&, const CountsTransition&) = default;
};

struct CountsModel {
  std::vector<std::string> states{};            // those that occur, in the file's order
  std::vector<CountsTransition> transitions{};  // sorted; every outcome with positive probability
  std::vector<std::string> others{};            // further variables
  std::string init{};                           // a formula over n, i, others
  std::string stop{};                           // a formula over n, c, others
  std::vector<std::string> stop_after{};        // the same after each transition
  std::string stop_text{};                      // as it was written
  // The properties of the file, in its order: formulas over n, c, others; empty where one is not
  // linear.
  std::vector<std::string> always{};
  std::string start{};                  // the name of the initial configuration
  std::vector<bool> leaders{};          // by state
  std::vector<bool> may_start{};        // by state: whether agents may be in it at first
  std::vector<std::int64_t> moduli{};   // candidates: the whole parameters and constants
  std::vector<std::string> warnings{};  // on what is over-approximated

  std::shared_ptr<const ProtocolText> text{};  // of the file
  std::shared_ptr<const Compiled> compiled{};
  std::vector<StateIndex> indices{};  // of the states in the file
};

// Which question about a file is asked; empty words stand for the file's first start and its stop
// condition.
struct CountsQuestion {
  std::vector<Given> given{};
  std::string start{};
  std::string target{};
};

// Throws Error with one sentence where the file has more states than a table of transitions can
// hold, states or rules that depend on n, or conditions that are not linear.
CountsModel counts_model(const std::shared_ptr<const ProtocolText>& text,
                         const CountsQuestion& question);

}  // namespace conclave::text
