// The door to the module: a protocol file's claim, for every population size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conclave/base/json.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/prove/solver.hpp"
#include "conclave/prove/stages.hpp"
#include "conclave/text/counts_model.hpp"

namespace conclave::prove {

// Whether one of the file's `always` holds in every reachable configuration of every n; if not, a
// start and a configuration that no invariant excludes, unless Z3 gave up.
struct PropertyVerdict {
  bool is_proved = false;
  std::optional<Pair> pair{};
};

// The answer to a question about a protocol file.
struct Verdict {
  text::CountsModel model;
  Proof proof;
  std::vector<PropertyVerdict> always{};  // in the file's order
  std::vector<Invariant> invariants{};
  bool has_leader_always = false;  // of a file that says who leads: somebody always does
  Speed speed = Speed::unknown;    // the largest class of the stages
  std::uint64_t queries = 0;
  Json certificate{};  // null unless the claim or one of the properties is proved

  // Whether the claim about the stop condition or the target holds for every population size. If
  // not, it may hold all the same.
  bool is_reached() const {
    return proof.result != Proof::Result::not_proved && proof.result != Proof::Result::vacuous;
  }
  bool is_proved() const {  // everything
    return is_reached() && std::ranges::all_of(always, &PropertyVerdict::is_proved);
  }
};

// Whether the target of the question, or else the file's stop condition, is reached with
// probability 1 from its initial configuration, whatever n >= 2, and whether its properties hold
// always. The same question gives the same answer and the same certificate, byte by byte. Throws
// Error where the file is not supported, and Interrupted.
Verdict prove(const std::shared_ptr<const text::ProtocolText>& text,
              const text::CountsQuestion& question, Engine& engine,
              const ProgressCallback& progress);

}  // namespace conclave::prove
