#include "conclave/prove/weights.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace conclave::prove {
namespace {

constexpr unsigned effort_of_whole = 200'000;  // for weights that are nicer, not needed
constexpr int most_rounds_of_whole = 30;
constexpr std::size_t rows_at_a_time = 40;

z3::expr weighted(const std::vector<z3::expr>& weights, const Bag& bag) {
  z3::context& context = weights[0].ctx();
  const z3::sort sort = weights[0].get_sort();
  z3::expr_vector parts(context);
  parts.push_back(context.num_val(0, sort));
  for (const auto& [state, count] : bag) {
    parts.push_back(weights[state] * context.num_val(static_cast<int>(count), sort));
  }
  return sum(parts);
}

Bag bag_of(const Counts& counts) {
  Bag bag;
  for (std::size_t state = 0; state < counts.size(); ++state) {
    if (counts[state] != 0) bag.emplace_back(state, counts[state]);
  }
  return bag;
}

// Rational values times their common denominator; nothing beyond 62 bits.
std::optional<Counts> whole_values(const z3::model& model, const std::vector<z3::expr>& weights) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  std::vector<std::pair<std::int64_t, std::int64_t>> fractions;
  std::int64_t common = 1;
  for (const z3::expr& each : weights) {
    const z3::expr value = model.eval(each, true);
    std::int64_t above = 0, below = 0;
    if (!value.numerator().is_numeral_i64(above)) return std::nullopt;
    if (!value.denominator().is_numeral_i64(below) || below > most) return std::nullopt;
    if (above > most || above < -most) return std::nullopt;
    common = std::lcm(common, below);
    if (common > most) return std::nullopt;
    fractions.emplace_back(above, below);
  }
  Counts result;
  std::int64_t divisor = 0;
  for (const auto& [above, below] : fractions) {
    result.push_back(above * (common / below));
    divisor = std::gcd(divisor, result.back());
  }
  for (std::int64_t& each : result) each /= std::max<std::int64_t>(divisor, 1);
  return result;
}

}  // namespace

WeightSearch::Problem::Problem(Engine& engine, std::size_t states, std::int64_t low,
                               std::int64_t high)
    : most(high), solver(engine) {
  z3::context& context = engine.context();
  for (std::size_t state = 0; state < states; ++state) {
    const std::string name = "w" + std::to_string(state);
    weights.push_back(high == 0 ? context.real_const(name.c_str())
                                : context.int_const(name.c_str()));
    if (high != 0 || low == 0) solver.add(weights.back() >= context.int_val(low));
    if (high != 0) solver.add(weights.back() <= context.int_val(high));
  }
}

WeightSearch::WeightSearch(Engine& engine, const Net& net, std::vector<bool> live,
                           bool may_be_negative)
    : engine_(engine), net_(net), live_(std::move(live)) {
  for (const std::int64_t most : {0, 1, 2, 4}) {
    problems_.emplace_back(engine_, net_.states,
                           may_be_negative ? -std::max<std::int64_t>(most, 1) : 0, most);
  }
}

void WeightSearch::allow(const std::vector<bool>& live) { live_ = live; }

// Adds rows that these weights break, the worst first; how many.
std::size_t WeightSearch::give_broken(Problem& problem, const Counts& weights) {
  std::vector<std::pair<std::int64_t, std::size_t>> broken;
  for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
    if (!live_[t]) continue;
    const std::int64_t gain = weight_change(weights, net_.transitions[t]);
    if (gain > 0) broken.emplace_back(-gain, t);
  }
  std::ranges::sort(broken);
  broken.resize(std::min(broken.size(), rows_at_a_time));
  for (const auto& [gain, t] : broken) {
    problem.solver.add(weighted(problem.weights, Net::change(net_.transitions[t])) <= 0);
  }
  return broken.size();
}

std::optional<Counts> WeightSearch::solve(Problem& problem, const Counts& direction) {
  const z3::expr wanted = problem.solver.named(weighted(problem.weights, bag_of(direction)) >= 1);
  const bool is_whole = problem.most != 0;
  for (int round = 0; !is_whole || round < most_rounds_of_whole; ++round) {
    const unsigned effort = is_whole ? effort_of_whole : 0;
    if (problem.solver.check({wanted}, effort) != Answer::sat) return std::nullopt;
    auto weights = whole_values(problem.solver.model(), problem.weights);
    if (!weights || give_broken(problem, *weights) == 0) return weights;
  }
  return std::nullopt;
}

std::optional<Counts> WeightSearch::find(const Counts& direction) {
  auto rational = solve(problems_.front(), direction);
  if (!rational) return std::nullopt;
  const auto largest = [](const Counts& weights) {
    return std::ranges::max(weights, {}, [](std::int64_t each) { return std::abs(each); });
  };
  for (std::size_t i = 1; i < problems_.size(); ++i) {
    if (std::abs(largest(*rational)) <= problems_[i].most) break;
    if (auto whole = solve(problems_[i], direction)) return whole;
  }
  return rational;
}

}  // namespace conclave::prove
