// Expressions in parentheses, as theories and SMT-LIB 2 write them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::prove {

// A word, or a list of expressions.
struct Expression {
  std::string word{};
  std::vector<Expression> items{};

  bool is_list() const { return word.empty(); }
  std::size_t size() const { return items.size(); }
  const Expression& operator[](std::size_t index) const { return items.at(index); }
  // The first word of a list; empty otherwise.
  std::string_view head() const {
    return items.empty() ? std::string_view{} : std::string_view(items[0].word);
  }
  // As it is written in parentheses, with single spaces.
  std::string text() const;
};

// All expressions of a text; `;` begins a comment. Throws Error for parentheses that do not match.
std::vector<Expression> parse_expressions(std::string_view text);

// A name for a formula or a sum over agents: (define NAME (x y) BODY).
struct Predicate {
  std::vector<std::string> agents;
  Expression body;
};
using Vocabulary = std::map<std::string, Predicate, std::less<>>;

// Which agent stands for which: `x.leader` becomes `k3.leader`.
using Agents = std::map<std::string, std::string, std::less<>>;

// The expression as SMT-LIB text, definitions expanded. Throws Error for unknown words.
std::string expand(const Expression& expression, const Vocabulary& vocabulary,
                   const Agents& agents);

}  // namespace conclave::prove
