// The initial configurations of a compiled file.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "conclave/text/compiled.hpp"

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
  if (rest != nullptr && left > 0) {
    start.add(start_state(rest->target, resolver), left);
  } else if (left > 0 && start.objection.empty()) {
    object(text.name.place, fmt::format("start {} gives states to {} agents, but n = {}; add "
                                        "'rest of ...'",
                                        text.name.text, n_ - left, n_));
  }
  return start;
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

// Only the parameters; nothing else may be asked for.
Compiled::Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given)
    : text_(std::move(text)), n_(0) {
  set_parameters(given);
}

std::optional<AgentCount> Compiled::fixed_population(
    const std::shared_ptr<const ProtocolText>& text, const std::vector<Given>& given) {
  if (!text->document().is_network) return std::nullopt;
  try {
    return Compiled(text, given).init_population();
  } catch (const Mistake& mistake) {
    text->object(mistake);
  }
}

// Nothing where the number of an item depends on n, which has no value here.
std::optional<AgentCount> Compiled::init_population() const {
  Resolver resolver(text_->document(), constants_);
  AgentCount sum = 0;
  for (const StartItem& item : text_->document().starts.front().items) {
    if (item.kind != StartItem::Kind::number) return std::nullopt;
    Number count;
    try {
      count = resolver.constant(*item.count);
    } catch (const Mistake&) {
      return std::nullopt;
    }
    const AgentCount agents = whole_agents(floor(count), item.place);
    if (agents > (AgentCount{1} << 62) - sum) throw Mistake(item.place, "too many molecules");
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
