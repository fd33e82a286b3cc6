// All claims about a protocol for every n and every constant, and why: predicates over agents
// and rules, in a text of S-expressions. Nothing in it is believed: `obligations_of` turns every
// claim into queries about one interaction, the formula of which comes from the protocol's code.
//
//   (parameter c_max (>= c_max 1))
//   (define timer (x) (= x.status 2))
//   (start (x) ...)                   the states in which agents begin; none: any configuration
//   (ghost d (>= d 0))                something else that the rules do not know, such as a distance
//   (range status 0 2)                the field is a number from 0 to 2, always
//   (domain (x) ...)                  holds of every agent, always; proved first
//   (lemma "Lemma 4" "a timer exists"
//     (invariant (or (all (x) (new x)) (some (y) (timer y)))))
//
// A claim about a configuration is (or BLOCK ...) or a BLOCK: (all (x) F), (some (y) F),
// (some (y) (all (x) F)), with one or two agents each, all different. Rules of a lemma:
//
//   (invariant CLAIM)        holds from the start on
//   (closed CLAIM)           no interaction leads out of it
//   (hence CLAIM)            follows from the invariants, and may be used by `closed`, `progress`
//   (step F)                 of every interaction of u and v, which become u+ and v+
//   (balance (classes c ...) (falls w ...) ... (then F))   weights of classes whose sum never grows
//   (progress (goal CLAIM) (global RANK ...) (case NAME BLOCK (meet a b) (rank RANK ...)) ...)
//
// A RANK is (sum f), (multiset f) or (least F), of the agents for which the case holds. A
// configuration outside the goal is in the first case that holds of it; if the two agents of the
// case interact, a later case comes, or its ranks fall, lexicographically after the global ones.
// The last obligation is that the cases are complete. docs/explanation/proofs.md argues why these
// rules are sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/prove/expression.hpp"
#include "conclave/prove/term.hpp"

namespace conclave::prove {

// A field of a state, and its sort in SMT-LIB 2.
struct FieldSort {
  std::string name;
  std::string sort;  // Bool or Int
  friend bool operator==(const FieldSort&, const FieldSort&) = default;
};

// There are agents `some`, all different, such that every choice of further agents `all` satisfies
// the body.
struct Block {
  std::vector<std::string> some{};
  std::vector<std::string> all{};
  Expression body{};
};
using Statement = std::vector<Block>;  // at least one of them holds

// The rules of a lemma of the theory, as above. The statement is in words, for readers.
struct Lemma {
  std::string name;
  std::string statement;
  std::vector<Expression> rules;
};

struct Theory {
  std::vector<std::pair<std::string, Expression>> parameters{};
  std::set<std::string> ghosts{};  // those of them that are no constants of the protocol
  // Fields with few values, at most so many and at least so few.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges{};
  Vocabulary vocabulary{};  // with `start` and `domain`, of one agent each
  std::vector<Lemma> lemmas{};
};

// Throws Error for a text that is no theory.
Theory parse_theory(std::string_view text);

enum class Expected : std::uint8_t {
  unsat,  // an obligation: its negation has no model
  sat,    // its hypotheses have one; otherwise the lemma says nothing
};

// A query that follows the common declarations.
struct Obligation {
  std::size_t lemma;  // 0: the domain; then the lemmas from 1 on
  std::string name;
  std::string text;  // SMT-LIB 2 without check-sat
  Expected expected = Expected::unsat;
};

// The declarations that all obligations share: parameters, agents u and v, and their step.
std::string preamble(const Theory& theory, const std::vector<FieldSort>& fields,
                     const std::vector<Definition>& step);

// All queries that must be answered as expected, lemma after lemma, the domain first. Throws Error
// where a rule is not as above.
std::vector<Obligation> obligations_of(const Theory& theory, const std::vector<FieldSort>& fields);

}  // namespace conclave::prove
