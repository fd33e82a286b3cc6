// The protocols of the catalog about which something is proved for every n and every constant.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/json.hpp"
#include "conclave/prove/derive_step.hpp"
#include "conclave/prove/solver.hpp"
#include "conclave/prove/theory.hpp"

namespace conclave::prove {

struct Provable {
  std::string_view name;
  std::string_view variant;  // the parameter's value that is proved about; empty: every value
  const char* theory;
  StepFormula (*derive)(const Theory& theory, Paths& paths);
};

// One row per protocol and variant; the rows live as long as the program.
std::span<const Provable> provable_protocols();

enum class LemmaVerdict : std::uint8_t {
  proved,
  not_proved,  // an obligation has a counterexample, or the solver gave up
  vacuous,     // nothing satisfies what it assumes
};

struct ProvedLemma {
  std::string name;
  std::string statement;
  LemmaVerdict verdict = LemmaVerdict::proved;
  std::size_t obligations = 0;
  std::string failed{};  // the obligation that is not proved
};

// All lemmas of a theory about this step, in their order. The first one is the domain, on which all
// others rest. A lemma that uses one that is not proved is not proved, either. Throws Interrupted.
std::vector<ProvedLemma> prove_theory(const Theory& theory, const StepFormula& step,
                                      Engine& engine);

struct PairsProof {
  std::vector<ProvedLemma> lemmas;
  Json certificate;  // for conclave-check
  // Whether every lemma is proved and none is vacuous.
  bool is_proved() const;
};

// Derives the step from the protocol's code and proves all lemmas. The certificate is null unless
// all are proved. Throws Interrupted.
PairsProof prove_pairs(const Provable& what, Engine& engine);

}  // namespace conclave::prove
