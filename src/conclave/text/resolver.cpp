// The file is long because every form of an expression and every way to name something is here.
#include "conclave/text/resolver.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

// Definitions that use definitions grow; these bounds keep stack and memory small.
constexpr int deepest_expression = 500;
constexpr std::size_t most_nodes = 1'000'000;

bool has_own_fields(Scope scope) {
  return scope == Scope::agent || scope == Scope::initiator || scope == Scope::responder;
}
bool has_members(Scope scope) {
  return scope == Scope::initiator || scope == Scope::responder || scope == Scope::pair;
}
std::size_t own_agent(Scope scope) { return scope == Scope::responder ? 1 : 0; }

bool is_equality(Operator operation) {
  return operation == Operator::equal || operation == Operator::unequal;
}

Node constant_node(Number value, Type type, Place place) {
  return {.kind = Node::Kind::constant, .type = type, .place = place, .constant = value};
}

Node operation_node(Operator operation, Type type, Place place, std::vector<Node> parts) {
  return {.kind = Node::Kind::operation,
          .type = type,
          .place = place,
          .operation = operation,
          .parts = std::move(parts)};
}

std::string sentence_of(std::string_view kind, std::string_view given,
                        const std::vector<std::string>& names) {
  return unknown_name(kind, given, std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace

Node Resolver::condition(const Expression& expression, Scope scope) {
  Node node = resolve(expression, scope, &condition_type);
  require(node, condition_type);
  return node;
}

Node Resolver::number(const Expression& expression, Scope scope) {
  Node node = resolve(expression, scope, &number_type);
  require(node, number_type);
  return node;
}

Node Resolver::value(const Expression& expression, Scope scope, std::size_t field) {
  const Type wanted = column(field, 0, expression.place).type;
  Node node = resolve(expression, scope, &wanted);
  require(node, wanted);
  return node;
}

Node Resolver::observable(const Expression& expression) {
  Node node = resolve(expression, Scope::population, nullptr);
  if (node.type.kind == Type::Kind::value) require(node, number_type);
  return node;
}

Node Resolver::anything(const Expression& expression, Scope scope) {
  return resolve(expression, scope, nullptr);
}

Number Resolver::constant(const Expression& expression) {
  const Number result = evaluate(number(expression, Scope::constant), {});
  if (!result.is_real()) return result;
  throw Mistake(expression.place, fmt::format("{} is no exact number: round it with floor or ceil",
                                              to_string(result)));
}

std::int64_t Resolver::whole_constant(const Expression& expression, std::string_view what) {
  const Number result = constant(expression);
  if (const auto value = result.small()) return *value;
  throw Mistake(expression.place,
                fmt::format("{} is {}, which is no whole number", what, to_string(result)));
}

std::size_t Resolver::field_index(const Name& name) const {
  const auto& fields = space_->fields();
  const auto found = std::ranges::find(fields, name.text, &Field::name);
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  throw Mistake(name.place, sentence_of("field", name.text, names));
}

void Resolver::set_space(const StateSpace& space) {
  space_ = &space;
  for (const Field& field : space.fields()) {
    if (field.name != state_field) continue;
    for (std::size_t i = 0; i < field.values.size(); ++i) {
      states_[field.values[i]] = static_cast<std::int64_t>(i);
    }
  }
}

std::int64_t Resolver::state_value(const Name& name) const {
  if (const auto found = states_.find(name.text); found != states_.end()) return found->second;
  for (const Field& field : space_->fields()) {
    if (field.name != state_field) continue;
    throw Mistake(name.place, sentence_of("state", name.text, field.values));
  }
  throw Mistake(name.place, fmt::format("unknown state '{}': this protocol has fields and no list "
                                        "of states; write a condition in braces, such as {{{}}}",
                                        name.text, space_->fields().front().name));
}

void Resolver::count_node(Place place) {
  if (++nodes_ > most_nodes) throw Mistake(place, "the definitions grow too large");
}

Node Resolver::resolve(const Expression& expression, Scope scope, const Type* wanted) {
  if (depth_ >= deepest_expression) throw Mistake(expression.place, "this is nested too deeply");
  count_node(expression.place);
  const struct Nesting {
    int& depth;
    ~Nesting() { --depth; }
  } nesting{++depth_};
  switch (expression.form) {
    case Form::number:
      return constant_node(expression.number, number_type, expression.place);
    case Form::name:
      return name(expression, scope, wanted);
    case Form::member:
      return member(expression, scope);
    case Form::one_of:
      return one_of(expression, scope);
    case Form::count:
      return count(expression, scope);
    case Form::aggregate:
      return aggregate(expression, scope);
    case Form::call:
      return call(expression, scope, wanted);
    case Form::operation:
      return operation(expression, scope, wanted);
  }
  return {};
}

Node Resolver::name(const Expression& expression, Scope scope, const Type* wanted) {
  const std::string& text = expression.name;
  const Place place = expression.place;
  if (auto node = argument(expression, scope, wanted)) return std::move(*node);
  for (std::size_t i = here_.first_local; i < locals_.size(); ++i) {
    if (locals_[i].name != text) continue;
    return {.kind = Node::Kind::local, .type = locals_[i].type, .place = place, .index = i};
  }
  std::int64_t value = 0;
  if (wanted != nullptr && has_value(*wanted, text, value)) {
    return constant_node(value, *wanted, place);
  }
  if (text == "true" || text == "false")
    return constant_node(text == "true", condition_type, place);
  if (text == "silent" && scope == Scope::population) {
    return {.kind = Node::Kind::silent, .type = condition_type, .place = place};
  }
  if (auto number = known_number(text, place)) return std::move(*number);
  const auto index = definition_index(text);
  if (!index) return own_field(expression, scope);
  const Definition& definition = document_.definitions[*index];
  if (definition.is_function) {
    throw Mistake(place, fmt::format("{0} is a function: write {0}(...)", text));
  }
  // A definition means what it would mean if it were written here.
  return within(of_definition(*index), [&] { return resolve(definition.value, scope, wanted); });
}

// A constant or a symbol of this name.
std::optional<Node> Resolver::known_number(const std::string& name, Place place) const {
  if (const auto found = constants_.find(name); found != constants_.end()) {
    return constant_node(found->second, number_type, place);
  }
  const auto symbol = std::ranges::find(symbols_, name);
  if (symbol == symbols_.end()) return std::nullopt;
  return Node{.kind = Node::Kind::symbol,
              .type = number_type,
              .place = place,
              .index = static_cast<std::size_t>(symbol - symbols_.begin())};
}

std::optional<std::size_t> Resolver::definition_index(const std::string& name) const {
  const auto& definitions = document_.definitions;
  for (std::size_t i = 0; i < std::min(definitions.size(), here_.definitions_visible); ++i) {
    if (definitions[i].name.text == name) return i;
  }
  return std::nullopt;
}

// The expression that the caller of the function at work gave for this name, if it is one of the
// function's arguments.
const Expression* Resolver::bound(const std::string& name) const {
  if (here_.call == nullptr) return nullptr;
  const auto& parameters = here_.call->function->parameters;
  const auto found = std::ranges::find(parameters, name, &Name::text);
  if (found == parameters.end()) return nullptr;
  return &(*here_.call->arguments)[static_cast<std::size_t>(found - parameters.begin())];
}

std::optional<Node> Resolver::argument(const Expression& expression, Scope scope,
                                       const Type* wanted) {
  const Expression* const given = bound(expression.name);
  if (given == nullptr) return std::nullopt;
  return within(*here_.outer, [&] { return resolve(*given, scope, wanted); });
}

// A function means what its expression would mean if it were written here, with the arguments in
// place of their names.
Node Resolver::call(const Expression& expression, Scope scope, const Type* wanted) {
  const auto index = definition_index(expression.name);
  if (!index) unknown_function(expression);
  const Definition& function = document_.definitions[*index];
  if (!function.is_function) {
    throw Mistake(expression.place, fmt::format("{} is no function", expression.name));
  }
  const std::size_t wants = function.parameters.size();
  if (expression.parts.size() != wants) {
    throw Mistake(expression.place,
                  fmt::format("{} takes {} argument{}, not {}", expression.name, wants,
                              wants == 1 ? "" : "s", expression.parts.size()));
  }
  const Call call{&function, &expression.parts};
  const Surroundings outer = here_;
  Surroundings inner = of_definition(*index);
  inner.call = &call;
  inner.outer = &outer;
  return within(inner, [&] { return resolve(function.value, scope, wanted); });
}

// The definitions that may be used here, by their names. A definition knows those above it only;
// objects to the use of one that stands here or below.
std::vector<std::string> Resolver::usable_definitions(const Expression& use,
                                                      bool functions_only) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < document_.definitions.size(); ++i) {
    const Definition& each = document_.definitions[i];
    const bool is_usable = i < here_.definitions_visible;
    if (!is_usable && each.name.text == use.name) {
      throw Mistake(use.place, fmt::format("'{}' is used before it is defined: a definition may "
                                           "use those above it",
                                           use.name));
    }
    if (is_usable && (each.is_function || !functions_only)) names.push_back(each.name.text);
  }
  return names;
}

