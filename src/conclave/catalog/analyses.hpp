// The analyses of protocol files and of ElectLeader_r: exact verification, the search for bad
// initial configurations, rare failures. They need modules that not every build has: those of the
// page have none, and no entry there offers what is missing. The build writes `analyses`, as it
// writes the entries of the protocol folder (cmake/entries.cpp.in).
#pragma once

#include <memory>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::catalog {

// The entries of ElectLeader_r and its parts: their engines, and their exact module, are compiled
// in sources of their own.
struct ElectLeaderEntries {
  Entry whole;
  Entry propagate_reset;
  Entry assign_ranks;
  Entry detect_collision;
};
// The four protocols of ElectLeader_r, with the analyses that this build has.
std::vector<Entry> electleader_entries();

// The functions of Entry with these names, for a protocol file. Throw Error and Interrupted as
// those do.
Verified verify_text(const VerifyRequest& request, const text::Compiled& compiled);
Searched search_text(const SearchRequest& request, const text::Compiled& compiled);
std::unique_ptr<rare::Prepared> rare_text(const RareRequest& request,
                                          const std::shared_ptr<const text::Compiled>& compiled);
void add_electleader_analyses(ElectLeaderEntries& entries);

// Those functions, each null where this build does not have it.
struct Analyses {
  decltype(&catalog::verify_text) verify_text = nullptr;
  decltype(&catalog::search_text) search_text = nullptr;
  decltype(&catalog::rare_text) rare_text = nullptr;
  decltype(&catalog::add_electleader_analyses) add_to_electleader = nullptr;
};
// Written by the build.
Analyses analyses();

}  // namespace conclave::catalog
