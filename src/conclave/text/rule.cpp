#include "conclave/text/rule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace conclave::text {
namespace {

constexpr std::int64_t most_total = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t most_paths = std::size_t{1} << 16;

// The smallest common denominator; throws Mistake if it does not fit a random draw.
template <class Possible>
std::int64_t common_denominator(const std::vector<Possible>& all, Place place) {
  std::int64_t common = 1;
  for (const Possible& each : all) {
    if (each.chance.denominator() <= most_total) {
      const auto denominator = static_cast<std::int64_t>(each.chance.denominator());
      common = common / std::gcd(common, denominator) * denominator;
      if (common <= most_total) continue;
    }
    throw Mistake(place, "the common denominator of the probabilities is larger than 2^32 - 1");
  }
  return common;
}

}  // namespace

Number Paths::chance(const Fork& fork) const {
  if (!fork.chances.empty()) return fork.chances[fork.taken];
  return Number::fraction(1, static_cast<std::int64_t>(fork.ways));
}

bool Paths::turn(Fork& fork) const {
  while (++fork.taken < fork.ways) {
    if (compare(chance(fork), 0) != 0) return true;
  }
  return false;
}

std::size_t Paths::pass(Fork fork) {
  if (passed_ == forks_.size()) {
    if (compare(chance(fork), 0) == 0) turn(fork);
    forks_.push_back(std::move(fork));
  }
  const Fork& here = forks_[passed_++];
  probability_ = probability_ * chance(here);
  return here.taken;
}

std::size_t Paths::decide(std::vector<Number> chances) {
  const std::size_t ways = chances.size();
  return pass({0, ways, std::move(chances)});
}

std::size_t Paths::choose(std::size_t ways) { return pass({0, ways, {}}); }

bool Paths::next() {
  while (!forks_.empty() && !turn(forks_.back())) forks_.pop_back();
  passed_ = 0;
  probability_ = 1;
  return !forks_.empty();
}

Rule::Rule(const RuleText& text, bool is_mirrored, Resolver& resolver, const StateSpace& space)
    : space_(&space),
      place_(text.place),
      is_mirrored_(is_mirrored),
      is_sum_(text.is_sum),
      initiator_(side(text.initiator, resolver)),
      responder_(side(text.responder, resolver)),
      has_block_(text.outcomes.empty()) {
  if (text.guard) guard_ = resolver.condition(*text.guard, Scope::pair);
  for (const OutcomeText& outcome : text.outcomes) {
    possibilities_.push_back({outcome.place, result(outcome.initiator, 0, resolver),
                              result(outcome.responder, 1, resolver)});
    if (!outcome.probability) continue;
    possibilities_.back().probability = resolver.number(*outcome.probability, Scope::pair);
  }
  block_ = resolved_block(text.block, Scope::pair, resolver, space);
}

Rule::Side Rule::side(const Pattern& pattern, Resolver& resolver) {
  Side result;
  for (const Name& state : pattern.states) {
    result.states.push_back(resolver.state_value(state));
    result.state_column = resolver.field_index({state_field, state.place});
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
    Node value{.place = target.state->place, .constant = resolver.state_value(*target.state)};
    result.changes.push_back({own, resolver.field_index({state_field, {}}), std::move(value)});
  }
  for (const Assignment& assignment : target.assignments) {
    const std::size_t field = resolver.field_index(assignment.field);
    if (std::ranges::find(result.changes, field, &Change::field) != result.changes.end()) {
      throw Mistake(assignment.field.place,
                    fmt::format("{} gets two values", assignment.field.text));
    }
    result.changes.push_back({own, field, resolver.value(assignment.value, scope, field)});
  }
  return result;
}

bool Rule::matches(const Side& side, StateIndex state, std::span<const Number> locals) const {
  if (!side.states.empty()) {
    const std::int64_t value = space_->value(side.state_column, state);
    if (std::ranges::find(side.states, value) == side.states.end()) return false;
  }
  const Scene alone{.space = space_, .agents = {state, state}, .locals = locals};
  return std::ranges::all_of(side.conditions,
                             [&](const Node& condition) { return holds(condition, alone); });
}

