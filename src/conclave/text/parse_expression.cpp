// Expressions by recursive descent: or, and, not, comparisons, sums, products, powers.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

// More than anyone writes, and far less than the stack holds.
constexpr int most_nested = 200;
constexpr int most_operations = 400;

constexpr Interactions largest_literal = Interactions(std::uint64_t{1} << 62) * Interactions(4u);

struct Function {
  std::string_view name;
  Operator operation;
  std::size_t arguments;
};
constexpr std::array<Function, 11> functions{{{"floor", Operator::floor, 1},
                                              {"ceil", Operator::ceiling, 1},
                                              {"round", Operator::nearest, 1},
                                              {"sqrt", Operator::square_root, 1},
                                              {"log2", Operator::binary_logarithm, 1},
                                              {"lg", Operator::binary_logarithm, 1},
                                              {"ln", Operator::natural_logarithm, 1},
                                              {"log", Operator::natural_logarithm, 1},
                                              {"min", Operator::minimum, 2},
                                              {"max", Operator::maximum, 2},
                                              {"abs", Operator::absolute, 1}}};
constexpr std::array<std::string_view, 4> counts{"count", "all", "any", "none"};
// min and max of two numbers are functions, of one expression they are aggregates.
constexpr std::array<std::string_view, 4> aggregates{"sum", "mean", "min", "max"};
constexpr std::array<std::string_view, 2> aggregates_alone{"sum", "mean"};

