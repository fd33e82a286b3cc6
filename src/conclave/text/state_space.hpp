// The states of a protocol text: all combinations of the values of its fields, numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace conclave::text {

using StateIndex = std::uint64_t;

// A field and the values it can hold. Those of an enumeration and of bool count from 0.
struct Field {
  std::string name;
  std::vector<std::string> values{};  // of an enumeration
  bool is_boolean = false;
  std::int64_t low = 0;
  std::int64_t high = 0;

  std::uint64_t size() const { return static_cast<std::uint64_t>(high - low) + 1; }
  std::string domain() const;                   // "0..9", "{A, B}", "bool"
  std::string shown(std::int64_t value) const;  // "3", "A", "true"
};

// States are numbered with the last field running fastest, so that state 0 has the first value of
// every field. Besides its fields, a state has two derived columns: its output and whether it
// leads.
class StateSpace {
 public:
  static constexpr std::uint64_t most_states = std::uint64_t{1} << 20;

  explicit StateSpace(std::vector<Field> fields);  // whose product must not pass most_states

  StateIndex size() const { return size_; }
  const std::vector<Field>& fields() const { return fields_; }

  std::size_t output_column() const { return fields_.size(); }
  std::size_t leader_column() const { return fields_.size() + 1; }
  std::int64_t value(std::size_t column, StateIndex state) const { return columns_[column][state]; }
  void set_value(std::size_t column, StateIndex state, std::int64_t value) {
    columns_[column][state] = value;
  }

  // The state that differs in one field, whose value must be in its domain.
  StateIndex with(StateIndex state, std::size_t field, std::int64_t value) const {
    const std::int64_t change = (value - columns_[field][state]) * strides_[field];
    return static_cast<StateIndex>(static_cast<std::int64_t>(state) + change);
  }

  // Calls `visit` for each state whose field has this value.
  template <class Visit>
  void for_each_with(std::size_t field, std::int64_t value, Visit visit) const {
    const auto stride = static_cast<StateIndex>(strides_[field]);
    const auto period = static_cast<StateIndex>(stride * fields_[field].size());
    const auto offset = static_cast<StateIndex>((value - fields_[field].low) * strides_[field]);
    for (StateIndex base = offset; base < size_; base += period) {
      for (StateIndex state = base; state < base + stride; ++state) visit(state);
    }
  }

  // "A" where there is nothing but a list of states, else "{digit = 3, marked = true}".
  std::string name(StateIndex state) const;

  // The nearest state for which `is_wanted` holds: fewest fields changed, then first in order. The
  // state itself if there is none.
  template <class Predicate>
  StateIndex nearest(StateIndex state, Predicate is_wanted) const;

 private:
  std::vector<Field> fields_;
  std::vector<std::int64_t> strides_;
  StateIndex size_ = 1;
  std::vector<std::vector<std::int64_t>> columns_;
};

template <class Predicate>
StateIndex StateSpace::nearest(StateIndex state, Predicate is_wanted) const {
  StateIndex best = state;
  std::size_t best_distance = fields_.size() + 1;
  const auto consider = [&](StateIndex other, std::size_t distance) {
    if (distance > best_distance || (distance == best_distance && other > best)) return;
    if (!is_wanted(other)) return;
    best = other;
    best_distance = distance;
  };
  for (std::size_t field = 0; field < fields_.size(); ++field) {
    for (std::int64_t value = fields_[field].low; value <= fields_[field].high; ++value) {
      if (value != columns_[field][state]) consider(with(state, field, value), 1);
    }
  }
  if (best_distance == 1 || fields_.size() == 1) return best;
  for (StateIndex other = 0; other < size_; ++other) {
    std::size_t distance = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      distance += columns_[field][state] != columns_[field][other] ? 1 : 0;
    }
    consider(other, distance);
  }
  return best;
}

}  // namespace conclave::text
