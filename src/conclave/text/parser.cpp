#include "conclave/text/parser.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

class Parser {
 public:
  Parser(std::string_view text, Dialect dialect)
      : cursor_(text, dialect == Dialect::protocol), dialect_(dialect) {}

  Document document() {
    while (cursor_.here().kind != TokenKind::end_of_text) {
      statement();
      cursor_.end_statement();
    }
    if (dialect_ == Dialect::rule_list) collect_states();
    return std::move(document_);
  }

 private:
  struct Statement {
    std::string_view keyword;
    void (Parser::*parse)();
  };
  static constexpr std::size_t statement_count = 14;
  static const std::array<Statement, statement_count>& statements();

  void statement() {
    const Token& first = cursor_.here();
    std::vector<std::string_view> keywords;
    for (const Statement& each : statements()) {
      keywords.push_back(each.keyword);
      if (!first.is_name(each.keyword)) continue;
      cursor_.take();
      return (this->*each.parse)();
    }
    if (begins_rule()) return rule();
    const std::string_view nearest =
        first.kind == TokenKind::name ? nearest_name(first.text, keywords) : std::string_view();
    const std::string hint = nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
    throw Mistake(first.place,
                  fmt::format("expected a rule such as A + B -> A + A, or one of {}; found {}{}",
                              fmt::join(keywords, ", "), described(first), hint));
  }

  bool begins_rule() const {
    if (cursor_.is("*") || cursor_.is("{")) return true;
    if (cursor_.here().kind != TokenKind::name) return false;
    const Token& next = cursor_.next();
    return next.is("+") || next.is("|") || next.is("{") ||
           (next.is(",") && dialect_ == Dialect::rule_list);
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
    document_.stop_text = cursor_.written_since(begin);
  }

  void fail() {
    once(document_.fail.has_value(), "when to fail");
    cursor_.need_word("when", "and a condition such as count(leader) == 0");
    document_.fail = parse_expression(cursor_);
  }

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
    braces(result);
    return result;
  }

  void unordered_rule() {
    if (!begins_rule()) cursor_.expected("a rule such as A + B -> A + A");
    rule();
    document_.rules.back().is_unordered = true;
  }

  // Between the two agents: '+', or ',' in a list of rules.
  void need_plus(std::string_view side) {
    if (dialect_ == Dialect::rule_list && cursor_.take_if(",")) return;
    cursor_.need("+", fmt::format("between the two agents on the {} of the rule", side));
  }

  void rule() {
    RuleText rule{.place = cursor_.place()};
    rule.initiator = pattern('u', "the initiator");
    need_plus("left");
    rule.responder = pattern('v', "the responder");
    if (cursor_.take_word_if("when")) rule.guard = parse_expression(cursor_);
    cursor_.need("->", "and what becomes of the two agents");
    do {
      rule.outcomes.push_back(outcome());
    } while (rule.outcomes.back().probability && cursor_.take_word_if("or"));
    document_.rules.push_back(std::move(rule));
  }

  Pattern pattern(char agent, std::string_view who) {
    Pattern result{.place = cursor_.place()};
    if (cursor_.is_agent()) {
      const Token& token = cursor_.take();
      if (token.text[0] != agent) {
        throw Mistake(token.place, fmt::format("{} is called {}, not {}", who, agent, token.text));
      }
    } else if (!cursor_.take_if("*") && !cursor_.is("{")) {
      do {
        result.states.push_back(
            cursor_.need_name(fmt::format("a state, {} or * for {}", agent, who)));
      } while (cursor_.take_if("|"));
    }
    if (!cursor_.take_if("{")) return result;
    do {
      result.conditions.push_back(parse_expression(cursor_));
    } while (cursor_.take_if(","));
    cursor_.need("}", "after the conditions");
    return result;
  }

  OutcomeText outcome() {
    OutcomeText result{.place = cursor_.place()};
    if (cursor_.next().is(".")) {
      assignments(result);
    } else {
      result.initiator = target();
      need_plus("right");
      result.responder = target();
    }
    const bool colon = dialect_ == Dialect::rule_list && cursor_.take_if(":");
    if (colon || cursor_.take_word_if("with")) result.probability = parse_sum(cursor_);
    return result;
  }

  // u.digit = 0, v.marked = false
  void assignments(OutcomeText& outcome) {
    outcome.initiator.place = outcome.responder.place = cursor_.place();
    do {
      if (!cursor_.is_word("u") && !cursor_.is_word("v")) {
        cursor_.expected("u or v, such as u.digit = 0");
      }
      Target& target = cursor_.take().text == "u" ? outcome.initiator : outcome.responder;
      cursor_.need(".", "and a field");
      assign(target);
    } while (cursor_.take_if(","));
  }

  void assign(Target& target) {
    if (cursor_.here().kind != TokenKind::name) cursor_.expected("the name of a field");
    const Token& field = cursor_.take();
    cursor_.need("=", "and the new value of the field");
    target.assignments.push_back(
        {{std::string(field.text), field.place}, parse_expression(cursor_)});
  }

  Target target() {
    Target result{.place = cursor_.place()};
    if (cursor_.is_agent()) {
      result.like = cursor_.take().text[0];
    } else if (!cursor_.take_if("*") && !cursor_.is("{")) {
      result.state = cursor_.need_name("a state, u, v or *");
    }
    braces(result);
    return result;
  }

  void braces(Target& target) {
    if (!cursor_.take_if("{")) return;
    do {
      assign(target);
    } while (cursor_.take_if(","));
    cursor_.need("}", "after the fields");
  }

  // The states of a list of rules are those it names, in the order of their first appearance.
  void collect_states() {
    if (!document_.fields.empty()) return;
    FieldText field{.name = {state_field, {}}};
    std::set<std::string_view> known;
    const auto add = [&](const Name& name) {
      if (known.insert(name.text).second) field.values.push_back(name);
    };
    for (const RuleText& rule : document_.rules) {
      for (const Pattern* side : {&rule.initiator, &rule.responder}) {
        for (const Name& name : side->states) add(name);
      }
      for (const OutcomeText& outcome : rule.outcomes) {
        if (outcome.initiator.state) add(*outcome.initiator.state);
        if (outcome.responder.state) add(*outcome.responder.state);
      }
    }
    if (!field.values.empty()) document_.fields.push_back(std::move(field));
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
       {"unordered", &Parser::unordered_rule}}};
  return all;
}

}  // namespace

Document parse(std::string_view text, Dialect dialect) { return Parser(text, dialect).document(); }

}  // namespace conclave::text
