#include "conclave/text/cursor.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace conclave::text {
namespace {

constexpr std::array<std::string_view, 42> reserved{
    "title", "paper", "param", "let",       "states", "field",    "fields", "leader", "output",
    "start", "stop",  "fail",  "observe",   "when",   "with",     "of",     "rest",   "all",
    "any",   "none",  "count", "silent",    "evenly", "randomly", "n",      "u",      "v",
    "and",   "or",    "not",   "mod",       "if",     "then",     "else",   "bool",   "true",
    "false", "floor", "ceil",  "unordered", "in",     "state"};

}  // namespace

bool is_reserved(std::string_view word) {
  return std::ranges::find(reserved, word) != reserved.end();
}

bool Cursor::take_if(std::string_view symbol) {
  if (!is(symbol)) return false;
  take();
  return true;
}

bool Cursor::take_word_if(std::string_view word) {
  if (!is_word(word)) return false;
  take();
  return true;
}

void Cursor::expected(std::string_view wanted) const {
  throw Mistake(place(), fmt::format("expected {}, found {}", wanted, described(here())));
}

void Cursor::need(std::string_view symbol, std::string_view wanted) {
  if (!take_if(symbol)) expected(fmt::format("'{}' {}", symbol, wanted));
}

void Cursor::need_word(std::string_view word, std::string_view wanted) {
  if (!take_word_if(word)) expected(fmt::format("'{}' {}", word, wanted));
}

Name Cursor::need_name(std::string_view wanted) {
  if (here().kind != TokenKind::name) expected(wanted);
  if (is_reserved(here().text)) {
    throw Mistake(place(),
                  fmt::format("expected {}, found the reserved word '{}'", wanted, here().text));
  }
  const Token& token = take();
  return {std::string(token.text), token.place};
}

Name Cursor::need_start_name() {
  if (here().kind != TokenKind::name) expected("the name of the start");
  Name name{std::string(here().text), place()};
  while (here().touches_next && next().is("-")) {
    take();
    if (!here().touches_next || next().kind != TokenKind::name) expected("a name");
    take();
    name.text += '-' + std::string(here().text);
  }
  take();
  return name;
}

std::string Cursor::optional_string() {
  if (here().kind != TokenKind::string) return {};
  return std::string(take().text);
}

std::string Cursor::need_string(std::string_view wanted) {
  if (here().kind != TokenKind::string) expected(wanted);
  return optional_string();
}

void Cursor::end_statement() {
  if (here().kind != TokenKind::end_of_statement) {
    expected("the end of the statement (a statement that goes on is indented)");
  }
  take();
}

std::string Cursor::written_since(const Token& begin) const {
  const auto from = static_cast<std::size_t>(begin.text.data() - text_.data());
  const Token& last = tokens_[at_ - 1];
  const auto to = static_cast<std::size_t>(last.text.data() + last.text.size() - text_.data());
  std::string line;
  for (const char c : text_.substr(from, to - from)) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

}  // namespace conclave::text
