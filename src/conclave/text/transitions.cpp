#include "conclave/text/transitions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace conclave::text {
namespace {

// Random paths of all reactions of a table together.
constexpr std::uint64_t most_work = std::uint64_t{1} << 24;

// A step is looked at even if no block calls it: about two agents, or else as a part of `each`.
void check_step(const StepText& step, Resolver& resolver, const StateSpace& space) {
  std::optional<Mistake> of_two;
  try {
    resolved_block(step.body, Scope::pair, resolver, space);
    return;
  } catch (const Mistake& mistake) {
    of_two = mistake;
    resolver.forget_locals(0);
  }
  try {
    resolved_block(step.body, Scope::initiator, resolver, space);
  } catch (const Mistake&) {
    throw Mistake(*of_two);
  }
}

}  // namespace

Transitions::Transitions(const Document& document, Resolver& resolver, const StateSpace& space)
    : space_(&space) {
  for (std::size_t i = 0; i < document.steps.size(); ++i) {
    resolver.set_steps_visible(i);
    check_step(document.steps[i], resolver, space);
  }
  resolver.set_steps_visible(document.steps.size());
  for (const RuleText& text : document.rules) {
    rules_.emplace_back(text, false, resolver, space);
    if (text.is_unordered) rules_.emplace_back(text, true, resolver, space);
  }
  if (space.is_dense()) {
    fill_table();
  } else {
    program_ = Program(rules_, space);
  }
}

Transitions::Transitions(const std::vector<Reaction>& reactions, const StateSpace& space)
    : space_(&space) {
  for (StateIndex u = 0; u < space.size(); ++u) {
    for (StateIndex v = 0; v < space.size(); ++v) {
      table_.push_back(entry_for(u, v, reactions[static_cast<std::size_t>(u) * states() + v]));
    }
  }
}

void Transitions::fill_table() {
  const std::size_t size = states();
  table_.reserve(size * size);
  for (StateIndex u = 0; u < size; ++u) {
    for (StateIndex v = 0; v < size; ++v) table_.push_back(certain(u, v));
  }
  std::vector<bool> decided(size * size);
  for (const Rule& rule : rules_) {
    const std::uint64_t pairs = fill_from(rule, decided);
    // The second order of A + A -> A + B has nothing left to do.
    if (pairs == 0 && !rule.is_mirrored()) idle_rules_.push_back(rule.place());
  }
}

// The first rule that applies to a pair decides; returns how many pairs this one decides.
std::uint64_t Transitions::fill_from(const Rule& rule, std::vector<bool>& decided) {
  std::uint64_t pairs = 0;
  const std::vector<StateIndex> responders = rule.responders();
  for (const StateIndex u : rule.initiators()) {
    for (const StateIndex v : responders) {
      const std::size_t place = static_cast<std::size_t>(u) * states() + v;
      if (decided[place] || !rule.applies(u, v)) continue;
      decided[place] = true;
      const Reaction reaction = rule.reaction(u, v, work_);
      if (work_ > most_work) throw Mistake(rule.place(), "the rules take too many random paths");
      table_[place] = entry_for(u, v, reaction);
      ++pairs;
    }
  }
  return pairs;
}

Transitions::Entry Transitions::entry_for(StateIndex u, StateIndex v, const Reaction& reaction) {
  if (reaction.is_null()) return certain(u, v);
  if (reaction.is_certain()) return certain(reaction.outcomes[0].u, reaction.outcomes[0].v);
  random_.push_back(reaction);
  return {static_cast<std::uint32_t>(random_.size() - 1) | 1u << 31};
}

Reaction Transitions::reaction(StateIndex u, StateIndex v) const {
  if (has_table()) {
    const Entry found = entry(u, v);
    if (!found.is_certain()) return random_reaction(found);
    if (found.u() == u && found.v() == v) return {};
    return {.outcomes = {{found.u(), found.v(), 1}}};
  }
  const Rule* const rule = rule_for(u, v);
  return rule != nullptr ? rule->reaction(u, v) : Reaction{};
}

const Rule* Transitions::rule_for(StateIndex u, StateIndex v) const {
  const auto found = std::ranges::find_if(
      rules_, [&](const Rule& rule) { return rule.admits(u, v) && rule.applies(u, v); });
  return found == rules_.end() ? nullptr : &*found;
}

bool Transitions::reacts(StateIndex u, StateIndex v) const {
  const Entry found = entry(u, v);
  return !found.is_certain() || found.u() != u || found.v() != v;
}

}  // namespace conclave::text
