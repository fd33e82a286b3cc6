// Expressions of numbers alone, such as 4*n or ceil(lg(n)), for those who write no protocol.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "conclave/text/number.hpp"

namespace conclave::text {

using Constants = std::map<std::string, Number, std::less<>>;

// The value, exact unless it is an inexact root or logarithm. Throws Mistake, whose place is a
// column of the expression.
Number evaluate(std::string_view expression, const Constants& constants);

}  // namespace conclave::text
