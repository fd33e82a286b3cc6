// One short measurement of `conclave bench all`. Every subject has a function that lists its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conclave::bench {

// The calibration kernel that slows down for the same reasons: a processor that others share, or
// memory that others share.
enum class Kernel : std::uint8_t { arithmetic, memory };

struct Cell {
  std::string name;  // without dots: it is a key in files
  Kernel kernel;
  // Work per CPU second of this thread, measured anew by each call; a few hundredths of a second
  // up to three tenths.
  std::function<double()> rate;
};

std::vector<Cell> agents_cells();
std::vector<Cell> counts_cells();
std::vector<Cell> electleader_cells();
std::vector<Cell> events_cells();
std::vector<Cell> exact_cells();
std::vector<Cell> network_cells();
std::vector<Cell> reactions_cells();
std::vector<Cell> texts_cells();

}  // namespace conclave::bench
