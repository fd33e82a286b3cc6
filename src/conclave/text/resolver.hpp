// Looks up the names in expressions and checks that everything has the type its place wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/text/node.hpp"
#include "conclave/text/state_space.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

// The things an expression may name besides n, parameters and definitions.
enum class Scope : std::uint8_t {
  constant,    // nothing
  agent,       // the fields of the agent it is about, by their names
  initiator,   // u.field and v.field; a field without either is u's
  responder,   // the same, v's
  pair,        // u.field and v.field
  population,  // counts, and whether anything can still change
};

constexpr Type condition_type{Type::Kind::condition, 0};
constexpr Type number_type{Type::Kind::number, 0};

// A set of states that is counted: whether each state belongs to it; only of dense states.
using StateSet = std::vector<bool>;
struct CountedSet {
  Node members;       // a condition on an agent
  StateSet states{};  // also empty where a symbol decides

  // O(1) for dense states, otherwise evaluates the condition; throws Mistake if it has no value.
  bool contains(StateIndex state, const StateSpace& space) const {
    if (!states.empty()) return states[state];
    return holds(members, {.space = &space, .agents = {state, state}});
  }
};

// A number of each agent, and how those of all agents are put together.
struct Aggregate {
  enum class Kind : std::uint8_t { sum, least, largest };
  Kind kind;
  Node value;
};

class Resolver {
 public:
  using Constants = std::map<std::string, Number, std::less<>>;

  // The document must outlive it.
  Resolver(const Document& document, const Constants& constants)
      : document_(document), constants_(constants) {}

  // Names of numbers whose values are open, such as n; expressions that use them have Node::symbol
  // with the index in this list, and cannot be evaluated.
  void set_symbols(std::vector<std::string> names) { symbols_ = std::move(names); }
  // From now on, fields and values are known.
  void set_space(const StateSpace& space);
  // From now on, `output` and `leader` are known, where the file defines them.
  void set_roles_known() { roles_known_ = true; }

  // The expression with its names looked up, of the type that the function's name says, and
  // constants folded. Throw Mistake for unknown names, for other types, and where the result grows
  // too large.
  Node condition(const Expression& expression, Scope scope);
  Node number(const Expression& expression, Scope scope);
  Node value(const Expression& expression, Scope scope, std::size_t field);
  Node observable(const Expression& expression);  // a number or a condition about the population
  Node anything(const Expression& expression, Scope scope);  // of whatever type it has
  Number constant(const Expression& expression);             // exact
  std::int64_t whole_constant(const Expression& expression, std::string_view what);

  // Throw Mistake with the nearest name where there is no such field or state.
  std::size_t field_index(const Name& name) const;
  std::int64_t state_value(const Name& name) const;  // of the field called state

  // The names that a block gives to values, each with its index; they last until they are
  // forgotten, down to this many.
  std::size_t declare_local(const std::string& name, Type type, Place place);
  std::size_t locals() const { return locals_.size(); }
  void forget_locals(std::size_t kept) { locals_.resize(kept); }

  // A step that stands before the one that is being looked at; `visit` gets its statements, and
  // sees neither the names of the caller nor later steps.
  template <class Visit>
  void with_step(const std::string& name, Place place, Visit visit);
  // From now on, only this many steps of the file, the first ones, are known.
  void set_steps_visible(std::size_t steps) { steps_visible_ = steps; }
  // Objects where the file has grown too large.
  void count_node(Place place);

  // The sets that the expressions of scope `population` count, in the order of their indices.
  const std::vector<CountedSet>& counted() const { return counted_; }
  std::size_t count_index(const Node& members);
  const std::vector<Aggregate>& aggregates() const { return aggregates_; }

  // `leader` and `output` of an agent in this scope, where the file defines them.
  Node leader(Scope scope);
  Node output(Scope scope, Place place);

 private:
  Node resolve(const Expression& expression, Scope scope, const Type* wanted);
  Node name(const Expression& expression, Scope scope, const Type* wanted);
  Node member(const Expression& expression, Scope scope);
  Node own_field(const Expression& expression, Scope scope);
  Node one_of(const Expression& expression, Scope scope);
  Node operation(const Expression& expression, Scope scope, const Type* wanted);
  Node comparison(const Expression& expression, Scope scope);
  Node conditional(const Expression& expression, Scope scope, const Type* wanted);
  Node count(const Expression& expression, Scope scope);
  Node aggregate(const Expression& expression, Scope scope);
  std::vector<std::string> output_names() const;
  Node call(const Expression& expression, Scope scope, const Type* wanted);
  std::optional<Node> argument(const Expression& expression, Scope scope, const Type* wanted);
  const Expression* bound(const std::string& name) const;
  std::optional<std::size_t> definition_index(const std::string& name) const;
  std::size_t step_index(const std::string& name, Place place) const;
  std::vector<std::string> usable_definitions(const Expression& use, bool functions_only) const;
  [[noreturn]] void unknown_function(const Expression& expression) const;

  std::optional<Node> known_number(const std::string& name, Place place) const;
  Node column(std::size_t index, std::size_t agent, Place place) const;
  Node is_state(std::int64_t value, std::size_t agent, Place place) const;
  Node folded(Node node) const;
  bool has_value(const Type& type, const std::string& name, std::int64_t& value) const;
  bool is_loose_value(const Expression& expression);
  std::vector<std::string> values_of(const Type& type) const;
  std::string described(const Type& type) const;
  void require(const Node& node, const Type& wanted) const;
  [[noreturn]] void unknown(const Expression& expression, Scope scope) const;

  // The call of a function whose body is being resolved: its arguments are expressions of where
  // the call stands.
  struct Call {
    const Definition* function;
    const std::vector<Expression>* arguments;
  };
  // The meanings that names have in addition to those of the scope.
  struct Surroundings {
    const Call* call = nullptr;
    const Surroundings* outer = nullptr;  // of the call
    std::size_t definitions_visible = SIZE_MAX;
    std::size_t first_local = 0;  // those before it belong to others
  };
  // Resolves in other surroundings, and comes back also where that throws.
  template <class Resolve>
  auto within(const Surroundings& surroundings, Resolve resolve) {
    const struct Return {
      Surroundings& place;
      Surroundings before;
      ~Return() { place = before; }
    } come_back{here_, here_};
    here_ = surroundings;
    return resolve();
  }
  Surroundings of_definition(std::size_t index) const {
    return {.definitions_visible = index, .first_local = locals_.size()};
  }

  struct Local {
    std::string name;
    Type type;
  };

  const Document& document_;
  const Constants& constants_;
  const StateSpace* space_ = nullptr;
  std::map<std::string, std::int64_t, std::less<>> states_;  // values of the field called state
  bool roles_known_ = false;
  Surroundings here_;
  std::vector<Local> locals_;
  std::vector<std::string> symbols_;
  std::size_t steps_visible_ = SIZE_MAX;
  int depth_ = 0;
  std::size_t nodes_ = 0;
  std::vector<CountedSet> counted_;
  std::vector<Aggregate> aggregates_;
};

template <class Visit>
void Resolver::with_step(const std::string& name, Place place, Visit visit) {
  count_node(place);
  const std::size_t index = step_index(name, place);
  const std::size_t visible = std::exchange(steps_visible_, index);
  const Surroundings own{.first_local = locals_.size()};
  within(own, [&] { visit(document_.steps[index].body); });
  steps_visible_ = visible;
}

}  // namespace conclave::text
