// The measures that a report shows for each protocol: numbers of its rows, and the promises of its
// paper about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/report/laws.hpp"

namespace conclave::report {

// A bound with all its constants.
struct Bound {
  std::string name;
  double (*value)(const Variables& variables) = nullptr;
};

struct Measure {
  enum class Kind : std::uint8_t {
    growth,  // how its mean grows with n or a parameter
    chance,  // how probable its values 1, 2, 3, ... are; the bound is a function of "i"
  };

  std::string field;  // of a row: parallel_time, observables.frozen
  std::string title;
  Kind kind = Kind::growth;
  std::string promise{};    // of the paper, in words
  std::vector<Law> laws{};  // the paper's first
  std::optional<Bound> bound{};
  bool is_fitted = true;            // false: it has no law to be found
  bool may_be_exponential = false;  // then c e^(a x) competes as well
};

// Parameters that rows leave out where they have their default.
Variables assumed_of(std::string_view protocol);

// The parameter that figures of this protocol have on their x axis where it varies; "n" for most.
std::string_view x_axis_of(std::string_view protocol);

// The measures of a protocol of the catalog; for any other name those that suit every protocol.
std::vector<Measure> measures_of(std::string_view protocol, bool by_messages);

}  // namespace conclave::report
