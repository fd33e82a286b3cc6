#include "conclave/chain/detail/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/krylov.hpp"

namespace conclave::chain::detail {
namespace {

constexpr int most_power_steps = 150;
constexpr int most_sweeps = 60;
constexpr double settled = 1e-15;

// Scales to a largest entry of 1; returns what it was.
double normalize(std::span<double> v) {
  const double size = largest(v);
  for (double& value : v) value /= size;
  return size;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// An order in which most successors come before their predecessors, so that a sweep carries values
// far: next is always the state with the most probability to come from the others that are left,
// less that to go there (after Eades, Lin and Smyth 1993).
std::vector<std::uint32_t> sweeping_order(const LocalSystem& system) {
  const Transposed incoming = transposed(system);
  std::vector<double> surplus(system.size(), 0.0);
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      const double probability = system.values[k] / system.leaving[i];
      surplus[system.pattern.columns[k]] += probability;
      surplus[i] -= probability;
    }
  }
  std::priority_queue<std::pair<double, std::uint32_t>> queue;
  for (std::uint32_t i = 0; i < system.size(); ++i) queue.emplace(surplus[i], i);
  std::vector<bool> is_placed(system.size(), false);
  std::vector<std::uint32_t> order;
  const auto change = [&](std::uint32_t j, double by) {
    surplus[j] += by;
    if (!is_placed[j]) queue.emplace(surplus[j], j);
  };
  while (!queue.empty()) {
    const auto [value, i] = queue.top();
    queue.pop();
    if (is_placed[i] || value != surplus[i]) continue;  // an entry from before a change
    is_placed[i] = true;
    order.push_back(i);
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      change(system.pattern.columns[k], -system.values[k] / system.leaving[i]);
    }
    const auto& from = incoming.pattern;
    for (std::uint64_t k = from.starts[i]; k < from.starts[i + 1]; ++k) {
      change(from.columns[k], incoming.values[k] / system.leaving[from.columns[k]]);
    }
  }
  return order;
}

constexpr int most_digit_bits = 60;
constexpr int wide_bits = 125;           // of products that may be added in 128 bits
constexpr int enough_digits = 45;        // bits of a digit, so that 128 bits are worth while
constexpr int least_gain = 10;           // bits per step; with less, another method is faster
constexpr int most_bits_of_sweeps = 47;  // that doubles can hold beside the slow mode
constexpr KrylovLimits limits{.gain = 1e-11, .most_iterations = 100};

using ApproximateSolver =
    std::function<void(std::span<const double> right, std::span<long double> solution)>;

// Rounded twice, but several times as fast as the compiler's own conversion. The words of the
// absolute value, because those of a small negative number would be large.
double to_double(Int128 value) {
  __extension__ using Word128 = unsigned __int128;
  const Word128 size = value < 0 ? -static_cast<Word128>(value) : static_cast<Word128>(value);
  const double result = static_cast<double>(static_cast<std::uint64_t>(size >> 64)) * 0x1p64 +
                        static_cast<double>(static_cast<std::uint64_t>(size));
  return value < 0 ? -result : result;
}

double ratio(const mpz_class& a, const mpz_class& b) {
  long exponent_a = 0;
  long exponent_b = 0;
  const double mantissa_a = mpz_get_d_2exp(&exponent_a, a.get_mpz_t());
  const double mantissa_b = mpz_get_d_2exp(&exponent_b, b.get_mpz_t());
  return std::ldexp(mantissa_a / mantissa_b, static_cast<int>(exponent_a - exponent_b));
}
double ratio(Int128 a, Int128 b) { return to_double(a) / to_double(b); }

void shift(mpz_class& value, int bits) { value <<= static_cast<unsigned>(bits); }
void shift(Int128& value, int bits) { value *= static_cast<Int128>(1) << bits; }

// The equations divided by their right-hand sides, in doubles.
LocalSystem in_doubles(const IntegerEquations& equations) {
  LocalSystem system;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    mpz_class exit = equations.diagonal[i];
    for (std::uint64_t k = equations.pattern.starts[i]; k < equations.pattern.starts[i + 1]; ++k) {
      exit -= equations.values[k];
      system.pattern.columns.push_back(equations.pattern.columns[k]);
      system.values.push_back(ratio(equations.values[k], equations.right[i]));
    }
    system.end_row(ratio(exit, equations.right[i]));
  }
  return system;
}

// The digits of one unknown; digit k is worth 2^-places[k].
mpz_class joined(std::span<const std::int64_t> digits, std::span<const std::size_t> places) {
  if (digits.size() == 1) return {static_cast<long>(digits[0])};
  const std::size_t half = digits.size() / 2;
  const mpz_class high = joined(digits.first(half), places.first(half));
  return (high << (places.back() - places[half - 1])) +
         joined(digits.subspan(half), places.subspan(half));
}

