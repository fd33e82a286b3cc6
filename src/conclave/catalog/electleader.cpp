#include "conclave/catalog/electleader.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "conclave/catalog/configuration_entry.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"
#include "conclave/protocols/population/electleader/late_detection.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

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

std::vector<Entry> electleader_entries() {
  Entry propagate_reset = configuration_entry<el::PropagateResetAlone>(sizeof(el::Agent));
  propagate_reset.verify = verify_propagate_reset;
  Entry assign_ranks = configuration_entry<el::AssignRanksAlone>(sizeof(el::Agent));
  assign_ranks.verify = verify_assign_ranks;
  Entry detect_collision =
      configuration_entry<el::DetectCollisionAlone<el::LazyMessages>,
                          el::DetectCollisionAlone<el::DenseMessages>>(sizeof(el::Agent));
  detect_collision.verify = verify_detect_collision;
  add_late_detection(detect_collision, rare_detect_collision);
  Entry whole =
      configuration_entry<el::ElectLeader<el::LazyMessages>, el::ElectLeader<el::DenseMessages>>(
          sizeof(el::Agent));
  whole.verify = verify_electleader;
  add_late_detection(whole, rare_electleader);
  return {std::move(whole), std::move(propagate_reset), std::move(assign_ranks),
          std::move(detect_collision)};
}

}  // namespace conclave::catalog
