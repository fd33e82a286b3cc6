#include "conclave/text/node.hpp"

#include <algorithm>

namespace conclave::text {
namespace {

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

bool mentions_symbol(const Node& node) {
  return node.kind == Node::Kind::symbol || std::ranges::any_of(node.parts, mentions_symbol);
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
    case Node::Kind::symbol:
      throw Mistake(node.place, "this depends on n, whose value is open here");
    case Node::Kind::operation:
      return operation_of(node, scene);
  }
  return {};
}

}  // namespace conclave::text
