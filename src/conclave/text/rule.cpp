#include "conclave/text/rule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace conclave::text {
namespace {

constexpr std::int64_t most_total = std::numeric_limits<std::uint32_t>::max();

// The smallest common denominator; throws Mistake where it does not fit a random draw.
std::int64_t common_denominator(const std::vector<Number>& probabilities, Place place) {
  std::int64_t common = 1;
  for (const Number& probability : probabilities) {
    if (probability.denominator() <= most_total) {
      const auto denominator = static_cast<std::int64_t>(probability.denominator());
      common = common / std::gcd(common, denominator) * denominator;
      if (common <= most_total) continue;
    }
    throw Mistake(place, "the common denominator of the probabilities is larger than 2^32 - 1");
  }
  return common;
}

}  // namespace

Rule::Rule(const RuleText& text, bool is_mirrored, Resolver& resolver, const StateSpace& space)
    : space_(&space),
      place_(text.place),
      is_mirrored_(is_mirrored),
      initiator_(side(text.initiator, resolver, space)),
      responder_(side(text.responder, resolver, space)) {
  if (text.guard) guard_ = resolver.condition(*text.guard, Scope::pair);
  for (const OutcomeText& outcome : text.outcomes) {
    possibilities_.push_back({outcome.place, result(outcome.initiator, 0, resolver),
                              result(outcome.responder, 1, resolver)});
    if (!outcome.probability) continue;
    possibilities_.back().probability = resolver.number(*outcome.probability, Scope::pair);
  }
}

Rule::Side Rule::side(const Pattern& pattern, Resolver& resolver, const StateSpace& space) {
  Side result;
  for (const Name& state : pattern.states) {
    const std::int64_t value = resolver.state_value(state);
    result.state_column = resolver.field_index({state_field, state.place});
    result.allowed.resize(space.fields()[result.state_column].values.size());
    result.allowed[static_cast<std::size_t>(value)] = true;
  }
  for (const Expression& condition : pattern.conditions) {
    result.conditions.push_back(resolver.condition(condition, Scope::agent));
  }
  return result;
}

Rule::Result Rule::result(const Target& target, std::size_t own, Resolver& resolver) {
  Result result{.like = target.like == 0 ? own : (target.like == 'u' ? 0u : 1u)};
  const Scope scope = own == 0 ? Scope::initiator : Scope::responder;
  if (target.state) {
    const std::size_t field = resolver.field_index({state_field, target.state->place});
    Node value{.place = target.state->place, .constant = resolver.state_value(*target.state)};
    result.changes.push_back({field, std::move(value)});
  }
  for (const Assignment& assignment : target.assignments) {
    const std::size_t field = resolver.field_index(assignment.field);
    if (std::ranges::find(result.changes, field, &Change::field) != result.changes.end()) {
      throw Mistake(assignment.field.place,
                    fmt::format("{} gets two values", assignment.field.text));
    }
    result.changes.push_back({field, resolver.value(assignment.value, scope, field)});
  }
  return result;
}

bool Rule::matches(const Side& side, StateIndex state) const {
  if (!side.allowed.empty()) {
    const auto value = static_cast<std::size_t>(space_->value(side.state_column, state));
    if (!side.allowed[value]) return false;
  }
  return std::ranges::all_of(side.conditions, [&](const Node& condition) {
    return holds(condition, scene(state, state));
  });
}

std::vector<StateIndex> Rule::matching(const Side& side) const {
  std::vector<StateIndex> states;
  const auto add = [&](StateIndex state) {
    if (matches(side, state)) states.push_back(state);
  };
  if (side.allowed.empty()) {
    for (StateIndex state = 0; state < space_->size(); ++state) add(state);
  }
  for (std::size_t value = 0; value < side.allowed.size(); ++value) {
    if (side.allowed[value]) {
      space_->for_each_with(side.state_column, static_cast<std::int64_t>(value), add);
    }
  }
  return states;
}

std::vector<StateIndex> Rule::initiators() const {
  return matching(is_mirrored_ ? responder_ : initiator_);
}
std::vector<StateIndex> Rule::responders() const {
  return matching(is_mirrored_ ? initiator_ : responder_);
}

bool Rule::admits(StateIndex u, StateIndex v) const {
  if (is_mirrored_) std::swap(u, v);
  return matches(initiator_, u) && matches(responder_, v);
}

bool Rule::applies(StateIndex u, StateIndex v) const {
  if (!guard_) return true;
  return is_mirrored_ ? holds(*guard_, scene(v, u)) : holds(*guard_, scene(u, v));
}

Reaction Rule::reaction(StateIndex u, StateIndex v) const {
  if (is_mirrored_) std::swap(u, v);
  const Scene here = scene(u, v);
  const std::vector<Number> chances = probabilities(here);
  const std::int64_t total = common_denominator(chances, place_);
  Reaction reaction{.total = static_cast<std::uint32_t>(total)};
  for (std::size_t i = 0; i < possibilities_.size(); ++i) {
    const Number weight = chances[i] * Number(total);
    Outcome outcome{after(possibilities_[i].u, here), after(possibilities_[i].v, here),
                    static_cast<std::uint32_t>(weight.numerator())};
    if (outcome.weight == 0 || (outcome.u == u && outcome.v == v)) continue;
    if (is_mirrored_) std::swap(outcome.u, outcome.v);
    reaction.outcomes.push_back(outcome);
  }
  return reaction;
}

std::vector<Number> Rule::probabilities(const Scene& scene) const {
  std::vector<Number> all;
  Number sum;
  for (const Possibility& possibility : possibilities_) {
    const Number chance =
        possibility.probability ? evaluate(*possibility.probability, scene) : Number(1);
    const Place place = possibility.probability ? possibility.probability->place : place_;
    if (chance.is_real()) throw Mistake(place, "a probability is an exact number, such as 1/3");
    if (compare(chance, 0) < 0 || compare(chance, 1) > 0) {
      throw Mistake(place, fmt::format("{} is no probability", to_string(chance)));
    }
    all.push_back(chance);
    sum = sum + chance;
  }
  if (compare(sum, 1) <= 0) return all;
  throw Mistake(place_, fmt::format("the probabilities of this rule add up to {}, more than 1",
                                    to_string(sum)));
}

StateIndex Rule::after(const Result& result, const Scene& scene) const {
  StateIndex state = scene.agents[result.like];
  for (const Change& change : result.changes) {
    state = space_->with(state, change.field, new_value(change, scene));
  }
  return state;
}

std::int64_t Rule::new_value(const Change& change, const Scene& scene) const {
  const Field& field = space_->fields()[change.field];
  const Number number = evaluate(change.value, scene);
  const auto value = number.small();
  if (value && *value >= field.low && *value <= field.high) return *value;
  throw Mistake(change.value.place,
                fmt::format("{} becomes {}, which is not in {}, when u is {} and v is {}",
                            field.name, to_string(number), field.domain(),
                            space_->name(scene.agents[0]), space_->name(scene.agents[1])));
}

}  // namespace conclave::text
