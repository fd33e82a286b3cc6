// The file is long because it has every rule of theories, and shares nothing with the prover.
// Certificates of kind "pairs": a theory about one interaction. The prover asks for finitely many
// instances; here the same obligations are asked with quantifiers, over a sort of agents, so that
// neither program's way of forming them is taken from the other. docs/explanation/proofs.md has the
// arguments why the rules are sound. Every word of a certificate that reaches the solver was parsed
// and gets a prefix; operators come from a list.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/check/check.hpp"

namespace conclave::check {
namespace {

struct Term {
  std::string word{};
  std::vector<Term> parts{};
  const Term& at(std::size_t index) const {
    require(index < parts.size(), "a theory has too short a form");
    return parts[index];
  }
  std::string_view head() const { return parts.empty() ? "" : std::string_view(parts[0].word); }
};

constexpr std::array<std::string_view, 13> operators{"and", "or", "not", "=>", "=", "ite", "<",
                                                     "<=",  ">",  ">=",  "+",  "-", "*"};
constexpr std::size_t most_text = 4'000'000;

class Text {
 public:
  explicit Text(std::string_view text) : text_(text) {
    require(text.size() <= most_text, "a text is too long");
  }
  std::vector<Term> all() {
    std::vector<Term> terms;
    while (skip()) terms.push_back(one(0));
    return terms;
  }

 private:
  bool skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == ';')
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      else if (text_[at_] != ' ' && text_[at_] != '\n')
        return true;
    }
    return false;
  }
  Term one(int depth) {
    require(depth < 100 && text_[at_] != ')', "a text is no list of terms");
    Term term;
    const bool is_quoted = text_[at_] == '"';
    if (text_[at_] == '(') {
      for (++at_; skip() && text_[at_] != ')';) term.parts.push_back(one(depth + 1));
      require(at_ < text_.size(), "a bracket is open");
      ++at_;
      return term;
    }
    at_ += is_quoted ? 1 : 0;
    const std::size_t end =
        std::min(text_.find_first_of(is_quoted ? "\"" : " \n()\";", at_), text_.size());
    term.word = text_.substr(at_, end - at_);
    at_ = end + (is_quoted ? 1 : 0);
    return term;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_name(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '.';
  });
}
bool is_number(std::string_view word) {
  return !word.empty() && word.size() < 19 && word.find_first_not_of("0123456789") == word.npos;
}

// An agent of the solver, before the interaction or after it.
struct Agent {
  std::string symbol;
  bool is_after = false;
};
using Scope = std::map<std::string, Agent, std::less<>>;

struct Block {
  std::vector<std::string> some{}, all{};
  Term body{};
};
using Statement = std::vector<Block>;

std::vector<std::string> names(const Term& list) {
  std::vector<std::string> all;
  for (const Term& each : list.parts) {
    require(is_name(each.word), "a name is wrong");
    all.push_back(each.word);
  }
  return all;
}

Block block_of(const Term& term) {
  Block block{.body = term};
  if (block.body.head() == "some")
    block = {.some = names(block.body.at(1)), .body = Term(block.body.at(2))};
  if (block.body.head() == "all")
    block = {.some = block.some, .all = names(block.body.at(1)), .body = Term(block.body.at(2))};
  require(!block.some.empty() || !block.all.empty(), "a claim is about no agent");
  return block;
}

Statement statement_of(const Term& term) {
  if (term.head() != "or") return {block_of(term)};
  Statement blocks;
  for (std::size_t i = 1; i < term.parts.size(); ++i) blocks.push_back(block_of(term.parts[i]));
  return blocks;
}

std::string conjunction(const std::vector<std::string>& parts) {
  std::string text = "(and true";
  for (const std::string& part : parts) text += ' ' + part;
  return text + ')';
}
std::string no(const std::string& formula) { return "(not " + formula + ')'; }
std::string compare(const char* order, const std::string& a, const std::string& b) {
  return fmt::format("({} {} {})", order, a, b);
}

