#include "conclave/exact/claims_check.hpp"

#include <utility>

namespace conclave::exact {

ClaimsRecord::~ClaimsRecord() = default;  // compiled here, once

ClaimsRecord::ClaimsRecord(std::vector<std::string> sets, std::vector<ClaimOutline> claims)
    : failures_(claims.size()),
      is_exercised_(claims.size(), false),
      sets_(std::move(sets)),
      outlines_(std::move(claims)) {
  CONCLAVE_CHECK(first_named_set + sets_.size() <= 32);
  for (std::size_t i = 0; i < outlines_.size(); ++i) {
    if (outlines_[i].kind == ClaimKind::steps) open_.push_back(i);
    if (outlines_[i].kind == ClaimKind::everywhere) unexercised_.push_back(i);
    const std::optional<std::size_t> set = find(outlines_[i].set);
    CONCLAVE_CHECK(set.has_value());
    bits_.push_back(*set);
  }
  unexercised_steps_ = open_;
}

StateSet ClaimsRecord::set(std::size_t number) const {
  StateSet members(marks_.size());
  for (StateIndex i = 0; i < marks_.size(); ++i) {
    if (is_in(i, number)) members.insert(i);
  }
  return members;
}

std::optional<std::size_t> ClaimsRecord::find(const std::string& name) const {
  if (name == whole_set) return whole;
  if (name == converged_set) return converged;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (sets_[i] == name) return first_named_set + i;
  }
  return std::nullopt;
}

}  // namespace conclave::exact
