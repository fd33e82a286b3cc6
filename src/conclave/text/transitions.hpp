// The reaction of every ordered pair of states: from a table where there are few states, and
// otherwise by a program, or rule by rule where chance decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/text/program.hpp"
#include "conclave/text/resolver.hpp"
#include "conclave/text/rule.hpp"
#include "conclave/text/state_space.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

class Transitions {
 public:
  // More states than this have no table, which would hold four million pairs.
  static constexpr StateIndex most_tabled = StateSpace::most_dense;

  // The reactions that the rules of a document give; fills the table where there are few states, in
  // O(states^2 rules). Throws Mistake for rules that make no sense, with a table also for what they
  // compute. The space must outlive it.
  Transitions(const Document& document, Resolver& resolver, const StateSpace& space);
  // The reactions of all ordered pairs of states, at most most_tabled; row u begins at u * states.
  Transitions(const std::vector<Reaction>& reactions, const StateSpace& space);

  // A table of all pairs, where there are few states; otherwise rules are evaluated or run as code.
  bool has_table() const { return !table_.empty(); }
  StateIndex states() const { return space_->size(); }

  // An entry of the table holds the new states, or the place of a reaction that depends on chance.
  struct Entry {
    std::uint32_t word;
    static constexpr unsigned bits = 15;
    // Otherwise `reaction` says which one decides.
    bool is_certain() const { return (word >> 31) == 0; }
    StateIndex u() const { return word & ((1u << bits) - 1); }
    StateIndex v() const { return word >> bits; }
    std::size_t reaction() const { return word & 0x7fffffffu; }
  };
  // Row u begins at u * states(); null without a table.
  const Entry* table() const { return has_table() ? table_.data() : nullptr; }
  const Reaction& random_reaction(Entry entry) const { return random_[entry.reaction()]; }

  // O(1) with a table, O(rules) without. Throws Mistake only without.
  Reaction reaction(StateIndex u, StateIndex v) const;
  bool reacts(StateIndex u, StateIndex v) const;  // with a table
  // The rule that decides about this interaction, if there is one; null for networks of reactions.
  // O(rules).
  const Rule* rule_for(StateIndex u, StateIndex v) const;

  // Without a table: carries out interactions whose result is certain.
  const Program& program() const { return program_; }

  bool is_deterministic() const { return random_.empty() && has_table(); }

  // The rules that no pair of states ever follows; only known with a table.
  const std::vector<Place>& idle_rules() const { return idle_rules_; }

 private:
  static Entry certain(StateIndex u, StateIndex v) {
    return {static_cast<std::uint32_t>(u | v << Entry::bits)};
  }
  void fill_table();
  std::uint64_t fill_from(const Rule& rule, std::vector<bool>& decided);
  Entry entry_for(StateIndex u, StateIndex v, const Reaction& reaction);
  Entry entry(StateIndex u, StateIndex v) const {
    return table_[static_cast<std::size_t>(u) * states() + v];
  }

  const StateSpace* space_;
  std::vector<Rule> rules_;
  Program program_;
  std::vector<Entry> table_;
  std::vector<Reaction> random_;
  std::uint64_t work_ = 0;  // random paths of all reactions so far
  std::vector<Place> idle_rules_;
};

}  // namespace conclave::text
