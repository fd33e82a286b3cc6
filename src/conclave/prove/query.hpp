// One query: agents, what is assumed about the configuration before and after the interaction of u
// and v, and what is denied. Statements with quantifiers become finitely many instances: what
// exists gets a name, and what holds of all agents is said of all agents that have one. Leaving
// instances out can only lose a proof.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conclave/prove/theory.hpp"

namespace conclave::prove {

enum class Time : bool { before, after };

class Query {
 public:
  // Both must outlive it.
  Query(const Theory& theory, const std::vector<FieldSort>& fields)
      : theory_(&theory), fields_(&fields) {}

  // A new agent, which may be one that is known already.
  std::string new_agent();
  // A new truth value.
  std::string new_literal();
  void add(const std::string& formula) { formulas_.push_back(formula); }

  // The statement holds; the second only if the literal does.
  void assume(const Statement& statement, Time time, const std::string& if_true = "true");
  // The block holds of these agents.
  void assume_of(const Block& block, Agents chosen, Time time, const std::string& if_true = "true");
  void deny(const Statement& statement, Time time, const std::string& if_true = "true");
  // The block does not hold of these agents.
  void deny_of(const Block& block, const Agents& chosen, Time time, const std::string& if_true);

  // The body for these agents, with the definitions of the theory put in.
  std::string expanded(const Expression& body, const Agents& agents) const {
    return expand(body, theory_->vocabulary, agents);
  }
  // Everything as SMT-LIB 2. Once.
  std::string text();

 private:
  struct Universal {
    Agents chosen;
    std::vector<std::string> rest;  // any agents
    Expression body;
    Time time;
    std::string if_true;
    bool is_denied;
  };

  Agents at(const Agents& agents, Time time) const;
  std::string all_different(const Agents& agents) const;
  void instantiate(const Universal& universal, const Agents& agents, std::size_t next);
  void deny_instances(const Block& block, const Agents& agents, std::size_t next, Time time,
                      const std::string& if_true, const std::vector<std::string>& candidates);
  std::string declarations() const;
  std::string identities() const;

  const Theory* theory_;
  const std::vector<FieldSort>* fields_;
  std::vector<std::string> agents_{"u", "v"};
  std::vector<std::string> literals_;
  std::vector<std::string> formulas_;
  std::vector<Universal> universals_;
  struct Denial {
    Block block;
    Time time;
    std::string if_true;
  };
  std::vector<Denial> denials_;
};

}  // namespace conclave::prove
