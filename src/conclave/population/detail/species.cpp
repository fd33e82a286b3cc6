#include "conclave/population/detail/species.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace conclave::population::detail {

namespace {

BranchWeight reduced(std::uint64_t p, std::uint64_t q) {
  const std::uint64_t common = std::gcd(p, q);
  return common == 0 ? BranchWeight{p, q} : BranchWeight{p / common, q / common};
}

BranchWeight reduced_times(const BranchWeight& weight, std::uint64_t p, std::uint64_t q) {
  if (weight.denominator == 0) return weight;
  const BranchWeight own = reduced(weight.numerator, weight.denominator), other = reduced(p, q);
  const BranchWeight across = reduced(own.numerator, other.denominator);
  const BranchWeight down = reduced(other.numerator, own.denominator);
  BranchWeight product;
  const bool overflows =
      __builtin_mul_overflow(across.numerator, down.numerator, &product.numerator) ||
      __builtin_mul_overflow(down.denominator, across.denominator, &product.denominator);
  return overflows ? BranchWeight{0, 0} : product;
}

}  // namespace

BranchWeight BranchWeight::times(std::uint64_t p, std::uint64_t q) const {
  BranchWeight product;
  const bool overflows = __builtin_mul_overflow(numerator, p, &product.numerator) ||
                         __builtin_mul_overflow(denominator, q, &product.denominator);
  return overflows ? reduced_times(*this, p, q) : product;
}

Species::~Species() = default;  // compiled here, once

void Species::keep(const std::vector<SpeciesId>& kept) {
  keep_states(kept);
  distributions_.clear();
  remembered_.clear();
  side_ = 0;
  size_ = kept.size();
  capacity_ = std::max(least_capacity, std::bit_ceil(2 * size_));
}

void Species::add_first(SpeciesId id, AgentCount count) {
  if (id >= first_counts_.size()) first_counts_.resize(size_);
  first_counts_[id] += count;
}

Outcome Species::learn(SpeciesId u, SpeciesId v) {
  if (std::max(u, v) >= side_) {
    if (side_ == room()) return evaluate(u, v);
    grow();
    return outcome(u, v);
  }
  const Outcome outcome = evaluate(u, v);
  constexpr SpeciesId most = std::numeric_limits<std::uint16_t>::max();
  if (std::max(outcome.u, outcome.v) > most) return outcome;
  remembered_[u * side_ + v] = {static_cast<std::uint16_t>(outcome.u),
                                static_cast<std::uint16_t>(outcome.v),
                                outcome.kind,
                                outcome.changes,
                                outcome.is_counted,
                                outcome.milestone};
  return outcome;
}

void Species::grow() {
  const std::size_t side = room();
  std::vector<Remembered> table(side * side);
  for (std::size_t u = 0; u < side_ && !remembered_.empty(); ++u) {
    std::copy_n(&remembered_[u * side_], side_, &table[u * side]);
  }
  remembered_ = std::move(table);
  side_ = side;
}

void Species::list_branches(Outcome& result, const std::vector<Drawn>& drawn) {
  OutcomeDistribution distribution{.branches = {}, .total = 1};
  for (const Drawn& each : drawn) {
    if (each.weight.denominator == 0) return;
    const std::uint64_t factor =
        each.weight.denominator / std::gcd(distribution.total, each.weight.denominator);
    if (distribution.total > most_weight / factor) return;
    distribution.total *= factor;
  }
  for (const auto& [u, v, weight] : drawn) {
    distribution.branches.push_back(
        {u, v, distribution.total / weight.denominator * weight.numerator});
  }
  result.kind = Outcome::Kind::random;
  result.u = static_cast<SpeciesId>(distributions_.size() % 65536);
  result.v = static_cast<SpeciesId>(distributions_.size() / 65536);
  distributions_.push_back(std::move(distribution));
}

}  // namespace conclave::population::detail