struct Rank {
  std::string falls, steady;
};

std::string lexicographic(const std::vector<Rank>& ranks) {
  std::string text = "false";
  for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank)
    text = fmt::format("(or (and {}) (and {} {}))", rank->falls, rank->steady, text);
  return text;
}

class Theory {
 public:
  Theory(const Json& certificate, SolverProcess& solver) : solver_(&solver) {
    for (const Term& form : Text(word(member(certificate, "theory"))).all()) read(form);
    declare(certificate);
    defined("domain");
  }

  std::size_t check() {
    domain();
    for (const Term& lemma : lemmas_) {
      name_ = lemma.at(1).word;
      for (std::size_t i = 3; i < lemma.parts.size(); ++i) rule(lemma.parts[i]);
    }
    return lemmas_.size();
  }

 private:
  // The text of a theory.
  void read(const Term& form);
  const std::pair<std::vector<std::string>, Term>& defined(std::string_view name) const {
    const auto found = definitions_.find(name);
    require(found != definitions_.end(), "the theory lacks a definition");
    return found->second;
  }
  // Declarations for the solver.
  void declare(const Json& certificate);

  std::string formula(const Term& term, const Scope& scope, int depth = 0) const;
  std::string leaf(const std::string& leaf, const Scope& scope, int depth) const;
  std::string of(std::string_view name, Agent agent) const {
    const auto& [agents, body] = defined(name);
    require(agents.size() == 1, "a definition should be about one agent");
    return formula(body, {{agents[0], std::move(agent)}});
  }
  std::string universal(const Block& block, Scope scope, bool is_after) const;
  std::string holds(const Statement& statement, bool is_after) const;
  std::string everybody(std::string_view name) const {
    return fmt::format("(forall ((z Agent)) {})", of(name, {"z"}));
  }
  std::string pair_in_domain() const {
    return conjunction({of("domain", {"u"}), of("domain", {"v"})});
  }
  bool has_start() const { return definitions_.contains("start"); }
  void refute(const std::vector<std::string>& parts, std::string_view what) {
    solver_->refute(conjunction(parts), fmt::format("{}: {}", name_, what));
  }

  void domain();
  void rule(const Term& rule);
  void closed(const Statement& statement);
  void step(const Term& rule);
  void balance(const Term& rule);
  void progress(const Term& rule);
  void advance(const std::vector<Term>& cases, std::size_t number, const Term& global);
  Rank rank_of(const Term& rank, const Scope& chosen, const std::string& stays) const;
  std::vector<Rank> ranks_of(const Term& ranks, const Scope& chosen,
                             const std::string& stays) const;

  SolverProcess* solver_;
  std::map<std::string, Term, std::less<>> parameters_;
  std::vector<std::pair<std::string, std::string>> fields_;
  std::set<std::string, std::less<>> steps_;    // names that the step defines
  std::set<std::string, std::less<>> numbers_;  // of agents in a class
  std::map<std::string, std::pair<std::vector<std::string>, Term>, std::less<>> definitions_;
  std::vector<Term> ranges_, lemmas_;
  std::vector<Statement> invariants_, facts_;
  std::string name_ = "domain";
};

void Theory::read(const Term& form) {
  const std::string_view head = form.head();
  if (head == "parameter" || head == "ghost") {
    require(is_name(form.at(1).word), "a name is wrong");
    parameters_[form.at(1).word] = form.at(2);
  } else if (head == "range") {
    ranges_.push_back(form);
  } else if (head == "define") {
    definitions_[form.at(1).word] = {names(form.at(2)), form.at(3)};
  } else if (head == "start" || head == "domain") {
    definitions_[std::string(head)] = {names(form.at(1)), form.at(2)};
  } else {
    require(head == "lemma", "a theory has an unknown form");
    lemmas_.push_back(form);
  }
}

