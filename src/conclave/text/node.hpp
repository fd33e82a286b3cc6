// An expression with all names looked up, ready to be evaluated: a tree in which every node knows
// its type and its place in the file.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

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
    operation,
  };
  Kind kind = Kind::constant;
  Type type{};
  Place place{};
  Number constant{};
  std::size_t index = 0;  // of a column, a local, a count or an aggregate
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
// Whether two expressions are the same, wherever they stand.
bool is_same(const Node& a, const Node& b);
inline bool holds(const Node& node, const Scene& scene) {
  return compare(evaluate(node, scene), 0) != 0;
}

}  // namespace conclave::text
