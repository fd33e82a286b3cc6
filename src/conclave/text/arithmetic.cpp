#include "conclave/text/arithmetic.hpp"

#include "conclave/text/cursor.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/resolver.hpp"

namespace conclave::text {

Number evaluate(std::string_view expression, const Constants& constants) {
  Cursor cursor(expression);
  const Expression syntax = parse_sum(cursor);
  if (cursor.here().kind == TokenKind::end_of_statement) cursor.take();
  if (cursor.here().kind != TokenKind::end_of_text) cursor.expected("the end of the expression");
  const Document nothing;
  Resolver resolver(nothing, constants);
  return evaluate(resolver.number(syntax, Scope::constant), {});
}

}  // namespace conclave::text