void Theory::declare(const Json& certificate) {
  std::string text = "(declare-sort Agent 0)\n(declare-const u Agent)\n(declare-const v Agent)\n"
                     "(declare-const w Agent)\n(assert (distinct u v))\n";
  for (const auto& [name, condition] : parameters_)
    text += fmt::format("(declare-const p.{} Int)\n", name);
  for (const auto& [name, condition] : parameters_)
    text += fmt::format("(assert {})\n", formula(condition, {}));
  for (const Json& field : member(certificate, "fields").items()) {
    require(field.size() == 2, "a field needs a name and a sort");
    const std::string &name = word(field[0]), &sort = word(field[1]);
    require(is_name(name) && (sort == "Bool" || sort == "Int"), "a field is wrong");
    fields_.emplace_back(name, sort);
    text += fmt::format("(declare-fun f.{} (Agent) {})\n", name, sort);
  }
  const Scope both{{"u", {"u"}}, {"v", {"v"}}};
  for (const Json& each : member(certificate, "step").items()) {
    require(each.size() == 3, "a definition needs a name, a sort and a term");
    const std::string &name = word(each[0]), &sort = word(each[1]);
    require(is_name(name) && (sort == "Bool" || sort == "Int"), "a definition is wrong");
    const auto terms = Text(word(each[2])).all();
    require(terms.size() == 1, "a definition is no term");
    text += fmt::format("(define-fun s.{} () {} {})\n", name, sort, formula(terms[0], both));
    require(steps_.insert(name).second, "a name is defined twice");
  }
  for (const auto& [name, sort] : fields_) {
    require(steps_.contains("u+." + name) && steps_.contains("v+." + name), "a step is missing");
    text += fmt::format("(define-fun g.{0} ((a Agent)) {1} (ite (= a u) s.u+.{0} (ite (= a v) "
                        "s.v+.{0} (f.{0} a))))\n",
                        name, sort);
  }
  require(steps_.contains("exact"), "it is not said where the arithmetic is exact");
  solver_->send(text);
}

std::string Theory::leaf(const std::string& leaf, const Scope& scope, int depth) const {
  if (leaf == "true" || leaf == "false" || is_number(leaf)) return leaf;
  if (steps_.contains(leaf)) return "s." + leaf;
  if (parameters_.contains(leaf)) return "p." + leaf;
  if (numbers_.contains(leaf)) return "n." + leaf;
  const auto definition = definitions_.find(leaf);
  if (definition != definitions_.end() && definition->second.first.empty())
    return formula(definition->second.second, {}, depth + 1);
  const std::size_t dot = leaf.find('.');
  const auto agent = scope.find(leaf.substr(0, dot));
  require(dot != leaf.npos && agent != scope.end(), "a term names what it does not know");
  const std::string field = leaf.substr(dot + 1);
  require(std::ranges::any_of(fields_, [&](const auto& each) { return each.first == field; }),
          "a term names an unknown field");
  return fmt::format("({}.{} {})", agent->second.is_after ? 'g' : 'f', field, agent->second.symbol);
}

std::string Theory::formula(const Term& term, const Scope& scope, int depth) const {
  require(depth < 100, "a term nests too deep");
  if (term.parts.empty()) return leaf(term.word, scope, depth);
  const auto definition = definitions_.find(term.head());
  if (definition != definitions_.end()) {
    const auto& [agents, body] = definition->second;
    require(agents.size() + 1 == term.parts.size(), "a definition has another number of agents");
    Scope inner;
    for (std::size_t i = 0; i < agents.size(); ++i) {
      const auto agent = scope.find(term.parts[i + 1].word);
      require(agent != scope.end(), "a term names an unknown agent");
      inner[agents[i]] = agent->second;
    }
    return formula(body, inner, depth + 1);
  }
  require(std::ranges::find(operators, term.head()) != operators.end(), "an operator is unknown");
  std::string text = '(' + term.parts[0].word;
  for (std::size_t i = 1; i < term.parts.size(); ++i)
    text += ' ' + formula(term.parts[i], scope, depth + 1);
  return text + ')';
}

