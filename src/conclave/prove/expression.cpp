#include "conclave/prove/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/error.hpp"

namespace conclave::prove {

namespace {

constexpr std::array<std::string_view, 12> operators{"and", "or", "not", "=>", "=", "ite",
                                                     "<",   "<=", ">",   ">=", "+", "-"};

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Expression> all() {
    std::vector<Expression> expressions;
    for (skip(); at_ < text_.size(); skip()) expressions.push_back(one(0));
    return expressions;
  }

 private:
  static constexpr int deepest = 200;

  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == ';')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
      else
        return;
    }
  }

  Expression one(int depth) {
    if (depth > deepest) throw Error("an expression nests too deep");
    if (text_[at_] == ')') throw Error("an expression has a `)` too many");
    if (text_[at_] != '(') return {.word = word()};
    Expression list;
    ++at_;
    for (skip(); at_ < text_.size() && text_[at_] != ')'; skip())
      list.items.push_back(one(depth + 1));
    if (at_ == text_.size()) throw Error("an expression lacks a `)`");
    ++at_;
    return list;
  }

  std::string word() {
    const std::size_t begin = at_;
    if (text_[at_] == '"') {
      at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
      return std::string(text_.substr(begin + 1, at_ - begin - 2));
    }
    while (at_ < text_.size() && std::string_view("() \n\t;").find(text_[at_]) == std::string::npos)
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string agent_called(const std::string& name, const Agents& agents) {
  const auto found = agents.find(name);
  if (found == agents.end())
    throw Error("a formula names the agent `" + name + "`, which is not bound");
  return found->second;
}

std::string expand_word(const std::string& word, const Vocabulary& vocabulary,
                        const Agents& agents) {
  if (is_number(word) || word == "true" || word == "false") return word;
  const std::size_t dot = word.find('.');
  if (dot != std::string::npos) return agent_called(word.substr(0, dot), agents) + word.substr(dot);
  const auto named = vocabulary.find(word);
  if (named == vocabulary.end()) return word;  // a parameter, declared or refused later
  return expand(named->second.body, vocabulary, {});
}

}  // namespace

std::string Expression::text() const {
  if (!is_list()) return word;
  std::string text = "(";
  for (const Expression& item : items) text += (text.size() > 1 ? " " : "") + item.text();
  return text + ')';
}

std::vector<Expression> parse_expressions(std::string_view text) { return Reader(text).all(); }

std::string expand(const Expression& expression, const Vocabulary& vocabulary,
                   const Agents& agents) {
  if (!expression.is_list()) return expand_word(expression.word, vocabulary, agents);
  const std::string head(expression.head());
  const auto named = vocabulary.find(head);
  if (named != vocabulary.end()) {
    const Predicate& predicate = named->second;
    if (predicate.agents.size() + 1 != expression.size())
      throw Error("`" + expression.text() + "` has the wrong number of agents");
    Agents inner;
    for (std::size_t i = 0; i < predicate.agents.size(); ++i)
      inner[predicate.agents[i]] = agent_called(expression[i + 1].word, agents);
    return expand(predicate.body, vocabulary, inner);
  }
  if (std::ranges::find(operators, head) == operators.end())
    throw Error("`" + expression.text() + "` begins with no operator");
  std::string text = '(' + head;
  for (std::size_t i = 1; i < expression.size(); ++i)
    text += ' ' + expand(expression[i], vocabulary, agents);
  return text + ')';
}

}  // namespace conclave::prove
