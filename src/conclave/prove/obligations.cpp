// The obligations of each rule: long because each is told in full. Every query is about one
// interaction of u and v in a configuration that satisfies the domain and the invariants.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/prove/query.hpp"
#include "conclave/prove/theory.hpp"

namespace conclave::prove {

namespace {

Block block_of(const Expression& form) {
  Block block;
  const Expression* inner = &form;
  const auto names = [&](std::string_view head) {
    std::vector<std::string> words;
    if (inner->head() != head || inner->size() != 3) return words;
    for (const Expression& word : (*inner)[1].items) words.push_back(word.word);
    inner = &(*inner)[2];
    return words;
  };
  block.some = names("some");
  block.all = names("all");
  block.body = *inner;
  if (block.some.empty() && block.all.empty())
    throw Error("`" + form.text() + "` says neither of which agents nor of all");
  return block;
}

Statement statement_of(const Expression& form) {
  if (form.head() != "or") return {block_of(form)};
  Statement statement;
  for (std::size_t i = 1; i < form.size(); ++i) statement.push_back(block_of(form[i]));
  return statement;
}

Expression word(const char* text) { return {.word = text}; }
Expression call(const std::string& name, const char* agent) {
  return {.items = {{.word = name}, word(agent)}};
}
const Block everybody_in_domain{.all = {"x"}, .body = call("domain", "x")};
const Agents pair{{"u", "u"}, {"v", "v"}, {"u+", "u+"}, {"v+", "v+"}};

std::string negation(const std::string& formula) { return "(not " + formula + ')'; }

std::string joined(const char* operation, const std::vector<std::string>& parts) {
  if (parts.size() == 1) return parts[0];
  std::string text = std::string("(") + operation;
  for (const std::string& part : parts) text += ' ' + part;
  return text + ')';
}

// One part of a rank: before and after the interaction.
struct Change {
  std::string falls;
  std::string does_not_grow;
};

// The lexicographic order.
std::string some_falls(const std::vector<Change>& changes) {
  std::vector<std::string> ways{"false"};
  std::vector<std::string> so_far{"true"};
  for (const Change& change : changes) {
    std::vector<std::string> way = so_far;
    way.push_back(change.falls);
    ways.push_back(joined("and", way));
    so_far.push_back(change.does_not_grow);
  }
  return joined("or", ways);
}

class Builder {
 public:
  Builder(const Theory& theory, const std::vector<FieldSort>& fields)
      : theory_(theory), fields_(fields) {}

  std::vector<Obligation> build() {
    domain();
    for (const Lemma& lemma : theory_.lemmas) {
      ++lemma_;
      for (const Expression& rule : lemma.rules) add_rule(rule);
    }
    return std::move(obligations_);
  }

 private:
  bool has_start() const { return theory_.vocabulary.contains("start"); }

  // In a configuration with the domain.
  Query in_domain() const {
    Query query(theory_, fields_);
    query.assume({everybody_in_domain}, Time::before);
    return query;
  }
  // And with all that has been concluded.
  Query in_general() const {
    Query query = in_domain();
    for (const Statement& fact : facts_) query.assume(fact, Time::before);
    return query;
  }
  Query at_start() const {
    Query query(theory_, fields_);
    query.assume({{.all = {"x"}, .body = call("start", "x")}}, Time::before);
    return query;
  }

  void add(std::string name, Query query, Expected expected = Expected::unsat) {
    obligations_.push_back({lemma_, std::move(name), query.text(), expected});
  }
  void refute(std::string name, Query query, const std::string& formula) {
    query.add(formula);
    add(std::move(name), std::move(query));
  }

  void domain() {
    if (has_start()) {
      Query start = at_start();
      start.deny({everybody_in_domain}, Time::before);
      add("start", std::move(start));
    }
    const Query query = in_domain();
    refute("step of u", query, negation(query.expanded(call("domain", "u+"), pair)));
    refute("step of v", query, negation(query.expanded(call("domain", "v+"), pair)));
    refute("exact arithmetic", query, "(not exact)");
    add("satisfiable", query, Expected::sat);
  }

