// The file is long because all that a file declares is made ready here, networks included.
#include "conclave/text/compiled.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/text/arithmetic.hpp"

namespace conclave::text {
namespace {

// 12, 1e6 or 2^20, perhaps with a sign.
Number given_whole(const Given& given) {
  const bool is_negative = given.value.starts_with('-');
  const auto number = parse_count(std::string_view(given.value).substr(is_negative ? 1 : 0));
  if (!number) {
    throw Error(fmt::format("parameter {}: '{}' is not a whole number", given.name, given.value));
  }
  if (*number > Interactions(std::uint64_t{1} << 62) * Interactions(4u)) {
    return Number::from_whole(Number::Whole{1} << 100);  // out of every range
  }
  const Number value = Number::from_whole(static_cast<Number::Whole>(number->as_wide()));
  return is_negative ? Number(0) - value : value;
}

// 0.3, 1/7, or any other expression of numbers with an exact value.
Number given_number(const Given& given) {
  try {
    const Number value = evaluate(given.value, Constants{});
    if (!value.is_real()) return value;
  } catch (const Mistake&) {
  } catch (const NumberError&) {
  }
  throw Error(fmt::format("parameter {}: '{}' is not an exact number such as 0.3 or 1/7",
                          given.name, given.value));
}

constexpr Number most_parameter(std::int64_t{1} << 62);

// Which numbers a parameter may be: whole ones unless its default or its range is written with a
// fraction.
struct ParameterRange {
  Number low;
  Number high;
  Number fallback;
  bool is_whole = true;
};

// The resolver knows n and the parameters before this one. Throws Mistake and NumberError.
ParameterRange range_of(const ParameterText& parameter, Resolver& resolver) {
  ParameterRange range{.low = parameter.low ? resolver.constant(*parameter.low) : Number(0),
                       .high = parameter.high ? resolver.constant(*parameter.high) : most_parameter,
                       .fallback = resolver.constant(parameter.fallback)};
  range.is_whole = range.fallback.is_whole() && range.low.is_whole() && range.high.is_whole() &&
                   !parameter.has_decimals();
  return range;
}

bool mentions_silence(const Node& node) {
  return node.kind == Node::Kind::silent || std::ranges::any_of(node.parts, mentions_silence);
}

// The bits of a packed state that an expression about one agent looks at.
StateIndex bits_read_by(const Node& node, const StateSpace& space) {
  StateIndex bits = 0;
  if (node.kind == Node::Kind::column) bits = space.mask(node.index) << space.shift(node.index);
  for (const Node& part : node.parts) bits |= bits_read_by(part, space);
  return bits;
}

}  // namespace

std::shared_ptr<const Compiled> Compiled::make(const std::shared_ptr<const ProtocolText>& text,
                                               const std::vector<Given>& given, AgentCount n) {
  try {
    return std::shared_ptr<const Compiled>(new Compiled(text, given, n));
  } catch (const Mistake& mistake) {
    text->object(mistake);
  }
}

Compiled::Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given,
                   AgentCount n)
    : text_(std::move(text)), n_(n) {
  const Document& document = text_->document();
  check_names();
  constants_["n"] = Number(static_cast<std::int64_t>(n));
  set_parameters(given);
  Resolver resolver(document, constants_);
  make_space(resolver);
  set_roles(resolver);
  if (is_network()) {
    make_network(resolver);
  } else {
    transitions_.emplace(document, resolver, *space_);
  }
  for (const StartText& each : document.starts) starts_.push_back(start(each, resolver));
  set_conditions(resolver);
}

// Every name means one thing; only values of different fields and outputs may be called alike.
void Compiled::check_names() const {
  const Document& document = text_->document();
  std::set<std::string_view> things;
  const auto declare = [&](const Name& name, std::string_view kind) {
    if (things.insert(name.text).second) return;
    throw Mistake(name.place,
                  fmt::format("the {} '{}' is called like something else", kind, name.text));
  };
  for (const ParameterText& each : document.parameters) declare(each.name, "parameter");
  for (const Definition& each : document.definitions) {
    declare(each.name, each.is_function ? "function" : "definition");
  }
  for (const StepText& each : document.steps) declare(each.name, "step");
  for (const FieldText& each : document.fields) {
    declare(each.name, each.name.text == state_field ? "list of states" : "field");
  }
  for (const FieldText& field : document.fields) {
    std::set<std::string_view> values;
    for (const Name& value : field.values) {
      const bool is_new = values.insert(value.text).second;
      if (is_new && !things.contains(value.text)) continue;
      throw Mistake(value.place,
                    fmt::format("the {} '{}' is called like something else",
                                field.name.text == state_field ? "state" : "value", value.text));
    }
  }
  things.clear();
  for (const StartText& each : document.starts) declare(each.name, "start");
  things.clear();
  for (const Definition& each : document.observables) declare(each.name, "observable");
}

