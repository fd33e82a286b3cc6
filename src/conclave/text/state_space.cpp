#include "conclave/text/state_space.hpp"

#include <utility>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

std::string Field::domain() const {
  if (is_boolean) return "bool";
  if (!values.empty()) return fmt::format("{{{}}}", fmt::join(values, ", "));
  return fmt::format("{}..{}", low, high);
}

std::string Field::shown(std::int64_t value) const {
  if (is_boolean) return value != 0 ? "true" : "false";
  if (!values.empty()) return values[static_cast<std::size_t>(value)];
  return fmt::format("{}", value);
}

StateSpace::StateSpace(std::vector<Field> fields) : fields_(std::move(fields)) {
  strides_.resize(fields_.size());
  std::uint64_t size = 1;
  for (std::size_t i = fields_.size(); i-- > 0;) {
    strides_[i] = static_cast<std::int64_t>(size);
    size *= fields_[i].size();
    CONCLAVE_CHECK(size <= most_states);
  }
  size_ = static_cast<StateIndex>(size);
  columns_.assign(fields_.size() + 2, std::vector<std::int64_t>(size_));
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto stride = static_cast<StateIndex>(strides_[i]);
    const auto values = static_cast<StateIndex>(fields_[i].size());
    for (StateIndex state = 0; state < size_; ++state) {
      columns_[i][state] = fields_[i].low + state / stride % values;
    }
  }
}

std::string StateSpace::name(StateIndex state) const {
  if (fields_.size() == 1 && fields_[0].name == state_field) {
    return fields_[0].shown(columns_[0][state]);
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    parts.push_back(fmt::format("{} = {}", fields_[i].name, fields_[i].shown(columns_[i][state])));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

}  // namespace conclave::text
