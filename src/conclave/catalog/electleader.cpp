// The catalog entries of ElectLeader_r and its parts.
#include <cstddef>
#include <utility>
#include <vector>

#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/configuration_entry.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

std::vector<Entry> electleader_entries() {
  constexpr std::size_t bytes = sizeof(el::Agent);
  ElectLeaderEntries all{
      .whole = configuration_entry<el::ElectLeader<el::LazyMessages>,
                                   el::ElectLeader<el::DenseMessages>>(bytes),
      .propagate_reset = configuration_entry<el::PropagateResetAlone>(bytes),
      .assign_ranks = configuration_entry<el::AssignRanksAlone>(bytes),
      .detect_collision = configuration_entry<el::DetectCollisionAlone<el::LazyMessages>,
                                              el::DetectCollisionAlone<el::DenseMessages>>(bytes)};
  if (const auto add = analyses().add_to_electleader) add(all);
  return {std::move(all.whole), std::move(all.propagate_reset), std::move(all.assign_ranks),
          std::move(all.detect_collision)};
}

}  // namespace conclave::catalog