void Resolver::unknown_function(const Expression& expression) const {
  std::vector<std::string> names;
  for (const std::string_view each : known_functions()) names.emplace_back(each);
  std::ranges::move(usable_definitions(expression, true), std::back_inserter(names));
  throw Mistake(expression.place, sentence_of("function", expression.name, names));
}

std::size_t Resolver::declare_local(const std::string& name, Type type, Place place) {
  const bool is_known =
      constants_.contains(name) || definition_index(name) || states_.contains(name) ||
      std::ranges::find(space_->fields(), name, &Field::name) != space_->fields().end() ||
      std::any_of(locals_.begin() + static_cast<std::ptrdiff_t>(here_.first_local), locals_.end(),
                  [&](const Local& local) { return local.name == name; });
  if (is_known) throw Mistake(place, fmt::format("'{}' is called like something else", name));
  locals_.push_back({name, type});
  return locals_.size() - 1;
}

std::size_t Resolver::step_index(const std::string& name, Place place) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(document_.steps.size(), steps_visible_); ++i) {
    if (document_.steps[i].name.text == name) return i;
    names.push_back(document_.steps[i].name.text);
  }
  if (names.empty()) {
    throw Mistake(place, fmt::format("unknown step '{}': no step stands before this", name));
  }
  throw Mistake(place, sentence_of("step", name, names));
}