  void add_rule(const Expression& rule) {
    if (rule.head() == "invariant") return invariant(statement_of(rule[1]));
    if (rule.head() == "closed") return closed(statement_of(rule[1]));
    if (rule.head() == "hence") return hence(statement_of(rule[1]));
    if (rule.head() == "step") return step(rule);
    if (rule.head() == "balance") return balance(rule);
    if (rule.head() == "progress") return progress(rule);
    throw Error("a theory does not know the rule `" + std::string(rule.head()) + "`");
  }

  void invariant(const Statement& statement) {
    if (!has_start())
      throw Error("an invariant needs a start; of any configuration there is `closed`");
    Query start = at_start();
    start.deny(statement, Time::before);
    add("start", std::move(start));
    closed(statement);
    invariants_.push_back(statement);
  }

  void closed(const Statement& statement) {
    for (const Block& block : statement) {  // whichever of them holds before
      Query possible = in_domain();
      possible.assume({block}, Time::before);
      add("satisfiable", std::move(possible), Expected::sat);
      if (block.some.size() != 1) {
        Query query = in_domain();
        query.assume({block}, Time::before);
        stays(statement, std::move(query));
        continue;
      }
      for (const std::string agent : {"u", "v", ""}) {  // and whether its agent interacts
        Query query = in_domain();
        const std::string who = agent.empty() ? query.new_agent() : agent;
        if (agent.empty()) query.add("(distinct u.who v.who " + who + ".who)");
        query.assume_of(block, {{block.some[0], who}}, Time::before);
        stays(statement, std::move(query));
      }
    }
  }

  void stays(const Statement& statement, Query query) {
    for (const Statement& fact : facts_) query.assume(fact, Time::after);
    query.deny(statement, Time::after);
    add("step", std::move(query));
  }

  void hence(const Statement& statement) {
    Query query = in_domain();
    for (const Statement& invariant : invariants_) query.assume(invariant, Time::before);
    query.deny(statement, Time::before);
    add("hence", std::move(query));
    facts_.push_back(statement);
  }

  // (step F) or (step (given PREMISE) F)
  void step(const Expression& rule) {
    Query query = in_domain();
    const bool has_premise = rule[1].head() == "given";
    if (has_premise) query.add(query.expanded(rule[1][1], pair));
    if (has_premise) add("premise", query, Expected::sat);
    const std::string formula = query.expanded(rule[has_premise ? 2 : 1], pair);
    refute("step", std::move(query), negation(formula));
  }

  void balance(const Expression& rule);
  void progress(const Expression& rule);

  Change change_of(const Expression& rank, const Agents& chosen, const Query& query,
                   const std::string& is_left) const;
  std::vector<Change> changes_of(const Expression& ranks, const Agents& chosen, const Query& query,
                                 const std::string& is_left) const;
  void ranks_are_natural(const Expression& ranks, const Query& query, const Agents& chosen);

  struct Case {
    std::string name;
    Block block;
    Agents chosen;
    Expression ranks;
  };
  Case case_of(const Expression& form) const;
  void advance(const std::vector<Case>& cases, std::size_t number, const Statement& goal,
               const Expression& global);

  const Theory& theory_;
  const std::vector<FieldSort>& fields_;
  std::vector<Statement> invariants_;
  std::vector<Statement> facts_;
  std::vector<Obligation> obligations_;
  std::size_t lemma_ = 0;
};

// (balance (classes c1 c2 ...) (falls w1 w2 ...) ... (then F)): every agent is in exactly one
// class, and c1 is that of the start. F is about the numbers of agents n and N_c1, N_c2 ...
void Builder::balance(const Expression& rule) {
  std::vector<std::string> classes;
  for (std::size_t i = 1; i < rule[1].size(); ++i) classes.push_back(rule[1][i].word);
  const auto sum = [&](const Query& query, const Expression* weights, const char* agent) {
    std::vector<std::string> parts{"0"};
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const std::string weight = weights == nullptr ? "1" : query.expanded((*weights)[i + 1], {});
      parts.push_back("(ite " + query.expanded(call(classes[i], agent), pair) + ' ' + weight +
                      " 0)");
    }
    return joined("+", parts);
  };
  const Query general = in_domain();
  refute("classes", general, "(not (= 1 " + sum(general, nullptr, "u") + "))");
  Query start = at_start();
  refute("start", start, negation(start.expanded(call(classes[0], "u"), pair)));

