#include "conclave/text/state_space.hpp"

#include <bit>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

unsigned Field::bits() const { return static_cast<unsigned>(std::bit_width(size() - 1)); }

std::string Field::domain() const {
  if (is_boolean) return "bool";
  if (!values.empty()) return fmt::format("{{{}}}", join_parts(values, ", "));
  return fmt::format("{}..{}", low, high);
}

std::string Field::shown(std::int64_t value) const {
  if (is_boolean) return value != 0 ? "true" : "false";
  if (!values.empty()) return values[static_cast<std::size_t>(value)];
  return fmt::format("{}", value);
}

std::optional<std::int64_t> Field::value_shown(std::string_view text) const {
  std::int64_t value = low;
  if (is_boolean || !values.empty()) {
    while (value <= high && shown(value) != text) ++value;
  } else {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  }
  if (value < low || value > high) return std::nullopt;
  return value;
}

StateSpace::StateSpace(std::vector<Field> fields) : fields_(std::move(fields)) {
  strides_.resize(fields_.size());
  shifts_.resize(fields_.size());
  masks_.resize(fields_.size());
  unsigned bits = 0;
  for (std::size_t i = fields_.size(); i-- > 0;) {
    strides_[i] = static_cast<std::int64_t>(size_);
    if (__builtin_mul_overflow(size_, fields_[i].size(), &size_)) {
      size_ = std::numeric_limits<std::uint64_t>::max();
    }
    shifts_[i] = bits % most_bits;  // a field of one value may come behind the last bit
    masks_[i] = (StateIndex{1} << fields_[i].bits()) - 1;
    bits += fields_[i].bits();
    CONCLAVE_CHECK(bits <= most_bits);
  }
  if (!is_dense()) return;
  columns_.assign(fields_.size(), std::vector<std::int64_t>(size_));
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto stride = static_cast<StateIndex>(strides_[i]);
    for (StateIndex state = 0; state < size_; ++state) {
      columns_[i][state] =
          fields_[i].low + static_cast<std::int64_t>(state / stride % fields_[i].size());
    }
  }
}

StateIndex StateSpace::at(std::uint64_t i) const {
  if (is_dense()) return i;
  StateIndex state = 0;
  for (std::size_t field = fields_.size(); field-- > 0;) {
    state |= i % fields_[field].size() << shifts_[field];
    i /= fields_[field].size();
  }
  return state;
}

std::string StateSpace::name(StateIndex state) const {
  if (fields_.size() == 1 && fields_[0].name == state_field) {
    return fields_[0].shown(value(0, state));
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    parts.push_back(fmt::format("{} = {}", fields_[i].name, fields_[i].shown(value(i, state))));
  }
  return fmt::format("{{{}}}", join_parts(parts, ", "));
}

std::optional<StateIndex> StateSpace::state_named(std::string_view name) const {
  StateIndex state = 0;
  std::string_view left = name;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::size_t equals = left.find(" = ");
    const std::size_t begin = fields_.size() == 1 && fields_[0].name == state_field ? 0
                              : equals == left.npos                                 ? left.size()
                                                                                    : equals + 3;
    const std::size_t end = std::min(left.find_first_of(",}", begin), left.size());
    const auto value = fields_[i].value_shown(left.substr(begin, end - begin));
    if (!value) return std::nullopt;
    state = with(state, i, *value);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (this->name(state) != name) return std::nullopt;
  return state;
}

}  // namespace conclave::text
