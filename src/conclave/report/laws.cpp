#include "conclave/report/laws.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace conclave::report {
namespace {

std::optional<std::vector<double>> shapes(const Law& law, std::span<const Point> points) {
  std::vector<double> values;
  for (const Point& point : points) {
    const std::optional<double> value = shape(law, point.variables);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// Least squares of 1 = scale (f / y) + offset (1 / y).
bool solve(Fit& fit, std::span<const double> f, std::span<const Point> points) {
  double ff = 0, fo = 0, oo = 0, f1 = 0, o1 = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double by_f = f[i] / points[i].mean;
    const double by_one = 1 / points[i].mean;
    ff += by_f * by_f;
    fo += by_f * by_one;
    oo += by_one * by_one;
    f1 += by_f;
    o1 += by_one;
  }
  if (!fit.law.with_offset) {
    fit.scale = f1 / ff;
    return true;
  }
  const double determinant = ff * oo - fo * fo;
  if (!(determinant > 1e-12 * ff * oo)) return false;  // all shapes alike
  fit.scale = (f1 * oo - o1 * fo) / determinant;
  fit.offset = (o1 * ff - f1 * fo) / determinant;
  return true;
}

void measure_errors(Fit& fit, std::span<const Point> points, std::size_t constants) {
  double squares = 0;
  double smallest = INFINITY, largest = -INFINITY, ratio_at_smallest = 1, ratio_at_largest = 1;
  for (const Point& point : points) {
    const double fitted = fit.at(point.variables).value_or(NAN);
    const double error = fitted / point.mean - 1;
    squares += error * error;
    fit.worst_error = std::max(fit.worst_error, std::abs(error));
    fit.ratios.push_back(point.mean / fitted);
    if (fitted < smallest) ratio_at_smallest = fit.ratios.back();
    if (fitted > largest) ratio_at_largest = fit.ratios.back();
    smallest = std::min(smallest, fitted);
    largest = std::max(largest, fitted);
  }
  fit.rise = ratio_at_largest / ratio_at_smallest;
  fit.typical_error = std::sqrt(squares / static_cast<double>(points.size() - constants));
}

// Solves the equations, whose right side is the last column; nothing if they are degenerate.
std::optional<std::vector<double>> solved(std::vector<std::vector<double>> rows) {
  const std::size_t size = rows.size();
  for (std::size_t i = 0; i < size; ++i) {
    const double before = rows[i][i];
    for (std::size_t j = 0; j < i; ++j) {
      const double factor = rows[i][j] / rows[j][j];
      for (std::size_t k = j; k <= size; ++k) rows[i][k] -= factor * rows[j][k];
    }
    if (!(rows[i][i] > 1e-12 * before)) return std::nullopt;  // the matrix is positive
  }
  std::vector<double> result(size);
  for (std::size_t i = size; i-- > 0;) {
    double sum = rows[i][size];
    for (std::size_t k = i + 1; k < size; ++k) sum -= rows[i][k] * result[k];
    result[i] = sum / rows[i][i];
  }
  return result;
}

// Least squares of 1 = (terms[0] + sum of constant * term) / y.
std::optional<Fit> fitted_own(const Law& law, std::span<const Point> points) {
  const std::size_t count = law.own->constants().size();
  if (points.size() <= count) return std::nullopt;
  std::vector<std::vector<double>> rows(count, std::vector<double>(count + 1));
  for (const Point& point : points) {
    const std::vector<double> terms = law.own->terms(point.variables);
    if (terms.empty()) return std::nullopt;
    const double right = 1 - terms[0] / point.mean;
    for (std::size_t i = 0; i < count; ++i) {
      const double left = terms[i + 1] / point.mean;
      for (std::size_t k = 0; k < count; ++k) rows[i][k] += left * terms[k + 1] / point.mean;
      rows[i][count] += left * right;
    }
  }
  auto constants = solved(std::move(rows));
  if (!constants) return std::nullopt;
  Fit result{.law = law, .constants = std::move(*constants)};
  measure_errors(result, points, count);
  return result;
}

// Without what cross-validation says.
std::optional<Fit> fitted_law(const Law& law, std::span<const Point> points) {
  if (law.own) return fitted_own(law, points);
  const std::size_t constants = law.with_offset ? 2 : 1;
  const auto values = shapes(law, points);
  if (!values || points.size() <= constants) return std::nullopt;
  Fit result{.law = law};
  if (!solve(result, *values, points)) return std::nullopt;
  measure_errors(result, points, constants);
  return result;
}

struct Regression {  // of log y over x
  double slope = 0;
  double intercept = 0;
  double slope_error = 0;  // standard error; needs three points
};

std::optional<Regression> regression(std::span<const double> x, std::span<const Point> points) {
  const auto count = static_cast<double>(points.size());
  double sum_x = 0, sum_y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double y = std::log(points[i].mean);
    sum_x += x[i];
    sum_y += y;
    xx += x[i] * x[i];
    xy += x[i] * y;
    yy += y * y;
  }
  const double spread = xx - sum_x * sum_x / count;
  if (!(spread > 1e-12 * xx)) return std::nullopt;
  const double slope = (xy - sum_x * sum_y / count) / spread;
  const double left = yy - sum_y * sum_y / count - slope * slope * spread;
  return Regression{.slope = slope,
                    .intercept = (sum_y - slope * sum_x) / count,
                    .slope_error = std::sqrt(std::max(left, 0.0) / (count - 2) / spread)};
}

// Student's interval with two degrees of freedom less than there are points.
Interval slope_interval(const Regression& line, std::size_t points) {
  const auto count = static_cast<double>(points - 1);
  return mean_interval({.count = points - 1,
                        .mean = line.slope,
                        .variance = line.slope_error * line.slope_error * count});
}

std::optional<Fit> fitted_free(Fit::Form form, std::string_view variable,
                               std::span<const Point> points) {
  Fit result{.law = {.name = std::string(variable), .factors = {{std::string(variable), 1, 0}}},
             .form = form};
  auto values = shapes(result.law, points);
  if (!values || points.size() <= 2) return std::nullopt;
  if (form == Fit::Form::power) {
    for (double& value : *values) value = std::log(value);
  }
  const auto line = regression(*values, points);
  if (!line) return std::nullopt;
  result.rate = line->slope;
  result.scale = std::exp(line->intercept);
  result.rate_interval = slope_interval(*line, points.size());
  measure_errors(result, points, 2);
  return result;
}

// The error of points that `fit_to` has not seen.
template <class FitTo>
double left_out_error(std::span<const Point> points, const FitTo& fit_to) {
  double squares = 0;
  for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
    std::vector<Point> others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const std::optional<Fit> fitted = fit_to(others);
    if (!fitted) return INFINITY;
    const Point& unseen = points[left_out];
    const double error = fitted->at(unseen.variables).value_or(INFINITY) / unseen.mean - 1;
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(points.size()));
}

}  // namespace

