// One of k equal parts of a sweep, for machines that share nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "conclave/sweep/plan.hpp"

namespace conclave::sweep {

struct Shard {
  std::uint64_t index = 0;  // below count
  std::uint64_t count = 1;

  // Neighbouring trials go to different shards, so that all have as much to do. Cells with a
  // precision stay together: whether more trials are needed depends on all of them.
  bool has(std::size_t cell, const Sampling& sampling, std::uint64_t trial) const {
    return (cell + (sampling.precision > 0 ? 0 : trial)) % count == index;
  }
};

// "2/5"; parts are numbered modulo their count, so that job arrays may begin with 0 or 1. Throws
// Error.
Shard parse_shard(const std::string& text);
std::string to_string(const Shard& shard);  // "" for the whole

}  // namespace conclave::sweep
