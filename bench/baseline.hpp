// `conclave bench all`: a few cells of every engine, and whether any has become slower.
//
// Machines are noisy, and rates of two runs differ by more than a regression. So a cell is measured
// between two runs of a calibration kernel, a plain loop that no change of this project touches,
// and what is kept and compared is the ratio of the two rates:
//
//     kernel  cell  kernel    ratio = rate of the cell / mean rate of the kernels, median of the
//                             repeats
//
// A cell whose ratio is too far below the recorded one is measured again before it is called
// slower. Ratios of another kind of processor differ for good reasons; a file names its machine.
#pragma once

#include <functional>
#include <string>

namespace conclave::bench {

struct AllOptions {
  std::string save{};     // write the ratios to this file
  std::string compare{};  // with those of this file
  // A cell is slower if its ratio is below the recorded one divided by this.
  double tolerance = 1 / 0.9;
  unsigned repeats = 5;
  std::string code{};  // the version that is measured
};

// Calls `print` with each line of the table. Returns whether no cell is slower than recorded.
// Throws Error where a file cannot be read or written or is no such record.
bool run_all(const AllOptions& options, const std::function<void(const std::string&)>& print);

// The model of this machine's processor and how many it has, as the system names them.
std::string machine_name();

}  // namespace conclave::bench