std::optional<double> shape(const Law& law, const Variables& variables) {
  if (law.own) return std::nullopt;
  double value = 1;
  for (const Factor& factor : law.factors) {
    const auto found = variables.find(factor.variable);
    if (found == variables.end() || !(found->second > 0)) return std::nullopt;
    value *= std::pow(found->second, factor.power);
    if (factor.log_power != 0) value *= std::pow(std::log2(found->second), factor.log_power);
  }
  if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string Fit::text() const {
  if (law.own) {
    std::string text = law.own->text();
    for (std::size_t i = 0; i < constants.size(); ++i) {
      text += fmt::format("{} {} = {:.3g}", i == 0 ? " with" : ",", law.own->constants()[i],
                          constants[i]);
    }
    return text;
  }
  if (form == Form::power) return fmt::format("{:.3g} {}^{:.3f}", scale, law.name, rate);
  if (form == Form::exponential) return fmt::format("{:.3g} e^({:.3g} {})", scale, rate, law.name);
  std::string result = fmt::format("{:.3g}", scale);
  if (!law.factors.empty()) result += ' ' + law.name;
  if (law.with_offset) {
    result += fmt::format(" {} {:.3g}", offset < 0 ? '-' : '+', std::abs(offset));
  }
  return result;
}

std::optional<double> Fit::at(const Variables& variables) const {
  if (law.own) {
    const std::vector<double> terms = law.own->terms(variables);
    if (terms.empty()) return std::nullopt;
    double sum = terms.front();
    for (std::size_t i = 0; i < constants.size(); ++i) sum += constants[i] * terms[i + 1];
    return sum;
  }
  const std::optional<double> value = shape(law, variables);
  if (!value) return std::nullopt;
  if (form == Form::power) return scale * std::pow(*value, rate);
  if (form == Form::exponential) return scale * std::exp(rate * *value);
  return scale * *value + offset;
}

std::optional<Fit> fit(const Law& law, std::span<const Point> points) {
  std::optional<Fit> result = fitted_law(law, points);
  if (!result) return std::nullopt;
  result->left_out_error = left_out_error(
      points, [&](std::span<const Point> others) { return fitted_law(law, others); });
  return result;
}

std::optional<Fit> fit_free(Fit::Form form, std::string_view variable,
                            std::span<const Point> points) {
  std::optional<Fit> result = fitted_free(form, variable, points);
  if (!result) return std::nullopt;
  result->left_out_error = left_out_error(
      points, [&](std::span<const Point> others) { return fitted_free(form, variable, others); });
  return result;
}

std::vector<Fit> compare_laws(std::span<const Law> laws, std::span<const Point> points) {
  std::vector<Fit> fits;
  for (const Law& law : laws) {
    if (auto fitted = fit(law, points)) fits.push_back(std::move(*fitted));
  }
  std::ranges::stable_sort(fits, {}, &Fit::left_out_error);
  return fits;
}

}  // namespace conclave::report
