// The grammar of rules and blocks.
#pragma once

#include <string_view>
#include <vector>

#include "conclave/text/cursor.hpp"
#include "conclave/text/parser.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

// Everything throws Mistake if the text says something else. The cursor must outlive it.
class RuleParser {
 public:
  RuleParser(Cursor& cursor, Dialect dialect) : cursor_(cursor), dialect_(dialect) {}

  bool begins_rule() const;
  RuleText rule();
  RuleText unordered_rule();       // behind the word `unordered`
  std::vector<Statement> block();  // in braces
  void braces(Target& target);     // {field = value, ...}, if there are any

 private:
  void need_plus(std::string_view side);
  Pattern pattern(char agent, std::string_view who);
  OutcomeText outcome();
  void assignments(OutcomeText& outcome);
  void assign(Target& target);
  Assignment assignment();
  Target target();

  void statement(std::vector<Statement>& block);
  Statement let();
  Statement choose();
  Statement chance();
  Statement branch();
  Statement each();
  Statement own_assignments();
  Statement agent_assignments();
  Statement call();
  void add_rule(std::vector<Statement>& block, RuleText rule);
  std::vector<Statement> otherwise();

  Cursor& cursor_;
  Dialect dialect_;
  int depth_ = 0;
};

}  // namespace conclave::text
