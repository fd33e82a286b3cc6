// A whole file: its statements, one after the other. cursor.hpp names the parts of the grammar.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

class Parser {
 public:
  Parser(std::string_view text, Dialect dialect, std::uint32_t file)
      : cursor_(text, dialect == Dialect::protocol, file), dialect_(dialect) {}

  Document document() {
    while (cursor_.here().kind != TokenKind::end_of_text) {
      statement();
      cursor_.end_statement();
    }
    if (dialect_ == Dialect::rule_list) complete_rule_list(document_);
    if (dialect_ == Dialect::network || !document_.reactions.empty()) {
      complete_network(document_, dialect_);
    }
    split_horizon();
    return std::move(document_);
  }

 private:
  struct Statement {
    std::string_view keyword;
    void (Parser::*parse)();
    bool is_late = false;
  };
  static constexpr std::size_t statement_count = 23;
  static const std::array<Statement, statement_count>& statements();

  void statement() {
    const Token& first = cursor_.here();
    if (dialect_ == Dialect::network && parse_network_statement(cursor_, document_)) return;
    std::vector<std::string_view> keywords;
    for (const Statement& each : statements()) {
      keywords.push_back(each.keyword);
      if (!first.is_name(each.keyword) || !begins(each)) continue;
      cursor_.take();
      return (this->*each.parse)();
    }
    if (begins_rule(cursor_, dialect_))
      return document_.rules.push_back(parse_rule(cursor_, dialect_));
    const std::string_view nearest =
        first.kind == TokenKind::name ? nearest_name(first.text, keywords) : std::string_view();
    const std::string hint = nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
    throw Mistake(first.place,
                  fmt::format("expected a rule such as A + B -> A + A, or one of {}; found {}{}",
                              join_parts(keywords, ", "), described(first), hint));
  }

  // A word that came later into the language still names states: `step + A -> A + A` is a rule.
  bool begins(const Statement& statement) const {
    if (statement.keyword == "reactions") return cursor_.next().is("{");
    return !statement.is_late || !begins_rule(cursor_, dialect_);
  }

  void once(bool is_there, std::string_view what) const {
    if (is_there) throw Mistake(cursor_.place(), fmt::format("{} was given before", what));
  }

  void title() {
    once(!document_.title.empty(), "the title");
    document_.title = cursor_.need_string("a title in quotes");
  }

  void paper() {
    once(!document_.paper.empty(), "the paper");
    document_.paper = cursor_.need_string("a reference in quotes");
  }

  void param() {
    ParameterText parameter{.name = cursor_.need_name("the name of the parameter"), .fallback = {}};
    cursor_.need("=", "and the default, such as param q = 100 in 2..1000");
    const Token& fallback = cursor_.here();
    parameter.fallback = parse_sum(cursor_);
    parameter.fallback_text = cursor_.written_since(fallback);
    if (cursor_.take_word_if("in")) {
      const Token& range = cursor_.here();
      parameter.low = parse_sum(cursor_);
      cursor_.need("..", "between the smallest and the largest value");
      parameter.high = parse_sum(cursor_);
      parameter.range_text = cursor_.written_since(range);
    }
    parameter.meaning = cursor_.optional_string();
    document_.parameters.push_back(std::move(parameter));
  }

  void let() { document_.definitions.push_back(definition("the name to define")); }

  Definition definition(std::string_view wanted) {
    Name name = cursor_.need_name(wanted);
    return definition_of(std::move(name));
  }

  Definition definition_of(Name name) {
    cursor_.need("=", "and an expression");
    const Token& begin = cursor_.here();
    Expression value = parse_expression(cursor_);
    return {std::move(name), std::move(value), meaning_or_text(begin)};
  }

  // The meaning of something, in quotes behind it, or how it was written.
  std::string meaning_or_text(const Token& begin) {
    const std::string written = cursor_.written_since(begin);
    const std::string meaning = cursor_.optional_string();
    return meaning.empty() ? written : meaning;
  }

  void states() {
    FieldText field{.name = {state_field, cursor_.place()}};
    field.values = names("the name of a state");
    document_.fields.push_back(std::move(field));
  }

  std::vector<Name> names(std::string_view wanted) {
    std::vector<Name> result;
    do {
      result.push_back(cursor_.need_name(wanted));
    } while (cursor_.take_if(","));
    return result;
  }

