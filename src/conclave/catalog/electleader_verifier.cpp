// The exact module and rare failures for ElectLeader_r and its parts.
#include <memory>

#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/electleader.hpp"
#include "conclave/catalog/make_verifier.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/protocols/population/electleader/late_detection.hpp"
#include "conclave/protocols/population/lemmas/electleader.hpp"
#include "conclave/protocols/population/lemmas/electleader_detection.hpp"
#include "conclave/protocols/population/lemmas/electleader_parts.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

namespace {

void add_late_detection(Entry& entry,
                        std::unique_ptr<rare::Prepared> (*prepare)(const RareRequest&)) {
  entry.rare_ways = el::LateDetection::all_ways;
  entry.rare_functions = el::LateDetection::all_functions;
  entry.rare = prepare;
}

}  // namespace

void add_electleader_analyses(ElectLeaderEntries& entries) {
  entries.whole.verify = verify<el::PlainElectLeader>;
  entries.propagate_reset.verify = verify<el::PlainPropagateReset>;
  entries.assign_ranks.verify = verify<el::PlainAssignRanks>;
  entries.detect_collision.verify = verify<el::PlainDetectCollision>;
  add_late_detection(entries.whole, rare_electleader);
  add_late_detection(entries.detect_collision, rare_detect_collision);
}

}  // namespace conclave::catalog
