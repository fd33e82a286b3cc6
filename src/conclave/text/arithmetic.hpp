// Expressions of numbers alone, such as 4*n or ceil(lg(n)), for those who write no protocol.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/number.hpp"

namespace conclave::text {

using Constants = std::map<std::string, Number, std::less<>>;

// The value, exact unless it is an inexact root or logarithm. Throws Mistake, whose place is a
// column of the expression, and NoValue where other constants might give it one.
Number evaluate(std::string_view expression, const Constants& constants);

// The names in an expression that are not functions, each once, in order of first appearance.
// Throws Mistake.
std::vector<std::string> names_in(std::string_view expression);

}  // namespace conclave::text
