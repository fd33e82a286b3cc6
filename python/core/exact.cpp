// Exact answers: verification, exploration, searches for bad starts, hitting times of chains.
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/rational_chain.hpp"
#include "conclave/experiment/exact_text.hpp"

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

// Work that asks a callback now and then whether to go on.
template <class Work>
auto attended(Work work) {
  std::atomic<bool> stop = false;
  std::optional<decltype(work(ProgressCallback()))> result;
  attend(
      [&] { result = work([&](std::string_view, std::uint64_t, std::uint64_t) { return !stop; }); },
      stop);
  return std::move(*result);
}

py::object extreme_of(const std::optional<exact::Extreme>& extreme) {
  if (!extreme) return py::none();
  return py::make_tuple(extreme->value, extreme->configuration);
}

py::dict dict_of(const exact::ClaimReport& claim) {
  py::list steps;
  for (const exact::TraceStep& step : claim.counterexample) {
    steps.append(py::make_tuple(step.interaction, step.configuration));
  }
  py::dict result;
  result["name"] = claim.name;
  result["statement"] = claim.statement;
  result["verdict"] = std::string(exact::name_of(claim.verdict));
  result["problem"] = claim.problem;
  result["counterexample"] = steps;
  return result;
}

py::dict dict_of(const catalog::Verified& verified) {
  const exact::Report& report = verified.report;
  py::dict result;
  py::list claims;
  for (const exact::ClaimReport& claim : report.claims) claims.append(dict_of(claim));
  result["params"] = parameters_of(verified.parameters);
  result["start"] = std::string(verified.start);
  result["from_everywhere"] = report.from_everywhere;
  result["symmetry"] = report.symmetry;
  result["configurations"] = report.configurations;
  result["classes"] = report.classes;
  result["transitions"] = report.transitions;
  result["claims"] = claims;
  result["all_hold"] = report.all_hold();
  result["probability"] = report.start.probability;
  result["mean"] = report.start.mean;
  result["variance"] = report.start.variance;
  result["mean_exactly"] = report.start_exactly;
  result["slowest"] = extreme_of(report.slowest);
  result["shortest_holding"] = extreme_of(report.shortest_holding);
  result["start_holding"] = report.start_holding;
  result["residual"] = report.residual;
  result["relative_error"] = report.relative_error;
  result["distribution"] = report.distribution;
  result["ticks_per_time"] = verified.ticks_per_time;
  return result;
}

py::dict dict_of(const experiment::LawTest& test) {
  py::dict result;
  result["engine"] = test.engine;
  result["trials"] = test.trials;
  result["mean"] = test.mean;
  result["p_value"] = test.fit.p_value;
  result["compared"] = test.is_informative;
  result["agrees"] = !test.is_rejected();
  return result;
}

experiment::VerifyText verify_words(const py::dict& options) {
  return {.plain = {.target = word(options, "target"),
                    .within = word(options, "within"),
                    .exactly = flag(options, "exact"),
                    .folder = word(options, "export")},
          .from = word(options, "from"),
          .memory = word(options, "memory"),
          .distribution = word(options, "distribution"),
          .against = word(options, "against"),
          .trials = word(options, "trials"),
          .no_congruence = flag(options, "no_congruence")};
}

py::dict verify(const Protocol& protocol, const py::dict& options) {
  const catalog::Entry& entry = protocol.entry();
  experiment::check_verifiable(entry, protocol.name());
  const experiment::RunText run = words_of(options, protocol.name());
  const experiment::VerifyText words = verify_words(options);
  catalog::VerifyRequest asked = experiment::verify_request(
      entry, words, request_of(entry, run, extras_of(options), experiment::verify_usage));
  const catalog::Verified verified = attended([&](const ProgressCallback& progress) {
    asked.options.bounds.progress = progress;
    return entry.verify(asked);
  });
  py::dict result = dict_of(verified);
  result["n"] = int_of(asked.run.n);
  py::list engines;
  std::atomic<bool> stop = false;
  std::vector<experiment::LawTest> tests;
  attend(
      [&] {
        tests = experiment::compared_engines(entry, words, asked.run,
                                             verified.report.comparison_law, stop);
      },
      stop);
  for (const experiment::LawTest& test : tests) engines.append(dict_of(test));
  result["engines"] = engines;
  return result;
}