void Compiled::set_parameters(const std::vector<Given>& given) {
  check_parameter_names(given);
  set_holding(given);
  Resolver resolver(text_->document(), constants_);
  for (const ParameterText& each : text_->document().parameters) {
    const Number value = parameter_value(each, given, resolver);
    parameters_.emplace_back(each.name.text, value);
    constants_[each.name.text] = value;
  }
}

// Every file has the parameter `hold`, unless it has one of that name, and networks have none.
void Compiled::set_holding(const std::vector<Given>& given) {
  listed_observables_ = text_->observables();
  const auto found = std::ranges::find(given, hold_parameter, &Given::name);
  const auto& own = text_->document().parameters;
  const auto name_of = [](const ParameterText& each) -> std::string_view { return each.name.text; };
  if (found == given.end() || std::ranges::find(own, hold_parameter, name_of) != own.end()) return;
  if (found->value != "0" && found->value != "1") {
    throw Error(fmt::format("parameter hold = {}: 0 or 1 is allowed", found->value));
  }
  measures_holding_ = found->value == "1";
  if (!measures_holding_) return;
  if (text_->document().lasting) {
    throw Error(fmt::format("{} stops when its condition has lasted, so its holding time is not "
                            "measured: leave out 'for' or hold=1",
                            text_->name()));
  }
  parameters_.emplace_back(hold_parameter, Number(1));
  for (const Observable& each : holding_observables) listed_observables_.push_back(each);
}

void Compiled::check_parameter_names(const std::vector<Given>& given) const {
  std::vector<std::string_view> names;
  for (const ParameterText& each : text_->document().parameters) names.push_back(each.name.text);
  const bool has_hold = std::ranges::find(names, std::string_view(hold_parameter)) != names.end();
  const bool is_asked = std::ranges::find(given, hold_parameter, &Given::name) != given.end();
  if (!text_->document().is_network && !has_hold && is_asked) names.emplace_back(hold_parameter);
  std::set<std::string_view> seen;
  for (const Given& each : given) {
    if (names.empty()) {
      throw Error(
          fmt::format("{} has no parameters, but '{}' was given", text_->name(), each.name));
    }
    if (std::ranges::find(names, each.name) == names.end()) {
      throw Error(unknown_name(fmt::format("parameter of {}", text_->name()), each.name, names));
    }
    if (!seen.insert(each.name).second) {
      throw Error(fmt::format("parameter {} was given twice", each.name));
    }
  }
}

Number Compiled::parameter_value(const ParameterText& parameter, const std::vector<Given>& given,
                                 Resolver& resolver) const {
  const std::string& name = parameter.name.text;
  const ParameterRange range = range_of(parameter, resolver);
  const auto& [low, high, fallback, is_whole] = range;
  const auto fits = [&range](const Number& value) {
    const bool is_right_kind = !range.is_whole || value.small();
    return is_right_kind && compare(value, range.low) >= 0 && compare(value, range.high) <= 0;
  };
  const auto found = std::ranges::find(given, name, &Given::name);
  if (found == given.end()) {
    if (fits(fallback)) return fallback;
    throw Mistake(parameter.fallback.place,
                  fmt::format("the default {} of parameter {} is not in {}..{}",
                              to_string(fallback), name, to_string(low), to_string(high)));
  }
  const Number value = is_whole ? given_whole(*found) : given_number(*found);
  if (fits(value)) return value;
  throw Error(fmt::format("parameter {} = {} is out of range: {} ... {} is allowed", name,
                          found->value, to_string(low), to_string(high)));
}

