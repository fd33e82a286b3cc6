// A finite Markov chain as a sparse matrix: for every state its successors, ascending, and their
// probabilities. 12 bytes per transition and 8 per state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace conclave::chain {

using StateIndex = std::uint32_t;

// A set of the states of one chain, one bit each.
class StateSet {
 public:
  StateSet() = default;
  explicit StateSet(std::size_t states) : states_(states), words_((states + 63) / 64) {}

  std::size_t size() const { return states_; }  // of the chain, not of the set
  // The state must be one of the chain.
  bool contains(StateIndex state) const { return (words_[state / 64] >> (state % 64) & 1) != 0; }
  void insert(StateIndex state) { words_[state / 64] |= std::uint64_t{1} << (state % 64); }
  std::size_t count() const;  // members; O(states)

 private:
  std::size_t states_ = 0;
  std::vector<std::uint64_t> words_;
};

// The given states as a set of the states of a chain of size `states`; every member must be below
// it.
StateSet set_of(std::span<const StateIndex> members, std::size_t states);

// Immutable once built, and safe to be read by several threads. Built by a ChainBuilder. Rows sum
// to 1 up to rounding; the builder is responsible for that (see largest_defect()).
class MarkovChain {
 public:
  std::size_t size() const { return starts_.size() - 1; }
  std::uint64_t transitions() const { return columns_.size(); }

  // Successors in ascending order, each once; a state may be its own successor.
  std::span<const StateIndex> successors(StateIndex state) const {
    return {columns_.data() + starts_[state], columns_.data() + starts_[state + 1]};
  }
  std::span<const double> probabilities(StateIndex state) const {
    return {values_.data() + starts_[state], values_.data() + starts_[state + 1]};
  }

  // The largest distance of a row's sum from 1, and the first state with it. O(transitions).
  std::pair<double, StateIndex> largest_defect() const;

 private:
  friend class ChainBuilder;
  std::vector<std::uint64_t> starts_{0};
  std::vector<StateIndex> columns_;
  std::vector<double> values_;
};

// Builds a chain row by row: add() the transitions of state 0 in any order, end_row(), those of
// state 1, and so on. Transitions to the same state are merged, their probabilities added in the
// order in which they came; those of probability 0 are left out. Linear time for rows that come in
// ascending order, otherwise that of sorting each row.
class ChainBuilder {
 public:
  void reserve(std::size_t states, std::uint64_t transitions);

  // A transition of the present row.
  void add(StateIndex to, double probability) {
    if (probability == 0) return;
    is_sorted_ = is_sorted_ && to >= past_last_;
    past_last_ = std::uint64_t{to} + 1;
    chain_.columns_.push_back(to);
    chain_.values_.push_back(probability);
  }
  // The present row is complete.
  void end_row();

  // The rows and transitions so far.
  std::size_t rows() const { return chain_.size(); }
  std::uint64_t transitions() const { return chain_.transitions(); }

  // Every successor must be one of the rows.
  MarkovChain build() &&;

 private:
  void sort_row();

  MarkovChain chain_;
  std::vector<std::pair<StateIndex, double>> row_;
  std::uint64_t past_last_ = 0;  // one more than the successor added last
  bool is_sorted_ = true;
};

}  // namespace conclave::chain