  Query counts = in_domain();
  std::string total = "(= n (+ 0";
  std::string declarations = "(declare-const n Int)\n";
  for (const std::string& name : classes) {
    declarations += "(declare-const N_" + name + " Int)\n";
    counts.add("(>= N_" + name + " 0)");
    total += " N_" + name;
  }
  counts.add("(>= n 2)");
  counts.add(total + "))");
  for (std::size_t i = 2; i + 1 < rule.size(); ++i) {
    const Expression& weights = rule[i];
    if (weights.head() != "falls" || weights.size() != classes.size() + 1)
      throw Error("`" + weights.text() + "` should have one weight for each class");
    const Query query = in_domain();
    refute("weights", query,
           "(> (+ " + sum(query, &weights, "u+") + ' ' + sum(query, &weights, "v+") + ") (+ " +
               sum(query, &weights, "u") + ' ' + sum(query, &weights, "v") + "))");
    std::string left = "(+ 0";
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (weights[c + 1].text() == "0") continue;
      left += weights[c + 1].text() == "1" ? " N_" + classes[c] : " (- N_" + classes[c] + ')';
      if (weights[c + 1].text() != "1" && weights[c + 1].text() != "(- 1)")
        throw Error("weights are 1, 0 and (- 1)");
    }
    if (weights[1].text() != "0") throw Error("the class of the start needs weight 0");
    counts.add("(<= " + left + ") 0)");
  }
  counts.add(negation(counts.expanded(rule[rule.size() - 1][1], {})));
  obligations_.push_back({lemma_, "numbers", declarations + counts.text()});
}

// `is_left`: the case no longer holds of its agents, which then have no value.
Change Builder::change_of(const Expression& rank, const Agents& chosen, const Query& query,
                          const std::string& is_left) const {
  if (rank.head() == "least") {
    Agents later;
    for (const auto& [name, agent] : chosen) later[name] = agent + '+';
    const std::string before = query.expanded(rank[1], chosen);
    const std::string after = query.expanded(rank[1], later) + ' ' + before + ')';
    const std::string stays = "(and (not " + is_left + ") (";
    return {stays + "< " + after + ')', stays + "<= " + after + ')'};
  }
  const auto of = [&](const char* agent) {
    return query.expanded(call(rank[1].word, agent), pair);
  };
  if (rank.head() == "sum") {
    const std::string before = "(+ " + of("u") + ' ' + of("v") + ')';
    const std::string after = "(+ " + of("u+") + ' ' + of("v+") + ')';
    return {"(< " + after + ' ' + before + ')', "(<= " + after + ' ' + before + ')'};
  }
  if (rank.head() != "multiset")
    throw Error("a theory does not know the rank `" + rank.text() + "`");
  const auto extreme = [](const char* order, const std::string& a, const std::string& b) {
    return "(ite (" + std::string(order) + ' ' + a + ' ' + b + ") " + a + ' ' + b + ')';
  };
  const std::string most = extreme(">", of("u"), of("v"));
  const std::string most_after = extreme(">", of("u+"), of("v+"));
  const std::string least = extreme("<", of("u"), of("v"));
  const std::string least_after = extreme("<", of("u+"), of("v+"));
  const std::string less = "(< " + most_after + ' ' + most + ')';
  const std::string same = "(= " + most_after + ' ' + most + ')';
  return {"(or " + less + " (and " + same + " (< " + least_after + ' ' + least + ")))",
          "(or " + less + " (and " + same + " (<= " + least_after + ' ' + least + ")))"};
}

std::vector<Change> Builder::changes_of(const Expression& ranks, const Agents& chosen,
                                        const Query& query, const std::string& is_left) const {
  std::vector<Change> changes;
  for (std::size_t i = 1; i < ranks.size(); ++i)
    changes.push_back(change_of(ranks[i], chosen, query, is_left));
  return changes;
}

