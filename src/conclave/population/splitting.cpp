#include "conclave/population/splitting.hpp"

#include <string>

#include "conclave/base/error.hpp"

namespace conclave::population::detail {

void throw_too_many_levels(std::uint64_t most, double last) {
  throw Error("more than " + std::to_string(most) + " levels are needed: the last one was at " +
              std::to_string(last) + "; allow more with --most-levels, or take smaller timers");
}

void throw_stuck(double level) {
  throw Error("no path gets beyond the level " + std::to_string(level) +
              ": use another importance function or more --particles");
}

void throw_too_calm() {
  throw Error("the importance function has too few ups and downs in 2^31 interactions: it must "
              "vary from the start on and grow towards the failure");
}

void throw_trapped() {
  throw Error("a path has neither failed nor returned to the quiet set in 2^36 interactions: the "
              "population can be trapped where the importance function is large");
}

}  // namespace conclave::population::detail
