// A rule with all names looked up, and its effect on two agents that meet.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/text/node.hpp"
#include "conclave/text/resolver.hpp"
#include "conclave/text/state_space.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

struct Outcome {
  StateIndex u;
  StateIndex v;
  std::uint32_t weight;  // of the reaction's total
};

// The possible results of a meeting: the outcomes that change something; with the rest of the total
// weight, nothing happens.
struct Reaction {
  std::vector<Outcome> outcomes{};
  std::uint32_t total = 1;

  bool is_null() const { return outcomes.empty(); }
  bool is_certain() const { return outcomes.size() == 1 && outcomes[0].weight == total; }
};

// The space must outlive the rule. Asking changes nothing, so threads may share one.
class Rule {
 public:
  // A mirrored rule is one of the two orders of an unordered rule: v initiates.
  Rule(const RuleText& text, bool is_mirrored, Resolver& resolver, const StateSpace& space);

  Place place() const { return place_; }
  bool is_mirrored() const { return is_mirrored_; }

  // The states whose agents may initiate, and those whose agents may respond.
  std::vector<StateIndex> initiators() const;
  std::vector<StateIndex> responders() const;
  bool admits(StateIndex u, StateIndex v) const;  // by these sets

  // Whether the guard holds for two admitted states.
  bool applies(StateIndex u, StateIndex v) const;
  // Throws Mistake if a field would leave its domain or probabilities make no sense.
  Reaction reaction(StateIndex u, StateIndex v) const;

 private:
  struct Side {
    std::size_t state_column = 0;
    std::vector<std::int64_t> states{};  // allowed values of the field called state; empty: any
    std::vector<Node> conditions{};
  };
  struct Change {
    std::size_t field;
    Node value;
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

  static Side side(const Pattern& pattern, Resolver& resolver);
  static Result result(const Target& target, std::size_t own, Resolver& resolver);
  bool matches(const Side& side, StateIndex state) const;
  std::vector<StateIndex> matching(const Side& side) const;
  Scene scene(StateIndex u, StateIndex v) const { return {.space = space_, .agents = {u, v}}; }
  StateIndex after(const Result& result, const Scene& scene) const;
  std::int64_t new_value(const Change& change, const Scene& scene) const;
  std::vector<Number> probabilities(const Scene& scene) const;

  const StateSpace* space_;
  Place place_;
  bool is_mirrored_;
  Side initiator_, responder_;
  std::optional<Node> guard_;
  std::vector<Possibility> possibilities_;
};

}  // namespace conclave::text
