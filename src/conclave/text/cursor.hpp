// Walks along the tokens of a text and objects where the grammar wants something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/syntax.hpp"
#include "conclave/text/token.hpp"

namespace conclave::text {

// The text must outlive it. Everything that is `need`ed throws Mistake if it is missing.
class Cursor {
 public:
  // In some dialects u and v are names like all others.
  explicit Cursor(std::string_view text, bool has_agent_names = true, std::uint32_t file = 0)
      : text_(text), tokens_(tokens_of(text, file)), has_agent_names_(has_agent_names) {}

  const Token& here() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Place place() const { return here().place; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

  bool is(std::string_view symbol) const { return here().is(symbol); }
  bool is_agent() const { return has_agent_names_ && (is_word("u") || is_word("v")); }
  bool is_word(std::string_view word) const { return here().is_name(word); }
  bool take_if(std::string_view symbol);
  bool take_word_if(std::string_view word);

  // `wanted` completes the sentence "expected ..., found ...".
  [[noreturn]] void expected(std::string_view wanted) const;
  void need(std::string_view symbol, std::string_view wanted);
  void need_word(std::string_view word, std::string_view wanted);
  Name need_name(std::string_view wanted);  // any but a reserved word
  Name need_start_name();                   // may hold hyphens
  std::string optional_string();            // "" if there is none
  std::string need_string(std::string_view wanted);
  void end_statement();

  // The text from a token up to here, on one line.
  std::string written_since(const Token& begin) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool has_agent_names_;
};

// Words with a meaning of their own, which name no state, field or parameter.
bool is_reserved(std::string_view word);

// An expression; throws Mistake.
Expression parse_expression(Cursor& cursor);
// Without `and`, `or`, `not` and comparisons.
Expression parse_sum(Cursor& cursor);
// The names of the functions that every text may use.
std::vector<std::string_view> known_functions();

}  // namespace conclave::text