void Compiled::make_space(Resolver& resolver) {
  std::vector<Field> fields;
  unsigned bits = 0;
  for (const FieldText& each : text_->document().fields) {
    fields.push_back(field(each, resolver));
    bits += fields.back().bits();
    if (bits > StateSpace::most_bits) {
      throw Mistake(each.name.place, fmt::format("the fields of an agent need more than {} bits",
                                                 StateSpace::most_bits));
    }
  }
  space_.emplace(std::move(fields));
  resolver.set_space(*space_);
}

Field Compiled::field(const FieldText& text, Resolver& resolver) const {
  Field field{.name = text.name.text};
  for (const Name& value : text.values) field.values.push_back(value.text);
  if (!text.values.empty()) {
    field.high = static_cast<std::int64_t>(field.values.size()) - 1;
  } else if (!text.low) {
    field.is_boolean = true;
    field.high = 1;
  } else {
    field.low = resolver.whole_constant(*text.low, "the smallest value");
    field.high = resolver.whole_constant(*text.high, "the largest value");
    constexpr std::int64_t bound = std::int64_t{1} << 62;
    if (field.low > field.high || field.low < -bound || field.high > bound) {
      throw Mistake(text.name.place, fmt::format("field {} has the impossible range {}..{}",
                                                 field.name, field.low, field.high));
    }
  }
  return field;
}

// Who leads and what the outputs are is looked at before anything may speak of them.
void Compiled::set_roles(Resolver& resolver) {
  const Document& document = text_->document();
  const Node nobody{.type = condition_type};
  const std::size_t leaders = resolver.count_index(
      document.leader ? resolver.condition(document.leader->value, Scope::agent) : nobody);
  CONCLAVE_CHECK(leaders == 0);
  for (const Definition& each : document.outputs) resolver.condition(each.value, Scope::agent);
  resolver.set_roles_known();
}

void Compiled::set_conditions(Resolver& resolver) {
  const Document& document = text_->document();
  stop_ = resolver.condition(*document.stop, Scope::population);
  if (document.fail) fail_ = resolver.condition(*document.fail, Scope::population);
  if (document.hold) hold_ = resolver.condition(*document.hold, Scope::population);
  decisive_sets_ = resolver.counted().size();
  decisive_aggregates_ = resolver.aggregates().size();
  for (const Definition& each : document.observables) {
    observables_.push_back(resolver.observable(each.value));
  }
  observed_sets_ = resolver.counted().size();
  observed_aggregates_ = resolver.aggregates().size();
  for (const PropertyText& each : document.properties) {
    properties_.push_back(resolver.condition(each.condition, Scope::population));
  }
  for (const PropertyText& each : document.goals) {
    goals_.push_back(resolver.condition(each.condition, Scope::population));
  }
  for (const ComputationText& each : document.computations) {
    computations_.push_back(computation(each, resolver));
  }
  counted_ = resolver.counted();
  aggregates_ = resolver.aggregates();
  watches_silence_ = mentions_silence(stop_) || (fail_ && mentions_silence(*fail_)) ||
                     (hold_ && mentions_silence(*hold_));
  observes_silence_ = std::ranges::any_of(observables_, mentions_silence);
  observes_census_ = observes_silence_ || observed_sets_ > most_lanes || observed_aggregates_ > 0;
  follows_states_ = watches_silence_ || decisive_sets_ > most_lanes || decisive_aggregates_ > 0;
  set_silence();
  set_horizon(resolver);
  set_lasting(resolver);
  set_counting();
}

Computation Compiled::computation(const ComputationText& text, Resolver& resolver) const {
  if (text_->document().outputs.empty()) {
    throw Mistake(text.place, "this file has no outputs; add lines such as output yes = A");
  }
  Computation result{.inputs = {}, .cases = {}, .text = text.text};
  for (const Name& each : text.inputs) {
    const StateIndex state = start_state({.place = each.place, .state = each}, resolver);
    if (std::ranges::find(result.inputs, state) == result.inputs.end()) {
      result.inputs.push_back(state);
    }
  }
  for (const auto& [condition, output] : text.cases) {
    const Place place = output.place;
    const auto named = [place](const std::string& name) {
      return Expression{.form = Form::name, .place = place, .name = name};
    };
    Expression agrees{.form = Form::operation, .place = place, .operation = Operator::equal};
    agrees.parts = {named("output"), named(output.text)};
    Expression all{.form = Form::count, .place = place, .name = "all"};
    all.parts.push_back(std::move(agrees));
    result.cases.push_back({.condition = resolver.condition(condition, Scope::population),
                            .consensus = resolver.condition(all, Scope::population),
                            .output = output.text});
  }
  return result;
}