std::string distinct(const std::vector<std::string>& symbols) {
  std::string text = symbols.size() < 2 ? "(and true" : "(distinct";
  for (const std::string& each : symbols) text += symbols.size() < 2 ? "" : ' ' + each;
  return text + ')';
}

// The block, of these agents: for all others.
std::string Theory::universal(const Block& block, Scope scope, bool is_after) const {
  std::vector<std::string> symbols;
  for (auto& [name, agent] : scope) {
    symbols.push_back(agent.symbol);
    agent.is_after = is_after;
  }
  const std::string chosen = distinct(symbols);
  if (block.all.empty()) return conjunction({chosen, formula(block.body, scope)});
  std::string binding;
  for (const std::string& name : block.all) {
    scope[name] = {"x." + name, is_after};
    symbols.push_back("x." + name);
    binding += fmt::format("(x.{} Agent)", name);
  }
  return conjunction({chosen, fmt::format("(forall ({}) (=> {} {}))", binding, distinct(symbols),
                                          formula(block.body, scope))});
}

std::string Theory::holds(const Statement& statement, bool is_after) const {
  std::string text = "(or false";
  for (const Block& block : statement) {
    std::string binding;
    Scope scope;
    for (const std::string& name : block.some) {
      scope[name] = {"y." + name, is_after};
      binding += fmt::format("(y.{} Agent)", name);
    }
    const std::string inner = universal(block, scope, is_after);
    text += binding.empty() ? ' ' + inner : fmt::format(" (exists ({}) {})", binding, inner);
  }
  return text + ')';
}

// The ranges and the domain, at the start and after every interaction.
void Theory::domain() {
  auto& [agents, body] = definitions_["domain"];
  require(agents.size() == 1, "the domain is about one agent");
  for (const Term& range : ranges_) {
    const Term field{.word = agents[0] + '.' + range.at(1).word};
    for (const auto& [from, to] : {std::pair{range.at(2), field}, std::pair{field, range.at(3)}}) {
      body = Term{.parts = {{.word = "and"}, {.parts = {{.word = "<="}, from, to}}, body}};
    }
  }
  if (has_start()) refute({of("start", {"u"}), no(of("domain", {"u"}))}, "start");
  refute({pair_in_domain(), no(of("domain", {"u", true}))}, "step");
  refute({pair_in_domain(), no(of("domain", {"v", true}))}, "step");
  refute({pair_in_domain(), "(not s.exact)"}, "arithmetic");
}

void Theory::rule(const Term& rule) {
  const std::string_view head = rule.head();
  if (head == "step") return step(rule);
  if (head == "balance") return balance(rule);
  if (head == "progress") return progress(rule);
  const Statement statement = statement_of(rule.at(1));
  if (head == "closed") return closed(statement);
  if (head == "invariant") {
    require(has_start(), "an invariant needs a start");
    refute({everybody("start"), no(holds(statement, false))}, "start");
    closed(statement);
    invariants_.push_back(statement);
    return;
  }
  require(head == "hence", "a rule is unknown");
  std::vector<std::string> parts{everybody("domain")};
  for (const Statement& each : invariants_) parts.push_back(holds(each, false));
  parts.push_back(no(holds(statement, false)));
  refute(parts, "hence");
  facts_.push_back(statement);
}

void Theory::closed(const Statement& statement) {
  std::vector<std::string> parts{everybody("domain"), holds(statement, false)};
  for (const Statement& fact : facts_) parts.push_back(holds(fact, true));
  parts.push_back(no(holds(statement, true)));
  refute(parts, "step");
}

