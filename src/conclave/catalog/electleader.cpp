// The catalog entries of ElectLeader_r and of its parts.
#include <vector>

#include "conclave/catalog/configuration_entry.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

std::vector<Entry> electleader_entries();
std::vector<Entry> electleader_entries() {
  return {
      configuration_entry<el::ElectLeader<el::LazyMessages>, el::ElectLeader<el::DenseMessages>>(
          sizeof(el::Agent)),
      configuration_entry<el::PropagateResetAlone>(sizeof(el::Agent)),
      configuration_entry<el::AssignRanksAlone>(sizeof(el::Agent)),
      configuration_entry<el::DetectCollisionAlone<el::LazyMessages>,
                          el::DetectCollisionAlone<el::DenseMessages>>(sizeof(el::Agent))};
}

}  // namespace conclave::catalog
