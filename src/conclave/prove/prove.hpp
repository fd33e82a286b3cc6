// The door to the module: a protocol file's claim, for every population size.
#pragma once

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

// The answer to a question about a protocol file.
struct Verdict {
  text::CountsModel model;
  Proof proof;
  std::vector<Invariant> invariants{};
  bool has_leader_always = false;  // of a file that says who leads: somebody always does
  Speed speed = Speed::unknown;    // the largest class of the stages
  std::uint64_t queries = 0;
  Json certificate{};  // null unless the claim is proved

  // Whether the claim holds for every population size. If not, it may hold all the same.
  bool is_proved() const {
    return proof.result != Proof::Result::not_proved && proof.result != Proof::Result::vacuous;
  }
};

// Whether the target of the question, or else the file's stop condition, is reached with
// probability 1 from its initial configuration, whatever n >= 2. The same question gives the same
// answer and the same certificate, byte by byte. Throws Error where the file is not supported, and
// Interrupted.
Verdict prove(const std::shared_ptr<const text::ProtocolText>& text,
              const text::CountsQuestion& question, Engine& engine,
              const ProgressCallback& progress);

}  // namespace conclave::prove
