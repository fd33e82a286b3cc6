#include "conclave/report/own_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/text/arithmetic.hpp"
#include "conclave/text/mistake.hpp"

namespace conclave::report {
namespace {

bool is_constant(std::string_view name) {
  return name.size() == 1 && name.front() >= 'a' && name.front() <= 'h';
}

text::Number number(double value) {
  const bool is_whole = std::abs(value) < 0x1p53 && value == std::floor(value);
  return is_whole ? text::Number(static_cast<std::int64_t>(value)) : text::Number::real(value);
}

std::vector<std::string> names_of(const std::string& law) {
  try {
    return text::names_in(law);
  } catch (const text::Mistake& mistake) {
    throw Error(fmt::format("the law '{}': {}", excerpt(law), mistake.what()));
  }
}

}  // namespace

OwnLaw::OwnLaw(std::string text, const std::vector<std::string>& variables)
    : text_(std::move(text)) {
  for (const std::string& name : names_of(text_)) {
    if (std::ranges::find(variables, name) != variables.end()) continue;
    if (is_constant(name)) {
      constants_.push_back(name);
      continue;
    }
    const std::vector<std::string_view> known(variables.begin(), variables.end());
    throw Error(fmt::format("the law '{}': {}; constants are the letters a to h", excerpt(text_),
                            unknown_name("variable", name, known)));
  }
  if (constants_.empty()) {
    throw Error(fmt::format(
        "the law '{}' has no constant to be fitted, such as the a of a*n*log(n)", excerpt(text_)));
  }
  Variables somewhere;
  for (const std::string& name : variables) {
    somewhere[name] = static_cast<double>(97 + somewhere.size());
  }
  if (terms(somewhere).empty()) refuse();
}

double OwnLaw::value(const Variables& variables, const std::vector<double>& constants) const {
  text::Constants known;
  for (const auto& [name, each] : variables) known[name] = number(each);
  for (std::size_t i = 0; i < constants.size(); ++i) known[constants_[i]] = number(constants[i]);
  try {
    return text::evaluate(text_, known).as_double();
  } catch (const text::NoValue&) {
    return NAN;
  } catch (const text::Mistake& mistake) {
    throw Error(fmt::format("the law '{}': {}", excerpt(text_), mistake.what()));
  } catch (const text::NumberError&) {
    return NAN;
  }
}

std::vector<double> OwnLaw::terms(const Variables& variables) const {
  std::vector<double> constants(constants_.size(), 0);
  std::vector<double> result{value(variables, constants)};
  double size = std::abs(result.front());
  double sum = result.front();
  for (std::size_t i = 0; i < constants.size(); ++i) {
    constants.assign(constants.size(), 0);
    constants[i] = 1;
    result.push_back(value(variables, constants) - result.front());
    size += std::abs(result.back()) * static_cast<double>(i + 2);
    sum += result.back() * static_cast<double>(i + 2);
  }
  for (std::size_t i = 0; i < constants.size(); ++i) constants[i] = static_cast<double>(i + 2);
  const double together = value(variables, constants);
  if (!std::isfinite(together) || !std::isfinite(sum)) return {};
  if (std::abs(together - sum) <= 1e-9 * size) return result;
  refuse();
}

void OwnLaw::refuse() const {
  throw Error(fmt::format("the law '{}' is not linear in its constants, as a*n*log(n) + b*n is",
                          excerpt(text_)));
}

}  // namespace conclave::report
