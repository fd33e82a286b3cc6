// Laws of growth and how well they fit: constants by least squares in relative error, so that a
// cell of a thousand agents counts as much as one of a million. Laws are compared by how well they
// predict a point that they have not seen, since one that has more freedom always comes nearer to
// those it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/statistics.hpp"
#include "conclave/report/own_law.hpp"

namespace conclave::report {

// The variables of a cell by name: n, N, r, c.
using Variables = OwnLaw::Variables;

// variable^power * (log2 variable)^log_power
struct Factor {
  std::string variable;
  double power = 0;
  double log_power = 0;
};

// A product of factors; without any it is 1.
struct Law {
  std::string name;  // "log n"; the constant is not part of it
  std::vector<Factor> factors{};
  bool with_offset = false;             // two constants, a f + b, instead of one
  std::shared_ptr<const OwnLaw> own{};  // a user's, instead of the product
};

// Nothing if a variable is unknown or the value is no positive number.
std::optional<double> shape(const Law& law, const Variables& variables);

struct Point {
  Variables variables;
  double mean = 0;  // positive
};

// A fitted law. `typical_error` is the root of the mean square of the relative errors, per degree
// of freedom that is left: a law with two constants gets nothing for free.
struct Fit {
  enum class Form : std::uint8_t { scaled, power, exponential };

  Law law;
  Form form = Form::scaled;
  double scale = 0;
  double offset = 0;
  double rate = 0;                  // the a of c x^a or c e^(a x)
  std::vector<double> constants{};  // of a user's law
  double typical_error = 0;
  double worst_error = 0;
  // The root of the mean square of the relative errors when each point is left out in turn and
  // predicted by the law fitted to the others; infinite where these are too few.
  double left_out_error = 0;
  Interval rate_interval{};      // of 95 %, for the forms with a rate: Student's, of the regression
  std::vector<double> ratios{};  // measured / fitted, in the order of the points
  double rise = 1;  // that ratio where the law is largest, over that where it is smallest

  std::string text() const;  // "2.31 log n + 4"
  // The value of the fitted law; nothing where it is undefined.
  std::optional<double> at(const Variables& variables) const;
};

// Nothing if some shape is undefined, or there are not more points than constants.
std::optional<Fit> fit(const Law& law, std::span<const Point> points);

// The best c x^a or c e^(a x) for one variable, by least squares in the logarithm: what the
// measurements say when no law is proposed.
std::optional<Fit> fit_free(Fit::Form form, std::string_view variable,
                            std::span<const Point> points);

// All that can be fitted, those that predict best first; ties in the order given.
std::vector<Fit> compare_laws(std::span<const Law> laws, std::span<const Point> points);

}  // namespace conclave::report
