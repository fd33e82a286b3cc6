// This file is long because every operation of the language has a case in its translation.
#include "conclave/text/counts_model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

// A sum of variables (or terms that stand for whole numbers) with exact coefficients.
struct Sum {
  std::map<std::string, Number> terms{};
  Number constant{};

  bool is_constant() const { return terms.empty(); }
  void add(const Sum& other, const Number& factor) {
    for (const auto& [name, coefficient] : other.terms) {
      Number& mine = terms[name];
      mine = mine + coefficient * factor;
      if (compare(mine, 0) == 0) terms.erase(name);
    }
    constant = constant + other.constant * factor;
  }
};

Sum scaled(const Sum& sum, const Number& factor) {
  Sum result;
  result.add(sum, factor);
  return result;
}
Sum variable(std::string name) { return {.terms = {{std::move(name), 1}}}; }
Sum whole_sum(std::int64_t value) { return {.constant = value}; }

std::string numeral(const Number& whole) {
  const std::string digits = to_string(whole);
  return digits.starts_with('-') ? fmt::format("(- {})", digits.substr(1)) : digits;
}

// The least common denominator of all coefficients.
Number denominator_of(const Sum& sum) {
  Number::Whole common = sum.constant.denominator();
  for (const auto& [name, coefficient] : sum.terms) {
    const Number::Whole other = coefficient.denominator();
    Number::Whole a = common, b = other;
    while (b != 0) a = std::exchange(b, a % b);
    common = (Number::from_whole(common / a) * Number::from_whole(other)).numerator();
  }
  return Number::from_whole(common);
}

// A sum whose coefficients are whole.
std::string written(const Sum& sum) {
  std::vector<std::string> parts;
  for (const auto& [name, coefficient] : sum.terms) {
    const bool is_one = compare(coefficient, 1) == 0;
    parts.push_back(is_one ? name : fmt::format("(* {} {})", numeral(coefficient), name));
  }
  if (parts.empty() || compare(sum.constant, 0) != 0) parts.push_back(numeral(sum.constant));
  return parts.size() == 1 ? parts[0] : fmt::format("(+ {})", join_parts(parts, " "));
}

std::string joined(std::string_view operation, std::vector<std::string> parts) {
  const bool is_and = operation == "and";
  std::erase(parts, is_and ? "true" : "false");
  const std::string_view decided = is_and ? "false" : "true";
  if (std::ranges::find(parts, decided) != parts.end()) return std::string(decided);
  if (parts.empty()) return is_and ? "true" : "false";
  return parts.size() == 1 ? parts[0] : fmt::format("({} {})", operation, join_parts(parts, " "));
}

std::string negated(const std::string& condition) {
  if (condition == "true") return "false";
  return condition == "false" ? "true" : fmt::format("(not {})", condition);
}

// `a operation b` of two sums, as whole numbers; >= and > are written the other way round.
std::string compared(Operator operation, const Sum& a, const Sum& b) {
  using enum Operator;
  if (operation == greater || operation == greater_equal) {
    return compared(operation == greater ? less : less_equal, b, a);
  }
  Sum difference = a;
  difference.add(b, -1);
  if (difference.is_constant()) {
    const Number truth = applied(operation, difference.constant, Number(0));
    return compare(truth, 0) != 0 ? "true" : "false";
  }
  difference = scaled(difference, denominator_of(difference));
  Sum left, right;  // no negative coefficients
  for (const auto& [name, coefficient] : difference.terms) {
    const bool is_left = compare(coefficient, 0) > 0;
    (is_left ? left : right).add(variable(name), is_left ? coefficient : Number(0) - coefficient);
  }
  right.constant = Number(0) - difference.constant;
  const std::string sides = written(left) + " " + written(right);
  if (operation == unequal) return fmt::format("(not (= {}))", sides);
  return fmt::format("({} {})", operation == equal ? "=" : operation == less ? "<" : "<=", sides);
}

// Expressions of the file as terms, for a given letter of the counts.
class Translation {
 public:
  Translation(const CountsModel& model, const Resolver& resolver, char counts)
      : model_(model), space_(model.compiled->space()), resolver_(resolver), counts_(counts) {}

  // From now on, counts are those after this transition.
  void shift(const CountsTransition& transition) {
    shifts_.clear();
    for (const std::size_t state : transition.post) ++shifts_[state];
    for (const std::size_t state : transition.pre) --shifts_[state];
  }