Builder::Case Builder::case_of(const Expression& form) const {
  if (form.size() != 5 || form[3].head() != "meet" || form[4].head() != "rank")
    throw Error("a case is (case NAME BLOCK (meet a b) (rank ...))");
  Case one{.name = form[1].word, .block = block_of(form[2]), .chosen = {}, .ranks = form[4]};
  for (const std::string& name : one.block.some) {  // others may be anybody
    if (name == form[3][1].word) one.chosen[name] = "u";
    if (name == form[3][2].word) one.chosen[name] = "v";
  }
  return one;
}

void Builder::ranks_are_natural(const Expression& ranks, const Query& query, const Agents& chosen) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const Expression term = ranks[i].head() == "least" ? ranks[i][1] : call(ranks[i][1].word, "u");
    const Agents& agents = ranks[i].head() == "least" ? chosen : pair;
    refute("rank is natural", query, "(< " + query.expanded(term, agents) + " 0)");
  }
}

// The case with this number: its agents interact, and then the global ranks have fallen; or they
// have not grown, no case before it holds, and if it holds itself, its ranks have fallen.
void Builder::advance(const std::vector<Case>& cases, std::size_t number, const Statement& goal,
                      const Expression& global) {
  const Case& one = cases[number];
  Query query = in_domain();
  Agents chosen = one.chosen;
  for (const std::string& name : one.block.some) {
    if (!chosen.contains(name)) chosen[name] = query.new_agent();
  }
  query.assume_of(one.block, chosen, Time::before);
  for (std::size_t i = 0; i < number; ++i) {
    if (cases[i].block.all.empty()) query.deny({cases[i].block}, Time::before);
  }
  Query open = query;
  open.deny(goal, Time::before);
  add(one.name + ": satisfiable", std::move(open), Expected::sat);
  ranks_are_natural(one.ranks, query, chosen);

  const std::vector<Change> globals = changes_of(global, chosen, query, "true");
  query.add(negation(some_falls(globals)));
  Query grows = query;
  std::vector<std::string> steady{"true"};
  for (const Change& change : globals) steady.push_back(change.does_not_grow);
  refute(one.name + ": global ranks", std::move(grows), negation(joined("and", steady)));
  for (std::size_t i = 0; i < number; ++i) {
    Query back = query;
    back.assume({cases[i].block}, Time::after);
    add(one.name + ": not back to " + cases[i].name, std::move(back));
  }
  // The least value falls where the same agents have a smaller one, if the case holds of them.
  const std::string is_left = query.new_literal();
  query.assume({one.block}, Time::after);
  query.deny_of(one.block, chosen, Time::after, is_left);
  query.add(negation(some_falls(changes_of(one.ranks, chosen, query, is_left))));
  add(one.name + ": falls", std::move(query));
}

void Builder::progress(const Expression& rule) {
  const Statement goal = statement_of(rule[1][1]);
  ranks_are_natural(rule[2], in_general(), pair);
  std::vector<Case> cases;
  for (std::size_t i = 3; i < rule.size(); ++i) cases.push_back(case_of(rule[i]));
  for (std::size_t i = 0; i < cases.size(); ++i) advance(cases, i, goal, rule[2]);
  Query complete = in_general();
  complete.deny(goal, Time::before);
  for (const Case& one : cases) complete.deny({one.block}, Time::before);
  add("the cases are complete", std::move(complete));
}

}  // namespace

std::string preamble(const Theory& theory, const std::vector<FieldSort>& fields,
                     const std::vector<Definition>& step) {
  std::string text;
  for (const auto& [name, condition] : theory.parameters)
    text += "(declare-const " + name + " Int)\n";
  for (const auto& [name, condition] : theory.parameters)
    text += "(assert " + expand(condition, theory.vocabulary, {}) + ")\n";
  for (const char* agent : {"u", "v"}) {
    text += std::string("(declare-const ") + agent + ".who Int)\n";
    for (const FieldSort& field : fields)
      text += std::string("(declare-const ") + agent + '.' + field.name + ' ' + field.sort + ")\n";
  }
  text += "(assert (distinct u.who v.who))\n";
  for (const Definition& definition : step)
    text +=
        "(define-fun " + definition.name + " () " + definition.sort + ' ' + definition.text + ")\n";
  return text;
}

std::vector<Obligation> obligations_of(const Theory& theory, const std::vector<FieldSort>& fields) {
  return Builder(theory, fields).build();
}

}  // namespace conclave::prove
