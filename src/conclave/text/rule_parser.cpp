// The grammar of rules and blocks.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

constexpr int deepest_rule = 60;  // blocks in blocks: more than anyone writes

class RuleParser {
 public:
  RuleParser(Cursor& cursor, Dialect dialect) : cursor_(cursor), dialect_(dialect) {}

  RuleText rule() {
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

  RuleText unordered_rule() {
    if (!begins_rule(cursor_, dialect_)) cursor_.expected("a rule such as A + B -> A + A");
    RuleText result = rule();
    result.is_unordered = true;
    return result;
  }

  std::vector<Statement> block() {
    const Nesting nesting(*this);
    cursor_.need("{", "and what is done, up to a '}'");
    std::vector<Statement> result;
    while (!cursor_.take_if("}")) {
      statement(result);
      while (cursor_.take_if(";")) {
      }
    }
    return result;
  }

  void braces(Target& target) {
    if (!cursor_.take_if("{")) return;
    do {
      assign(target);
    } while (cursor_.take_if(","));
    cursor_.need("}", "after the fields");
  }

 private:
  // Objects to what would overflow the stack.
  struct Nesting {
    explicit Nesting(RuleParser& parser) : depth(parser.depth_) {
      if (++depth > deepest_rule)
        throw Mistake(parser.cursor_.place(), "this is nested too deeply");
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --depth; }
    int& depth;
  };

  // Between the two agents: '+', or ',' in a list of rules.
  void need_plus(std::string_view side) {
    if (dialect_ == Dialect::rule_list && cursor_.take_if(",")) return;
    cursor_.need("+", fmt::format("between the two agents on the {} of the rule", side));
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
    // `with probability` begins a statement of its own.
    const bool with = cursor_.is_word("with") && !cursor_.next().is_name("probability");
    if (with) cursor_.take();
    if (colon || with) result.probability = parse_sum(cursor_);
    return result;
  }

  // u.digit = 0, v.marked = false
  void assignments(OutcomeText& outcome) {
    outcome.initiator.place = outcome.responder.place = cursor_.place();
    Statement all = agent_assignments();
    for (Statement::Change& each : all.changes) {
      Target& target = each.agent == 'u' ? outcome.initiator : outcome.responder;
      target.assignments.push_back(std::move(each.assignment));
    }
  }

  void assign(Target& target) { target.assignments.push_back(assignment()); }

  Assignment assignment() {
    if (cursor_.here().kind != TokenKind::name) cursor_.expected("the name of a field");
    const Token& field = cursor_.take();
    cursor_.need("=", "and the new value of the field");
    return {{std::string(field.text), field.place}, parse_expression(cursor_)};
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

  void statement(std::vector<Statement>& block) {
    const Token& first = cursor_.here();
    const Token& next = cursor_.next();
    if (first.is_name("let")) return block.push_back(let());
    if (first.is_name("choose") && next.kind == TokenKind::name) return block.push_back(choose());
    if (first.is_name("with")) return block.push_back(chance());
    if (first.is_name("if")) return block.push_back(branch());
    if (first.is_name("each") && next.is("{")) return block.push_back(each());
    if (cursor_.take_word_if("unordered")) return add_rule(block, unordered_rule());
    if (begins_rule(cursor_, dialect_)) return add_rule(block, rule());
    if (first.kind == TokenKind::name && next.is(".")) return block.push_back(agent_assignments());
    if (first.kind == TokenKind::name && next.is("=")) return block.push_back(own_assignments());
    if (first.kind == TokenKind::name) return block.push_back(call());
    cursor_.expected(
        "a statement (u.x = 1, let, choose, if, with probability, each, a rule or the name of a "
        "step) or '}'");
  }

  Statement let() {
    Statement result{.kind = Statement::Kind::let, .place = cursor_.take().place};
    result.name = cursor_.need_name("the name to define").text;
    cursor_.need("=", "and an expression");
    result.values.push_back(parse_expression(cursor_));
    return result;
  }

  Statement choose() {
    Statement result{.kind = Statement::Kind::choose, .place = cursor_.take().place};
    result.name = cursor_.need_name("the name of what is chosen").text;
    cursor_.need_word("in", "and a range, such as choose k in 1..6");
    result.values.push_back(parse_sum(cursor_));
    cursor_.need("..", "between the smallest and the largest value");
    result.values.push_back(parse_sum(cursor_));
    return result;
  }

  Statement chance() {
    Statement result{.kind = Statement::Kind::chance, .place = cursor_.take().place};
    cursor_.need_word("probability", "and a number, such as with probability 1/2 { ... }");
    result.values.push_back(parse_sum(cursor_));
    result.body = block();
    result.otherwise = otherwise();
    return result;
  }

  Statement branch() {
    Statement result{.kind = Statement::Kind::branch, .place = cursor_.take().place};
    result.values.push_back(parse_expression(cursor_));
    result.body = block();
    result.otherwise = otherwise();
    return result;
  }

  // Behind `else`: a block, or another `if` or `with probability`, which nest.
  std::vector<Statement> otherwise() {
    if (!cursor_.take_word_if("else")) return {};
    if (!cursor_.is_word("if") && !cursor_.is_word("with")) return block();
    const Nesting nesting(*this);
    std::vector<Statement> result;
    result.push_back(cursor_.is_word("if") ? branch() : chance());
    return result;
  }

  Statement each() {
    Statement result{.kind = Statement::Kind::each, .place = cursor_.take().place};
    result.body = block();
    return result;
  }

  Statement agent_assignments() {
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

  Statement own_assignments() {
    Statement result{.kind = Statement::Kind::assign, .place = cursor_.place()};
    do {
      result.changes.push_back({0, assignment()});
    } while (cursor_.take_if(","));
    return result;
  }

  Statement call() {
    Statement result{.kind = Statement::Kind::call, .place = cursor_.place()};
    result.name = cursor_.need_name("the name of a step").text;
    return result;
  }

  // Rules that follow each other are one list.
  void add_rule(std::vector<Statement>& block, RuleText rule) {
    if (block.empty() || block.back().kind != Statement::Kind::rules) {
      block.push_back({.kind = Statement::Kind::rules, .place = rule.place});
    }
    block.back().rules.push_back(std::move(rule));
  }

  Cursor& cursor_;
  Dialect dialect_;
  int depth_ = 0;
};

}  // namespace

bool begins_rule(const Cursor& cursor, Dialect dialect) {
  if (cursor.is("*") || cursor.is("{")) return true;
  if (cursor.here().kind != TokenKind::name) return false;
  const Token& next = cursor.next();
  return next.is("+") || next.is("|") || next.is("{") ||
         (next.is(",") && dialect == Dialect::rule_list);
}

RuleText parse_rule(Cursor& cursor, Dialect dialect) { return RuleParser(cursor, dialect).rule(); }

RuleText parse_unordered_rule(Cursor& cursor, Dialect dialect) {
  return RuleParser(cursor, dialect).unordered_rule();
}

std::vector<Statement> parse_block(Cursor& cursor, Dialect dialect) {
  return RuleParser(cursor, dialect).block();
}

void parse_braces(Cursor& cursor, Dialect dialect, Target& target) {
  RuleParser(cursor, dialect).braces(target);
}

}  // namespace conclave::text
