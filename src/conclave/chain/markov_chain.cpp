#include "conclave/chain/markov_chain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "conclave/base/check.hpp"

namespace conclave::chain {

std::size_t StateSet::count() const {
  return std::accumulate(words_.begin(), words_.end(), std::size_t{0},
                         [](std::size_t sum, std::uint64_t word) {
                           return sum + static_cast<std::size_t>(std::popcount(word));
                         });
}

StateSet set_of(std::span<const StateIndex> members, std::size_t states) {
  StateSet set(states);
  for (const StateIndex state : members) set.insert(state);
  return set;
}

std::pair<double, StateIndex> MarkovChain::largest_defect() const {
  std::pair<double, StateIndex> largest{-1.0, 0};
  for (StateIndex state = 0; state < size(); ++state) {
    double sum = 0;
    for (const double probability : probabilities(state)) sum += probability;
    const double defect = std::abs(sum - 1);
    if (!(defect <= largest.first)) largest = {defect, state};
  }
  return largest;
}

void ChainBuilder::reserve(std::size_t states, std::uint64_t transitions) {
  chain_.starts_.reserve(states + 1);
  chain_.columns_.reserve(transitions);
  chain_.values_.reserve(transitions);
}

void ChainBuilder::end_row() {
  if (!is_sorted_) sort_row();
  is_sorted_ = true;
  past_last_ = 0;
  chain_.starts_.push_back(chain_.columns_.size());
}

void ChainBuilder::sort_row() {
  constexpr std::size_t short_row = 24;
  const std::uint64_t begin = chain_.starts_.back();
  row_.clear();
  for (std::uint64_t k = begin; k < chain_.columns_.size(); ++k) {
    row_.emplace_back(chain_.columns_[k], chain_.values_[k]);
  }
  if (row_.size() > short_row) {
    std::ranges::stable_sort(row_, {}, &std::pair<StateIndex, double>::first);
  } else {  // as stable, without memory of its own
    for (std::size_t i = 1; i < row_.size(); ++i) {
      const auto moved = row_[i];
      std::size_t at = i;
      for (; at > 0 && row_[at - 1].first > moved.first; --at) row_[at] = row_[at - 1];
      row_[at] = moved;
    }
  }
  std::uint64_t end = begin;
  for (const auto& [to, probability] : row_) {
    if (end > begin && chain_.columns_[end - 1] == to) {
      chain_.values_[end - 1] += probability;
    } else {
      chain_.columns_[end] = to;
      chain_.values_[end++] = probability;
    }
  }
  chain_.columns_.resize(end);
  chain_.values_.resize(end);
}

MarkovChain ChainBuilder::build() && {
  CONCLAVE_CHECK(past_last_ == 0);  // the last row was ended
  const auto largest = std::ranges::max_element(chain_.columns_);
  CONCLAVE_CHECK(largest == chain_.columns_.end() || *largest < chain_.size());
  return std::move(chain_);
}

}  // namespace conclave::chain
