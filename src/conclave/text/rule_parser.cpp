#include "conclave/text/rule_parser.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace conclave::text {
namespace {

constexpr int deepest_rule = 60;  // blocks in blocks: more than anyone writes

}  // namespace

bool RuleParser::begins_rule() const {
  if (cursor_.is("*") || cursor_.is("{")) return true;
  if (cursor_.here().kind != TokenKind::name) return false;
  const Token& next = cursor_.next();
  return next.is("+") || next.is("|") || next.is("{") ||
         (next.is(",") && dialect_ == Dialect::rule_list);
}

RuleText RuleParser::unordered_rule() {
  if (!begins_rule()) cursor_.expected("a rule such as A + B -> A + A");
  RuleText result = rule();
  result.is_unordered = true;
  return result;
}

// Between the two agents: '+', or ',' in a list of rules.
void RuleParser::need_plus(std::string_view side) {
  if (dialect_ == Dialect::rule_list && cursor_.take_if(",")) return;
  cursor_.need("+", fmt::format("between the two agents on the {} of the rule", side));
}

RuleText RuleParser::rule() {
  RuleText rule;
  rule.place = cursor_.place();
  rule.initiator = pattern('u', "the initiator");
  need_plus("left");
  rule.responder = pattern('v', "the responder");
  if (cursor_.take_word_if("when")) rule.guard = parse_expression(cursor_);
  if (cursor_.take_word_if("do")) {
    rule.block = block();
    return rule;
  }
  cursor_.need("->", "and what becomes of the two agents");
  do {
    rule.outcomes.push_back(outcome());
  } while (rule.outcomes.back().probability && cursor_.take_word_if("or"));
  return rule;
}

