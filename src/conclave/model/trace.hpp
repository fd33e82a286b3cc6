// The times at which a trial is looked at, for a trace or a history, and what is seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

// One sample of a trace, in the time of the trial's clock.
struct TracePoint {
  Interactions interactions{};
  AgentCount leaders = 0;
  std::vector<Observation> observations{};
  double time = 0;
};

// How many agents have a state, or one value of a field, by its name.
struct NamedCount {
  std::string name;
  AgentCount count = 0;

  friend bool operator==(const NamedCount&, const NamedCount&) = default;
};

// The census at each look, with the names stored once.
struct History {
  struct Point {
    Interactions interactions{};
    double time = 0;
    std::vector<std::pair<std::uint32_t, AgentCount>> counts{};  // number of a name; not 0
  };
  std::vector<std::string> names{};  // in the order in which they appeared
  std::vector<Point> points{};
};

// A grid of times that starts at 0: every `step` of parallel time, or each point a fixed factor
// after the one before, measured in whole interactions and begun anew after a fault. Basic
// arithmetic only, so that it is the same on every machine. With `every`, the exact multiples of
// that time instead, on the trial's clock and whatever faults there are.
struct TraceGrid {
  bool is_logarithmic = true;
  double step = 1.12;  // about 20 points per factor of ten
  std::optional<Fraction> every{};

  // The next time of the grid, at least one interaction after `point`.
  Interactions after(Interactions point, AgentCount n) const {
    const double length =
        is_logarithmic ? point.as_double() * (step - 1) : step * static_cast<double>(n);
    const auto whole = static_cast<std::uint64_t>(std::clamp(length, 1.0, 9e18));
    return point < Interactions::max() - whole ? point + whole : Interactions::max();
  }
};

// Walks along a grid: at which number of interactions to look next. All that a trial knows of a
// grid goes through here, and all that this knows of time goes through the clock.
class LookTimes {
 public:
  // Without a grid there is never a look. The clock must outlive it, or another take its place.
  LookTimes(const std::optional<TraceGrid>& grid, Clock& clock, AgentCount n)
      : grid_(grid), clock_(&clock), n_(n), next_(grid ? 0u : Interactions::max()) {}

  // The clock of a copy: it has the same answers.
  void use(Clock& clock) { clock_ = &clock; }

  // Interactions::max() if never.
  Interactions next() const { return next_; }

  // The time of the next look, if it is one of the multiples of `every`.
  std::optional<double> time() const {
    if (!grid_ || !grid_->every) return std::nullopt;
    return grid_->every->as_double() * static_cast<double>(index_);
  }

  // On to the next multiple of `every`, which a random clock may reach with no interaction in
  // between.
  void step() { next_ = multiple(++index_); }

  // With a clock that learns: the next look may have become known.
  void refresh() {
    if (index_ > 0 && grid_ && grid_->every) next_ = multiple(index_);
  }

  // After a look, on the grid or not: the next one is later than `now`.
  void pass(Interactions now) {
    if (now < next_) return;
    if (!grid_->every) {
      next_ = origin_ + grid_->after(now - origin_, n_);
      return;
    }
    while (next_ <= now) step();
  }

  // After a fault, what follows is looked at as closely as a start.
  void begin_anew(Interactions now) {
    if (grid_ && !grid_->every) origin_ = next_ = now;
  }

 private:
  Interactions multiple(std::uint64_t index) {
    const Fraction& step = *grid_->every;
    if (step.numerator > Interactions::max() / index) return Interactions::max();
    return clock_->interactions_at({step.numerator * index, step.denominator});
  }

  std::optional<TraceGrid> grid_;
  Clock* clock_;
  AgentCount n_;
  std::uint64_t index_ = 0;  // of the next look, in multiples of `every`
  Interactions origin_;      // of the grid: the start or the last fault
  Interactions next_;
};

}  // namespace conclave
