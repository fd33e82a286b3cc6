#include "conclave/text/cursor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/printable.hpp"

namespace conclave::text {
namespace {

// Longer ones first, so that "->" is not read as "-" and ">".
constexpr std::array<std::string_view, 25> symbols{
    "<->", "->", "..", "==", "!=", "<=", ">=", "+", "-", "*", "/", "^", "%",
    "(",   ")",  "{",  "}",  ",",  ":",  ".",  "=", "<", ">", "|", ";"};

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool begins_name(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '\''; }

class Lexer {
 public:
  Lexer(std::string_view text, std::uint32_t file) : text_(text), place_{.file = file} {}

  std::vector<Token> all() {
    for (;;) {
      const bool touches = !skip_to_token();
      if (!tokens_.empty()) tokens_.back().touches_next = touches;
      if (at_ == text_.size()) break;
      if (place_.column == 1 && here() != '}') end_statement();
      take_token();
    }
    end_statement();
    tokens_.push_back({TokenKind::end_of_text, place_, {}});
    return std::move(tokens_);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void step() {
    if (here() == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
    ++at_;
  }

  // Skips blanks, line ends and comments; whether there were any.
  bool skip_to_token() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = here();
      if (c == '#') {
        while (at_ < text_.size() && here() != '\n') step();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        step();
      } else {
        break;
      }
    }
    return at_ != begin;
  }

  void end_statement() {
    if (tokens_.empty() || tokens_.back().kind == TokenKind::end_of_statement) return;
    const Token& last = tokens_.back();
    const auto width =
        static_cast<std::uint32_t>(last.text.size()) + (last.kind == TokenKind::string ? 2u : 0u);
    tokens_.push_back({TokenKind::end_of_statement,
                       {last.place.line, last.place.column + width, last.place.file},
                       {}});
  }

  void take(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, place_, text_.substr(at_, length)});
    for (std::size_t i = 0; i < length; ++i) step();
  }

  template <class Continues>
  std::size_t length_while(Continues continues) const {
    std::size_t end = at_;
    while (end < text_.size() && continues(text_[end])) ++end;
    return end - at_;
  }

  void take_token() {
    if (begins_name(here())) return take(TokenKind::name, length_while(continues_name));
    if (is_digit(here())) return take(TokenKind::number, number_length());
    if (here() == '"') return take_string();
    const auto found = std::ranges::find_if(
        symbols, [&](std::string_view s) { return text_.substr(at_).starts_with(s); });
    if (found != symbols.end()) return take(TokenKind::symbol, found->size());
    const auto code = static_cast<unsigned char>(here());
    if (code < 32 || code >= 127) {
      throw Mistake(place_, fmt::format("unexpected byte 0x{:02x}; only comments and strings "
                                        "may hold other than ASCII characters",
                                        code));
    }
    throw Mistake(place_, fmt::format("unexpected character '{}'", here()));
  }

  // 12, 0.25, 1e6, 1.5e-6; but 0..9 is three tokens.
  std::size_t number_length() const {
    std::size_t end = at_ + length_while(is_digit);
    const auto digits_from = [&](std::size_t from) {
      while (from < text_.size() && is_digit(text_[from])) ++from;
      return from;
    };
    const auto is_digit_at = [&](std::size_t i) { return i < text_.size() && is_digit(text_[i]); };
    if (end < text_.size() && text_[end] == '.' && is_digit_at(end + 1)) end = digits_from(end + 1);
    if (end == text_.size() || text_[end] != 'e') return end - at_;
    const bool has_sign = end + 1 < text_.size() && text_[end + 1] == '-';
    const std::size_t exponent = end + (has_sign ? 2 : 1);
    if (is_digit_at(exponent)) end = digits_from(exponent);
    return end - at_;
  }

  void take_string() {
    const Place begin = place_;
    step();
    const std::size_t length = length_while([](char c) { return c != '"' && c != '\n'; });
    if (at_ + length == text_.size() || text_[at_ + length] == '\n') {
      throw Mistake(begin, "this string has no closing quote on its line");
    }
    if (!is_printable(text_.substr(at_, length))) {
      throw Mistake(begin, "this string holds a control character, or a byte that is no UTF-8");
    }
    tokens_.push_back({TokenKind::string, begin, text_.substr(at_, length)});
    for (std::size_t i = 0; i <= length; ++i) step();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Place place_;
  std::vector<Token> tokens_;
};

constexpr std::array<std::string_view, 42> reserved{
    "title", "paper", "param", "let",       "states", "field",    "fields", "leader", "output",
    "start", "stop",  "fail",  "observe",   "when",   "with",     "of",     "rest",   "all",
    "any",   "none",  "count", "silent",    "evenly", "randomly", "n",      "u",      "v",
    "and",   "or",    "not",   "mod",       "if",     "then",     "else",   "bool",   "true",
    "false", "floor", "ceil",  "unordered", "in",     "state"};

}  // namespace

std::string described(const Token& token) {
  switch (token.kind) {
    case TokenKind::end_of_statement:
      return "the end of the statement";
    case TokenKind::end_of_text:
      return "the end of the file";
    case TokenKind::string:
      return fmt::format("the string \"{}\"", token.text);
    default:
      return fmt::format("'{}'", token.text);
  }
}

std::vector<Token> tokens_of(std::string_view text, std::uint32_t file) {
  return Lexer(text, file).all();
}

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
  const bool is_plain = !has_agent_names_ && (is_word("u") || is_word("v"));
  if (is_reserved(here().text) && !is_plain) {
    throw Mistake(place(),
                  fmt::format("expected {}, found the reserved word '{}'", wanted, here().text));
  }
  const Token& token = take();
  return {std::string(token.text), token.place};
}

Name Cursor::need_start_name() {
  if (here().kind != TokenKind::name) expected("the name of the initial configuration");
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
