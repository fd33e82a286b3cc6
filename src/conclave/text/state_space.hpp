// The states of a protocol file: combinations of the values of its fields, as numbers.
//
// Few states, up to `most_dense`, are numbered densely, 0, 1, 2, ..., so that tables can be indexed
// by them. More are packed: every field has its own bits of one word, and a state is never looked
// up, counted or stored before an agent is in it. So five fields of 100 values each cost nothing as
// long as few of the combinations occur. In both cases the last field runs fastest, and larger
// numbers come later in the order of the fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  unsigned bits() const;                                                 // that its values need
  std::string domain() const;                                            // "0..9", "{A, B}", "bool"
  std::string shown(std::int64_t value) const;                           // "3", "A", "true"
  std::optional<std::int64_t> value_shown(std::string_view text) const;  // the inverse
};

class StateSpace {
 public:
  static constexpr std::uint64_t most_dense = 2048;
  static constexpr unsigned most_bits = 64;

  explicit StateSpace(std::vector<Field> fields);  // which must not need more than most_bits

  // How many states there are; 2^64 - 1 if there are more than that.
  std::uint64_t size() const { return size_; }
  bool is_dense() const { return size_ <= most_dense; }
  const std::vector<Field>& fields() const { return fields_; }

  // State number i < size() in the order of the fields.
  StateIndex at(std::uint64_t i) const;

  std::int64_t value(std::size_t field, StateIndex state) const {
    if (is_dense()) return columns_[field][state];
    return fields_[field].low + static_cast<std::int64_t>(state >> shifts_[field] & masks_[field]);
  }

  // The state that differs in one field, whose value must be in its domain.
  StateIndex with(StateIndex state, std::size_t field, std::int64_t value) const {
    if (is_dense()) {
      const std::int64_t change = (value - columns_[field][state]) * strides_[field];
      return static_cast<StateIndex>(static_cast<std::int64_t>(state) + change);
    }
    const auto bits = static_cast<StateIndex>(value - fields_[field].low);
    return (state & ~(masks_[field] << shifts_[field])) | bits << shifts_[field];
  }

  // The bits of a field in packed states: (state >> shift) & mask is its value, counted from `low`.
  unsigned shift(std::size_t field) const { return shifts_[field]; }
  StateIndex mask(std::size_t field) const { return masks_[field]; }

  // Calls `visit` for each state whose field has this value; dense states only.
  template <class Visit>
  void for_each_with(std::size_t field, std::int64_t value, Visit visit) const {
    const auto stride = static_cast<StateIndex>(strides_[field]);
    const auto period = static_cast<StateIndex>(stride * fields_[field].size());
    const auto offset = static_cast<StateIndex>((value - fields_[field].low) * strides_[field]);
    for (StateIndex base = offset; base < size_; base += period) {
      for (StateIndex state = base; state < base + stride; ++state) visit(state);
    }
  }

  // "A" where there is nothing but a list of states, else "{digit = 3, marked = true}"; different
  // for different states.
  std::string name(StateIndex state) const;
  // The state of that name, if there is one.
  std::optional<StateIndex> state_named(std::string_view name) const;

  // The nearest state for which `is_wanted` holds: fewest fields changed, then first in order. The
  // state itself if there is none. Among more than 2^20 states it looks at those that differ in at
  // most two fields, and at the first 1024 values of a field.
  template <class Predicate>
  StateIndex nearest(StateIndex state, Predicate is_wanted) const;

 private:
  static constexpr std::uint64_t most_visited = std::uint64_t{1} << 20;

  template <class Consider>
  void vary(StateIndex state, std::size_t first_field, std::size_t distance,
            const Consider& consider) const;

  std::vector<Field> fields_;
  std::uint64_t size_ = 1;
  std::vector<std::int64_t> strides_;               // of dense states
  std::vector<std::vector<std::int64_t>> columns_;  // of dense states: values by field and state
  std::vector<unsigned> shifts_;
  std::vector<StateIndex> masks_;
};

// Calls consider(other, distance) for all that differ in one more field from this one on.
template <class Consider>
void StateSpace::vary(StateIndex state, std::size_t first_field, std::size_t distance,
                      const Consider& consider) const {
  for (std::size_t field = first_field; field < fields_.size(); ++field) {
    const Field& each = fields_[field];
    const std::int64_t last =
        size_ <= most_visited || each.size() <= 1024 ? each.high : each.low + 1023;
    for (std::int64_t to = each.low; to <= last; ++to) {
      if (to != value(field, state)) consider(with(state, field, to), field, distance);
    }
  }
}

template <class Predicate>
StateIndex StateSpace::nearest(StateIndex state, Predicate is_wanted) const {
  StateIndex best = state;
  std::size_t best_distance = fields_.size() + 1;
  const auto consider = [&](StateIndex other, std::size_t, std::size_t distance) {
    if (distance > best_distance || (distance == best_distance && other > best)) return;
    if (!is_wanted(other)) return;
    best = other;
    best_distance = distance;
  };
  vary(state, 0, 1, consider);
  if (best_distance == 1 || fields_.size() == 1) return best;
  if (size_ > most_visited) {
    vary(state, 0, 1, [&](StateIndex other, std::size_t field, std::size_t) {
      vary(other, field + 1, 2, consider);
    });
    return best;
  }
  for (std::uint64_t i = 0; i < size_; ++i) {
    std::size_t distance = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      distance += value(field, state) != value(field, at(i)) ? 1 : 0;
    }
    consider(at(i), 0, distance);
  }
  return best;
}

}  // namespace conclave::text