  std::string condition(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::silent:
        return silence();
      case Node::Kind::operation:
        return operation(node);
      default:
        return compared(Operator::unequal, number(node), {});
    }
  }

  Sum number(const Node& node) const try {
    switch (node.kind) {
      case Node::Kind::constant:
        if (node.constant.is_real()) not_linear(node);
        return {.constant = node.constant};
      case Node::Kind::column:
        return whole_sum(space_.value(node.index, *agent_));
      case Node::Kind::symbol:
        return variable(node.index == 0 ? "n" : fmt::format("x{}", node.index));
      case Node::Kind::count:
        return count(node.index);
      case Node::Kind::aggregate:
        return aggregate(node);
      case Node::Kind::operation:
        return arithmetic(node);
      default:
        not_linear(node);
    }
  } catch (const NumberError& error) {
    throw Mistake(node.place, error.what());
  }

  Sum floor_of(const Sum& sum) const {
    const Number denominator = denominator_of(sum);
    if (compare(denominator, 1) == 0) return sum;
    Sum numerator = scaled(sum, denominator);
    if (sum.is_constant()) return {.constant = floor(sum.constant)};
    return variable(fmt::format("(div {} {})", written(numerator), numeral(denominator)));
  }

 private:
  [[noreturn]] static void not_linear(const Node& node) {
    throw Mistake(node.place, "this is not linear in n and the counts");
  }

  std::string name_of(std::size_t state) const { return fmt::format("{}{}", counts_, state); }
  // How many agents are in a state.
  Sum agents_in(std::size_t state) const {
    Sum sum = variable(name_of(state));
    const auto shift = shifts_.find(state);
    if (shift != shifts_.end()) sum.constant = shift->second;
    return sum;
  }

  // As seen by an agent in this state.
  template <class Ask>
  auto in_state(std::size_t state, Ask ask) const {
    Translation inner = *this;
    inner.agent_ = model_.indices[state];
    return ask(inner);
  }

  // For each state, whether it belongs to a set that is counted.
  const std::vector<std::string>& members(std::size_t set) const {
    std::vector<std::string>& known = members_[set];
    for (std::size_t state = known.size(); state < model_.states.size(); ++state) {
      known.push_back(in_state(state, [&](const Translation& agent) {
        return agent.condition(resolver_.counted()[set].members);
      }));
    }
    return known;
  }

  Sum count(std::size_t set) const {
    Sum sum;
    for (std::size_t state = 0; state < model_.states.size(); ++state) {
      const std::string& holds = members(set)[state];
      if (holds == "false") continue;
      const Sum agents = agents_in(state);
      sum.add(
          holds == "true" ? agents : variable(fmt::format("(ite {} {} 0)", holds, written(agents))),
          1);
    }
    return sum;
  }

  Sum aggregate(const Node& node) const {
    const Aggregate& aggregate = resolver_.aggregates()[node.index];
    if (aggregate.kind != Aggregate::Kind::sum) not_linear(node);
    Sum sum;
    for (std::size_t state = 0; state < model_.states.size(); ++state) {
      const Sum value =
          in_state(state, [&](const Translation& agent) { return agent.number(aggregate.value); });
      if (!value.is_constant()) not_linear(node);
      sum.add(agents_in(state), value.constant);
    }
    return sum;
  }

  // No transition is enabled.
  std::string silence() const {
    std::vector<std::string> all;
    std::array<std::size_t, 2> last{SIZE_MAX, SIZE_MAX};
    for (const CountsTransition& each : model_.transitions) {
      if (each.pre == last) continue;
      last = each.pre;
      const Sum p = agents_in(last[0]), q = agents_in(last[1]);
      all.push_back(last[0] == last[1] ? compared(Operator::less, p, whole_sum(2))
                                       : joined("or", {compared(Operator::less_equal, p, {}),
                                                       compared(Operator::less_equal, q, {})}));
    }
    return joined("and", all);
  }

  std::string operation(const Node& node) const {
    using enum Operator;
    const auto part = [&](std::size_t i) { return condition(node.parts[i]); };
    switch (node.operation) {
      case conjunction:
        return joined("and", {part(0), part(1)});
      case disjunction:
        return joined("or", {part(0), part(1)});
      case negation:
        return negated(part(0));
      case choice:
        return joined(
            "or", {joined("and", {part(0), part(1)}), joined("and", {negated(part(0)), part(2)})});
      default:
        break;
    }
    if (!is_comparison(node.operation)) return compared(unequal, number(node), {});
    if (node.parts[0].type.kind == Type::Kind::condition && !agent_) {
      const std::string same = fmt::format("(= {} {})", part(0), part(1));
      return node.operation == equal ? same : negated(same);
    }
    return compared(node.operation, number(node.parts[0]), number(node.parts[1]));
  }

  // A term that has one of two values.
  Sum either(const std::string& decides, const Sum& a, const Sum& b, const Node& node) const {
    if (decides == "true" || decides == "false") return decides == "true" ? a : b;
    const bool are_whole = compare(denominator_of(a), 1) == 0 && compare(denominator_of(b), 1) == 0;
    if (!are_whole) not_linear(node);
    return variable(fmt::format("(ite {} {} {})", decides, written(a), written(b)));
  }

  Sum arithmetic(const Node& node) const {
    using enum Operator;
    if (node.type.kind == Type::Kind::condition) {
      return either(operation(node), whole_sum(1), whole_sum(0), node);
    }
    if (node.operation == choice) {
      return either(condition(node.parts[0]), number(node.parts[1]), number(node.parts[2]), node);
    }
    Sum a = number(node.parts[0]);
    if (node.parts.size() == 1) return of_one(node, a);
    const Sum b = number(node.parts[1]);
    switch (node.operation) {
      case add:
      case subtract:
        a.add(b, node.operation == add ? 1 : -1);
        return a;
      case multiply:
        if (a.is_constant()) return scaled(b, a.constant);
        if (b.is_constant()) return scaled(a, b.constant);
        break;
      case divide:
        if (b.is_constant()) return scaled(a, Number(1) / b.constant);
        break;
      case modulo:
        if (!b.is_constant() || compare(b.constant, 0) <= 0) break;
        a.add(floor_of(scaled(a, Number(1) / b.constant)), Number(0) - b.constant);
        return a;
      case minimum:
      case maximum:
        return either(compared(node.operation == minimum ? less_equal : greater_equal, a, b), a, b,
                      node);
      default:
        break;
    }
    if (!a.is_constant() || !b.is_constant()) not_linear(node);
    return {.constant = applied(node.operation, a.constant, b.constant)};
  }

  Sum of_one(const Node& node, const Sum& a) const {
    using enum Operator;
    Sum negative = scaled(a, -1);
    Sum shifted = a;
    shifted.constant = shifted.constant + Number::fraction(1, 2);
    switch (node.operation) {
      case negate:
        return negative;
      case Operator::floor:
        return floor_of(a);
      case Operator::ceiling:
        return scaled(floor_of(negative), -1);
      case nearest:
        return floor_of(shifted);
      case absolute:
        return either(compared(greater_equal, a, {}), a, negative, node);
      default:
        if (!a.is_constant()) not_linear(node);
        return {.constant = applied(node.operation, a.constant)};
    }
  }

  const CountsModel& model_;
  const StateSpace& space_;
  const Resolver& resolver_;
  char counts_;
  std::optional<StateIndex> agent_{};
  std::map<std::size_t, std::int64_t> shifts_{};
  mutable std::map<std::size_t, std::vector<std::string>> members_{};
};

