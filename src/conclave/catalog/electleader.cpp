// The catalog entries of ElectLeader_r and of its parts.
#include <vector>

#include "conclave/catalog/configuration_entry.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

std::vector<Entry> electleader_entries();
std::vector<Entry> electleader_entries() {
  return {configuration_entry<el::ElectLeader<el::LazyMessages>,
                              el::ElectLeader<el::DenseMessages>>(sizeof(el::Agent))};
}

}  // namespace conclave::catalog
