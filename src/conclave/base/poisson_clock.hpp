// The continuous time of a reaction network: a Poisson process at whose points reactions are tried.
//
// The points are a function of the clock's name alone, so the time of a point and the number of
// points before a time can be queried in any order, and all answers belong to the same process: a
// trial is the same whether or not it is observed on a grid of times. The line is cut into blocks,
// [0, 1), [1, 2), [2, 4), [4, 8) and so on; the number of points in a block is a Poisson variate. A
// block with many points is halved, and a binomial variate tells how many of them lie in its first
// half; a part with few points draws the place of each. Every part has a stream of its own, named
// by a word of the part that it is half of. A question costs one variate for every block up to
// there (those are kept) and one for every halving, about 0.5 microseconds each.
#pragma once

#include <cstdint>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"

namespace conclave {

// Not for several threads at once. Exact in law as far as the variates are (randomness.md);
// times are rounded to doubles. The same bits on every machine.
class PoissonClock {
 public:
  // Blocks stop growing at 2^60 points; up to here there are 2^16 of them, 0.05 seconds of work.
  static constexpr Interactions most_points =
      Interactions(std::uint64_t{1} << 60) * Interactions(std::uint64_t{1} << 16);

  // `rate` points per unit of time, on average; positive and finite. Seed and trial of the name
  // count, the rest does not.
  PoissonClock(const StreamName& name, double rate);

  // The time of a point, counted from 1 and at most most_points; of point 0: 0.
  double time_of(Interactions point);
  // How many points lie in [0, time), for a time that is not negative; at most most_points, which
  // stands for more, too.
  Interactions points_before(double time);

 private:
  // A stretch of the line, in units of 1 / rate, with its points.
  struct Part {
    double start = 0;
    double length = 0;
    std::uint64_t points = 0;
    std::uint64_t name = 0;
    double middle() const { return start + length / 2; }
    double end() const { return start + length; }
  };
  struct Halves {
    Part first, second;
  };

  void add_block();
  Stream stream(std::uint64_t name) const;
  Halves halves(const Part& part) const;
  std::vector<double> places(const Part& part) const;  // of few points, ascending

  std::uint64_t seed_;
  std::uint64_t trial_;
  double rate_;
  std::vector<Part> blocks_;
  std::vector<Interactions> ends_;  // points up to the end of each block
};

}  // namespace conclave