// Fills in a model.
class Reader {
 public:
  Reader(CountsModel& model, const CountsQuestion& question)
      : model_(model),
        question_(question),
        compiled_(*model.compiled),
        resolver_(document(), compiled_.constants()) {
    resolver_.set_symbols(compiled_.symbols());
    resolver_.set_space(compiled_.space());
    resolver_.set_roles_known();
    for (std::size_t i = 1; i < compiled_.symbols().size(); ++i) add_other();
  }

  void read() {
    if (!compiled_.space().is_dense()) {
      throw Error(fmt::format("{} has {} states; at most {} are supported for every n",
                              model_.text->name(), compiled_.space().size(),
                              StateSpace::most_dense));
    }
    const StartText& start = chosen_start();
    model_.start = start.name.text;
    find_states(start);
    find_transitions();
    find_moduli();
    model_.init = joined("and", conditions_of(start));
    find_properties();
    model_.stop_text = question_.target.empty() ? document().stop_text : question_.target;
    if (question_.target.empty()) return set_stop(*document().stop);
    try {
      set_stop(target());
    } catch (const Mistake& mistake) {
      throw Error(fmt::format("'{}': {}", question_.target, mistake.what()));
    }
  }

 private:
  const Document& document() const { return model_.text->document(); }

  Expression target() const {
    Cursor cursor(question_.target);
    Expression expression = parse_expression(cursor);
    if (cursor.here().kind == TokenKind::end_of_statement) cursor.take();
    if (cursor.here().kind != TokenKind::end_of_text) cursor.expected("the end of the condition");
    return expression;
  }

