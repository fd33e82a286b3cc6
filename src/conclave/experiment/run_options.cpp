#include "conclave/experiment/run_options.hpp"

#include <algorithm>
#include <array>

#include "conclave/base/check.hpp"
#include "conclave/experiment/option_values.hpp"

namespace conclave::experiment {
namespace {

constexpr std::array options_of_runs{
    Option<RunText>{.name = "protocol", .value = &RunText::protocol, .stored = 1},
    Option<RunText>{.name = "n",
                    .value = &RunText::n,
                    .placeholder = "N",
                    .meaning = "Population size: 1000, 1e6, 2^20",
                    .accepted_by = by_run | by_rare | by_search | by_verify | by_explore |
                                   by_compare | by_describe | by_explorer,
                    .kind = ValueKind::count,
                    .stored = 2},
    Option<RunText>{.name = "param",
                    .value = &RunText::params,
                    .placeholder = "K=V",
                    .meaning = "A parameter of the protocol, NAME=VALUE; repeatable (see "
                               "`describe`)",
                    .accepted_by = by_run | by_rare | by_search | by_verify | by_explore |
                                   by_describe | by_explorer,
                    .stored = 17,
                    .key = "params"},
    Option<RunText>{.name = "init",
                    .value = &RunText::init,
                    .placeholder = "NAME",
                    .meaning = "Initial configuration (see `describe`); of protocol files also "
                               "A=60,B=40 or A=60%,B=rest",
                    .accepted_by = by_run | by_rare | by_verify | by_compare | by_explorer,
                    .stored = 4},
    Option<RunText>{.name = "engine",
                    .value = &RunText::engine,
                    .placeholder = "NAME",
                    .meaning = "auto, or one that `describe` names (default auto)",
                    .accepted_by = by_run | by_explorer,
                    .stored = 5,
                    .page = "../explanation/engines.md"},
    Option<RunText>{
        .name = "graph",
        .value = &RunText::graph,
        .placeholder = "GRAPH",
        .meaning = "complete, ring, undirected-ring, star, tree, hypercube, grid:RxC, torus:RxC, "
                   "regular:D, gnp:P or file:PATH, for protocols that allow it",
        .accepted_by = by_run | by_search | by_verify | by_explore | by_compare | by_explorer,
        .stored = 6,
        .page = "graphs.md"},
    Option<RunText>{.name = "placement",
                    .value = &RunText::placement,
                    .placeholder = "NAME",
                    .meaning = "On a graph: random, or listed, in the order of the initial "
                               "configuration (default listed; random with --init A=60,B=40)",
                    .accepted_by = by_run | by_explorer,
                    .stored = 21,
                    .page = "graphs.md"},
    Option<RunText>{.name = "fault",
                    .value = &RunText::faults,
                    .placeholder = "FAULT",
                    .meaning = "WHAT@TIME: corrupt:K, corrupt:P%, zero:P%, kill-leaders, "
                               "make-leaders:K, at a parallel time or at convergence+T; repeatable",
                    .accepted_by = by_run | by_explorer,
                    .stored = 18,
                    .key = "faults",
                    .page = "../how-to/faults-and-traces.md"},
    Option<RunText>{.name = "delay",
                    .value = &RunText::delay,
                    .placeholder = "NAME",
                    .meaning = "Message passing: how long messages take (see `describe`; default "
                               "unit), or their order by hand, order:FROM-TO/FROM-TO/...",
                    .accepted_by = by_run | by_compare | by_explorer,
                    .stored = 10,
                    .page = "../how-to/networks.md"},
    Option<RunText>{.name = "wakeup",
                    .value = &RunText::wakeup,
                    .placeholder = "NAME",
                    .meaning = "Message passing: who is woken when (see `describe`; default all)",
                    .accepted_by = by_run | by_compare | by_explorer,
                    .stored = 11,
                    .page = "../how-to/networks.md"},
    Option<RunText>{.name = "ids",
                    .value = &RunText::ids,
                    .placeholder = "NAME",
                    .meaning = "Message passing: unique or anonymous nodes (default unique)",
                    .accepted_by = by_run | by_explore | by_explorer,
                    .stored = 12},
    Option<RunText>{.name = "count_edges",
                    .value = &RunText::count_edges,
                    .meaning = "Message passing: count messages by edge also above 1e5 nodes",
                    .accepted_by = by_run,
                    .stored = 20},
    Option<RunText>{.name = "max_parallel_time",
                    .value = &RunText::max_parallel_time,
                    .placeholder = "X",
                    .meaning = "Give up after this many interactions per agent",
                    .accepted_by = by_run | by_rare | by_compare | by_explorer,
                    .kind = ValueKind::limit,
                    .stored = 7},
    Option<RunText>{.name = "max_interactions",
                    .value = &RunText::max_interactions,
                    .placeholder = "X",
                    .meaning = "Give up after this many interactions",
                    .accepted_by = by_run | by_rare | by_search | by_explorer,
                    .kind = ValueKind::limit,
                    .stored = 8},
    Option<RunText>{.name = "until",
                    .value = &RunText::until,
                    .placeholder = "T",
                    .meaning = "Run every trial to parallel time T, converged or not; "
                               "convergence,T: to whichever comes first",
                    .accepted_by = by_run | by_explorer,
                    .kind = ValueKind::horizon,
                    .stored = 9,
                    .page = "../how-to/histories.md"},
    Option<RunText>{.name = "kind", .value = &RunText::kind, .stored = 13},
    Option<RunText>{.name = "way",
                    .value = &RunText::way,
                    .placeholder = "NAME",
                    .meaning = "Only this failure mode (default: all)",
                    .accepted_by = by_rare,
                    .stored = 14},
    Option<RunText>{.name = "importance",
                    .value = &RunText::importance,
                    .placeholder = "F",
                    .meaning =
                        "Importance function: a name or an expression; repeatable; the first "
                        "of a failure mode gives its estimate, the others confirm it",
                    .accepted_by = by_rare,
                    .stored = 19},
    Option<RunText>{.name = "particles",
                    .value = &RunText::particles,
                    .placeholder = "N",
                    .meaning = "Paths per level (default 1000)",
                    .accepted_by = by_rare,
                    .kind = ValueKind::count,
                    .stored = 15,
                    .low = 10,
                    .high = 100'000'000},
    Option<RunText>{.name = "most_levels",
                    .value = &RunText::most_levels,
                    .placeholder = "K",
                    .meaning = "Give up if more levels are needed (default 2000)",
                    .accepted_by = by_rare,
                    .kind = ValueKind::count,
                    .stored = 16,
                    .low = 1,
                    .high = 1'000'000},
    Option<RunText>{
        .name = "seed",
        .value = &RunText::seed,
        .placeholder = "S",
        .meaning = "Seed; the same seed gives the same results (default 1)",
        .accepted_by = by_run | by_rare | by_search | by_verify | by_compare | by_explorer,
        .kind = ValueKind::count,
        .stored = 3},
};

constexpr std::array options_of_executions{
    Option<ExecutionText>{.name = "trials",
                          .value = &ExecutionText::trials,
                          .placeholder = "T",
                          .meaning = "Number of trials (default 1)",
                          .accepted_by = by_run,
                          .kind = ValueKind::count,
                          .low = 1},
    Option<ExecutionText>{.name = "threads",
                          .value = &ExecutionText::threads,
                          .placeholder = "K",
                          .meaning = "Worker threads; never changes a result (default: one per "
                                     "processor)",
                          .accepted_by = by_run | by_rare,
                          .kind = ValueKind::count,
                          .low = 1,
                          .high = 1024},
    Option<ExecutionText>{.name = "format",
                          .value = &ExecutionText::format,
                          .placeholder = "F",
                          .meaning = "table, jsonl, csv or json (default table)",
                          .accepted_by = by_run | by_rare},
    Option<ExecutionText>{.name = "output",
                          .value = &ExecutionText::output,
                          .placeholder = "FILE",
                          .meaning = "Write to FILE instead of standard output; it appears when "
                                     "complete",
                          .accepted_by = by_run | by_rare,
                          .kind = ValueKind::path,
                          .page = "../explanation/trust.md"},
    Option<ExecutionText>{.name = "trace",
                          .value = &ExecutionText::trace,
                          .placeholder = "FILE",
                          .meaning = "Write leaders and observables over time to FILE (CSV, for "
                                     "`conclave plot`)",
                          .accepted_by = by_run,
                          .kind = ValueKind::path,
                          .page = "../how-to/faults-and-traces.md"},
    Option<ExecutionText>{.name = "trace_grid",
                          .value = &ExecutionText::trace_grid,
                          .placeholder = "GRID",
                          .meaning = "When to sample: log, log:FACTOR or linear:STEP of parallel "
                                     "time (default log)",
                          .accepted_by = by_run},
    Option<ExecutionText>{.name = "every",
                          .value = &ExecutionText::every,
                          .placeholder = "DT",
                          .meaning = "Sample at all multiples of this parallel time, instead of "
                                     "--trace-grid",
                          .accepted_by = by_run},
    Option<ExecutionText>{.name = "history",
                          .value = &ExecutionText::history,
                          .placeholder = "FILE",
                          .meaning =
                              "Write how many agents are in each state at every sample (CSV; "
                              ".npy for NumPy)",
                          .accepted_by = by_run,
                          .kind = ValueKind::path,
                          .page = "../how-to/histories.md"},
    Option<ExecutionText>{.name = "history_by",
                          .value = &ExecutionText::history_by,
                          .placeholder = "FIELD",
                          .meaning = "Count agents by the value of this field of their states",
                          .accepted_by = by_run},
    Option<ExecutionText>{.name = "history_format",
                          .value = &ExecutionText::history_format,
                          .placeholder = "F",
                          .meaning = "wide: a column per state, long: a line per state, or npy "
                                     "(default by FILE)",
                          .accepted_by = by_run},
    Option<ExecutionText>{
        .name = "final",
        .value = &ExecutionText::final_file,
        .placeholder = "FILE",
        .meaning = "Write the configuration at the end of each trial to FILE (CSV)",
        .accepted_by = by_run,
        .kind = ValueKind::path},
    Option<ExecutionText>{.name = "init_from",
                          .value = &ExecutionText::init_from,
                          .placeholder = "FILE",
                          .meaning = "Begin with a configuration that --final wrote; --n follows "
                                     "from it",
                          .accepted_by = by_run,
                          .kind = ValueKind::path},
    Option<ExecutionText>{.name = "check",
                          .value = &ExecutionText::check,
                          .meaning =
                              "Watch the properties of a protocol file at every interaction, "
                              "and stop where one fails",
                          .accepted_by = by_run,
                          .page = "own-protocols.md"},
    Option<ExecutionText>{.name = "quiet",
                          .value = &ExecutionText::quiet,
                          .meaning = "No progress line and no timing on standard error",
                          .accepted_by = by_run | by_rare},
};

template <class Words>
const Option<Words>& found(std::span<const Option<Words>> options, std::string Words::*member) {
  const typename Option<Words>::Value wanted = member;
  const auto place = std::ranges::find(options, wanted, &Option<Words>::value);
  CONCLAVE_CHECK(place != options.end());
  return *place;
}

std::vector<std::string> values_of(const RunText& words, const Option<RunText>& option) {
  if (const auto* const text = std::get_if<std::string RunText::*>(&option.value)) {
    return (words.**text).empty() ? std::vector<std::string>() : std::vector{words.**text};
  }
  if (const auto* const list = std::get_if<std::vector<std::string> RunText::*>(&option.value)) {
    return words.**list;
  }
  return words.*std::get<bool RunText::*>(option.value) ? std::vector<std::string>(1)
                                                        : std::vector<std::string>();
}

}  // namespace

template <class Words>
std::string Option<Words>::dashed() const {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}
template struct Option<RunText>;
template struct Option<ExecutionText>;

std::span<const Option<RunText>> run_options() { return options_of_runs; }
std::span<const Option<ExecutionText>> execution_options() { return options_of_executions; }

const Option<RunText>& option_of(std::string RunText::*member) {
  return found(run_options(), member);
}
const Option<ExecutionText>& option_of(std::string ExecutionText::*member) {
  return found(execution_options(), member);
}

template <class Words>
std::uint64_t count_of(const Words& words, std::string Words::*member) {
  const Option<Words>& option = option_of(member);
  return count_option_64(option.flag(), words.*member, option.low, option.high);
}
template std::uint64_t count_of(const RunText&, std::string RunText::*);
template std::uint64_t count_of(const ExecutionText&, std::string ExecutionText::*);

std::vector<GivenOption> given_options(const RunText& words) {
  std::vector<GivenOption> result;
  for (const Option<RunText>& option : run_options()) {
    if (option.accepted_by == 0) continue;
    const bool is_flag = std::holds_alternative<bool RunText::*>(option.value);
    for (std::string& value : values_of(words, option)) {
      if (is_flag || !value.empty()) result.push_back({option.dashed(), std::move(value)});
    }
  }
  return result;
}

}  // namespace conclave::experiment