void Theory::step(const Term& rule) {
  const Scope all{{"u", {"u"}}, {"v", {"v"}}, {"u+", {"u", true}}, {"v+", {"v", true}}};
  const bool has_premise = rule.at(1).head() == "given";
  refute({pair_in_domain(), has_premise ? formula(rule.at(1).at(1), all) : "true",
          no(formula(rule.at(has_premise ? 2 : 1), all))},
         "step");
}

void Theory::balance(const Term& rule) {
  const std::vector<Term>& classes = rule.at(1).parts;
  const auto sum = [&](const Term* weights, const Agent& agent) {
    std::string text = "(+ 0";
    for (std::size_t i = 1; i < classes.size(); ++i)
      text += fmt::format(" (ite {} {} 0)", of(classes[i].word, agent),
                          weights == nullptr ? "1" : formula(weights->at(i), {}));
    return text + ')';
  };
  refute({pair_in_domain(), no(compare("=", "1", sum(nullptr, {"u"})))}, "classes");
  require(has_start(), "a balance needs a start");
  refute({of("start", {"u"}), no(of(rule.at(1).at(1).word, {"u"}))}, "class of the start");
  std::string declarations, total = "(+ 0";
  std::vector<std::string> parts;
  numbers_ = {"n"};
  for (std::size_t i = 1; i < classes.size(); ++i) {
    numbers_.insert("N_" + classes[i].word);
    total += " n.N_" + classes[i].word;
    parts.push_back(fmt::format("(>= n.N_{} 0)", classes[i].word));
  }
  for (const std::string& each : numbers_)
    declarations += fmt::format("(declare-const n.{} Int)\n", each);
  parts.push_back(compare("=", "n.n", total + ')'));
  parts.emplace_back("(>= n.n 2)");
  for (std::size_t r = 2; r + 1 < rule.parts.size(); ++r) {
    const Term& weights = rule.parts[r];
    require(weights.head() == "falls" && weights.parts.size() == classes.size() &&
                weights.at(1).word == "0",
            "weights are wrong");
    refute({pair_in_domain(),
            fmt::format("(> (+ {} {}) (+ {} {}))", sum(&weights, {"u", true}),
                        sum(&weights, {"v", true}), sum(&weights, {"u"}), sum(&weights, {"v"}))},
           "weights");
    std::string left = "(+ 0";
    for (std::size_t i = 1; i < classes.size(); ++i) {
      const std::string weight = formula(weights.parts[i], {});
      require(weight == "0" || weight == "1" || weight == "(- 1)", "a weight is too large");
      if (weight == "1") left += " n.N_" + classes[i].word;
      if (weight == "(- 1)") left += fmt::format(" (- n.N_{})", classes[i].word);
    }
    parts.push_back(compare("<=", left + ')', "0"));
  }
  const Term& then = rule.parts.back();
  require(then.head() == "then", "a balance needs a conclusion");
  parts.push_back(no(formula(then.at(1), {})));
  solver_->send("(push 1)\n" + declarations);
  refute(parts, "numbers");
  solver_->send("(pop 1)\n");
  numbers_.clear();
}

Rank Theory::rank_of(const Term& rank, const Scope& chosen, const std::string& stays) const {
  if (rank.head() == "least") {
    Scope later = chosen;
    for (auto& [name, agent] : later) agent.is_after = true;
    const std::string before = formula(rank.at(1), chosen), after = formula(rank.at(1), later);
    return {conjunction({stays, compare("<", after, before)}),
            conjunction({stays, compare("<=", after, before)})};
  }
  const std::string& name = rank.at(1).word;
  const std::string a = of(name, {"u"}), b = of(name, {"v"});
  const std::string c = of(name, {"u", true}), d = of(name, {"v", true});
  if (rank.head() == "sum") {
    const std::string before = compare("+", a, b), after = compare("+", c, d);
    return {compare("<", after, before), compare("<=", after, before)};
  }
  require(rank.head() == "multiset", "a rank is unknown");
  const auto high = [](const std::string& x, const std::string& y) {
    return fmt::format("(ite (< {0} {1}) {1} {0})", x, y);
  };
  const auto low = [](const std::string& x, const std::string& y) {
    return fmt::format("(ite (< {0} {1}) {0} {1})", x, y);
  };
  const std::string less = compare("<", high(c, d), high(a, b));
  const std::string same = compare("=", high(c, d), high(a, b));
  return {fmt::format("(or {} (and {} (< {} {})))", less, same, low(c, d), low(a, b)),
          fmt::format("(or {} (and {} (<= {} {})))", less, same, low(c, d), low(a, b))};
}

