// Stages: a proof that a condition is reached with probability 1.
//
// A stage is a closed set of reachable configurations (no transition leads out of it), of which
// some facts are known: bags of agents that are never there, sets of states that are empty or
// occupied throughout, transitions that never fire. Populations are finite, so every run ends up in
// each closed set that it can reach from everywhere it may go; hence these rules, whose children
// are closed and are reached with probability 1 from the stage:
//
//   terminal  the facts and the invariants imply the condition
//   rank      weights >= 0 that no live transition increases: those that decrease them, the set U,
//             fire finitely often. Child: where no run fires U any more. No bag from which a path
//             of transitions ends in U is covered there.
//   split     S is a siphon: once empty, always empty. Children: S is empty; S will never be empty.
//             S is a trap: once occupied, always. Children: S will never be occupied; S is
//             occupied.
//   weak      weights >= 0 such that where the condition fails, some enabled transition lowers
//             them: then from everywhere the condition is reached
//
// A tree of stages whose leaves are terminal or weak proves the claim for every population size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/prove/invariants.hpp"
#include "conclave/prove/net.hpp"

namespace conclave::prove {

// A class of the expected number of interactions; `unknown` is larger than all.
enum class Speed : std::uint8_t { none, n_log_n, n2, n2_log_n, n3, unknown };
std::string to_string(Speed speed);
// As certificates write it, `n^2 log n`; "0" for `none`.

// A bag from which firing the path is possible; the last transition of the path is one of U.
struct Enabling {
  Bag bag;
  std::vector<std::size_t> path;
};

struct Stage {
  enum class Rule : std::uint8_t { terminal, rank, split, weak };
  std::optional<std::size_t> parent{};
  Rule rule = Rule::terminal;
  std::vector<std::size_t> dead{};  // besides those of the parent and, after a rank, its U
  Counts weights{};                 // of rank and weak
  std::vector<Enabling> more{};     // of rank: bags besides those that the transitions of U need
  std::vector<Bag> impossible{};    // of rank: bags that the facts exclude, with the class
  States set{};                     // of split
  std::vector<std::size_t> children{};  // of split: where the set is empty, where it is occupied
  Speed speed = Speed::none;
  std::int64_t factor = 0;  // a of the condition of the class
};

struct Proof {
  // `stays`: the condition is reached and holds ever after; `lasts`: it is reached, and from some
  // time on it holds for ever; `reached`: it is reached, and may fail again.
  enum class Result : std::uint8_t { stays, lasts, reached, not_proved, vacuous };
  Result result = Result::not_proved;
  std::vector<Stage> stages{};
  std::vector<std::size_t> never{};  // transitions that never fire
  std::optional<Pair> pair{};        // that no rule excludes, if not proved
  bool gave_up = false;              // Z3 did, on some query
};

// Tries to prove that the model's `stop` is reached with probability 1; adds to `invariants` what
// it needs. Throws Interrupted.
Proof prove_reached(const text::CountsModel& model, const Net& net, Engine& engine,
                    Invariants& invariants, const ProgressCallback& progress);

// Finds transitions that never fire, and tells `invariants` that all others may. Throws
// Interrupted.
std::vector<std::size_t> find_never(const Net& net, Invariants& invariants,
                                    const ProgressCallback& progress);

}  // namespace conclave::prove
