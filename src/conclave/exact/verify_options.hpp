// The questions that an exact verification answers, and what it may spend on them. The command
// line fills this struct in, the catalog passes it on, exact/verifier.hpp acts on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "conclave/base/progress.hpp"

namespace conclave::exact {

// The configurations that are explored.
enum class Extent : std::uint8_t {
  as_claimed,  // those that the protocol's claims are about
  everywhere,  // all configurations
  start,       // those reachable from the start
};

// The resources that an exact computation may use.
struct Bounds {
  std::uint64_t memory = UINT64_MAX;  // bytes for the chain and what is computed from it
  // The same where only the reachable configurations are explored, whose number is not known
  // beforehand, so that all of `memory` might be filled before that is seen to be too little.
  std::uint64_t memory_while_unknown = UINT64_MAX;
  ProgressCallback progress{};  // called before, during and between all long steps

  // The bounds for an exploration of unknown size.
  Bounds while_unknown() const {
    Bounds bounds = *this;
    bounds.memory = std::min(memory, memory_while_unknown);
    return bounds;
  }
};

struct VerifyOptions {
  Extent extent = Extent::as_claimed;
  bool congruence = true;  // merge states that the protocol declares to behave alike
  std::string target{};    // the set whose hitting time is computed; empty: converged
  std::string within{};    // where its largest expectation is sought; empty: everywhere
  bool exactly = false;    // also the mean from the start as a fraction
  // The distribution of the time from the start: P(T <= t) for t = 0 ... distribution_steps.
  std::uint64_t distribution_steps = 0;
  // The law that trials are compared with: P(T <= t) up to comparison_steps, or until
  // P(t < T < infinity) has fallen to comparison_tail.
  std::uint64_t comparison_steps = 0;
  double comparison_tail = 0;
  std::string folder{};  // the chain is written to files there; empty: nowhere
  Bounds bounds{};
};

}  // namespace conclave::exact