// How many bits the largest remainder may have relative to its right-hand side, so that digits are
// not too large.
int bits_of_remainders(const RefinementGoal& goal, int digit_bits) {
  return digit_bits - 1 - static_cast<int>(std::ceil(std::log2(goal.largest)));
}

template <class Integer>
class Refinement {
 public:
  Refinement(const IntegerEquations& equations, const RefinementGoal& goal, int digit_bits)
      : remainder_(equations),
        right_(equations.size()),
        most_digit_(std::ldexp(1.0L, digit_bits)),
        remainder_bits_(bits_of_remainders(goal, digit_bits)),
        goal_bits_(static_cast<double>(goal.bits) + std::log2(goal.largest)),
        digits_(equations.size()),
        relative_(equations.size(), 1.0),
        solution_(equations.size()) {
    for (std::size_t i = 0; i < right_.size(); ++i) right_[i] = remainder_[i];
  }

  // False if the solver does not gain enough.
  bool run(const ApproximateSolver& solver, std::span<const std::uint32_t> unknowns) {
    kept_.resize(unknowns.size());
    for (double log_remainder = 0; goes_on(log_remainder); log_remainder = measure()) {
      const int gain = static_cast<int>(std::floor(remainder_bits_ - log_remainder));
      if (gain < least_gain) return false;
      move(std::min(gain, most_digit_bits));
      if (!find_digits(solver)) return false;
      remainder_.take(digits_);
      for (std::size_t k = 0; k < unknowns.size(); ++k) kept_[k].push_back(digits_[unknowns[k]]);
    }
    return true;
  }

  BinaryFractions result() const {
    BinaryFractions fractions{places_.back(), {}};
    for (const auto& digits : kept_) fractions.values.push_back(joined(digits, places_));
    return fractions;
  }

 private:
  // By the theorem behind certify(): the relative errors are at most those of the remainders.
  bool goes_on(double log_remainder) const {
    const double place = places_.empty() ? 0.0 : static_cast<double>(places_.back());
    return places_.empty() || log_remainder + goal_bits_ + 1 > place;
  }

  void move(int bits) {
    places_.push_back((places_.empty() ? 0 : places_.back()) + static_cast<std::size_t>(bits));
    for (std::size_t i = 0; i < remainder_.size(); ++i) shift(remainder_[i], bits);
    const double factor = std::ldexp(1.0, bits);
    for (double& value : relative_) value *= factor;
  }

  bool find_digits(const ApproximateSolver& solver) {
    solver(relative_, solution_);
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      if (!(std::abs(solution_[i]) < most_digit_)) return false;
      digits_[i] = std::llrint(solution_[i]);
    }
    return true;
  }

  // The logarithm of the largest remainder, relative to its right-hand side.
  double measure() {
    double largest = 0;
    for (std::size_t i = 0; i < remainder_.size(); ++i) {
      relative_[i] = ratio(remainder_[i], right_[i]);
      largest = std::max(largest, std::abs(relative_[i]));
    }
    return std::log2(largest);
  }

  Remainder<Integer> remainder_;
  std::vector<Integer> right_;
  long double most_digit_;  // larger ones might overflow
  int remainder_bits_;
  double goal_bits_;
  std::vector<std::int64_t> digits_;
  std::vector<double> relative_;  // remainders over right-hand sides
  std::vector<long double> solution_;
  std::vector<std::size_t> places_;
  std::vector<std::vector<std::int64_t>> kept_;
};

using Attempt = std::function<std::optional<BinaryFractions>(const ApproximateSolver&)>;

std::optional<BinaryFractions> by_sweeps(const LocalSystem& system, int bits,
                                         const Attempt& attempt) {
  auto sweeps = DeflatedSweeps::of(system, std::min(bits, most_bits_of_sweeps));
  if (!sweeps) return std::nullopt;
  return attempt([&](std::span<const double> right, std::span<long double> solution) {
    sweeps->solve(right, solution);
  });
}

std::optional<BinaryFractions> by_iterations(const LocalSystem& system, const Attempt& attempt) {
  const Factors incomplete(system, system.pattern, Factors::Extent::incomplete);
  const Preconditioner precondition = [&](std::span<double> v) { incomplete.solve(v); };
  std::vector<double> x(system.size());
  return attempt([&](std::span<const double> right, std::span<long double> solution) {
    bicgstab(system, precondition, right, x, limits);
    std::ranges::copy(x, solution.begin());
  });
}

template <class Integer>
std::optional<BinaryFractions> refine_with(const IntegerEquations& equations,
                                           std::span<const std::uint32_t> unknowns,
                                           const RefinementGoal& goal, int digit_bits) {
  const LocalSystem system = in_doubles(equations);
  const auto attempt = [&](const ApproximateSolver& solver) -> std::optional<BinaryFractions> {
    Refinement<Integer> refinement(equations, goal, digit_bits);
    if (!refinement.run(solver, unknowns)) return std::nullopt;
    return refinement.result();
  };
  const int bits = bits_of_remainders(goal, digit_bits) + 1;
  if (auto found = by_sweeps(system, bits, attempt)) return found;
  return by_iterations(system, attempt);
}

}  // namespace

