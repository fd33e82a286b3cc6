// Estimates of rare failures that a sweep has stored, as `conclave results` shows them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conclave/sweep/rare_cells.hpp"

namespace conclave::cli {

struct EstimateLine {
  const sweep::CellEstimate* estimate;
  std::string setting;
  std::string repetitions;  // how many there are: "20", or "3 of 20"
};

// For people: a line per way and importance function, then the warnings.
std::string estimates_table(const std::vector<EstimateLine>& estimates, std::size_t width);

}  // namespace conclave::cli
