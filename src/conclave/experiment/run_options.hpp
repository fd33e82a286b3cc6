// The one table of the options of a run: name, type, range, meaning, who accepts it, and whether it
// is stored with results. Made from it are the options of commands, the keys of plans, the fields
// of stored requests, the keywords of Python, the words of the explorer and the table in
// command-line.md. A new option is a member of RunText or ExecutionText and a row here; only
// the code that obeys it is written elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conclave/experiment/execution_text.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::experiment {

// Those that take options of a run, as bits of a set: commands, and Python's functions of the same
// names; the explorer in a browser. Plans accept what `run` accepts or, with kind = "rare", `rare`.
enum Acceptor : std::uint16_t {
  by_run = 1,
  by_rare = 2,
  by_search = 4,
  by_verify = 8,
  by_explore = 16,
  by_compare = 32,
  by_describe = 64,
  by_explorer = 128,
};

// The kind of a value. All values are texts until a request is made of them.
enum class ValueKind : std::uint8_t {
  word,     // a name or a text with a grammar of its own
  count,    // a whole number within the option's range
  limit,    // a number that ends trials; in plans an expression in n and the parameters
  horizon,  // a time that ends trials as planned
  path,     // of a file
};

template <class Words>
struct Option {
  using Value =
      std::variant<std::string Words::*, std::vector<std::string> Words::*, bool Words::*>;

  // As Python, plans and stored requests call it: max_parallel_time.
  std::string_view name;
  Value value;                     // a list is an option that may be repeated, a truth value a flag
  std::string_view placeholder{};  // for the value in help texts
  std::string_view meaning{};
  std::uint16_t accepted_by = 0;
  ValueKind kind = ValueKind::word;
  // The place among the fields of a stored request, from 1; 0: not stored. `cell_seeds =
  // "different"` draws seeds from the text of the request, so places never change.
  std::uint8_t stored = 0;
  std::string_view key{};  // in plans and stored requests, where it is not the name
  std::uint64_t low = 0;   // the range of counts, both allowed
  std::uint64_t high = UINT64_MAX;
  std::string_view page{};  // of docs/, about it

  bool is_accepted_by(unsigned acceptors) const { return (accepted_by & acceptors) != 0; }
  std::string_view plan_key() const { return key.empty() ? name : key; }
  // As the command line calls it, without dashes in front: max-parallel-time.
  std::string dashed() const;
  std::string flag() const { return "--" + dashed(); }
};

// In the order in which commands, help texts and the loops of plans have them.
std::span<const Option<RunText>> run_options();
std::span<const Option<ExecutionText>> execution_options();

// The option of a member, which must have one.
const Option<RunText>& option_of(std::string RunText::*member);
const Option<ExecutionText>& option_of(std::string ExecutionText::*member);

// The value of a count, within its range. Throws Error, with the option's flag.
template <class Words>
std::uint64_t count_of(const Words& words, std::string Words::*member);
extern template std::uint64_t count_of(const RunText&, std::string RunText::*);
extern template std::uint64_t count_of(const ExecutionText&, std::string ExecutionText::*);

// One option with its value, as on a command line: the dashed name, and nothing for a flag.
struct GivenOption {
  std::string option;
  std::string value{};
};

// The options of the words that have a value, in the order of the table. Each parameter, fault and
// importance function is an option of its own.
std::vector<GivenOption> given_options(const RunText& words);

}  // namespace conclave::experiment