std::vector<StateIndex> Rule::matching(const Side& side) const {
  std::vector<StateIndex> states;
  const auto add = [&](StateIndex state) {
    if (matches(side, state, {})) states.push_back(state);
  };
  if (side.states.empty()) {
    for (StateIndex state = 0; state < space_->size(); ++state) add(state);
  }
  for (const std::int64_t value : side.states) {
    space_->for_each_with(side.state_column, value, add);
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
  return matches(initiator_, u, {}) && matches(responder_, v, {});
}

bool Rule::applies(StateIndex u, StateIndex v) const {
  if (!guard_) return true;
  return is_mirrored_ ? holds(*guard_, scene(v, u)) : holds(*guard_, scene(u, v));
}

Reaction Rule::reaction(StateIndex u, StateIndex v, std::uint64_t& work) const try {
  if (is_mirrored_) std::swap(u, v);
  const std::vector<Possible> all =
      has_block_ ? possible_by_block(u, v, work) : possible_by_outcomes(scene(u, v));
  const std::int64_t total = common_denominator(all, place_);
  Reaction reaction{.total = static_cast<std::uint32_t>(total)};
  for (const Possible& each : all) {
    const Number weight = each.chance * Number(total);
    Outcome outcome{each.u, each.v, static_cast<std::uint32_t>(weight.numerator())};
    if (outcome.weight == 0 || (outcome.u == u && outcome.v == v)) continue;
    if (is_mirrored_) std::swap(outcome.u, outcome.v);
    reaction.outcomes.push_back(outcome);
  }
  return reaction;
} catch (const NumberError& error) {
  throw Mistake(place_, error.what());
}

std::vector<Rule::Possible> Rule::possible_by_outcomes(const Scene& scene) const {
  const std::vector<Number> chances = probabilities(scene);
  std::vector<Possible> all;
  for (std::size_t i = 0; i < possibilities_.size(); ++i) {
    const Possibility& each = possibilities_[i];
    all.push_back({changed(scene.agents[each.u.like], each.u.changes, 0, scene),
                   changed(scene.agents[each.v.like], each.v.changes, 1, scene), chances[i]});
  }
  return all;
}

// Paths that come to the same end are one outcome.
std::vector<Rule::Possible> Rule::possible_by_block(StateIndex u, StateIndex v,
                                                    std::uint64_t& work) const {
  std::vector<Possible> all;
  Paths paths;
  std::size_t taken = 0;
  do {
    if (++taken > most_paths) {
      throw Mistake(place_, fmt::format("this rule takes more than {} random paths", most_paths));
    }
    Execution execution{.space = space_, .agents = {u, v}, .paths = &paths};
    run(block_, execution);
    const auto same = std::ranges::find_if(all, [&](const Possible& each) {
      return each.u == execution.agents[0] && each.v == execution.agents[1];
    });
    if (same == all.end()) {
      all.push_back({execution.agents[0], execution.agents[1], paths.probability()});
    } else {
      same->chance = same->chance + paths.probability();
    }
  } while (paths.next());
  work += taken;
  return all;
}

std::vector<Number> Rule::probabilities(const Scene& scene) const {
  std::vector<Number> all;
  Number sum;
  for (const Possibility& possibility : possibilities_) {
    const Number chance =
        possibility.probability ? evaluate(*possibility.probability, scene) : Number(1);
    check_probability(chance, possibility.probability ? possibility.probability->place : place_);
    all.push_back(chance);
    sum = sum + chance;
  }
  if (compare(sum, 1) <= 0) return all;
  throw Mistake(
      place_, fmt::format("the probabilities of {} add up to {}, more than 1",
                          is_sum_ ? "the rules with this left side" : "this rule", to_string(sum)));
}

bool Rule::carry_out(Execution& execution) const {
  auto& agents = execution.agents;
  if (is_mirrored_) std::swap(agents[0], agents[1]);
  const bool fits = matches(initiator_, agents[0], execution.locals) &&
                    matches(responder_, agents[1], execution.locals) &&
                    (!guard_ || holds(*guard_, execution.scene()));
  if (fits) apply(execution);
  if (is_mirrored_) std::swap(agents[0], agents[1]);
  return fits;
}

void Rule::apply(Execution& execution) const {
  if (has_block_) return run(block_, execution);
  std::vector<Number> chances = probabilities(execution.scene());
  Number rest = 1;
  for (const Number& each : chances) rest = rest - each;
  chances.push_back(rest);
  const std::size_t way = execution.paths->decide(std::move(chances));
  if (way == possibilities_.size()) return;
  const Possibility& taken = possibilities_[way];
  const Scene before = execution.scene();
  execution.agents = {changed(before.agents[taken.u.like], taken.u.changes, 0, before),
                      changed(before.agents[taken.v.like], taken.v.changes, 1, before)};
}

}  // namespace conclave::text