py::dict search(const Protocol& protocol, const py::dict& options) {
  const catalog::Entry& entry = protocol.entry();
  experiment::check_searchable(entry);
  const experiment::RunText words = words_of(options, protocol.name());
  catalog::SearchRequest asked = experiment::search_request(
      entry, word(options, "budget"), word(options, "objective"),
      request_of(entry, words, extras_of(options), experiment::search_usage));
  const catalog::Searched found = attended([&](const ProgressCallback& progress) {
    asked.progress = progress;
    return entry.search(asked);
  });
  py::dict result;
  result["configuration"] = found.configuration;
  result["times"] = found.times;
  result["candidates"] = found.candidates;
  result["trials"] = found.trials;
  result["params"] = parameters_of(found.parameters);
  return result;
}

py::dict explore(const Protocol& protocol, const py::dict& options) {
  const catalog::Entry& entry = protocol.entry();
  catalog::ExplorationRequest asked = experiment::exploration_request(
      entry, words_of(options, protocol.name()), word(options, "max_configurations"));
  const catalog::Exploration found = attended([&](const ProgressCallback& progress) {
    asked.progress = progress;
    return entry.explore(asked);
  });
  py::list properties;
  for (const catalog::ExploredProperty& each : found.properties) {
    py::list steps;
    for (const schedules::TraceStep& step : each.counterexample) {
      steps.append(py::make_tuple(step.title, step.details));
    }
    properties.append(py::make_tuple(std::string(each.name), each.holds, steps));
  }
  py::dict result;
  result["params"] = parameters_of(found.parameters);
  result["configurations"] = found.configurations;
  result["transitions"] = found.transitions;
  result["ends"] = found.final_configurations;
  result["schedules"] = found.schedules;
  result["longest"] = found.longest;
  result["complete"] = found.is_complete;
  result["properties"] = properties;
  return result;
}

// Whole numbers of any size, from any buffer of one dimension.
std::vector<std::int64_t> whole_numbers(const py::buffer& buffer) {
  const py::buffer_info info = buffer.request();
  std::vector<std::int64_t> result(static_cast<std::size_t>(info.size));
  const auto* const bytes = static_cast<const char*>(info.ptr);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const char* const place = bytes + static_cast<py::ssize_t>(i) * info.strides[0];
    result[i] = info.itemsize == 8 ? *reinterpret_cast<const std::int64_t*>(place)
                                   : *reinterpret_cast<const std::int32_t*>(place);
  }
  return result;
}

// A matrix in compressed rows, as SciPy stores it, checked: it may come from anybody.
struct Rows {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> columns;
  std::size_t states = 0;
};

Rows rows_of(const py::buffer& starts, const py::buffer& columns, std::size_t values) {
  Rows rows{whole_numbers(starts), whole_numbers(columns)};
  if (rows.starts.size() < 2) throw Error("a chain has at least one state");
  rows.states = rows.starts.size() - 1;
  const bool is_sound = rows.states <= 0xffffffffu && rows.starts.front() == 0 &&
                        std::ranges::is_sorted(rows.starts) &&
                        rows.starts.back() == static_cast<std::int64_t>(values) &&
                        rows.columns.size() == values;
  const auto states = static_cast<std::int64_t>(rows.states);
  if (!is_sound || std::ranges::any_of(rows.columns, [&](std::int64_t column) {
        return column < 0 || column >= states;
      })) {
    throw Error("the matrix is not square, or its rows are damaged");
  }
  return rows;
}

chain::StateSet target_of(const std::vector<std::int64_t>& states, std::size_t size) {
  chain::StateSet target(size);
  if (states.empty()) throw Error("the target is empty");
  for (const std::int64_t state : states) {
    if (state < 0 || state >= static_cast<std::int64_t>(size)) {
      throw Error("the target has state " + std::to_string(state) +
                  ", and the chain has states 0 to " + std::to_string(size - 1));
    }
    target.insert(static_cast<chain::StateIndex>(state));
  }
  return target;
}