Node Resolver::own_field(const Expression& expression, Scope scope) {
  if (space_ == nullptr || !has_own_fields(scope)) unknown(expression, scope);
  const std::size_t agent = own_agent(scope);
  const auto& fields = space_->fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == expression.name) return column(i, agent, expression.place);
  }
  if (const auto found = states_.find(expression.name); found != states_.end()) {
    return is_state(found->second, agent, expression.place);
  }
  if (roles_known_ && expression.name == "leader" && document_.leader) {
    return leader(scope);
  }
  if (roles_known_ && expression.name == "output" && !document_.outputs.empty()) {
    return output(scope, expression.place);
  }
  unknown(expression, scope);
}

Node Resolver::member(const Expression& expression, Scope scope) {
  if (!has_members(scope)) {
    throw Mistake(expression.place,
                  fmt::format("{}.{} has no meaning here: there are not two agents that interact",
                              expression.agent, expression.name));
  }
  Expression field{.form = Form::name, .place = expression.place, .name = expression.name};
  return own_field(field, expression.agent == 'u' ? Scope::initiator : Scope::responder);
}

Node Resolver::one_of(const Expression& expression, Scope scope) {
  if (space_ == nullptr || !has_own_fields(scope)) {
    throw Mistake(expression.place, "states joined by | have no meaning here");
  }
  Node any = constant_node(0, condition_type, expression.place);
  for (const Name& each : expression.names) {
    Node is_this = is_state(state_value(each), own_agent(scope), each.place);
    any = folded(operation_node(Operator::disjunction, condition_type, each.place,
                                {std::move(any), std::move(is_this)}));
  }
  return any;
}

Node Resolver::operation(const Expression& expression, Scope scope, const Type* wanted) {
  if (is_comparison(expression.operation)) return comparison(expression, scope);
  if (expression.operation == Operator::choice) return conditional(expression, scope, wanted);
  const bool logical = expression.operation == Operator::conjunction ||
                       expression.operation == Operator::disjunction ||
                       expression.operation == Operator::negation;
  const Type type = logical ? condition_type : number_type;
  std::vector<Node> parts;
  for (const Expression& part : expression.parts) {
    parts.push_back(resolve(part, scope, &type));
    require(parts.back(), type);
  }
  return folded(operation_node(expression.operation, type, expression.place, std::move(parts)));
}

Node Resolver::comparison(const Expression& expression, Scope scope) {
  const Expression& left = expression.parts[0];
  const Expression& right = expression.parts[1];
  std::vector<Node> parts(2);
  // A value such as A has its type from the other side.
  const std::size_t first = is_loose_value(left) ? 1 : 0;
  parts[first] = resolve(first == 0 ? left : right, scope, nullptr);
  const Type type = parts[first].type;
  parts[1 - first] = resolve(first == 0 ? right : left, scope, &type);
  require(parts[1 - first], type);
  if (type.kind != Type::Kind::number && !is_equality(expression.operation)) {
    throw Mistake(expression.place, "only numbers can be larger or smaller: use == or !=");
  }
  return folded(
      operation_node(expression.operation, condition_type, expression.place, std::move(parts)));
}

