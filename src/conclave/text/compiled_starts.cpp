// The initial configurations of a compiled file.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "conclave/text/compiled.hpp"
#include "conclave/text/counts_model.hpp"

namespace conclave::text {
namespace {

AgentCount whole_agents(const Number& count, Place place) {
  const auto whole = count.small();
  if (whole && *whole >= 0) return static_cast<AgentCount>(*whole);
  throw Mistake(place, fmt::format("{} is no number of agents", to_string(count)));
}

}  // namespace

CompiledStart Compiled::start(const StartText& text, Resolver& resolver) const {
  CompiledStart start;
  AgentCount left = n_;
  const StartItem* rest = nullptr;
  const auto object = [&](Place place, const std::string& sentence) {
    start.objection = text_->placed(place, sentence);
  };
  for (const StartItem& item : text.items) {
    using Kind = StartItem::Kind;
    const bool spreads = item.kind == Kind::evenly || item.kind == Kind::randomly;
    if (spreads && text.items.size() > 1) {
      throw Mistake(item.place, "evenly and randomly are about all agents and stand alone");
    }
    if (item.kind == Kind::randomly) start.is_random = true;
    if (item.kind == Kind::evenly) spread_evenly(start, n_);
    if (spreads) return start;
    const StateIndex state = start_state(item.target, resolver);
    if (item.kind == Kind::rest) {
      if (rest != nullptr) throw Mistake(item.place, "'rest' stands twice in this start");
      rest = &item;
      continue;
    }
    AgentCount count = 0;
    if (item.count) resolver.number(*item.count, Scope::constant);  // objects to unknown names
    try {
      count = item_count(item, n_, resolver);
    } catch (const Mistake& mistake) {  // of this n, perhaps
      object(mistake.place(), mistake.what());
      continue;
    }
    if (count > left) {
      object(item.place, fmt::format("start {} needs more agents than n = {}", text.name.text, n_));
      continue;
    }
    left -= count;
    start.add(state, count);
  }
  if (rest == nullptr && left > 0) left -= round_up_shares(start, text, left, resolver);
  if (rest != nullptr && left > 0) {
    start.add(start_state(rest->target, resolver), left);
  } else if (left > 0 && start.objection.empty()) {
    object(text.name.place, fmt::format("start {} gives states to {} agents, but n = {}; add "
                                        "'rest of ...'",
                                        text.name.text, n_ - left, n_));
  }
  return start;
}

// Percentages that add up to 100 leave fewer agents than there are items where they are rounded
// down: those with the largest fractions have one more. Returns how many these are.
AgentCount Compiled::round_up_shares(CompiledStart& start, const StartText& text, AgentCount left,
                                     Resolver& resolver) const try {
  Number sum = 0;
  std::vector<std::pair<Number, StateIndex>> fractions;
  for (const StartItem& item : text.items) {
    if (item.kind != StartItem::Kind::percentage || !start.objection.empty()) return 0;
    const Number share = resolver.constant(*item.count);
    const Number agents = share * Number(static_cast<std::int64_t>(n_)) / Number(100);
    sum = sum + share;
    fractions.emplace_back(agents - floor(agents), start_state(item.target, resolver));
  }
  if (compare(sum, 100) != 0) return 0;
  std::ranges::stable_sort(
      fractions, [](const auto& a, const auto& b) { return compare(a.first, b.first) > 0; });
  for (AgentCount i = 0; i < left; ++i) start.add(fractions[i].second, 1);
  return left;
} catch (const NumberError&) {
  return 0;
}

AgentCount Compiled::item_count(const StartItem& item, AgentCount n, Resolver& resolver) const {
  if (item.kind == StartItem::Kind::all) return n;
  Number count = resolver.constant(*item.count);
  try {
    if (item.kind == StartItem::Kind::percentage) {
      count = count * Number(static_cast<std::int64_t>(n)) / Number(100);
    }
    return whole_agents(floor(count), item.place);
  } catch (const NumberError& error) {
    throw Mistake(item.place, error.what());
  }
}

// Without n, starts and conditions.
Compiled::Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given,
                   OpenSize)
    : text_(std::move(text)), n_(0), symbols_{"n"} {
  if (is_network()) throw Mistake({}, "a network of reactions is not supported for every n");
  check_names();
  set_closed_parameters(given);
  Resolver resolver(text_->document(), constants_);
  resolver.set_symbols(symbols_);
  make_space(resolver);
  set_roles(resolver);
  counted_ = resolver.counted();
  transitions_.emplace(text_->document(), resolver, *space_);
}