  void fields() {
    do {
      FieldText field{.name = cursor_.need_name("the name of a field")};
      cursor_.need(":", "and what the field can hold: bool, a range such as 0..9, or {A, B}");
      domain(field);
      document_.fields.push_back(std::move(field));
    } while (cursor_.take_if(","));
  }

  void domain(FieldText& field) {
    if (cursor_.take_word_if("bool")) return;
    if (cursor_.take_if("{")) {
      field.values = names("a value");
      return cursor_.need("}", "after the values");
    }
    field.low = parse_sum(cursor_);
    cursor_.need("..", "between the smallest and the largest value");
    field.high = parse_sum(cursor_);
  }

  void leader() {
    once(document_.leader.has_value(), "the leader");
    document_.leader = definition_of({"leader", cursor_.place()});
  }

  void output() { document_.outputs.push_back(definition("the name of the output")); }
  void observe() { document_.observables.push_back(definition("the name of the observable")); }

  void stop() {
    once(document_.stop.has_value(), "when to stop");
    cursor_.need_word("when", "and a condition such as count(leader) == 1");
    const Token& begin = cursor_.here();
    document_.stop = parse_expression(cursor_);
    if (cursor_.take_word_if("for")) document_.lasting = parse_sum(cursor_);
    document_.stop_text = cursor_.written_since(begin);
  }

  void hold() {
    once(document_.hold.has_value(), "what must hold");
    cursor_.need_word("while", "and a condition such as count(leader) == 1");
    document_.hold = parse_expression(cursor_);
  }

  // `stop when C or time >= 10` stops where C holds, and has a horizon beside it. A file may have a
  // parameter or a definition of that name, which is then meant.
  void split_horizon() {
    const auto is_time = [](const auto& each) { return each.name.text == "time"; };
    if (!document_.stop || std::ranges::any_of(document_.parameters, is_time) ||
        std::ranges::any_of(document_.definitions, is_time)) {
      return;
    }
    const Place place = document_.stop->place;
    std::optional<Expression> rest = without_time(std::move(*document_.stop));
    if (!rest) rest = Expression{.form = Form::name, .place = place, .name = "false"};
    document_.stop = std::move(rest);
  }

  // The condition without `time >= ...`, which becomes the horizon; nothing if that was all.
  std::optional<Expression> without_time(Expression condition) {
    if (condition.form != Form::operation) return condition;
    if (condition.operation == Operator::greater_equal && condition.parts[0].form == Form::name &&
        condition.parts[0].name == "time") {
      if (document_.horizon) throw Mistake(condition.place, "there are two times to stop at");
      document_.horizon = std::move(condition.parts[1]);
      return std::nullopt;
    }
    if (condition.operation != Operator::disjunction) return condition;
    std::optional<Expression> left = without_time(std::move(condition.parts[0]));
    std::optional<Expression> right = without_time(std::move(condition.parts[1]));
    if (!left || !right) return left ? std::move(left) : std::move(right);
    condition.parts[0] = std::move(*left);
    condition.parts[1] = std::move(*right);
    return condition;
  }

  void fail() {
    once(document_.fail.has_value(), "when to fail");
    cursor_.need_word("when", "and a condition such as count(leader) == 0");
    document_.fail = parse_expression(cursor_);
  }

  // Behind `always`, or its other name `invariant`.
  void always() { add_property(document_.properties); }
  void eventually() { add_property(document_.goals); }

  void add_property(std::vector<PropertyText>& properties) {
    constexpr std::size_t most_properties = 16;
    if (document_.properties.size() + document_.goals.size() == most_properties) {
      throw Mistake(cursor_.place(),
                    fmt::format("a file has at most {} properties", most_properties));
    }
    const Token& begin = cursor_.here();
    PropertyText property{.condition = parse_expression(cursor_)};
    property.text = cursor_.written_since(begin);
    properties.push_back(std::move(property));
  }

  void computes() { document_.computations.push_back(parse_computation(cursor_)); }

