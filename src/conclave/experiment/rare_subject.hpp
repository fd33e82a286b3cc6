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
#include "conclave/catalog/rare.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/model/rare.hpp"

namespace conclave::experiment {

struct RareSubject {
  struct Parameter {
    std::string name;
    std::variant<std::uint64_t, std::string, double> value;
  };
  struct Way {
    std::string name;
    std::string meaning{};             // empty where it was read from a row
    std::optional<double> ln_bound{};  // see conclave::RareWay
  };

  std::string protocol;
  std::uint64_t n = 0;
  std::vector<Parameter> parameters{};
  std::string source_hash{};
  std::string start{};
  std::uint64_t seed = 0;
  std::uint64_t particles = 0;
  std::optional<Interactions> attempt_limit{};  // see PreparedRare
  std::vector<Way> ways{};
  std::vector<catalog::ChosenFunction> functions{};  // in the order of ways; each has one

  bool by_attempt() const { return attempt_limit.has_value(); }

  Json json() const;  // everything but ways and functions: the first members of a row
  // The same with ways and functions, as text: what all rows of a sweep's cell have in common.
  std::string head() const;
};

// The options of `conclave rare` that the words have, for the protocol of this entry; defaults for
// the others. Throws Error if one cannot be read.
catalog::RareRequest rare_request_of(const catalog::Entry& entry, const RunText& words);

// Throws Error if the rare failures of a protocol are not known.
void require_rare(const catalog::Entry& entry);

RareSubject subject_of(const catalog::PreparedRare& rare, const catalog::RareRequest& request);
// Reads the members that head() wrote. Throws std::runtime_error if the text is something else.
RareSubject subject_of_head(std::string_view head);

// One repetition of all functions as a row, in JSON: the head, the number of the repetition as
// "trial", and for every function its rate, ancestors and factors, exact to the last bit.
std::string repetition_json(const RareSubject& subject, const std::string& head,
                            std::uint64_t repetition, std::span<const RareRepetition> results);
// The results in such a row, by function; without the interactions, which rows do not have. Throws
// std::runtime_error if the row is not one of this subject.
std::vector<RareRepetition> repetitions_of_row(const RareSubject& subject, std::string_view row);

}  // namespace conclave::experiment
