#include "conclave/text/node.hpp"

#include <algorithm>

#include "conclave/base/check.hpp"

namespace conclave::text {
namespace {

Number applied(Operator operation, const Number& a, const Number& b) {
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
      return {};
  }
}

Number applied(Operator operation, const Number& a) {
  switch (operation) {
    case Operator::negate:
      return Number(0) - a;
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
      return compare(a, 0) < 0 ? Number(0) - a : a;
    default:
      CONCLAVE_CHECK(false);
      return {};
  }
}

Number operation_of(const Node& node, const Scene& scene) {
  const auto part = [&](std::size_t i) { return evaluate(node.parts[i], scene); };
  switch (node.operation) {
    case Operator::conjunction:
      return holds(node.parts[0], scene) ? part(1) : Number(0);
    case Operator::disjunction:
      return holds(node.parts[0], scene) ? Number(1) : part(1);
    case Operator::choice:
      return holds(node.parts[0], scene) ? part(1) : part(2);
    default:
      break;
  }
  try {
    if (node.parts.size() == 1) return applied(node.operation, part(0));
    return applied(node.operation, part(0), part(1));
  } catch (const NumberError& error) {
    throw NoValue(node.place, error.what());
  }
}

}  // namespace

bool is_same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.type == b.type && a.index == b.index && a.agent == b.agent &&
         a.operation == b.operation && a.constant == b.constant &&
         std::ranges::equal(a.parts, b.parts, is_same);
}

Number evaluate(const Node& node, const Scene& scene) {
  switch (node.kind) {
    case Node::Kind::constant:
      return node.constant;
    case Node::Kind::column:
      return scene.space->value(node.index, scene.agents[node.agent]);
    case Node::Kind::local:
      return scene.locals[node.index];
    case Node::Kind::count:
      return Number::from_whole(static_cast<Number::Whole>(scene.counts[node.index]));
    case Node::Kind::aggregate:
      return scene.aggregates[node.index];
    case Node::Kind::silent:
      return scene.is_silent;
    case Node::Kind::operation:
      return operation_of(node, scene);
  }
  return {};
}

}  // namespace conclave::text
