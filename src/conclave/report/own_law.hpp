// A law that a user proposes, such as a*n*log(n) + b*n: an expression of variables, linear in its
// constants, the letters a to h that are no variables.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::report {

class OwnLaw {
 public:
  using Variables = std::map<std::string, double, std::less<>>;

  // Throws Error where it is no expression, has a name that is neither a variable nor a constant,
  // has no constant, or is not linear in them.
  OwnLaw(std::string text, const std::vector<std::string>& variables);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& constants() const { return constants_; }
  // The part without constants, then what each constant is multiplied by; none where the expression
  // has no value. Throws Error if it is not linear in its constants there.
  std::vector<double> terms(const Variables& variables) const;

 private:
  [[noreturn]] void refuse() const;
  double value(const Variables& variables, const std::vector<double>& constants) const;

  std::string text_;
  std::vector<std::string> constants_;
};

}  // namespace conclave::report
