// The arithmetic behind the samplers of counts against 50 digits: errors and bounds of errors.
#include "conclave/base/detail/contingency.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/detail/inversion.hpp"
#include "conclave/base/detail/logarithms.hpp"

#include "tests/support/count_laws.hpp"

namespace conclave::tests {
namespace {

double relative_error(double value, const Digits50& exact) {
  return static_cast<double>(abs(value - exact) / abs(exact));
}

TEST(Logarithms, AreAccurate) {
  for (double x = 0x1p-60; x < 0x1p60; x *= 1.0371) {
    if (x == 1) continue;
    EXPECT_LT(relative_error(detail::log_of(x), log(Digits50(x))), 0x1p-50) << x;
    EXPECT_LT(std::abs(detail::log_of<4>(x) - std::log(x)), 0x1p-30) << x;
  }
  for (double t = 0x1p-40; t < 30; t *= 1.0371) {
    EXPECT_LT(relative_error(detail::log1p_minus(t), log(1 + Digits50(t)) - t), 0x1p-48) << t;
    if (t >= 1) continue;
    EXPECT_LT(relative_error(detail::log1p_minus(-t), log(1 - Digits50(t)) + t), 0x1p-48) << -t;
  }
  for (double x = -40; x < 40; x += 0.0371) {
    EXPECT_LT(relative_error(detail::exp_of(x), exp(Digits50(x))), 0x1p-50) << x;
  }
}

TEST(Stirling, IsAccurate) {
  for (std::uint64_t x = 1; x < std::uint64_t{1} << 50; x += 1 + x / 7) {
    const Digits50 two_pi = 2 * boost::math::constants::pi<Digits50>();
    const Digits50 exact =
        log_factorial(x) - (Digits50(x) + 0.5) * log(Digits50(x)) + x - log(two_pi) / 2;
    const double error = static_cast<double>(abs(detail::stirling(static_cast<double>(x)) - exact));
    EXPECT_LT(error, 0x1p-52) << x;
  }
}

TEST(Mean, IsExact) {
  const std::uint64_t largest = std::uint64_t{1} << 62;
  for (const std::uint64_t a : {std::uint64_t{1}, std::uint64_t{999}, largest / 3, largest - 1}) {
    for (const std::uint64_t b : {std::uint64_t{1}, std::uint64_t{12345678901}, largest / 2}) {
      for (const std::uint64_t divisor : {largest - 1, largest, std::max(a, b)}) {
        const detail::Mean mean = detail::mean_of(a, b, divisor);
        const Digits50 exact = Digits50(a) * b / divisor;
        EXPECT_LT(std::abs(mean.rest), 1) << a << " " << b << " " << divisor;
        EXPECT_LT(abs(Digits50(mean.whole) + mean.rest - exact), Digits50(0x1p-52));
      }
    }
  }
}

struct Table {
  Draw draw;
  detail::Mean mean = detail::mean_of(draw.marked, draw.draws, draw.total);
  std::uint64_t neither = draw.total - draw.marked - draw.draws;
  std::vector<detail::Cell> cells{detail::Cell(mean.value),
                                  detail::Cell(detail::real(draw.marked) - mean.value),
                                  detail::Cell(detail::real(draw.draws) - mean.value),
                                  detail::Cell(detail::real(neither) + mean.value)};

