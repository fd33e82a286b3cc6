// All sequences of random decisions that a rule may take, one after the other. The code that
// decides is run once for every path and asks at each fork which way to go:
//
//   Paths paths;
//   do { ... if (paths.decide({half, half}) == 0) ...; use(paths.probability()); }
//   while (paths.next());
#pragma once

#include <cstddef>
#include <vector>

#include "conclave/text/number.hpp"

namespace conclave::text {

class Paths {
 public:
  // The way that this path takes at the next fork, among those whose chance is not 0. One must be.
  std::size_t decide(std::vector<Number> chances);
  // The same for `ways` equally likely outcomes, at least one.
  std::size_t choose(std::size_t ways);

  // The exact probability of the decisions on this path.
  const Number& probability() const { return probability_; }

  // Begins the next path; false where all have been taken.
  bool next();

 private:
  struct Fork {
    std::size_t taken;
    std::size_t ways;
    std::vector<Number> chances;  // none: all equal
  };
  Number chance(const Fork& fork) const;
  bool turn(Fork& fork) const;  // to its next way; false where there is none
  std::size_t pass(Fork fork);

  std::vector<Fork> forks_;
  std::size_t passed_ = 0;
  Number probability_ = 1;
};

}  // namespace conclave::text