Pattern RuleParser::pattern(char agent, std::string_view who) {
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

OutcomeText RuleParser::outcome() {
  OutcomeText result{.place = cursor_.place()};
  if (cursor_.next().is(".")) {
    assignments(result);
  } else {
    result.initiator = target();
    need_plus("right");
    result.responder = target();
  }
  const bool colon = dialect_ == Dialect::rule_list && cursor_.take_if(":");
  // `with probability` begins a statement of its own.
  const bool with = cursor_.is_word("with") && !cursor_.next().is_name("probability");
  if (with) cursor_.take();
  if (colon || with) result.probability = parse_sum(cursor_);
  return result;
}

// u.digit = 0, v.marked = false
void RuleParser::assignments(OutcomeText& outcome) {
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

void RuleParser::assign(Target& target) { target.assignments.push_back(assignment()); }

Assignment RuleParser::assignment() {
  if (cursor_.here().kind != TokenKind::name) cursor_.expected("the name of a field");
  const Token& field = cursor_.take();
  cursor_.need("=", "and the new value of the field");
  return {{std::string(field.text), field.place}, parse_expression(cursor_)};
}

Target RuleParser::target() {
  Target result{.place = cursor_.place()};
  if (cursor_.is_agent()) {
    result.like = cursor_.take().text[0];
  } else if (!cursor_.take_if("*") && !cursor_.is("{")) {
    result.state = cursor_.need_name("a state, u, v or *");
  }
  braces(result);
  return result;
}

void RuleParser::braces(Target& target) {
  if (!cursor_.take_if("{")) return;
  do {
    assign(target);
  } while (cursor_.take_if(","));
  cursor_.need("}", "after the fields");
}

std::vector<Statement> RuleParser::block() {
  if (depth_ >= deepest_rule) throw Mistake(cursor_.place(), "this is nested too deeply");
  const struct Nesting {
    int& depth;
    ~Nesting() { --depth; }
  } nesting{++depth_};
  cursor_.need("{", "and what is done, up to a '}'");
  std::vector<Statement> result;
  while (!cursor_.take_if("}")) {
    statement(result);
    while (cursor_.take_if(";")) {
    }
  }
  return result;
}

void RuleParser::statement(std::vector<Statement>& block) {
  const Token& first = cursor_.here();
  const Token& next = cursor_.next();
  if (first.is_name("let")) return block.push_back(let());
  if (first.is_name("choose") && next.kind == TokenKind::name) return block.push_back(choose());
  if (first.is_name("with")) return block.push_back(chance());
  if (first.is_name("if")) return block.push_back(branch());
  if (first.is_name("each") && next.is("{")) return block.push_back(each());
  if (cursor_.take_word_if("unordered")) return add_rule(block, unordered_rule());
  if (begins_rule()) return add_rule(block, rule());
  if (first.kind == TokenKind::name && next.is(".")) return block.push_back(agent_assignments());
  if (first.kind == TokenKind::name && next.is("=")) return block.push_back(own_assignments());
  if (first.kind == TokenKind::name) return block.push_back(call());
  cursor_.expected(
      "a statement (u.x = 1, let, choose, if, with probability, each, a rule or the name of a "
      "step) or '}'");
}

Statement RuleParser::let() {
  Statement result{.kind = Statement::Kind::let, .place = cursor_.take().place};
  result.name = cursor_.need_name("the name to define").text;
  cursor_.need("=", "and an expression");
  result.values.push_back(parse_expression(cursor_));
  return result;
}

Statement RuleParser::choose() {
  Statement result{.kind = Statement::Kind::choose, .place = cursor_.take().place};
  result.name = cursor_.need_name("the name of what is chosen").text;
  cursor_.need_word("in", "and a range, such as choose k in 1..6");
  result.values.push_back(parse_sum(cursor_));
  cursor_.need("..", "between the smallest and the largest value");
  result.values.push_back(parse_sum(cursor_));
  return result;
}

Statement RuleParser::chance() {
  Statement result{.kind = Statement::Kind::chance, .place = cursor_.take().place};
  cursor_.need_word("probability", "and a number, such as with probability 1/2 { ... }");
  result.values.push_back(parse_sum(cursor_));
  result.body = block();
  result.otherwise = otherwise();
  return result;
}

Statement RuleParser::branch() {
  Statement result{.kind = Statement::Kind::branch, .place = cursor_.take().place};
  result.values.push_back(parse_expression(cursor_));
  result.body = block();
  result.otherwise = otherwise();
  return result;
}

// Behind `else`: a block, or another `if` or `with probability`, which nest.
std::vector<Statement> RuleParser::otherwise() {
  if (!cursor_.take_word_if("else")) return {};
  if (!cursor_.is_word("if") && !cursor_.is_word("with")) return block();
  if (depth_ >= deepest_rule) throw Mistake(cursor_.place(), "this is nested too deeply");
  const struct Nesting {
    int& depth;
    ~Nesting() { --depth; }
  } nesting{++depth_};
  std::vector<Statement> result;
  result.push_back(cursor_.is_word("if") ? branch() : chance());
  return result;
}

Statement RuleParser::each() {
  Statement result{.kind = Statement::Kind::each, .place = cursor_.take().place};
  result.body = block();
  return result;
}

Statement RuleParser::agent_assignments() {
  Statement result{.kind = Statement::Kind::assign, .place = cursor_.place()};
  do {
    if (!cursor_.is_word("u") && !cursor_.is_word("v")) {
      cursor_.expected("u or v, such as u.digit = 0");
    }
    const char agent = cursor_.take().text[0];
    cursor_.need(".", "and a field");
    result.changes.push_back({agent, assignment()});
  } while (cursor_.take_if(","));
  return result;
}

Statement RuleParser::own_assignments() {
  Statement result{.kind = Statement::Kind::assign, .place = cursor_.place()};
  do {
    result.changes.push_back({0, assignment()});
  } while (cursor_.take_if(","));
  return result;
}

Statement RuleParser::call() {
  Statement result{.kind = Statement::Kind::call, .place = cursor_.place()};
  result.name = cursor_.need_name("the name of a step").text;
  return result;
}

// Rules that follow each other are one list.
void RuleParser::add_rule(std::vector<Statement>& block, RuleText rule) {
  if (block.empty() || block.back().kind != Statement::Kind::rules) {
    block.push_back({.kind = Statement::Kind::rules, .place = rule.place});
  }
  block.back().rules.push_back(std::move(rule));
}

}  // namespace conclave::text
