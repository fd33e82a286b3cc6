#include "conclave/text/paths.hpp"

#include <utility>

namespace conclave::text {

Number Paths::chance(const Fork& fork) const {
  if (!fork.chances.empty()) return fork.chances[fork.taken];
  return Number::fraction(1, static_cast<std::int64_t>(fork.ways));
}

bool Paths::turn(Fork& fork) const {
  while (++fork.taken < fork.ways) {
    if (compare(chance(fork), 0) != 0) return true;
  }
  return false;
}

std::size_t Paths::pass(Fork fork) {
  if (passed_ == forks_.size()) {
    if (compare(chance(fork), 0) == 0) turn(fork);
    forks_.push_back(std::move(fork));
  }
  const Fork& here = forks_[passed_++];
  probability_ = probability_ * chance(here);
  return here.taken;
}

std::size_t Paths::decide(std::vector<Number> chances) {
  const std::size_t ways = chances.size();
  return pass({0, ways, std::move(chances)});
}

std::size_t Paths::choose(std::size_t ways) { return pass({0, ways, {}}); }

bool Paths::next() {
  while (!forks_.empty() && !turn(forks_.back())) forks_.pop_back();
  passed_ = 0;
  probability_ = 1;
  return !forks_.empty();
}

}  // namespace conclave::text
