// The subject of an estimate of rare failures, in words: enough to show it without preparing it
// again. A sweep stores one row per repetition; all rows of a cell begin with the subject.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/json.hpp"
#include "conclave/model/rare.hpp"

namespace conclave::rare {

struct Subject {
  // A parameter as rows have it.
  struct Parameter {
    std::string name;
    std::variant<std::uint64_t, std::string, double> value;
  };
  struct Way {
    std::string name;
    std::string meaning{};             // empty where it was read from a row
    std::optional<double> ln_bound{};  // see conclave::RareWay
    std::optional<double> ln_floor{};  // the same
    std::string refusal{};             // why some or all functions give no estimate
  };

  struct Function {
    std::size_t way = 0;  // index into ways
    std::string name;     // or the expression
  };

  std::string protocol;
  std::uint64_t n = 0;
  std::vector<Parameter> parameters{};
  std::string source_hash{};
  std::string start{};
  std::uint64_t seed = 0;
  std::uint64_t particles = 0;
  // Where failures are counted per attempt, the interactions after which an attempt has failed;
  // none: failures are counted per interaction.
  std::optional<Interactions> attempt_limit{};
  std::vector<Way> ways{};
  std::vector<Function> functions{};  // in the order of ways

  // Whether the estimate is the probability that an attempt fails, not the time until a failure.
  bool by_attempt() const { return attempt_limit.has_value(); }

  Json json() const;  // everything but ways and functions: the first members of a row
  // The same with ways and functions, as text: what all rows of a sweep's cell have in common.
  std::string head() const;
};

// Reads the members that head() wrote. Throws std::runtime_error if the text is something else.
Subject subject_of_head(std::string_view head);

// One repetition of all functions as a row, in JSON: the head, the number of the repetition as
// "trial", and for every function its rate, ancestors and factors, exact to the last bit.
std::string repetition_json(const Subject& subject, const std::string& head,
                            std::uint64_t repetition, std::span<const RareRepetition> results);
// The results in such a row, by function; without the interactions, which rows do not have. Throws
// std::runtime_error if the row is not one of this subject.
std::vector<RareRepetition> repetitions_of_row(const Subject& subject, std::string_view row);

}  // namespace conclave::rare