  void start() {
    StartText start{.name = cursor_.need_start_name()};
    cursor_.need(":", "and who starts how, such as 1 of A, rest of B");
    const Token& begin = cursor_.here();
    do {
      start.items.push_back(start_item());
    } while (cursor_.take_if(","));
    start.meaning = meaning_or_text(begin);
    document_.starts.push_back(std::move(start));
  }

  StartItem start_item() {
    using Kind = StartItem::Kind;
    StartItem item{.place = cursor_.place()};
    if (cursor_.take_word_if("evenly")) {
      item.kind = Kind::evenly;
      return item;
    }
    if (cursor_.take_word_if("randomly")) {
      item.kind = Kind::randomly;
      return item;
    }
    if (cursor_.take_word_if("all")) {
      item.kind = Kind::all;
    } else if (cursor_.take_word_if("rest")) {
      item.kind = Kind::rest;
    } else {
      item.count = parse_sum(cursor_);
      if (cursor_.take_if("%")) item.kind = Kind::percentage;
    }
    cursor_.need_word("of", "and a state, such as n/2 of A or rest of B");
    item.target = start_target();
    return item;
  }

  Target start_target() {
    Target result{.place = cursor_.place()};
    if (!cursor_.is("{")) result.state = cursor_.need_name("a state");
    parse_braces(cursor_, dialect_, result);
    return result;
  }

  void unordered_rule() { document_.rules.push_back(parse_unordered_rule(cursor_, dialect_)); }

  void reactions() { parse_reactions(cursor_, document_); }

  void step() {
    StepText step{.name = cursor_.need_name("the name of the step")};
    step.body = parse_block(cursor_, dialect_);
    document_.steps.push_back(std::move(step));
  }

  // import "clock.pp" as slow with digit as hour, q as hours
  void import() {
    ImportText import{.place = cursor_.place(), .path = cursor_.need_string("a file in quotes")};
    if (cursor_.take_word_if("as")) {
      import.alias = cursor_.need_name("the new name of the module").text;
    }
    if (cursor_.take_word_if("with")) {
      do {
        Name from = cursor_.need_name("a name of the module");
        cursor_.need_word("as", "and its new name");
        import.renames.emplace_back(std::move(from), cursor_.need_name("the new name"));
      } while (cursor_.take_if(","));
    }
    document_.imports.push_back(std::move(import));
  }

  void fun() {
    Definition function{.name = cursor_.need_name("the name of the function"), .value = {}};
    function.is_function = true;
    cursor_.need("(", "and the names of its arguments");
    while (!cursor_.is(")")) {
      function.parameters.push_back(cursor_.need_name("the name of an argument"));
      if (!cursor_.take_if(",")) break;
    }
    cursor_.need(")", "after the arguments");
    cursor_.need("=", "and an expression");
    function.value = parse_expression(cursor_);
    document_.definitions.push_back(std::move(function));
  }

  Cursor cursor_;
  Dialect dialect_;
  Document document_;
};

const std::array<Parser::Statement, Parser::statement_count>& Parser::statements() {
  static constexpr std::array<Statement, statement_count> all{
      {{"title", &Parser::title},
       {"paper", &Parser::paper},
       {"param", &Parser::param},
       {"let", &Parser::let},
       {"states", &Parser::states},
       {"field", &Parser::fields},
       {"fields", &Parser::fields},
       {"leader", &Parser::leader},
       {"output", &Parser::output},
       {"start", &Parser::start},
       {"stop", &Parser::stop},
       {"fail", &Parser::fail},
       {"observe", &Parser::observe},
       {"unordered", &Parser::unordered_rule},
       {"step", &Parser::step, true},
       {"fun", &Parser::fun, true},
       {"import", &Parser::import, true},
       {"hold", &Parser::hold, true},
       {"reactions", &Parser::reactions, true},
       {"always", &Parser::always, true},
       {"invariant", &Parser::always, true},
       {"eventually", &Parser::eventually, true},
       {"computes", &Parser::computes, true}}};
  return all;
}

bool has_point(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '.' && text[i - 1] != '.' && text[i + 1] != '.') return true;
  }
  return false;
}

}  // namespace

bool ParameterText::has_decimals() const {
  return has_point(fallback_text) || has_point(range_text);
}

Document parse(std::string_view text, Dialect dialect, std::uint32_t file) {
  return Parser(text, dialect, file).document();
}

}  // namespace conclave::text