Node Resolver::conditional(const Expression& expression, Scope scope, const Type* wanted) {
  std::vector<Node> parts;
  parts.push_back(condition(expression.parts[0], scope));
  parts.push_back(resolve(expression.parts[1], scope, wanted));
  const Type type = parts[1].type;
  parts.push_back(resolve(expression.parts[2], scope, &type));
  require(parts[2], type);
  return folded(operation_node(Operator::choice, type, expression.place, std::move(parts)));
}

// all(P) is count(P) == n, any(P) is count(P) > 0, none(P) is count(P) == 0.
Node Resolver::count(const Expression& expression, Scope scope) {
  if (scope != Scope::population) {
    throw Mistake(expression.place,
                  fmt::format("{}(...) is about the whole population and has no meaning here",
                              expression.name));
  }
  const Node members = condition(expression.parts[0], Scope::agent);
  Node number{.kind = Node::Kind::count,
              .type = number_type,
              .place = expression.place,
              .index = count_index(members)};
  if (expression.name == "count") return number;
  const bool is_all = expression.name == "all";
  Node other = is_all ? *known_number("n", expression.place)
                      : constant_node(0, number_type, expression.place);
  return operation_node(expression.name == "any" ? Operator::greater : Operator::equal,
                        condition_type, expression.place, {std::move(number), std::move(other)});
}

std::size_t Resolver::count_index(const Node& members) {
  CountedSet set{members};
  const bool is_listed = space_->is_dense() && !mentions_symbol(members);
  for (StateIndex state = 0; is_listed && state < space_->size(); ++state) {
    set.states.push_back(holds(members, {.space = space_, .agents = {state, state}}));
  }
  const auto found = std::ranges::find_if(counted_, [&](const CountedSet& other) {
    return is_listed ? other.states == set.states : is_same(other.members, members);
  });
  const auto index = static_cast<std::size_t>(found - counted_.begin());
  if (found == counted_.end()) counted_.push_back(std::move(set));
  return index;
}

// mean(x) is sum(x) / n.
Node Resolver::aggregate(const Expression& expression, Scope scope) {
  if (scope != Scope::population) {
    throw Mistake(expression.place, fmt::format("{}(...) of one expression is about the whole "
                                                "population and has no meaning here",
                                                expression.name));
  }
  using Kind = Aggregate::Kind;
  const bool is_mean = expression.name == "mean";
  const Kind kind = expression.name == "min"   ? Kind::least
                    : expression.name == "max" ? Kind::largest
                                               : Kind::sum;
  Node value = number(expression.parts[0], Scope::agent);
  const auto found = std::ranges::find_if(aggregates_, [&](const Aggregate& other) {
    return other.kind == kind && is_same(other.value, value);
  });
  Node result{.kind = Node::Kind::aggregate,
              .type = number_type,
              .place = expression.place,
              .index = static_cast<std::size_t>(found - aggregates_.begin())};
  if (found == aggregates_.end()) aggregates_.push_back({kind, std::move(value)});
  if (!is_mean) return result;
  Node n = *known_number("n", expression.place);
  return operation_node(Operator::divide, number_type, expression.place,
                        {std::move(result), std::move(n)});
}

// Both mean what their definitions would mean if they were written here; these know neither.
Node Resolver::leader(Scope scope) {
  const bool known = std::exchange(roles_known_, false);
  Node node = within({}, [&] { return condition(document_.leader->value, scope); });
  roles_known_ = known;
  return node;
}

// Where several outputs fit a state, the first counts; a state that fits none has the last
// number.
Node Resolver::output(Scope scope, Place place) {
  const bool known = std::exchange(roles_known_, false);
  const Type type{Type::Kind::value, space_->fields().size()};
  const std::vector<std::string> names = output_names();
  Node result = constant_node(static_cast<std::int64_t>(names.size()), type, place);
  for (std::size_t i = document_.outputs.size(); i-- > 0;) {
    const Definition& each = document_.outputs[i];
    Node fits = within({}, [&] { return condition(each.value, scope); });
    const std::int64_t number = std::ranges::find(names, each.name.text) - names.begin();
    result =
        operation_node(Operator::choice, type, place,
                       {std::move(fits), constant_node(number, type, place), std::move(result)});
  }
  roles_known_ = known;
  return result;
}

