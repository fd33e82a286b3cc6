// The catalog entries of ElectLeader_r and its parts: their engines and their exact module are
// compiled in sources of their own.
#pragma once

#include <memory>
#include <vector>

#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

struct ElectLeaderEntries {
  Entry whole;
  Entry propagate_reset;
  Entry assign_ranks;
  Entry detect_collision;
};

std::vector<Entry> electleader_entries();

// How often a rank that is there twice goes unnoticed for long (LateDetection).
std::unique_ptr<rare::Prepared> rare_electleader(const RareRequest& request);
std::unique_ptr<rare::Prepared> rare_detect_collision(const RareRequest& request);

}  // namespace conclave::catalog