  void find_properties() {
    for (const PropertyText& each : document().goals) {
      warn(each.condition.place,
           fmt::format("no proof of this is tried; --target '{}' asks for one", each.text));
    }
    for (const ComputationText& each : document().computations) {
      warn(each.place, "no proof of what a file computes is tried; verify checks it for small n");
    }
    const Translation translation(model_, resolver_, 'c');
    for (const PropertyText& each : document().properties) {
      const Node node = resolver_.condition(each.condition, Scope::population);
      try {
        model_.always.push_back(translation.condition(node));
      } catch (const Mistake& mistake) {
        model_.always.emplace_back();
        warn(mistake.place(), fmt::format("{}; no proof of it is tried", mistake.what()));
      }
    }
  }

  void set_stop(const Expression& expression) {
    const Node node = resolver_.condition(expression, Scope::population);
    Translation translation(model_, resolver_, 'c');
    model_.stop = translation.condition(node);
    for (const CountsTransition& each : model_.transitions) {
      translation.shift(each);
      model_.stop_after.push_back(translation.condition(node));
    }
  }

  std::string add_other() {
    model_.others.push_back(fmt::format("x{}", model_.others.size() + 1));
    return model_.others.back();
  }

  const StartText& chosen_start() const {
    const auto& starts = document().starts;
    if (question_.start.empty()) return starts.front();
    std::vector<std::string_view> names;
    for (const StartText& each : starts) {
      if (each.name.text == question_.start) return each;
      names.push_back(each.name.text);
    }
    throw Error(unknown_name(fmt::format("initial configuration of {}", model_.text->name()),
                             question_.start, names));
  }

  static bool fills_all(const StartText& start) {
    const StartItem::Kind kind = start.items.front().kind;
    return kind == StartItem::Kind::evenly || kind == StartItem::Kind::randomly;
  }