chain::MarkovChain chain_of(const Rows& rows, std::span<const double> values) {
  chain::ChainBuilder builder;
  builder.reserve(rows.states, values.size());
  for (std::size_t state = 0; state < rows.states; ++state) {
    double sum = 0;
    for (auto i = rows.starts[state]; i < rows.starts[state + 1]; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      if (!(value >= 0 && value <= 1 + 1e-9)) {
        throw Error("row " + std::to_string(state) + " has an entry that is no probability");
      }
      sum += value;
      builder.add(static_cast<chain::StateIndex>(rows.columns[static_cast<std::size_t>(i)]), value);
    }
    if (std::abs(sum - 1) > 1e-6) {
      throw Error("row " + std::to_string(state) + " adds up to " + std::to_string(sum) +
                  ", not to 1");
    }
    builder.end_row();
  }
  return std::move(builder).build();
}

py::dict solve(const py::buffer& starts, const py::buffer& columns, const py::buffer& values,
               const std::vector<std::int64_t>& target, const std::vector<double>& costs,
               bool variance, const std::string& method) {
  const py::buffer_info info = values.request();
  if (info.format != py::format_descriptor<double>::format() || info.ndim != 1) {
    throw Error("the matrix must hold doubles");
  }
  const std::span<const double> numbers(static_cast<const double*>(info.ptr),
                                        static_cast<std::size_t>(info.size));
  const Rows rows = rows_of(starts, columns, numbers.size());
  if (!costs.empty() && costs.size() != rows.states) throw Error("there is a cost per state");
  const chain::StateSet states = target_of(target, rows.states);
  const chain::Method how = chain::parse_method(method, chain::numerical_methods());
  const chain::MarkovChain chain = chain_of(rows, numbers);
  const chain::HittingTimes times = attended([&](const ProgressCallback&) {
    return chain::hitting_times(chain, states,
                                {.variance = variance, .costs = costs, .method = how});
  });
  py::dict result;
  result["mean"] = array_of(times.mean);
  result["variance"] = array_of(times.variance);
  result["relative_error"] = times.relative_error;
  result["variance_error"] = times.variance_error;
  result["residual"] = times.residual;
  result["infinite"] = times.infinite;
  const bool has_method = !times.methods.empty();
  result["method"] =
      has_method ? std::string(chain::name_of(chain::main_use(times.methods).method)) : "";
  return result;
}

// Probabilities and times as texts of fractions.
std::vector<std::string> solve_exactly(const py::buffer& starts, const py::buffer& columns,
                                       const std::vector<std::string>& values,
                                       const std::vector<std::int64_t>& target,
                                       const std::vector<std::uint32_t>& from,
                                       const std::string& method) {
  const Rows rows = rows_of(starts, columns, values.size());
  const chain::StateSet states = target_of(target, rows.states);
  const chain::Method how = chain::parse_method(method, chain::fraction_methods());
  chain::RationalChain chain;
  for (std::size_t state = 0; state < rows.states; ++state) {
    chain::Rational sum = 0;
    for (auto i = rows.starts[state]; i < rows.starts[state + 1]; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const chain::Rational value = chain::parse_rational(values[k]);
      sum += value;
      chain.add(static_cast<chain::StateIndex>(rows.columns[k]), value);
    }
    if (sum != 1) {
      throw Error("row " + std::to_string(state) + " adds up to " + sum.get_str() + ", not to 1");
    }
    chain.end_row();
  }
  for (const std::uint32_t state : from) {
    if (state >= rows.states) throw Error("there is no state " + std::to_string(state));
  }
  const chain::RationalHittingTimes times = attended([&](const ProgressCallback&) {
    return chain::rational_hitting_times(chain, states, from, how);
  });
  std::vector<std::string> result;
  for (const chain::Rational& mean : times.mean) result.push_back(mean.get_str());
  return result;
}

}  // namespace

void bind_exact(py::module_& module) {
  module.def("verify", &verify);
  module.def("search", &search);
  module.def("explore", &explore);
  module.def("solve", &solve);
  module.def("solve_exactly", &solve_exactly);
}

}  // namespace conclave::python