void Compiled::set_horizon(Resolver& resolver) {
  const auto& horizon = text_->document().horizon;
  if (!horizon) return;
  horizon_ = resolver.constant(*horizon);
  if (compare(*horizon_, 0) >= 0) return;
  throw Mistake(horizon->place, fmt::format("{} is no time", to_string(*horizon_)));
}

void Compiled::set_lasting(Resolver& resolver) {
  const auto& lasting = text_->document().lasting;
  if (!lasting) return;
  if (is_network()) {
    throw Mistake(lasting->place, "'for' measures parallel time, which reactions do not have");
  }
  if (text_->document().hold) {
    throw Mistake(lasting->place, "a file has either 'stop when ... for' or 'hold while'");
  }
  lasting_ = resolver.constant(*lasting);
  if (compare(*lasting_, 0) > 0) return;
  throw Mistake(lasting->place, fmt::format("{} is no time to last", to_string(*lasting_)));
}

void Compiled::set_counting() {
  for (StateIndex state = 0; space_->is_dense() && state < space_->size(); ++state) {
    std::uint64_t& word = counting_steps_.emplace_back(0);
    for (std::size_t set = 0; set < lanes(); ++set) {
      if (counted_[set].states[state]) word += std::uint64_t{1} << (8 * set);
    }
  }
  if (space_->is_dense()) return;
  std::vector<Node> conditions;
  std::vector<std::uint64_t> words;
  for (std::size_t set = 0; set < lanes(); ++set) {
    conditions.push_back(counted_[set].members);
    words.push_back(std::uint64_t{1} << (8 * set));
  }
  counting_program_ = Program(conditions, words, *space_);
  counted_bits_ = 0;
  for (const Node& each : conditions) counted_bits_ |= bits_read_by(each, *space_);
}

std::uint64_t Compiled::counting_word(StateIndex state) const {
  if (const auto word = counting_program_.sum(state)) return *word;
  std::uint64_t word = 0;
  for (std::size_t set = 0; set < lanes(); ++set) {
    if (is_in_set(set, state)) word += std::uint64_t{1} << (8 * set);
  }
  return word;
}

bool Compiled::is_in_set(std::size_t set, StateIndex state) const try {
  return counted_[set].contains(state, *space_);
} catch (const Mistake& mistake) {
  text_->object(mistake);
}

Number Compiled::value_of(const Aggregate& aggregate, StateIndex state) const try {
  const Scene scene{.space = &*space_, .agents = {state, state}};
  const Number value = evaluate(aggregate.value, scene);
  if (!value.is_real()) return value;
  throw Mistake(
      aggregate.value.place,
      fmt::format("{} is no exact number: round it with floor or ceil", to_string(value)));
} catch (const Mistake& mistake) {
  text_->object(mistake);
}

Reaction Compiled::reaction(StateIndex u, StateIndex v) const try {
  return transitions_->reaction(u, v);
} catch (const Mistake& mistake) {
  text_->object(mistake);
}

bool Compiled::reacts(StateIndex u, StateIndex v) const {
  if (transitions_->has_table()) return transitions_->reacts(u, v);
  StateIndex new_u = u, new_v = v;
  if (transitions_->program().interact(new_u, new_v)) return new_u != u || new_v != v;
  return !reaction(u, v).is_null();
}

std::vector<std::string> Compiled::warnings() const {
  std::vector<std::string> all;
  for (const Place& place : transitions_->idle_rules()) {
    all.push_back(text_->placed(place, "this rule never applies: no pair of states fits it, or "
                                       "earlier rules decide them all"));
  }
  return all;
}