  // The states that occur: those of the start, and what comes of two that occur.
  void find_states(const StartText& start) {
    const StateIndex size = compiled_.space().size();
    std::set<StateIndex> first;
    for (const StartItem& item : start.items) {
      if (!fills_all(start)) first.insert(compiled_.start_state(item.target, resolver_));
    }
    for (StateIndex state = 0; fills_all(start) && state < size; ++state) first.insert(state);
    std::vector<StateIndex> found(first.begin(), first.end());
    std::set<StateIndex> known = first;
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        for (const auto& [u, v] : {std::pair(found[i], found[j]), std::pair(found[j], found[i])}) {
          for (const Outcome& each : compiled_.reaction(u, v).outcomes) {
            if (known.insert(each.u).second) found.push_back(each.u);
            if (known.insert(each.v).second) found.push_back(each.v);
          }
        }
      }
    }
    for (const StateIndex state : known) {
      model_.indices.push_back(state);
      model_.states.push_back(compiled_.space().name(state));
      model_.leaders.push_back(compiled_.leads(state));
      model_.may_start.push_back(first.contains(state));
    }
  }

  std::size_t place_of(StateIndex state) const {
    const auto found = std::ranges::lower_bound(model_.indices, state);
    return static_cast<std::size_t>(found - model_.indices.begin());
  }

  void find_transitions() {
    std::set<CountsTransition> all;
    for (const StateIndex u : model_.indices) {
      for (const StateIndex v : model_.indices) {
        for (const Outcome& each : compiled_.reaction(u, v).outcomes) {
          CountsTransition transition{{place_of(u), place_of(v)},
                                      {place_of(each.u), place_of(each.v)}};
          std::ranges::sort(transition.pre);
          std::ranges::sort(transition.post);
          if (each.weight > 0 && transition.pre != transition.post) all.insert(transition);
        }
      }
    }
    model_.transitions.assign(all.begin(), all.end());
  }

  void find_moduli() {
    std::set<std::int64_t> found;
    for (const auto& [name, value] : compiled_.parameters())
      found.insert(value.small().value_or(0));
    for (const Field& field : compiled_.space().fields()) {
      if (field.values.empty()) found.insert(field.high - field.low + 1);
    }
    for (const std::int64_t each : found) {
      if (each >= 2 && each <= 4096) model_.moduli.push_back(each);
    }
  }

  // The ranges of parameters that depend on n, and the counts at the start.
  std::vector<std::string> conditions_of(const StartText& start) {
    std::vector<std::string> all;
    const Translation translation(model_, resolver_, 'i');
    for (const ParameterText& each : document().parameters) {
      const Sum value = translation.number(resolver_.number(
          {.form = Form::name, .place = each.name.place, .name = each.name.text}, Scope::constant));
      add_bound(all, translation, each.low, value, true);
      add_bound(all, translation, each.high, value, false);
    }
    if (start.items.front().kind == StartItem::Kind::evenly) add_even(all);
    if (!fills_all(start)) add_items(all, translation, start);
    return all;
  }

  void add_bound(std::vector<std::string>& all, const Translation& translation,
                 const std::optional<Expression>& bound, const Sum& value, bool is_low) {
    if (!bound) return;
    const Node node = resolver_.number(*bound, Scope::constant);
    if (!mentions_symbol(node) && value.is_constant()) return;  // checked before
    try {
      const Sum limit = translation.number(node);
      all.push_back(compared(Operator::less_equal, is_low ? limit : value, is_low ? value : limit));
    } catch (const Mistake& mistake) {
      warn(mistake.place(), "this limit is not linear in n and is left out");
    }
  }

  // n / states agents each, rounded up or down.
  void add_even(std::vector<std::string>& all) const {
    const std::string share = fmt::format("(div n {})", compiled_.space().size());
    for (std::size_t state = 0; state < model_.states.size(); ++state) {
      all.push_back(fmt::format("(<= {} i{} (+ 1 {}))", share, state, share));
    }
  }

  void warn(Place place, std::string_view sentence) {
    model_.warnings.push_back(model_.text->placed(place, sentence));
  }

  void add_items(std::vector<std::string>& all, const Translation& translation,
                 const StartText& start) {
    std::vector<Sum> counts(model_.states.size());
    std::optional<std::size_t> rest;
    for (const StartItem& item : start.items) {
      const std::size_t state = place_of(compiled_.start_state(item.target, resolver_));
      if (item.kind == StartItem::Kind::rest) {
        rest = state;
        continue;
      }
      const Sum count = item_count(item, translation);
      all.push_back(compared(Operator::greater_equal, count, {}));
      counts[state].add(count, 1);
    }
    for (std::size_t state = 0; state < counts.size(); ++state) {
      const Operator relation = state == rest ? Operator::greater_equal : Operator::equal;
      all.push_back(compared(relation, variable(fmt::format("i{}", state)), counts[state]));
    }
  }

  // The number of agents of an item; any number where it is not linear.
  Sum item_count(const StartItem& item, const Translation& translation) {
    if (item.kind == StartItem::Kind::all) return variable("n");
    const Node node = resolver_.number(*item.count, Scope::constant);
    try {
      Sum count = translation.number(node);
      if (item.kind == StartItem::Kind::percentage) {
        if (!count.is_constant()) throw Mistake(item.place, "");
        count = scaled(variable("n"), count.constant / Number(100));
      }
      return translation.floor_of(count);
    } catch (const Mistake&) {
      warn(item.place, "this number of agents is not linear in n; any number is considered");
      return variable(add_other());
    }
  }

  CountsModel& model_;
  const CountsQuestion& question_;
  const Compiled& compiled_;
  Resolver resolver_;
};

}  // namespace

CountsModel counts_model(const std::shared_ptr<const ProtocolText>& text,
                         const CountsQuestion& question) {
  constexpr AgentCount example_n = 1000;  // finds mistakes that have nothing to do with n
  std::vector<Given> closed = question.given;
  std::erase_if(closed, [](const Given& each) { return each.value == any_value; });
  Compiled::make(text, closed, example_n);
  CountsModel model{.text = text, .compiled = Compiled::for_every_n(text, question.given)};
  try {
    Reader(model, question).read();
  } catch (const Mistake& mistake) {
    text->object(mistake);
  }
  return model;
}

}  // namespace conclave::text