std::vector<Rank> Theory::ranks_of(const Term& ranks, const Scope& chosen,
                                   const std::string& stays) const {
  std::vector<Rank> all;
  for (std::size_t i = 1; i < ranks.parts.size(); ++i)
    all.push_back(rank_of(ranks.parts[i], chosen, stays));
  return all;
}

// (case NAME BLOCK (meet a b) (rank ...))
void Theory::advance(const std::vector<Term>& cases, std::size_t number, const Term& global) {
  const Term& one = cases[number];
  const Block block = block_of(one.at(2));
  require(one.at(3).head() == "meet" && one.at(4).head() == "rank", "a case is wrong");
  Scope chosen;
  for (const std::string& name : block.some) {
    const bool is_u = name == one.at(3).at(1).word, is_v = name == one.at(3).at(2).word;
    chosen[name] = {is_u ? "u" : is_v ? "v" : "w"};
  }
  require(chosen.size() <= 3, "a case has too many agents");
  std::vector<std::string> parts{everybody("domain"), universal(block, chosen, false)};
  for (std::size_t i = 0; i < number; ++i)
    parts.push_back(no(holds({block_of(cases[i].at(2))}, false)));
  for (const Term* ranks : {&global, &one.at(4)}) {
    for (std::size_t i = 1; i < ranks->parts.size(); ++i) {
      const Term& rank = ranks->parts[i];
      const std::string value =
          rank.head() == "least" ? formula(rank.at(1), chosen) : of(rank.at(1).word, {"u"});
      refute({parts[0], parts[1], compare("<", value, "0")}, "a rank is natural");
    }
  }
  const std::vector<Rank> globals = ranks_of(global, chosen, "false");
  parts.push_back(no(lexicographic(globals)));
  const auto refute_with = [&](const std::string& last) {
    std::vector<std::string> all = parts;
    all.push_back(last);
    refute(all, one.at(1).word);
  };
  for (const Rank& rank : globals) refute_with(no(rank.steady));
  for (std::size_t i = 0; i < number; ++i) refute_with(holds({block_of(cases[i].at(2))}, true));
  refute_with(conjunction(
      {holds({block}, true),
       no(lexicographic(ranks_of(one.at(4), chosen, universal(block, chosen, true))))}));
}

void Theory::progress(const Term& rule) {
  require(rule.at(1).head() == "goal" && rule.at(2).head() == "global", "progress is wrong");
  const std::vector<Term> cases(rule.parts.begin() + 3, rule.parts.end());
  for (std::size_t i = 0; i < cases.size(); ++i) advance(cases, i, rule.parts[2]);
  std::vector<std::string> parts{everybody("domain"),
                                 no(holds(statement_of(rule.at(1).at(1)), false))};
  for (const Statement& fact : facts_) parts.push_back(holds(fact, false));
  for (const Term& each : cases) parts.push_back(no(holds({block_of(each.at(2))}, false)));
  refute(parts, "the cases are complete");
}

}  // namespace

std::string check_pairs(const Json& certificate, SolverProcess& solver) {
  const std::string& protocol = word(member(certificate, "protocol"));
  const std::string& variant = word(member(certificate, "variant"));
  const std::size_t lemmas = Theory(certificate, solver).check();
  return fmt::format("{}{}{}: {} lemmas for every n and all constants", protocol,
                     variant.empty() ? "" : " ", variant, lemmas);
}

}  // namespace conclave::check
