#include "conclave/text/arithmetic.hpp"

#include <algorithm>

#include "conclave/text/cursor.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/resolver.hpp"

namespace conclave::text {
namespace {

void collect_names(const Expression& expression, std::vector<std::string>& names) {
  const bool is_new = std::ranges::find(names, expression.name) == names.end();
  if (expression.form == Form::name && is_new) names.push_back(expression.name);
  for (const Expression& part : expression.parts) collect_names(part, names);
}

}  // namespace

Number evaluate(std::string_view expression, const Constants& constants) {
  const Document nothing;
  Resolver resolver(nothing, constants);
  return evaluate(resolver.number(parse_all(expression, parse_sum), Scope::constant), {});
}

std::vector<std::string> names_in(std::string_view expression) {
  std::vector<std::string> names;
  collect_names(parse_all(expression, parse_sum), names);
  return names;
}

}  // namespace conclave::text
