#include "conclave/text/outlook.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace conclave::text {
namespace {

constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();

Number magnitude(const Number& number) {
  return compare(number, 0) < 0 ? Number(0) - number : number;
}

// By how much one interaction can change a number; nothing where that is not easily known.
std::optional<Number> rate(const Node& node) {
  if (node.kind == Node::Kind::constant) return Number(0);
  if (node.kind == Node::Kind::count) return Number(2);
  if (node.kind != Node::Kind::operation) return std::nullopt;
  const std::optional<Number> first = rate(node.parts[0]);
  const std::optional<Number> second =
      node.parts.size() > 1 ? rate(node.parts[1]) : std::optional<Number>(0);
  if (!first || !second) return std::nullopt;
  const auto is_constant = [&](std::size_t i) {
    return node.parts[i].kind == Node::Kind::constant;
  };
  switch (node.operation) {
    case Operator::add:
    case Operator::subtract:
      return *first + *second;
    case Operator::negate:
    case Operator::absolute:
      return *first;
    case Operator::minimum:
    case Operator::maximum:
      return compare(*first, *second) > 0 ? *first : *second;
    case Operator::multiply:
      if (is_constant(0)) return magnitude(node.parts[0].constant) * *second;
      if (is_constant(1)) return magnitude(node.parts[1].constant) * *first;
      return std::nullopt;
    case Operator::divide:
      if (is_constant(1)) return *first / magnitude(node.parts[1].constant);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Two numbers at a distance d that come closer by at most r in one interaction differ, in the same
// direction, for the next ceil(d / r) - 1 interactions.
std::uint64_t steps_apart(const Node& comparison, const Scene& scene) try {
  const std::optional<Number> left = rate(comparison.parts[0]);
  const std::optional<Number> right = rate(comparison.parts[1]);
  if (!left || !right) return 0;
  const Number speed = *left + *right;
  if (compare(speed, 0) == 0) return for_ever;
  const Number distance =
      magnitude(evaluate(comparison.parts[0], scene) - evaluate(comparison.parts[1], scene));
  if (distance.is_real() || compare(distance, 0) == 0) return 0;
  const auto steps = (ceiling(distance / speed) - Number(1)).small();
  return steps ? static_cast<std::uint64_t>(*steps) : for_ever;
} catch (const NumberError&) {  // of numbers too large to compare so closely
  return 0;
}

// `decisive` is the value of one part that settles the whole.
Outlook joined(const Outlook& a, const Outlook& b, bool decisive) {
  if (a.holds == decisive && b.holds == decisive) return {decisive, std::max(a.steps, b.steps)};
  if (a.holds == decisive) return a;
  if (b.holds == decisive) return b;
  return {!decisive, std::min(a.steps, b.steps)};
}

}  // namespace

Outlook outlook(const Node& condition, const Scene& scene) {
  if (condition.kind == Node::Kind::constant) return {holds(condition, scene), for_ever};
  if (condition.kind == Node::Kind::silent) return {scene.is_silent, scene.silence_steps};
  if (condition.kind != Node::Kind::operation) return {holds(condition, scene), 0};
  const auto part = [&](std::size_t i) { return outlook(condition.parts[i], scene); };
  switch (condition.operation) {
    case Operator::conjunction:
      return joined(part(0), part(1), false);
    case Operator::disjunction:
      return joined(part(0), part(1), true);
    case Operator::negation: {
      const Outlook inner = part(0);
      return {!inner.holds, inner.steps};
    }
    case Operator::equal:
    case Operator::unequal:
    case Operator::less:
    case Operator::less_equal:
    case Operator::greater:
    case Operator::greater_equal:
      return {holds(condition, scene), steps_apart(condition, scene)};
    default:
      return {holds(condition, scene), 0};
  }
}

}  // namespace conclave::text
