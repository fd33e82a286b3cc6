#include "conclave/base/poisson_clock.hpp"

#include <algorithm>
#include <cstddef>

#include "conclave/base/check.hpp"
#include "conclave/base/variates.hpp"

namespace conclave {
namespace {

constexpr std::uint64_t few_points = 16;
constexpr std::size_t growing_blocks = 61;  // the last of them ends at 2^60
constexpr double largest_block = 0x1p60;

// Block i begins where block i - 1 ends.
double length_of_block(std::size_t index) {
  if (index == 0) return 1;
  if (index >= growing_blocks) return largest_block;
  return static_cast<double>(std::uint64_t{1} << (index - 1));
}

}  // namespace

PoissonClock::PoissonClock(const StreamName& name, double rate)
    : seed_(name.seed), trial_(name.trial), rate_(rate) {
  CONCLAVE_CHECK(rate > 0 && rate <= 0x1p1000);
}

void PoissonClock::add_block() {
  const std::size_t index = blocks_.size();
  Stream words({.seed = seed_, .trial = trial_, .purpose = Purpose::clock, .part = index});
  Part block{.length = length_of_block(index), .name = words.word()};
  if (index != 0) block.start = blocks_.back().end();
  block.points = poisson(block.length, words);
  ends_.push_back((index == 0 ? Interactions() : ends_.back()) + block.points);
  blocks_.push_back(block);
}

Stream PoissonClock::stream(std::uint64_t name) const {
  return Stream({.seed = name, .trial = trial_, .purpose = Purpose::clock_part});
}

PoissonClock::Halves PoissonClock::halves(const Part& part) const {
  Stream words = stream(part.name);
  Halves result;
  result.first = {.start = part.start, .length = part.length / 2, .name = words.word()};
  result.second = {.start = part.middle(), .length = part.length / 2, .name = words.word()};
  result.first.points = binomial(part.points, 1, 2, words);
  result.second.points = part.points - result.first.points;
  return result;
}

std::vector<double> PoissonClock::places(const Part& part) const {
  Stream words = stream(part.name);
  std::vector<double> all(static_cast<std::size_t>(part.points));
  for (double& place : all) {
    place = part.start + part.length * (static_cast<double>(words.word() >> 11) * 0x1p-53);
  }
  std::ranges::sort(all);
  return all;
}

double PoissonClock::time_of(Interactions point) {
  CONCLAVE_CHECK(point <= most_points);
  if (point == 0u) return 0;
  while (ends_.empty() || ends_.back() < point) add_block();
  const auto end = std::ranges::lower_bound(ends_, point);
  Part part = blocks_[static_cast<std::size_t>(end - ends_.begin())];
  auto left = static_cast<std::uint64_t>((point - (*end - part.points)).as_wide());
  while (part.points > few_points) {
    const Halves parts = halves(part);
    const bool is_first = left <= parts.first.points;
    if (!is_first) left -= parts.first.points;
    part = is_first ? parts.first : parts.second;
  }
  return places(part)[static_cast<std::size_t>(left) - 1] / rate_;
}

Interactions PoissonClock::points_before(double time) {
  CONCLAVE_CHECK(time >= 0);
  const double place = time * rate_;
  if (place >= most_points.as_double()) return most_points;
  while (blocks_.empty() || blocks_.back().end() <= place) add_block();
  const auto next = std::ranges::upper_bound(blocks_, place, {}, &Part::start);
  const auto index = static_cast<std::size_t>(next - blocks_.begin()) - 1;
  Part part = blocks_[index];
  Interactions before = ends_[index] - part.points;
  while (part.points > few_points) {
    const Halves parts = halves(part);
    const bool is_first = place < part.middle();
    if (!is_first) before += parts.first.points;
    part = is_first ? parts.first : parts.second;
  }
  const std::vector<double> all = places(part);
  const auto end = std::ranges::lower_bound(all, place);
  return std::min(most_points, before + static_cast<std::uint64_t>(end - all.begin()));
}

}  // namespace conclave
