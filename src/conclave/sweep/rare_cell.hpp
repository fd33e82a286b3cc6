// A cell whose trials are repetitions of an estimate of rare failures, prepared to be run.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conclave/catalog/rare.hpp"
#include "conclave/experiment/rare_subject.hpp"
#include "conclave/sweep/plan.hpp"

namespace conclave::sweep {

// Several threads may run repetitions of one cell at once. Pilots choose the levels of its
// functions before the first repetition; they depend on the words alone, so that every process has
// the same levels.
class RareCell {
 public:
  // Throws Error if the words make no sense.
  RareCell(const experiment::RunText& words, const KeptTexts& texts);

  const std::string& head() const { return head_; }

  struct Repetition {
    std::string row;
    double interactions = 0;  // simulated, for display only
  };
  // Throws Interrupted, and Error if a pilot finds that a function does not serve.
  Repetition run(std::uint64_t repetition, const KeepComputing& keep_computing);

 private:
  struct Pilot {
    std::mutex mutex;
    bool is_done = false;
  };

  void choose_levels(const KeepComputing& keep_computing);
  void choose_levels_of(std::size_t function, const KeepComputing& keep_computing);

  std::unique_ptr<catalog::PreparedRare> rare_;
  experiment::RareSubject subject_;
  std::string head_;
  std::vector<Pilot> pilots_;  // by function
};

}  // namespace conclave::sweep