std::shared_ptr<const Compiled> Compiled::for_every_n(
    const std::shared_ptr<const ProtocolText>& text, const std::vector<Given>& given) {
  try {
    return std::shared_ptr<const Compiled>(new Compiled(text, given, OpenSize{}));
  } catch (const Mistake& mistake) {
    text->object(mistake);
  }
}

// A parameter whose default depends on n stays open unless it is given. Whether a given one is in a
// range that depends on n is a condition on n.
void Compiled::set_closed_parameters(const std::vector<Given>& given) {
  check_parameter_names(given);
  Resolver resolver(text_->document(), constants_);
  resolver.set_symbols(symbols_);
  for (const ParameterText& each : text_->document().parameters) {
    ParameterText parameter = each;
    const auto found = std::ranges::find(given, each.name.text, &Given::name);
    const auto drop_open = [&](std::optional<Expression>& bound) {
      if (bound && mentions_symbol(resolver.number(*bound, Scope::constant))) bound.reset();
    };
    drop_open(parameter.low);
    drop_open(parameter.high);
    const bool is_open = mentions_symbol(resolver.number(each.fallback, Scope::constant));
    if (found == given.end() ? is_open : found->value == any_value) {
      symbols_.push_back(each.name.text);
      resolver.set_symbols(symbols_);
      continue;
    }
    if (is_open) {
      parameter.fallback = parameter.low.value_or(Expression{});
    }
    const Number value = parameter_value(parameter, given, resolver);
    parameters_.emplace_back(each.name.text, value);
    constants_[each.name.text] = value;
  }
}

// Only the parameters; nothing else may be asked for.
Compiled::Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given)
    : text_(std::move(text)), n_(0) {
  set_parameters(given);
}

std::optional<AgentCount> Compiled::fixed_population(
    const std::shared_ptr<const ProtocolText>& text, const std::vector<Given>& given,
    std::size_t start) {
  try {
    return Compiled(text, given).init_population(start);
  } catch (const Mistake& mistake) {
    text->object(mistake);
  }
}

// Nothing where the number of an item depends on n, which has no value here.
std::optional<AgentCount> Compiled::init_population(std::size_t start) const {
  Resolver resolver(text_->document(), constants_);
  AgentCount sum = 0;
  for (const StartItem& item : text_->document().starts[start].items) {
    if (item.kind != StartItem::Kind::number) return std::nullopt;
    Number count;
    try {
      count = resolver.constant(*item.count);
    } catch (const Mistake&) {
      return std::nullopt;
    }
    const AgentCount agents = whole_agents(floor(count), item.place);
    if (agents > (AgentCount{1} << 62) - sum) throw Mistake(item.place, "too many agents");
    sum += agents;
  }
  return sum;
}

StateIndex Compiled::start_state(const Target& target, Resolver& resolver) const {
  StateIndex state = 0;
  const Scene scene{.space = &*space_};
  if (target.state) {
    const std::int64_t value = resolver.state_value(*target.state);
    state = space_->with(state, resolver.field_index({state_field, {}}), value);
  }
  for (const Assignment& each : target.assignments) {
    const std::size_t index = resolver.field_index(each.field);
    const Field& field = space_->fields()[index];
    const Number number = evaluate(resolver.value(each.value, Scope::constant, index), scene);
    const auto value = number.small();
    if (!value || *value < field.low || *value > field.high) {
      throw Mistake(each.value.place, fmt::format("{} = {} is not in {}", field.name,
                                                  to_string(number), field.domain()));
    }
    state = space_->with(state, index, *value);
  }
  return state;
}

void Compiled::spread_evenly(CompiledStart& start, AgentCount agents) const {
  constexpr std::uint64_t most_groups = std::uint64_t{1} << 20;
  const AgentCount states = space_->size();
  const AgentCount groups = std::min(states, agents);
  if (groups > most_groups) {
    start.objection = text_->placed({}, "agents can be spread evenly over at most 2^20 states");
    return;
  }
  for (std::uint64_t i = 0; i < groups; ++i) {
    start.add(space_->at(i), agents / states + (i < agents % states ? 1 : 0));
  }
}

}  // namespace conclave::text
