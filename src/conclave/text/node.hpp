// An expression with all names looked up, ready to be evaluated: a tree in which every node knows
// its type and its place in the file.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/text/number.hpp"
#include "conclave/text/state_space.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

// A condition, a number, or a value of an enumeration (of the field of that index, or an output).
struct Type {
  enum class Kind : std::uint8_t { condition, number, value };
  Kind kind = Kind::number;
  std::size_t column = 0;
  friend bool operator==(const Type&, const Type&) = default;
};

struct Node {
  enum class Kind : std::uint8_t {
    constant,
    column,  // a field of an agent
    local,
    count,
    aggregate,
    silent,
    symbol,  // n or a parameter whose value is open; it cannot be evaluated
    operation,
  };
  Kind kind = Kind::constant;
  Type type{};
  Place place{};
  Number constant{};
  std::size_t index = 0;  // of a column, a local, a count, an aggregate or a symbol
  std::size_t agent = 0;  // of a column: 0 is u or the only agent, 1 is v
  Operator operation{};
  std::vector<Node> parts{};
};

// The surroundings in which an expression is evaluated: one agent, two that interact, or a whole
// population.
struct Scene {
  const StateSpace* space = nullptr;
  std::array<StateIndex, 2> agents{};
  std::span<const Number> locals{};  // the values that a block has given names so far
  std::span<const std::uint64_t> counts{};
  std::span<const Number> aggregates{};
  bool is_silent = false;
  std::uint64_t silence_steps = 0;  // is_silent stays as it is for this many interactions at least
};

// The value in a scene; conditions are 0 or 1. Throws Mistake if there is no value, as for a
// division by zero. O(nodes).
Number evaluate(const Node& node, const Scene& scene);
// An operation on numbers of any kind that has the functions of text/number.hpp: exact ones, or the
// doubles of importance functions. Conditions are 0 or 1. Not for `and`, `or` and `if`, which do
// not evaluate all their parts.
template <class Value>
Value applied(Operator operation, const Value& a, const Value& b) {
  switch (operation) {
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::multiply:
      return a * b;
    case Operator::divide:
      return a / b;
    case Operator::modulo:
      return modulo(a, b);
    case Operator::power:
      return power(a, b);
    case Operator::equal:
      return compare(a, b) == 0;
    case Operator::unequal:
      return compare(a, b) != 0;
    case Operator::less:
      return compare(a, b) < 0;
    case Operator::less_equal:
      return compare(a, b) <= 0;
    case Operator::greater:
      return compare(a, b) > 0;
    case Operator::greater_equal:
      return compare(a, b) >= 0;
    case Operator::minimum:
      return compare(a, b) <= 0 ? a : b;
    case Operator::maximum:
      return compare(a, b) >= 0 ? a : b;
    default:
      CONCLAVE_CHECK(false);
      return a;
  }
}

template <class Value>
Value applied(Operator operation, const Value& a) {
  switch (operation) {
    case Operator::negate:
      return Value(0) - a;
    case Operator::negation:
      return compare(a, 0) == 0;
    case Operator::floor:
      return floor(a);
    case Operator::ceiling:
      return ceiling(a);
    case Operator::nearest:
      return nearest_whole(a);
    case Operator::square_root:
      return square_root(a);
    case Operator::binary_logarithm:
      return binary_logarithm(a);
    case Operator::natural_logarithm:
      return natural_logarithm(a);
    case Operator::absolute:
      return compare(a, 0) < 0 ? Value(0) - a : a;
    default:
      CONCLAVE_CHECK(false);
      return a;
  }
}

// Whether the value depends on a symbol.
bool mentions_symbol(const Node& node);
// Whether two expressions are the same, wherever they stand.
bool is_same(const Node& a, const Node& b);
inline bool holds(const Node& node, const Scene& scene) {
  return compare(evaluate(node, scene), 0) != 0;
}

}  // namespace conclave::text
