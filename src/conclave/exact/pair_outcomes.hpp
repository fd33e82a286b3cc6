// The outcomes of an interaction of two agents, by the numbers of their states: all that the
// exploration of configurations needs to know about a protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "conclave/exact/weight.hpp"

namespace conclave::exact {

using StateNumber = std::uint32_t;

struct PairOutcome {
  StateNumber u;         // the initiator's new state
  StateNumber v;         // the responder's new state
  Weight weight;         // the probability of this outcome
  bool changes_output;   // whether the output of one of the two agents changes
  std::uint8_t way = 0;  // in which it does, where the question tells ways apart
};

// The answer that an oracle which is always right gives to agents that meet: nothing, or that there
// is no leader.
enum class OracleAnswer : std::uint8_t { nothing, leaderless };

// Computes the outcomes of each ordered pair of states once and keeps them.
class PairOutcomes {
 public:
  virtual ~PairOutcomes() = default;

  // All outcomes of an interaction of initiator u and responder v; their weights sum to 1. The same
  // outcome may be listed several times. Valid until the next call.
  std::span<const PairOutcome> outcomes(StateNumber u, StateNumber v,
                                        OracleAnswer answer = OracleAnswer::nothing) {
    Cache& cache = caches_[static_cast<std::size_t>(answer)];
    Place& place = u < dense_side && v < dense_side ? cache.at(u, v) : cache.sparse[key(u, v)];
    if (place.count == 0) remember(place, u, v, answer);
    return {results_.data() + place.first, place.count};
  }

  // The memory of all that is kept, roughly.
  virtual std::uint64_t bytes() const {
    std::uint64_t sum = results_.capacity() * sizeof(PairOutcome);
    for (const Cache& cache : caches_) {
      sum += cache.places * sizeof(Place) + cache.sparse.size() * bytes_of_node;
    }
    return sum;
  }

  // The oracle's answer to agents that meet in this configuration. O(agents).
  virtual OracleAnswer oracle_answer_in(std::span<const StateNumber>) const {
    return OracleAnswer::nothing;
  }

 protected:
  virtual std::vector<PairOutcome> compute(StateNumber u, StateNumber v, OracleAnswer answer) = 0;

 private:
  struct Place {
    std::size_t first = 0;
    std::uint32_t count = 0;
  };
  static constexpr std::size_t bytes_of_node = 64;
  static constexpr std::size_t dense_side = 4096;  // at most 256 MiB, if all states below meet

  static std::uint64_t key(StateNumber u, StateNumber v) { return std::uint64_t{u} << 32 | v; }

  struct Cache {
    std::vector<std::vector<Place>> dense;  // by initiator: the first states meet most often
    std::unordered_map<std::uint64_t, Place> sparse;
    std::size_t places = 0;  // in `dense`

    Place& at(StateNumber u, StateNumber v) {
      if (u >= dense.size()) dense.resize(u + 1);
      std::vector<Place>& row = dense[u];
      if (v >= row.size()) {
        places -= row.capacity();
        row.resize(v + 1);
        places += row.capacity();
      }
      return row[v];
    }
  };

  void remember(Place& place, StateNumber u, StateNumber v, OracleAnswer answer) {
    const std::vector<PairOutcome> found = compute(u, v, answer);
    place = {results_.size(), static_cast<std::uint32_t>(found.size())};
    results_.insert(results_.end(), found.begin(), found.end());
  }

  std::vector<PairOutcome> results_;
  std::array<Cache, 2> caches_;  // by the oracle's answer
};

}  // namespace conclave::exact
