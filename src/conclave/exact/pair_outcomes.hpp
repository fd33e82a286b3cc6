// What becomes of two agents that meet, by the numbers of their states: all that the exploration
// of configurations needs to know of a protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "conclave/exact/weight.hpp"

namespace conclave::exact {

using StateNumber = std::uint32_t;

struct PairOutcome {
  StateNumber u;
  StateNumber v;
  Weight weight;
  bool changes_output;  // of one of the two agents
};

// Computes the results of each ordered pair of states once.
class PairOutcomes {
 public:
  virtual ~PairOutcomes() = default;

  // Valid until the next call.
  std::span<const PairOutcome> outcomes(StateNumber u, StateNumber v) {
    Place& place = u < dense_side && v < dense_side ? dense(u, v) : sparse_[key(u, v)];
    if (place.count == 0) remember(place, u, v);
    return {results_.data() + place.first, place.count};
  }

 protected:
  virtual std::vector<PairOutcome> compute(StateNumber u, StateNumber v) = 0;

 private:
  struct Place {
    std::size_t first = 0;
    std::uint32_t count = 0;
  };
  static constexpr std::size_t dense_side = 4096;  // at most 256 MiB, if all of them meet

  static std::uint64_t key(StateNumber u, StateNumber v) { return std::uint64_t{u} << 32 | v; }

  Place& dense(StateNumber u, StateNumber v) {
    if (u >= dense_.size()) dense_.resize(u + 1);
    std::vector<Place>& row = dense_[u];
    if (v >= row.size()) row.resize(v + 1);
    return row[v];
  }

  void remember(Place& place, StateNumber u, StateNumber v) {
    const std::vector<PairOutcome> found = compute(u, v);
    place = {results_.size(), static_cast<std::uint32_t>(found.size())};
    results_.insert(results_.end(), found.begin(), found.end());
  }

  std::vector<PairOutcome> results_;
  std::vector<std::vector<Place>> dense_;  // by initiator: the first states meet most often
  std::unordered_map<std::uint64_t, Place> sparse_;
};

}  // namespace conclave::exact
