// The tokens of a protocol file, a cursor that walks along them and objects where the grammar wants
// something else, and the parts of the grammar: expressions, rules and blocks, lists of rules, and
// networks of reactions. parser.cpp puts them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/mistake.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

enum class TokenKind : std::uint8_t {
  name,
  number,
  string,  // without its quotes
  symbol,
  end_of_statement,
  end_of_text,
};

struct Token {
  TokenKind kind;
  Place place;
  std::string_view text;
  bool touches_next = false;  // nothing between this token and the next one

  // Never true for a string that holds the same letters.
  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

// The name of a token in a message: "'->'", "the end of the line".
std::string described(const Token& token);

// A statement ends where a line begins at its first column, except with a brace that closes a
// block; indented lines go on with it. From '#' to the end of a line is a comment. The tokens view
// `text`, which must outlive them; `file` is the number of the file in their places. O(size).
// Throws Mistake for characters that begin no token.
std::vector<Token> tokens_of(std::string_view text, std::uint32_t file = 0);

// The text must outlive it. Everything that is `need`ed throws Mistake if it is missing.
class Cursor {
 public:
  // In some dialects u and v are names like all others.
  explicit Cursor(std::string_view text, bool has_agent_names = true, std::uint32_t file = 0)
      : text_(text), tokens_(tokens_of(text, file)), has_agent_names_(has_agent_names) {}

  // The token that comes next and the one behind it; at the end, that of the end again and again.
  const Token& here() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Place place() const { return here().place; }
  // The token that came next, which is behind the cursor now. It lives as long as the cursor.
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

  // These look at what comes next and take nothing. Reserved words are names, too.
  bool is(std::string_view symbol) const { return here().is(symbol); }
  bool is_agent() const { return has_agent_names_ && (is_word("u") || is_word("v")); }
  bool is_word(std::string_view word) const { return here().is_name(word); }
  // Takes the token if it is this one; whether it was.
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

// Everything below throws Mistake at the first token that does not fit.

// An expression, and one without `and`, `or`, `not` and comparisons. What would overflow the stack
// or is longer than 400 operations is refused.
Expression parse_expression(Cursor& cursor);
Expression parse_sum(Cursor& cursor);
// A text that is nothing but an expression, read by one of the two.
Expression parse_all(std::string_view text, Expression (*parse)(Cursor& cursor));
// The names of the functions that every file may use.
std::vector<std::string_view> known_functions();

// Rules and blocks. parse_unordered_rule begins behind the word `unordered`; a block stands in
// braces; parse_braces reads {field = value, ...}, if there are any.
bool begins_rule(const Cursor& cursor, Dialect dialect);
RuleText parse_rule(Cursor& cursor, Dialect dialect);
RuleText parse_unordered_rule(Cursor& cursor, Dialect dialect);
std::vector<Statement> parse_block(Cursor& cursor, Dialect dialect);
void parse_braces(Cursor& cursor, Dialect dialect, Target& target);

// Completes a plain list of rules (x.rules), as other tools write them. Lines that name the same
// two states add up: `a,b -> a,a : 1/2` and `a,b -> b,b : 1/2` are one rule with two outcomes; a
// line about both orders stands for two. Unless the file declares its states, they are those that
// the rules name, in the order of their first appearance.
void complete_rule_list(Document& document);

// Networks of reactions (reactions.md). Reads `volume`, `init` or a reaction of a .crn file;
// false, and nothing is read, if this is another statement.
bool parse_network_statement(Cursor& cursor, Document& document);
// Reads `{ A + B -> B + B rate 2  volume n/2 }`, the block of a .pp file.
void parse_reactions(Cursor& cursor, Document& document);
// When all is read: species are those that are named, in the order in which they appear; where a
// condition or an observable names a species, it means how many molecules of it there are.
void complete_network(Document& document, Dialect dialect);
// Whether the field called state has this value. Where an expression names one, it then means how
// many agents are in it.
bool is_state(const Document& document, const std::string& name);
void read_as_counts(const Document& document, Expression& expression);

// Behind the word `computes`; and when all is read: inputs that are not listed are the states that
// the conditions name.
ComputationText parse_computation(Cursor& cursor);
void complete_computations(Document& document);

}  // namespace conclave::text