std::optional<BinaryFractions> refine(const IntegerEquations& equations,
                                      std::span<const std::uint32_t> unknowns,
                                      const RefinementGoal& goal) {
  const int room =
      wide_bits - static_cast<int>(std::min<std::size_t>(equations.coefficient_bits(), wide_bits));
  return room >= enough_digits
             ? refine_with<Int128>(equations, unknowns, goal, std::min(room, most_digit_bits))
             : refine_with<mpz_class>(equations, unknowns, goal, most_digit_bits);
}

std::optional<DeflatedSweeps> DeflatedSweeps::of(const LocalSystem& system, int bits) {
  DeflatedSweeps sweeps(system);
  sweeps.find_mode();
  if (!(sweeps.contraction_ < 1)) return std::nullopt;
  const double needed = -bits / std::log2(sweeps.contraction_) + 2;
  if (!(needed <= most_sweeps)) return std::nullopt;
  sweeps.sweeps_ = static_cast<int>(std::ceil(needed));
  sweeps.find_weights();
  return sweeps;
}

DeflatedSweeps::DeflatedSweeps(const LocalSystem& given)
    : order_(sweeping_order(given)), start_(given.size()), rest_(given.size()) {
  const LocalSystem system = reordered(given, order_);
  for (std::size_t i = 0; i < system.size(); ++i) {
    const auto columns = system.pattern.row(i);
    const auto values = system.row_values(i);
    const double waiting = 1 / system.leaving[i];
    for (std::size_t k = 0; k < columns.size(); ++k) {
      values_.push_back(values[k] * waiting);
      columns_.push_back(columns[k]);
    }
    starts_.push_back(static_cast<std::uint32_t>(values_.size()));
    waiting_.push_back(waiting);
  }
}

void DeflatedSweeps::sweep(std::span<double> x) const {
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = start_[i];
    for (std::uint32_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      sum += values_[k] * x[columns_[k]];
    }
    x[i] = sum;
  }
}

// By the power method. How fast it settles is the contraction of everything but the mode.
void DeflatedSweeps::find_mode() {
  std::ranges::fill(start_, 0.0);
  mode_.assign(start_.size(), 1.0);
  double first = 0;
  for (int step = 0; step < most_power_steps; ++step) {
    std::vector<double> before = mode_;
    sweep(mode_);
    mode_factor_ = normalize(mode_);
    const double change = distance(mode_, before);
    if (step == 2) first = change;
    if (step > 2) contraction_ = std::pow(change / first, 1.0 / (step - 2));
    if (!(change > settled)) return;
  }
  contraction_ = 1;
}

// With M the part of the matrix up to the diagonal, whose inverse a sweep from 0 applies, one sweep
// multiplies errors by inverse(M) U; U is what is behind the diagonal.
std::vector<double> DeflatedSweeps::transposed_sweep(std::vector<double> weights) const {
  std::vector<double> result(weights.size(), 0.0);
  for (std::size_t i = weights.size(); i-- > 0;) {
    for (std::uint32_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      const std::uint32_t j = columns_[k];
      (j < i ? weights : result)[j] += values_[k] * weights[i];
    }
  }
  return result;
}

void DeflatedSweeps::find_weights() {
  weights_.assign(mode_.size(), 1.0);
  for (int step = 0; step < most_power_steps; ++step) {
    const std::vector<double> before = weights_;
    weights_ = transposed_sweep(weights_);
    normalize(weights_);
    if (!(distance(weights_, before) > settled)) break;
  }
  const double product = dot(weights_, mode_);
  for (double& weight : weights_) weight /= product;
  // The right-hand side whose solution is the mode, over the diagonal.
  start_of_mode_ = mode_;
  for (std::size_t i = 0; i < mode_.size(); ++i) {
    long double sum = mode_[i];
    for (std::uint32_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      sum -= static_cast<long double>(values_[k]) * mode_[columns_[k]];
    }
    start_of_mode_[i] = static_cast<double>(sum);
  }
}

// First how much of the mode the solution holds, then the rest.
void DeflatedSweeps::solve(std::span<const double> right, std::span<long double> x) {
  for (std::size_t i = 0; i < right.size(); ++i) start_[i] = right[order_[i]] * waiting_[i];
  std::ranges::fill(rest_, 0.0);
  sweep(rest_);
  const double of_mode = dot(weights_, rest_) / (1 - mode_factor_);
  add(start_, -of_mode, start_of_mode_);
  add(rest_, -of_mode * (1 - mode_factor_), mode_);
  for (int k = 1; k < sweeps_; ++k) sweep(rest_);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[order_[i]] = static_cast<long double>(of_mode) * mode_[i] + rest_[i];
  }
}

}  // namespace conclave::chain::detail
