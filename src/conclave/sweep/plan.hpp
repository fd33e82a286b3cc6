// A plan: the cells of a sweep, each a run with a number of trials, or an estimate of rare failures
// with a number of repetitions, which count as its trials. docs/how-to/sweeps.md has the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::sweep {

// How many trials a cell gets: a fixed number or, with a precision, as many as it takes until half
// the width of the mean's 95 % interval is at most this fraction of the mean. That is decided after
// every `batch` trials, looking at trials in their order, so it depends on nothing but the plan.
struct Sampling {
  std::uint64_t trials = 1;  // with a precision: at most
  double precision = 0;      // 0: none
  std::uint64_t batch = 100;
  std::string measure{};  // the field of rows whose mean it is

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

// More trials than any cell may have.
inline constexpr std::uint64_t most_trials = 1'000'000'000;

struct Cell {
  std::size_t run = 0;  // which [[run]] of the plan, from 0
  experiment::RunText words;
  Sampling sampling{};
  std::string head{};       // what its rows have in common, as a JSON object
  std::uint64_t bytes = 0;  // memory of a trial
  std::size_t at_once = 1;  // trials that one task may as well have, where a device runs them
};

// A protocol text that a plan names, kept with it.
struct KeptText {
  std::string name;  // of the file, without folders
  std::string content;

  friend bool operator==(const KeptText&, const KeptText&) = default;
};
using KeptTexts = std::map<std::string, KeptText>;  // by path, as in RunText::protocol

struct Plan {
  std::string name;
  std::string text;
  KeptTexts texts{};
  std::vector<Cell> cells{};
  std::vector<std::string> warnings{};
};

// Whether a plan may name files that lie neither in its folder nor below.
enum class Outside : std::uint8_t { refused, allowed };

// Throws Error with file, line and key if the plan makes no sense. Every cell has been prepared
// once, so that a sweep does not fail halfway.
Plan read_plan(const std::string& path, Outside outside = Outside::refused);
// The same for a text of this program that need not lie at that path; errors name it, and what the
// plan names is looked for beside it and anywhere.
Plan parse_plan(const std::string& path, std::string text);

// The parameters of each run of a plan that are expressions, such as 4*ceil(lg(n)), as they were
// written: by the number of the run, name and expression. Nothing is checked.
using WrittenParams = std::vector<std::pair<std::string, std::string>>;
std::vector<WrittenParams> written_params(const std::string& plan);
// Whether an expression has this value at n, with these other parameters (NAME=VALUE).
bool has_value(const std::string& expression, const std::string& value, const std::string& n,
               const std::vector<std::string>& params);

// The entry of a protocol, from a kept text where there is one.
catalog::Entry entry_of(const std::string& protocol, const KeptTexts& texts);
// `device`: see catalog::RunRequest.
std::unique_ptr<const catalog::PreparedRun> prepare(const experiment::RunText& words,
                                                    const KeptTexts& texts, unsigned device = 0);

// "prl n=50 init=random N=200" or "rare ppl n=8", for people.
std::string cell_text(const Cell& cell);

}  // namespace conclave::sweep