void Compiled::make_network(Resolver& resolver) {
  const Document& document = text_->document();
  if (space_->size() > Uniformized::most_species) {
    throw Mistake(document.reactions.front().place,
                  fmt::format("there are {} species; a network has at most {}", space_->size(),
                              Uniformized::most_species));
  }
  const Number n(static_cast<std::int64_t>(n_));
  const bool is_open = std::ranges::any_of(document.reactions, [](const ReactionText& each) {
    return each.reactants.size() != each.products.size();
  });
  volume_ = document.volume ? resolver.constant(*document.volume) : is_open ? Number(1) : n;
  if (compare(volume_, 0) <= 0) {
    throw Mistake(document.volume->place,
                  fmt::format("the volume is {}, which is not positive", to_string(volume_)));
  }
  if (is_open) return make_open_network(resolver);
  reactions_ = resolved_reactions(resolver);
  const Uniformized network = uniformized(reactions_, space_->size(), n_, volume_);
  ticks_per_time_ = network.ticks_per_molecule * n;
  channels_ = text::channels(reactions_, n_, volume_, network.ticks_per_molecule);
  transitions_.emplace(network.reactions, *space_);
  jump_scale_ = text::jump_scale(n_);
  for (const Reaction& each : network.reactions) {
    jump_weights_.push_back(jump_weight(each, jump_scale_));
  }
}

std::vector<MassAction> Compiled::resolved_reactions(Resolver& resolver) const {
  std::vector<MassAction> all;
  for (const ReactionText& text : text_->document().reactions) {
    MassAction reaction{.place = text.place, .is_pair = text.reactants.size() == 2};
    for (std::size_t i = 0; i < text.reactants.size(); ++i) {
      reaction.reactants[i] = static_cast<StateIndex>(resolver.state_value(text.reactants[i]));
      reaction.products[i] = static_cast<StateIndex>(resolver.state_value(text.products[i]));
    }
    reaction.rate = rate_of(text, resolver);
    all.push_back(std::move(reaction));
  }
  return all;
}

Number Compiled::rate_of(const ReactionText& reaction, Resolver& resolver) const {
  const Number rate = resolver.constant(reaction.rate);
  if (compare(rate, 0) >= 0) return rate;
  throw Mistake(reaction.rate.place, fmt::format("the rate {} is negative", to_string(rate)));
}

void Compiled::make_open_network(Resolver& resolver) {
  const auto numbers = [&](const std::vector<Name>& names) {
    std::vector<StateIndex> all;
    for (const Name& name : names) {
      all.push_back(static_cast<StateIndex>(resolver.state_value(name)));
    }
    return all;
  };
  std::vector<OpenReaction> reactions;
  std::vector<Number> rates;
  for (const ReactionText& text : text_->document().reactions) {
    reactions.push_back({.reactants = numbers(text.reactants), .products = numbers(text.products)});
    rates.push_back(rate_of(text, resolver));
  }
  open_ =
      open_network(std::move(reactions), rates, volume_, text_->document().reactions.front().place);
  const std::size_t species = space_->size();
  transitions_.emplace(std::vector<Reaction>(species * species), *space_);
}

// The tally of an open network does not know which reactions are left; its engine does.
void Compiled::set_silence() {
  const bool claims_silence = std::ranges::any_of(properties_, mentions_silence) ||
                              std::ranges::any_of(goals_, mentions_silence);
  if (!is_open() || !(watches_silence_ || observes_silence_ || claims_silence)) return;
  if (stop_.kind != Node::Kind::silent || (fail_ && mentions_silence(*fail_)) ||
      observes_silence_ || claims_silence) {
    throw Mistake(text_->document().stop->place,
                  "where molecules are born or die, 'silent' is a stop condition of its own only");
  }
  stops_when_silent_ = true;
  watches_silence_ = false;
  stop_ = Node{.type = condition_type};  // never
  follows_states_ = decisive_sets_ > most_lanes || decisive_aggregates_ > 0;
}

bool takes_decimals(const Document& document, std::string_view name, Constants known) try {
  Resolver resolver(document, known);
  for (const ParameterText& each : document.parameters) {
    const ParameterRange range = range_of(each, resolver);
    if (each.name.text == name) return !range.is_whole;
    known.try_emplace(each.name.text, range.fallback);
  }
  return false;
} catch (const Mistake&) {
  return false;
} catch (const NumberError&) {
  return false;
}

}  // namespace conclave::text