class ExpressionParser {
 public:
  explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}

  Expression disjunction() {
    Expression left = conjunction();
    while (cursor_.is_word("or"))
      left = joined(Operator::disjunction, std::move(left), [this] { return conjunction(); });
    return left;
  }

  Expression sum() {
    Expression left = product();
    for (;;) {
      if (cursor_.is("+"))
        left = joined(Operator::add, std::move(left), [this] { return product(); });
      else if (cursor_.is("-"))
        left = joined(Operator::subtract, std::move(left), [this] { return product(); });
      else
        return left;
    }
  }

 private:
  Expression operation(Operator which, Place place, std::vector<Expression> parts) {
    if (++operations_ > most_operations) throw Mistake(place, "this expression is too long");
    return {.form = Form::operation, .place = place, .operation = which, .parts = std::move(parts)};
  }

  // Takes the operator and its right side.
  template <class Right>
  Expression joined(Operator which, Expression left, Right right) {
    const Place place = cursor_.take().place;
    std::vector<Expression> parts;
    parts.push_back(std::move(left));
    parts.push_back(right());
    return operation(which, place, std::move(parts));
  }

  Expression conjunction() {
    Expression left = inversion();
    while (cursor_.is_word("and")) {
      left = joined(Operator::conjunction, std::move(left), [this] { return inversion(); });
    }
    return left;
  }

  Expression inversion() {
    if (!cursor_.is_word("not")) return comparison();
    const Nesting nesting(*this);
    const Place place = cursor_.take().place;
    return operation(Operator::negation, place, {inversion()});
  }

  static std::optional<Operator> comparing(const Token& token) {
    constexpr std::array<std::pair<std::string_view, Operator>, 6> all{
        {{"==", Operator::equal},
         {"!=", Operator::unequal},
         {"<", Operator::less},
         {"<=", Operator::less_equal},
         {">", Operator::greater},
         {">=", Operator::greater_equal}}};
    for (const auto& [symbol, which] : all) {
      if (token.is(symbol)) return which;
    }
    return std::nullopt;
  }

  // 0 < x < q means 0 < x and x < q.
  Expression comparison() {
    Expression left = sum();
    std::optional<Expression> chain;
    while (const auto which = comparing(cursor_.here())) {
      const Place place = cursor_.take().place;
      Expression right = sum();
      Expression link = operation(*which, place, {left, right});
      chain = chain ? operation(Operator::conjunction, place, {std::move(*chain), std::move(link)})
                    : std::move(link);
      left = std::move(right);
    }
    if (cursor_.is("=")) cursor_.expected("'==' to compare");
    return chain ? std::move(*chain) : std::move(left);
  }

  Expression product() {
    Expression left = factor();
    for (;;) {
      if (cursor_.is("*"))
        left = joined(Operator::multiply, std::move(left), [this] { return factor(); });
      else if (cursor_.is("/"))
        left = joined(Operator::divide, std::move(left), [this] { return factor(); });
      else if (cursor_.is_word("mod"))
        left = joined(Operator::modulo, std::move(left), [this] { return factor(); });
      else
        return left;
    }
  }

  Expression factor() {
    if (cursor_.is("-")) {
      const Nesting nesting(*this);
      const Place place = cursor_.take().place;
      return operation(Operator::negate, place, {factor()});
    }
    Expression base = primary();
    if (!cursor_.is("^")) return base;
    const Nesting nesting(*this);
    return joined(Operator::power, std::move(base), [this] { return factor(); });
  }

  Expression primary() {
    const Nesting nesting(*this);
    const Token& token = cursor_.here();
    if (token.kind == TokenKind::number) return number();
    if (cursor_.take_if("(")) {
      Expression inner = disjunction();
      cursor_.need(")", "to close the parenthesis");
      return inner;
    }
    if (token.kind != TokenKind::name) cursor_.expected("an expression");
    if (token.is_name("if")) return choice();
    if (cursor_.next().is("(")) return call();
    if ((token.is_name("u") || token.is_name("v")) && cursor_.next().is(".")) return member();
    return name();
  }

  Expression number() {
    const Token& token = cursor_.take();
    try {
      const bool is_whole = token.text.find_first_of(".-") == std::string_view::npos;
      return {.place = token.place, .number = is_whole ? whole(token.text, token) : decimal(token)};
    } catch (const NumberError& error) {
      throw Mistake(token.place, error.what());
    }
  }

  // 0.25, 1.5e6 and 1e-3 are exact fractions.
  static Number decimal(const Token& token) {
    const std::size_t exponent = std::min(token.text.find('e'), token.text.size());
    const std::size_t point = std::min(token.text.find('.'), exponent);
    const std::size_t digit = std::min(point + 1, exponent);
    const std::string_view fraction = token.text.substr(digit, exponent - digit);
    const std::string digits = std::string(token.text.substr(0, point)).append(fraction);
    if (fraction.size() > 30) throw Mistake(token.place, "this number has too many digits");
    const Number scale = power(Number(10), static_cast<std::int64_t>(fraction.size()));
    const Number mantissa = whole(digits, token) / scale;
    if (exponent == token.text.size()) return mantissa;
    if (token.text.substr(exponent).starts_with("e-")) {
      const auto divisor = parse_count("1e" + std::string(token.text.substr(exponent + 2)));
      if (!divisor || *divisor > largest_literal) {
        throw Mistake(token.place, fmt::format("{} is too close to zero: its denominator is larger "
                                               "than 2^64",
                                               token.text));
      }
      return mantissa / Number::from_whole(static_cast<Number::Whole>(divisor->as_wide()));
    }
    return mantissa * whole("1" + std::string(token.text.substr(exponent)), token);
  }

  static Number whole(std::string_view text, const Token& token) {
    const auto value = parse_count(text);
    if (!value || *value > largest_literal) {
      throw Mistake(token.place, fmt::format("{} is too large a number", token.text));
    }
    return Number::from_whole(static_cast<Number::Whole>(value->as_wide()));
  }

  Expression choice() {
    const Place place = cursor_.take().place;
    Expression condition = disjunction();
    cursor_.need_word("then", "after the condition");
    Expression yes = disjunction();
    cursor_.need_word("else", "after the first value");
    Expression no = disjunction();
    return operation(Operator::choice, place,
                     {std::move(condition), std::move(yes), std::move(no)});
  }

  Expression call() {
    const Token& token = cursor_.take();
    cursor_.take();
    std::vector<Expression> arguments;
    if (!cursor_.is(")")) {
      do {
        arguments.push_back(disjunction());
      } while (cursor_.take_if(","));
    }
    cursor_.need(")", fmt::format("after the arguments of {}", token.text));
    Expression result{.form = Form::call, .place = token.place, .name = std::string(token.text)};
    if (is_one_of(counts, token.text)) {
      need_arguments(token, 1, arguments.size());
      result.form = Form::count;
    }
    const bool is_alone = is_one_of(aggregates_alone, token.text);
    if (is_alone) need_arguments(token, 1, arguments.size());
    if (is_one_of(aggregates, token.text) && arguments.size() == 1) {
      result.form = Form::aggregate;
      result.parts = std::move(arguments);
      return result;
    }
    for (const Function& function : functions) {
      if (token.text != function.name) continue;
      need_arguments(token, function.arguments, arguments.size());
      result.form = Form::operation;
      result.operation = function.operation;
    }
    result.parts = std::move(arguments);
    return result;
  }

  static bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  }

  static void need_arguments(const Token& token, std::size_t wanted, std::size_t given) {
    if (given == wanted) return;
    throw Mistake(token.place, fmt::format("{} takes {} argument{}, not {}", token.text, wanted,
                                           wanted == 1 ? "" : "s", given));
  }

  Expression member() {
    const Token& agent = cursor_.take();
    cursor_.take();
    if (cursor_.here().kind != TokenKind::name) cursor_.expected("the name of a field");
    const Token& field = cursor_.take();
    return {.form = Form::member,
            .place = agent.place,
            .name = std::string(field.text),
            .agent = agent.text[0]};
  }

  Expression name() {
    const Token& token = cursor_.take();
    Expression result{.form = Form::name, .place = token.place, .name = std::string(token.text)};
    if (!cursor_.is("|")) return result;
    result.form = Form::one_of;
    result.names.push_back({result.name, token.place});
    while (cursor_.take_if("|")) result.names.push_back(cursor_.need_name("the name of a state"));
    return result;
  }

  // Objects to what would overflow the stack.
  struct Nesting {
    explicit Nesting(ExpressionParser& parser) : depth(parser.depth_) {
      if (++depth > most_nested) throw Mistake(parser.cursor_.place(), "this is nested too deeply");
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --depth; }
    int& depth;
  };

  Cursor& cursor_;
  int depth_ = 0;
  int operations_ = 0;
};

}  // namespace

std::vector<std::string_view> known_functions() {
  std::vector<std::string_view> names(counts.begin(), counts.end());
  names.insert(names.end(), aggregates_alone.begin(), aggregates_alone.end());
  for (const Function& function : functions) names.push_back(function.name);
  return names;
}

Expression parse_expression(Cursor& cursor) { return ExpressionParser(cursor).disjunction(); }
Expression parse_sum(Cursor& cursor) { return ExpressionParser(cursor).sum(); }

Expression parse_all(std::string_view text, Expression (*parse)(Cursor& cursor)) {
  Cursor cursor(text);
  Expression result = parse(cursor);
  if (cursor.here().kind == TokenKind::end_of_statement) cursor.take();
  if (cursor.here().kind != TokenKind::end_of_text) cursor.expected("the end of the expression");
  return result;
}

}  // namespace conclave::text
