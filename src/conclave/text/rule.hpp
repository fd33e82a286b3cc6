// A rule with all names looked up, and its effect on two agents that interact.
//
// A rule with outcomes (`A + B -> A + A with 1/2`) computes all new values from the states before
// the interaction. A rule with a block (`A + B do { ... }`) runs its statements one after the
// other; each sees what those before it have done. Random draws in a block are forks: the reaction
// of two states is found by running the block once for every path through its forks, so that a
// reaction is the same exact list of outcomes in both cases.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/text/node.hpp"
#include "conclave/text/number.hpp"
#include "conclave/text/resolver.hpp"
#include "conclave/text/state_space.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

struct Outcome {
  StateIndex u;
  StateIndex v;
  std::uint64_t weight;  // of the reaction's total
};

// The possible results of an interaction: the outcomes that change something; with the rest of the
// total weight, nothing happens.
struct Reaction {
  std::vector<Outcome> outcomes{};
  std::uint64_t total = 1;  // at most 2^62

  // Nothing ever changes; one outcome always comes.
  bool is_null() const { return outcomes.empty(); }
  bool is_certain() const { return outcomes.size() == 1 && outcomes[0].weight == total; }
};

// All sequences of random decisions that a rule may take, one after the other. The code that
// decides is run once for every path and asks at each fork which way to go:
//
//   Paths paths;
//   do { ... if (paths.decide({half, half}) == 0) ...; use(paths.probability()); }
//   while (paths.next());
class Paths {
 public:
  // The way that this path takes at the next fork, among those whose chance is not 0. One must be.
  std::size_t decide(std::vector<Number> chances);
  // The same for `ways` equally likely outcomes, at least one.
  std::size_t choose(std::size_t ways);

  // The exact probability of the decisions on this path.
  const Number& probability() const { return probability_; }

  // Begins the next path; false where all have been taken.
  bool next();

 private:
  struct Fork {
    std::size_t taken;
    std::size_t ways;
    std::vector<Number> chances;  // none: all equal
  };
  Number chance(const Fork& fork) const;
  bool turn(Fork& fork) const;  // to its next way; false where there is none
  std::size_t pass(Fork fork);

  std::vector<Fork> forks_;
  std::size_t passed_ = 0;
  Number probability_ = 1;
};

// Two agents in the middle of a block: their states as they are now, the values that have names,
// and the decisions taken.
struct Execution {
  const StateSpace* space;
  std::array<StateIndex, 2> agents;
  Paths* paths;
  std::vector<Number> locals{};

  Scene scene() const { return {.space = space, .agents = agents, .locals = locals}; }
};

struct Step;

// The new value of a field of one of the two agents.
struct Change {
  std::size_t agent;  // 0 is u, 1 is v
  std::size_t field;
  Node value;
};

// The space must outlive the rule. Asking changes nothing, so threads may share one.
class Rule {
 public:
  // A mirrored rule is one of the two orders of an unordered rule: v initiates. Throws Mistake for
  // names that are unknown and for types that do not fit.
  Rule(const RuleText& text, bool is_mirrored, Resolver& resolver, const StateSpace& space);

  // Where the rule stands in its file, and whether this is its other order.
  Place place() const { return place_; }
  bool is_mirrored() const { return is_mirrored_; }

  // The states whose agents may initiate, and those whose agents may respond.
  std::vector<StateIndex> initiators() const;
  std::vector<StateIndex> responders() const;
  bool admits(StateIndex u, StateIndex v) const;  // by these sets

  // Whether the guard holds for two admitted states.
  bool applies(StateIndex u, StateIndex v) const;
  // Throws Mistake if a field would leave its domain or probabilities make no sense. O(paths); adds
  // their number to `work`.
  Reaction reaction(StateIndex u, StateIndex v, std::uint64_t& work) const;
  Reaction reaction(StateIndex u, StateIndex v) const {
    std::uint64_t work = 0;
    return reaction(u, v, work);
  }

  // As a part of a block: does what the rule says, if it applies; whether it does.
  bool carry_out(Execution& execution) const;

 private:
  friend class Assembler;  // makes code of it

  struct Side {
    std::size_t state_column = 0;
    std::vector<std::int64_t> states{};  // allowed values of the field called state; empty: any
    std::vector<Node> conditions{};
  };
  struct Result {
    std::size_t like;  // whose state it begins with: 0 is u's, 1 is v's
    std::vector<Change> changes{};
  };
  struct Possibility {
    Place place;
    Result u, v;
    std::optional<Node> probability{};
  };
  struct Possible {
    StateIndex u;
    StateIndex v;
    Number chance;
  };

  static Side side(const Pattern& pattern, Resolver& resolver);
  static Result result(const Target& target, std::size_t own, Resolver& resolver);
  bool matches(const Side& side, StateIndex state, std::span<const Number> locals) const;
  std::vector<StateIndex> matching(const Side& side) const;
  Scene scene(StateIndex u, StateIndex v) const { return {.space = space_, .agents = {u, v}}; }
  void apply(Execution& execution) const;
  std::vector<Possible> possible_by_outcomes(const Scene& scene) const;
  std::vector<Possible> possible_by_block(StateIndex u, StateIndex v, std::uint64_t& work) const;
  std::vector<Number> probabilities(const Scene& scene) const;

  const StateSpace* space_;
  Place place_;
  bool is_mirrored_;
  bool is_sum_;
  Side initiator_, responder_;
  std::optional<Node> guard_;
  std::vector<Possibility> possibilities_;
  bool has_block_;
  std::vector<Step> block_;
};

// A statement of a block with all names looked up. `each` has become two copies of its body, and a
// called step stands where it was called.
struct Step {
  using Kind = Statement::Kind;
  Kind kind;
  Place place{};
  std::size_t local = 0;       // of let and choose
  std::vector<Node> values{};  // as in Statement
  std::vector<Change> changes{};
  std::vector<Step> body{}, otherwise{};
  std::vector<Rule> rules{};
};

// The steps of a block; in scope `pair`, or, within `each`, in that of one agent. Throws Mistake.
std::vector<Step> resolved_block(const std::vector<Statement>& block, Scope scope,
                                 Resolver& resolver, const StateSpace& space);
void run(const std::vector<Step>& block, Execution& execution);

// The state with these changes, whose values are computed in the scene. Throws Mistake if one is
// not in its domain.
StateIndex changed(StateIndex state, const std::vector<Change>& changes, std::size_t agent,
                   const Scene& scene);

// Objects to a number that is no probability.
void check_probability(const Number& chance, Place place);

}  // namespace conclave::text
