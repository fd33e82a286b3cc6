// Proofs as JSON, for conclave-check. A certificate of kind "counts" carries the protocol file and
// the question, and no formula: the checker derives all formulas from the file, as the prover does.
//
//   {"format": "conclave-proof 1", "kind": "counts",
//    "protocol": {"name": "epidemic.pp", "content": "..."}, "params": {}, "init": "one",
//    "target": "", "result": "stays", "bound": "n log n", "states": ["S", "I"], "transitions":
//    [[[0,1],[1,1]]], "never": [], "invariants": [{"kind": "trap", "y": [1]}], "stages": [{"rule":
//    "rank", "weights": [1,0], "child": 1, "speed": "n log n"},
//               {"rule": "terminal"}]}
//
// "always" lists which of the file's properties are proved; where only they are, the result is "not
// proved" and there are no stages. States and transitions are listed for readers, and compared with
// the file's.
#pragma once

#include "conclave/base/json.hpp"
#include "conclave/prove/invariants.hpp"
#include "conclave/prove/stages.hpp"

namespace conclave::prove {

struct Verdict;

// The certificate of what is proved, with everything that the stages and invariants need to be
// checked. A bound that is `unknown` is left out.
Json counts_certificate(const text::CountsQuestion& question, const Verdict& verdict);

// The name of a result, as certificates and reports have it.
std::string to_string(Proof::Result result);

}  // namespace conclave::prove
