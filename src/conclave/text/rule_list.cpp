// Plain lists of rules, as other tools write them.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

using LeftSide = std::pair<std::string, std::string>;

LeftSide left_side(const RuleText& rule) {
  return {rule.initiator.states[0].text, rule.responder.states[0].text};
}

// One state on either side, and nothing else to decide by.
bool is_plain(const RuleText& rule) {
  const auto is_state = [](const Pattern& side) {
    return side.states.size() == 1 && side.conditions.empty();
  };
  return is_state(rule.initiator) && is_state(rule.responder) && !rule.guard && rule.block.empty();
}

RuleText mirrored(const RuleText& rule) {
  RuleText other = rule;
  std::swap(other.initiator, other.responder);
  for (OutcomeText& outcome : other.outcomes) std::swap(outcome.initiator, outcome.responder);
  return other;
}

class Sums {
 public:
  void add(RuleText rule) {
    if (!is_plain(rule)) return rules_.push_back(std::move(rule));
    const auto [u, v] = left_side(rule);
    const bool has_two_orders = std::exchange(rule.is_unordered, false) && u != v;
    std::optional<RuleText> other;
    if (has_two_orders) other = mirrored(rule);
    add_line(std::move(rule));
    if (other) add_line(std::move(*other));
  }
  std::vector<RuleText> rules() { return std::move(rules_); }

 private:
  void add_line(RuleText line) {
    const auto [known, is_new] = places_.emplace(left_side(line), rules_.size());
    if (is_new) return rules_.push_back(std::move(line));
    RuleText& sum = rules_[known->second];
    sum.is_sum = true;
    for (OutcomeText& outcome : line.outcomes) sum.outcomes.push_back(std::move(outcome));
  }

  std::vector<RuleText> rules_;
  std::map<LeftSide, std::size_t> places_;  // of the rule for a left side
};

FieldText states_named(const std::vector<RuleText>& rules) {
  FieldText field{.name = {state_field, {}}};
  std::set<std::string_view> known;
  const auto add = [&](const Name& name) {
    if (known.insert(name.text).second) field.values.push_back(name);
  };
  for (const RuleText& rule : rules) {
    for (const Pattern* side : {&rule.initiator, &rule.responder}) {
      for (const Name& name : side->states) add(name);
    }
    for (const OutcomeText& outcome : rule.outcomes) {
      if (outcome.initiator.state) add(*outcome.initiator.state);
      if (outcome.responder.state) add(*outcome.responder.state);
    }
  }
  return field;
}

}  // namespace

void complete_rule_list(Document& document) {
  if (document.fields.empty()) {
    FieldText states = states_named(document.rules);
    if (!states.values.empty()) document.fields.push_back(std::move(states));
  }
  Sums sums;
  for (RuleText& rule : document.rules) sums.add(std::move(rule));
  document.rules = sums.rules();
}

}  // namespace conclave::text
