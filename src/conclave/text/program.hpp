// The rules and conditions of a protocol file as code for the register machine
// (model/register_machine.hpp). Files with too many states for a table of all pairs are run by it,
// and so are the conditions of all files on a device.
//
// Some things the machine leaves to the expressions themselves: random draws, numbers that are not
// whole, and a field that would leave its domain.
//
// Alternatives: walking along the expressions, which takes 6 times as long for the ranking of 3000
// agents and hundreds of times for junta_election.pp; code for the processor itself, which was 1.4
// to 2 times as fast for the shipped files and needed a translator of 400 lines and executable
// memory; a memo of all pairs met, which the engines keep anyway where few states occur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/model/register_machine.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/state_space.hpp"

namespace conclave::text {

class Rule;

// Immutable once made, so that threads may share one. The words of its states must be packed.
class Program {
 public:
  using Instruction = RegisterMachine::Instruction;

  Program() = default;  // empty: no interaction is known

  // The rules, in their order; the first that applies decides.
  Program(const std::vector<Rule>& rules, const StateSpace& space);
  // The sum of words[i] over the conditions that hold: of conditions about one agent, or about how
  // many of n agents are in each of the first sets, which are the words from first_count on.
  Program(const std::vector<Node>& conditions, const std::vector<std::uint64_t>& words,
          const StateSpace& space, AgentCount n = 0);

  // Carries out an interaction whose result is certain. False, with nothing changed, if the rules
  // must be evaluated instead. O(instructions).
  bool interact(StateIndex& u, StateIndex& v) const;
  // The sum of words for one agent; nothing if the conditions must be evaluated instead.
  std::optional<std::uint64_t> sum(StateIndex state) const;

  // The code, and whether it never gives up.
  const std::vector<Instruction>& code() const { return code_; }
  bool is_complete() const { return is_complete_; }

 private:
  std::vector<Instruction> code_;
  bool is_complete_ = false;
};

}  // namespace conclave::text