  double excess(std::uint64_t k) const {
    return static_cast<double>(static_cast<std::int64_t>(k - mean.whole)) - mean.rest;
  }
  double cost(std::uint64_t k) const {
    return cells[0].cost(detail::real(k), excess(k)) +
           cells[1].cost(detail::real(draw.marked - k), -excess(k)) +
           cells[2].cost(detail::real(draw.draws - k), -excess(k)) +
           cells[3].cost(detail::real(neither + k), excess(k));
  }
  Digits50 exact_log(std::uint64_t k) const {
    return log_choose(draw.marked, k) + log_choose(draw.total - draw.marked, draw.draws - k);
  }
};

// The tables that go to rejection: draws <= marked <= total / 2, mean at least 10.
std::vector<Table> tables() {
  const std::uint64_t largest = std::uint64_t{1} << 62;
  std::vector<Table> all;
  for (const Draw& draw : {Draw{40, 20, 20},
                           Draw{44, 22, 22},
                           Draw{66, 33, 33},
                           Draw{200, 80, 40},
                           Draw{300, 80, 60},
                           Draw{100, 50, 40},
                           Draw{1000, 100, 100},
                           Draw{1000, 500, 20},
                           Draw{1000, 500, 500},
                           Draw{1'000'000, 10'000, 1000},
                           Draw{1'000'000, 500'000, 21},
                           Draw{std::uint64_t{1} << 50, std::uint64_t{1} << 48, 30'000'000},
                           Draw{largest, largest / 2, 20},
                           Draw{largest, largest / 2, 33},
                           Draw{largest, largest / 100, 1600},
                           Draw{largest, largest / 10, 163},
                           Draw{10'000'000'000, 1'600'000, 100'000},
                           Draw{largest, largest / 3, 1000},
                           Draw{largest, std::uint64_t{1} << 36, std::uint64_t{1} << 31},
                           Draw{largest, largest / 2, std::uint64_t{1} << 31},
                           Draw{largest, largest / 2, largest / 2}}) {
    all.push_back({draw});
  }
  return all;
}

// Each k of small tables, a grid of up to ten standard deviations around the mean of large ones.
std::vector<std::uint64_t> contents(const Table& table) {
  const double deviation = std::sqrt(table.draw.variance());
  const auto stride = static_cast<std::uint64_t>(deviation / 16 + 1);
  const auto reach = static_cast<std::uint64_t>(10 * deviation);
  const std::uint64_t whole = table.mean.whole;
  std::vector<std::uint64_t> all;
  for (std::uint64_t k = whole > reach ? whole - reach : 0;
       k <= std::min(table.draw.draws, whole + reach); k += stride) {
    all.push_back(k);
  }
  return all;
}

TEST(Cells, GiveRatiosOfProbabilitiesWithoutLosingDigits) {
  for (const Table& table : tables()) {
    const Digits50 at_mean = table.exact_log(table.mean.whole);
    for (const std::uint64_t k : contents(table)) {
      const double cost = table.cost(k) - table.cost(table.mean.whole);
      const Digits50 exact = at_mean - table.exact_log(k);
      EXPECT_LT(abs(cost - exact), Digits50(0x1p-48 * (1 + cost)))
          << table.draw.name() << ", k = " << k;
    }
  }
}

TEST(Cells, NeverCostLessThanTheBoundThatRejectionAssumes) {
  for (const Table& table : tables()) {
    for (const std::uint64_t k : contents(table)) {
      EXPECT_GE(table.cost(k), -1 / (8 * table.mean.value)) << table.draw.name() << ", k = " << k;
    }
  }
}

TEST(Cells, LieInTheRectangleOfRejection) {
  for (const Table& table : tables()) {
    const double half_width = detail::rectangle_width(table.draw.variance()) / 2;
    const double bound = 1 / (8 * table.mean.value);
    for (const std::uint64_t k : contents(table)) {
      const double reach = std::abs(table.excess(k)) + 0.5;
      EXPECT_LE(std::exp(-(table.cost(k) + bound) / 2) * reach, half_width)
          << table.draw.name() << ", k = " << k;
    }
  }
}

detail::QuickCost quick_cost(const Table& table) {
  const double both = table.mean.value;
  const double marked = detail::real(table.draw.marked) - both;
  const double drawn = detail::real(table.draw.draws) - both;
  return {detail::Pair{both, detail::real(table.neither) + both}, detail::Pair{marked, drawn}};
}

TEST(QuickCost, IsWithinItsErrorBound) {
  for (const Table& table : tables()) {
    const detail::QuickCost quick = quick_cost(table);
    for (const std::uint64_t k : contents(table)) {
      const double excess = table.excess(k);
      if (quick.nearest(excess) != excess) continue;
      EXPECT_LE(std::abs(quick.cost(excess) - table.cost(k)), quick.error(excess))
          << table.draw.name() << ", k = " << k;
    }
  }
}

TEST(QuickCost, BoundsTheCostFartherAwayFromBelow) {
  std::size_t checked = 0;
  for (const Table& table : tables()) {
    const detail::QuickCost quick = quick_cost(table);
    for (const std::uint64_t k : contents(table)) {
      const double nearest = quick.nearest(table.excess(k));
      if (nearest == table.excess(k)) continue;
      ++checked;
      EXPECT_GE(table.cost(k), quick.cost(nearest) - quick.error(nearest))
          << table.draw.name() << ", k = " << k;
    }
  }
  EXPECT_GE(checked, 10u);
}

// The rejection sampler decides by these bounds before it computes a logarithm.
TEST(Logarithm, LiesBetweenItsBounds) {
  for (double x = 0x1p-53; x <= 1; x = x < 0.5 ? x * 1.01 : x + 0x1p-12) {
    EXPECT_GE(2 * std::log(x), x - 1 / x - 1e-15);
    EXPECT_LE(2 * std::log(x), x * (4 - x) - 3 + 1e-15);
  }
}

}  // namespace
}  // namespace conclave::tests