Node Resolver::column(std::size_t index, std::size_t agent, Place place) const {
  const Field& field = space_->fields()[index];
  Type type{Type::Kind::value, index};
  if (field.is_boolean) type = condition_type;
  if (!field.is_boolean && field.values.empty()) type = number_type;
  return {.kind = Node::Kind::column, .type = type, .place = place, .index = index, .agent = agent};
}

Node Resolver::is_state(std::int64_t value, std::size_t agent, Place place) const {
  const std::size_t index = field_index({state_field, place});
  const Type type{Type::Kind::value, index};
  return folded(operation_node(Operator::equal, condition_type, place,
                               {column(index, agent, place), constant_node(value, type, place)}));
}

Node Resolver::folded(Node node) const {
  const bool constant = std::ranges::all_of(
      node.parts, [](const Node& part) { return part.kind == Node::Kind::constant; });
  if (!constant) return node;
  return constant_node(evaluate(node, {}), node.type, node.place);
}

std::vector<std::string> Resolver::values_of(const Type& type) const {
  if (type.column < space_->fields().size()) return space_->fields()[type.column].values;
  return output_names();
}

std::vector<std::string> Resolver::output_names() const {
  std::vector<std::string> names;
  for (const Definition& output : document_.outputs) {
    if (std::ranges::find(names, output.name.text) == names.end()) {
      names.push_back(output.name.text);
    }
  }
  return names;
}

bool Resolver::has_value(const Type& type, const std::string& name, std::int64_t& value) const {
  if (type.kind != Type::Kind::value) return false;
  const auto names = values_of(type);
  const auto found = std::ranges::find(names, name);
  value = found - names.begin();
  return found != names.end();
}

// A name that can only be a value of an enumeration, or a state.
bool Resolver::is_loose_value(const Expression& expression) {
  if (expression.form != Form::name || space_ == nullptr) return false;
  const std::string& text = expression.name;
  if (const Expression* const given = bound(text)) {
    return within(*here_.outer, [&] { return is_loose_value(*given); });
  }
  if (known_number(text, expression.place)) return false;
  for (std::size_t i = here_.first_local; i < locals_.size(); ++i) {
    if (locals_[i].name == text) return false;
  }
  for (const Definition& definition : document_.definitions) {
    if (definition.name.text == text) return false;
  }
  if (text == "true" || text == "false" || text == "leader" || text == "output") return false;
  return std::ranges::find(space_->fields(), text, &Field::name) == space_->fields().end();
}

std::string Resolver::described(const Type& type) const {
  switch (type.kind) {
    case Type::Kind::condition:
      return "a condition (true or false)";
    case Type::Kind::number:
      return "a number";
    case Type::Kind::value:
      return fmt::format("one of {}", join_parts(values_of(type), ", "));
  }
  return {};
}

void Resolver::require(const Node& node, const Type& wanted) const {
  if (node.type == wanted) return;
  throw Mistake(node.place,
                fmt::format("expected {}, found {}", described(wanted), described(node.type)));
}

void Resolver::unknown(const Expression& expression, Scope scope) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : constants_) names.push_back(name);
  names.insert(names.end(), symbols_.begin(), symbols_.end());
  std::ranges::move(usable_definitions(expression, false), std::back_inserter(names));
  for (std::size_t i = here_.first_local; i < locals_.size(); ++i) names.push_back(locals_[i].name);
  if (here_.call != nullptr) {
    for (const Name& each : here_.call->function->parameters) names.push_back(each.text);
  }
  if (space_ != nullptr && (has_own_fields(scope) || has_members(scope))) {
    for (const Field& field : space_->fields()) {
      if (scope == Scope::pair && field.name == expression.name) {
        throw Mistake(expression.place,
                      fmt::format("{0} is a field of two agents here: write u.{0} "
                                  "or v.{0}",
                                  expression.name));
      }
      names.push_back(field.name);
      if (field.name == state_field) {
        names.insert(names.end(), field.values.begin(), field.values.end());
      }
    }
    if (roles_known_ && document_.leader) names.emplace_back("leader");
    if (roles_known_ && !document_.outputs.empty()) names.emplace_back("output");
  }
  if (scope == Scope::population) names.emplace_back("silent");
  throw Mistake(expression.place, sentence_of("name", expression.name, names));
}

}  // namespace conclave::text
