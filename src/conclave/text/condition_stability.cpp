// For how long a condition about a population keeps its value.
#include <algorithm>
#include <limits>
#include <optional>

#include "conclave/text/condition_tally.hpp"

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

// Between which numbers an expression stays.
struct Range {
  Number low;
  Number high;
};

const Number& smaller(const Number& a, const Number& b) { return compare(b, a) < 0 ? b : a; }
const Number& larger(const Number& a, const Number& b) { return compare(b, a) > 0 ? b : a; }

Range hull(const Number& a, const Number& b, const Number& c, const Number& d) {
  return {smaller(smaller(a, b), smaller(c, d)), larger(larger(a, b), larger(c, d))};
}

Range product(const Range& a, const Range& b) {
  return hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
}

std::optional<Range> quotient(const Range& a, const Range& b) {
  if (compare(b.low, 0) <= 0 && compare(b.high, 0) >= 0) return std::nullopt;
  return hull(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
}

std::optional<Range> power(const Range& base, const Range& exponent) {
  const auto times = exponent.low.small();
  if (!times || *times < 0 || *times > 8 || compare(exponent.low, exponent.high) != 0) {
    return std::nullopt;
  }
  Range result{1, 1};
  for (std::int64_t i = 0; i < *times; ++i) result = product(result, base);
  return result;
}

Range absolute(const Range& a) {
  if (compare(a.low, 0) >= 0) return a;
  const Range opposite{Number(0) - a.high, Number(0) - a.low};
  if (compare(a.high, 0) <= 0) return opposite;
  return {0, larger(opposite.high, a.high)};
}

std::optional<Range> combined(Operator operation, const Range& a, const Range& b) {
  switch (operation) {
    case Operator::add:
      return Range{a.low + b.low, a.high + b.high};
    case Operator::subtract:
      return Range{a.low - b.high, a.high - b.low};
    case Operator::negate:
      return Range{Number(0) - a.high, Number(0) - a.low};
    case Operator::absolute:
      return absolute(a);
    case Operator::minimum:
      return Range{smaller(a.low, b.low), smaller(a.high, b.high)};
    case Operator::maximum:
      return Range{larger(a.low, b.low), larger(a.high, b.high)};
    case Operator::multiply:
      return product(a, b);
    case Operator::divide:
      return quotient(a, b);
    case Operator::power:
      return power(a, b);
    case Operator::floor:
      return Range{floor(a.low), floor(a.high)};
    case Operator::ceiling:
      return Range{ceiling(a.low), ceiling(a.high)};
    case Operator::nearest:
      return Range{nearest_whole(a.low), nearest_whole(a.high)};
    default:
      return std::nullopt;
  }
}

// During this many interactions; nothing where that is not easily known. Roots and logarithms are
// left out, for their last digit need not grow with what they are taken of.
std::optional<Range> range(const Node& node, const Scene& scene, std::uint64_t steps) {
  if (node.kind == Node::Kind::constant && !node.constant.is_real()) {
    return Range{node.constant, node.constant};
  }
  if (node.kind == Node::Kind::count) {
    const Number count = Number::from_whole(scene.counts[node.index]);
    const Number change = Number::from_whole(Number::Whole{steps} * 2);
    return Range{larger(0, count - change), count + change};
  }
  if (node.kind != Node::Kind::operation) return std::nullopt;
  const std::optional<Range> first = range(node.parts[0], scene, steps);
  const std::optional<Range> second =
      node.parts.size() > 1 ? range(node.parts[1], scene, steps) : first;
  if (!first || !second || node.parts.size() > 2) return std::nullopt;
  return combined(node.operation, *first, *second);
}

// The same of one side of a comparison, which may also be a real number: other numbers are rounded
// when they are compared with it.
std::optional<Range> range_of_side(const Node& node, const Scene& scene, std::uint64_t steps) {
  if (node.kind != Node::Kind::constant || !node.constant.is_real()) {
    return range(node, scene, steps);
  }
  const Number slack = ceiling(magnitude(node.constant) * Number::real(0x1p-50)) + Number(1);
  return Range{floor(node.constant) - slack, ceiling(node.constant) + slack};
}

bool stay_apart(const Node& comparison, const Scene& scene, std::uint64_t steps) try {
  const std::optional<Range> left = range_of_side(comparison.parts[0], scene, steps);
  const std::optional<Range> right = range_of_side(comparison.parts[1], scene, steps);
  if (!left || !right) return false;
  return compare(left->high, right->low) < 0 || compare(right->high, left->low) < 0;
} catch (const NumberError&) {  // of numbers too large to compare so closely
  return false;
}

// Not the most, but at least half as many.
std::uint64_t steps_by_ranges(const Node& comparison, const Scene& scene) {
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  std::uint64_t steps = 0;
  for (std::uint64_t next = 1; next <= most && stay_apart(comparison, scene, next); next *= 2) {
    steps = next;
  }
  return steps;
}

// Two numbers at a distance d that come closer by at most r in one interaction differ, in the same
// direction, for the next ceil(d / r) - 1 interactions.
std::uint64_t steps_apart(const Node& comparison, const Scene& scene) try {
  const std::optional<Number> left = rate(comparison.parts[0]);
  const std::optional<Number> right = rate(comparison.parts[1]);
  if (!left || !right) return steps_by_ranges(comparison, scene);
  const Number speed = *left + *right;
  if (compare(speed, 0) == 0) return for_ever;
  const Number distance =
      magnitude(evaluate(comparison.parts[0], scene) - evaluate(comparison.parts[1], scene));
  if (distance.is_real()) return steps_by_ranges(comparison, scene);
  if (compare(distance, 0) == 0) return 0;
  const auto steps = (ceiling(distance / speed) - Number(1)).small();
  return steps ? static_cast<std::uint64_t>(*steps) : for_ever;
} catch (const NumberError&) {
  return 0;
}

// `decisive` is the value of one part that settles the whole.
ConditionStability joined(const ConditionStability& a, const ConditionStability& b, bool decisive) {
  if (a.holds == decisive && b.holds == decisive) return {decisive, std::max(a.steps, b.steps)};
  if (a.holds == decisive) return a;
  if (b.holds == decisive) return b;
  return {!decisive, std::min(a.steps, b.steps)};
}

}  // namespace

ConditionStability stability_of(const Node& condition, const Scene& scene) {
  if (condition.kind == Node::Kind::constant) return {holds(condition, scene), for_ever};
  if (condition.kind == Node::Kind::silent) return {scene.is_silent, scene.silence_steps};
  if (condition.kind != Node::Kind::operation) return {holds(condition, scene), 0};
  const auto part = [&](std::size_t i) { return stability_of(condition.parts[i], scene); };
  switch (condition.operation) {
    case Operator::conjunction:
      return joined(part(0), part(1), false);
    case Operator::disjunction:
      return joined(part(0), part(1), true);
    case Operator::negation: {
      const ConditionStability inner = part(0);
      return {!inner.holds, inner.steps};
    }
    default:
      return {holds(condition, scene),
              is_comparison(condition.operation) ? steps_apart(condition, scene) : 0};
  }
}

}  // namespace conclave::text
