#include "conclave/prove/query.hpp"

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace conclave::prove {

std::string Query::new_agent() {
  agents_.push_back("k" + std::to_string(agents_.size() - 1));
  return agents_.back();
}

std::string Query::new_literal() {
  literals_.push_back("b" + std::to_string(literals_.size() + 1));
  return literals_.back();
}

Agents Query::at(const Agents& agents, Time time) const {
  if (time == Time::before) return agents;
  Agents later;
  for (const auto& [name, agent] : agents) later[name] = agent + '+';
  return later;
}

std::string Query::all_different(const Agents& agents) const {
  if (agents.size() < 2) return "true";
  std::string text = "(distinct";
  for (const auto& [name, agent] : agents) text += ' ' + agent + ".who";
  return text + ')';
}

void Query::assume_of(const Block& block, Agents chosen, Time time, const std::string& if_true) {
  add("(=> " + if_true + ' ' + all_different(chosen) + ')');
  universals_.push_back({std::move(chosen), block.all, block.body, time, if_true, false});
}

void Query::assume(const Statement& statement, Time time, const std::string& if_true) {
  std::string any = "(or false";
  for (const Block& block : statement) {
    const std::string holds = new_literal();
    any += ' ' + holds;
    Agents chosen;
    for (const std::string& name : block.some) chosen[name] = new_agent();
    assume_of(block, chosen, time, holds);
  }
  add("(=> " + if_true + ' ' + any + "))");
}

void Query::deny_of(const Block& block, const Agents& chosen, Time time,
                    const std::string& if_true) {
  Agents agents = chosen;
  for (const std::string& name : block.all) agents[name] = new_agent();
  // Chosen agents that are not all different satisfy nothing, and need no witness against them.
  add("(=> (and " + if_true + ' ' + all_different(chosen) + ") (and " + all_different(agents) +
      " (not " + expanded(block.body, at(agents, time)) + ")))");
}

void Query::deny(const Statement& statement, Time time, const std::string& if_true) {
  for (const Block& block : statement) {
    if (block.some.empty())
      deny_of(block, {}, time, if_true);
    else if (block.all.empty())
      universals_.push_back({{}, block.some, block.body, time, if_true, true});
    else
      denials_.push_back({block, time, if_true});
  }
}

// The body of all agents with a name.
void Query::instantiate(const Universal& universal, const Agents& agents, std::size_t next) {
  if (next < universal.rest.size()) {
    for (const std::string& agent : agents_) {
      Agents more = agents;
      more[universal.rest[next]] = agent;
      instantiate(universal, more, next + 1);
    }
    return;
  }
  std::string body = expanded(universal.body, at(agents, universal.time));
  if (universal.is_denied) body = "(not " + body + ')';
  add("(=> (and " + universal.if_true + ' ' + all_different(agents) + ") " + body + ')');
}

void Query::deny_instances(const Block& block, const Agents& agents, std::size_t next, Time time,
                           const std::string& if_true, const std::vector<std::string>& candidates) {
  if (next == block.some.size()) return deny_of(block, agents, time, if_true);
  for (const std::string& agent : candidates) {
    Agents more = agents;
    more[block.some[next]] = agent;
    deny_instances(block, more, next + 1, time, if_true, candidates);
  }
}

std::string Query::declarations() const {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const std::string& literal : literals_) {
    fmt::format_to(out, "(declare-const {} Bool)\n", literal);
  }
  for (const std::string& agent : agents_) {
    if (agent == "u" || agent == "v") continue;
    fmt::format_to(out, "(declare-const {}.who Int)\n", agent);
    for (const FieldSort& field : *fields_) {
      fmt::format_to(out,
                     "(declare-const {0}.{1} {2})\n(define-fun {0}+.{1} () {2} "
                     "(ite (= {0}.who u.who) u+.{1} (ite (= {0}.who v.who) v+.{1} {0}.{1})))\n",
                     agent, field.name, field.sort);
    }
  }
  return text;
}

// Two names of one agent.
std::string Query::identities() const {
  std::string text;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      text += "(assert (=> (= " + agents_[i] + ".who " + agents_[j] + ".who) (and true";
      for (const FieldSort& field : *fields_)
        text += " (= " + agents_[i] + '.' + field.name + ' ' + agents_[j] + '.' + field.name + ')';
      text += ")))\n";
    }
  }
  return text;
}

std::string Query::text() {
  const std::vector<std::string> candidates = agents_;
  for (const Denial& denial : std::exchange(denials_, {}))
    deny_instances(denial.block, {}, 0, denial.time, denial.if_true, candidates);
  for (const Universal& universal : std::exchange(universals_, {}))
    instantiate(universal, universal.chosen, 0);
  std::string text = declarations() + identities();
  for (const std::string& formula : formulas_) text += "(assert " + formula + ")\n";
  return text;
}

}  // namespace conclave::prove
