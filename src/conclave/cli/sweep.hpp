// Carrying out a plan, for other commands as well.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

struct SweepOptions {
  std::string plan;
  std::string output;
  std::string threads;
  std::string shard;
  bool dry_run = false;
  bool extend = false;
  bool mix_versions = false;
  bool quiet = false;
};

// As `conclave sweep` does it, with progress on a terminal.
Exit carry_out(const SweepOptions& options);

}  // namespace conclave::cli
