#include "conclave/experiment/paper_table.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::experiment {
namespace {

// "later": not in the paper's table, since the work came after it.
// This paper has no table; its introduction compares in words.
constexpr std::array electleader_rows{
    PromisedRow{"Cai, Izumi, Wada 2012", {"O(n^2)", "n", "silent"}, "ciw"},
    PromisedRow{"Burman et al. 2021", {"O(n)", "Theta(n)", "silent"}, "optimal-silent"},
    PromisedRow{"Burman et al. 2021, depth H",
                {"O(log n n^(1/(H+1)))", "2^(Theta(n^H) log n)", "not silent"}},
    PromisedRow{"Gasieniec et al. 2025", {"O(n log n) whp", "n + O(log n)", "silent"}},
    PromisedRow{"Gasieniec et al. 2025, n + 1 states", {"O(n^(7/4) log^2 n)", "n + 1", "silent"}},
    PromisedRow{"Gasieniec et al. 2025, n states, k ranks missing",
                {"O(min(k n^(3/2), n^2 log^2 n)) whp", "n", "silent"}},
    PromisedRow{.work = "Austin et al. 2025, r = 1",
                .promised = {"O((n/r) log n) whp", "2^O(r^2 log n)", "not silent"},
                .protocol = "electleader",
                .parameter = "r=1"},
    PromisedRow{"Austin et al. 2025, r = log^2 n",
                {"O((n/r) log n) whp", "2^O(r^2 log n)", "not silent"},
                "electleader"},
    PromisedRow{.work = "Austin et al. 2025, r = n/2",
                .promised = {"O((n/r) log n) whp", "2^O(r^2 log n)", "not silent"},
                .protocol = "electleader",
                .parameter = "r=n/2"},
    PromisedRow{"Sudo 2025, later",
                {"O((n/rho) log rho)", "2^(2 rho log^2 rho + O(log n))", "not silent"}},
};

constexpr std::array kmpp_rows{
    PromisedRow{"Korach, Moran, Zaks 1984", {"O(n log n)", "O(n log n)", "asynchronous"}},
    PromisedRow{"Afek, Gafni 1991", {"O(n log n)", "O(n)", "asynchronous"}, "afek-gafni-async"},
    PromisedRow{"Singh 1997", {"O(n k)", "O(n/k)", "asynchronous"}},
    PromisedRow{"Afek, Matias 1994", {"O(n log^2(1/e)/e)", "O(log n)", "asynchronous"}},
    PromisedRow{"Kutten et al. 2020", {"O(n) whp", "O(log^2 n) whp", "asynchronous"}, "kmpp-async"},
    PromisedRow{"Afek, Gafni 1991, synchronous",
                {"O(c n log_c n)", "O(log_c n)", "synchronous"},
                "afek-gafni-sync"},
    PromisedRow{"Ramanathan et al. 2007", {"O(n)", "O(log n)", "synchronous"}},
    PromisedRow{
        "Kutten et al. 2020, synchronous", {"O(n) whp", "O(1)", "synchronous"}, "kmpp-sync"},
};

constexpr std::array pll_rows{
    PromisedRow{"Angluin et al. 2006", {"O(n)", "O(1)", ""}, "fratricide"},
    PromisedRow{"Alistarh, Gelashvili 2015", {"O(log^3 n)", "O(log^3 n)", ""}, "ag-minions"},
    PromisedRow{"Alistarh et al. 2017", {"O(log^5.3 n log log n)", "O(log^2 n)", ""}},
    PromisedRow{"Alistarh, Aspnes, Gelashvili 2018", {"O(log^2 n)", "O(log n)", ""}},
    PromisedRow{"Gasieniec, Stachowiak 2018",
                {"O(log^2 n)", "O(log log n)", ""},
                "",
                "paper not available to us; protocols/junta_election.pp is our own on its "
                "architecture"},
    PromisedRow{"Gasieniec, Stachowiak, Uznanski 2019", {"O(log n log log n)", "O(log log n)", ""}},
    PromisedRow{"Michail, Spirakis, Theofilatos 2018",
                {"O(log^2 n / log tau)", "O(tau + log n)", ""}},
    PromisedRow{"Sudo et al. 2020", {"O(log n)", "O(log n)", ""}, "pll"},
    PromisedRow{"Berenbrink, Giakkoupis, Kling 2020, later", {"O(log n)", "Theta(log log n)", ""}},
};

constexpr std::array ppl_rows{
    PromisedRow{"Sudo et al. 2012", {"O(N log N)", "Omega(e^N)", "O(log N)"}, "timers"},
    PromisedRow{"Izumi 2015", {"O(N)", "Omega(e^N)", "O(log N)"}},
    PromisedRow{"Sudo et al. 2018", {"O(c log^3 N)", "Omega(c n^(10c))", "O(log log N)"}, "ppl"},
    PromisedRow{"Cai, Izumi, Wada 2012", {"polynomial", "for ever", "O(log n)"}, "ciw"},
    PromisedRow{"Sudo et al. 2021, later", {"O(tau log n)", "Omega(n^tau)", "not known to us"}},
    PromisedRow{"Kanaya et al. 2024, later, any graph of m edges, degree <= D",
                {"O((m/n) N log n)", "Omega(e^(2N)) steps", "O(D log N)"}},
};

constexpr std::array prl_rows{
    PromisedRow{"Angluin et al. 2008", {"Theta(n^3)", "O(1)", "n no multiple of k"}},
    PromisedRow{"Fischer, Jiang 2006", {"Theta(n^3)", "O(1)", "oracle Omega?"}, "fischer-jiang"},
    PromisedRow{"Chen, Chen 2019", {"exponential", "O(1)", "none"}},
    PromisedRow{"Yokota, Sudo, Masuzawa 2021", {"O(n N)", "O(N)", "n <= N"}, "prl"},
    PromisedRow{"Yokota et al. 2023, later",
                {"O(n^2 log n) whp", "polylog(n)", "log n up to O(1)"}},
};

constexpr std::array tables{
    PaperTable{"electleader",
               "Self-stabilizing ranking on the complete graph (the paper's introduction)",
               TableUnit::parallel_time,
               {"TIME", "STATES", "KIND"},
               electleader_rows,
               "16,64"},
    PaperTable{"kmpp",
               "Election in complete networks by messages (the paper's Table 1)",
               TableUnit::messages,
               {"MESSAGES", "TIME", "MODE"},
               kmpp_rows,
               "100,1000,10000"},
    PaperTable{"pll",
               "Leader election on the complete graph (the paper's Table 1)",
               TableUnit::parallel_time,
               {"TIME", "STATES", ""},
               pll_rows,
               "100,1000,10000"},
    PaperTable{"ppl",
               "Loosely and self-stabilizing election on the complete graph (the paper's Table 1)",
               TableUnit::parallel_time,
               {"CONVERGENCE", "HOLDING", "BITS"},
               ppl_rows,
               "32,128"},
    PaperTable{"prl",
               "Self-stabilizing election on rings (the paper's Table 1)",
               TableUnit::interactions,
               {"INTERACTIONS", "STATES", "ASSUMPTION"},
               prl_rows,
               "16,64,256"},
};

std::vector<std::string> parameters_of(const PromisedRow& row, const std::string& size) {
  if (row.parameter.empty()) return {};
  std::string text(row.parameter);
  constexpr std::string_view half = "n/2";
  if (!text.ends_with(half)) return {text};
  const std::uint64_t n = count_option("--n", size).as_uint64().value_or(0);
  text.replace(text.size() - half.size(), half.size(),
               std::to_string(std::max<std::uint64_t>(n / 2, 1)));
  return {text};
}

RunText run_text(const PromisedRow& row, const TableRequest& request, const std::string& size,
                 const catalog::Entry& entry) {
  RunText words = request.words;
  words.protocol = row.protocol;
  words.n = size;
  words.params = parameters_of(row, size);
  if (entry.network && entry.network->delays.empty()) words.delay.clear();  // rounds have none
  return words;
}

double amount_of(const TrialResult& result, TableUnit unit, double n) {
  const double interactions = result.interactions.as_double();  // in networks: messages
  return unit == TableUnit::interactions ? interactions : interactions / n;
}

void measure(MeasuredRow& measured, const catalog::PreparedRun& run, TableUnit unit,
             std::uint64_t trials, const std::atomic<bool>& stop) {
  std::vector<double> amounts;
  std::vector<double> times;
  const auto take = [&](const Row& trial) {
    if (trial.result.ending != Ending::converged) return;
    amounts.push_back(amount_of(trial.result, unit, static_cast<double>(run.n())));
    if (!trial.result.network) return;
    const NetworkOutcome& outcome = *trial.result.network;
    times.push_back(outcome.rounds ? static_cast<double>(*outcome.rounds) : outcome.time);
  };
  const unsigned threads = worker_count(run, trials, std::nullopt);
  Progress progress;
  measured.trials = run_trials(run, {.trials = trials, .threads = threads}, take, progress, stop);
  measured.converged = amounts.size();
  if (!amounts.empty()) measured.amount = summarize(amounts);
  if (!times.empty()) measured.time = summarize(times);
}

MeasuredRow measured_row(const PaperTable& table, const PromisedRow& row,
                         const TableRequest& request, const std::string& size,
                         const std::atomic<bool>& stop) {
  MeasuredRow measured{.row = &row, .n = count_option("--n", size)};
  if (row.protocol.empty()) {
    measured.refusal = row.reason();
    return measured;
  }
  try {
    const catalog::Entry entry = catalog::find(row.protocol);
    measured.source = name_of(entry.info.source);
    const auto run = entry.prepare(request_of(entry, run_text(row, request, size, entry)));
    measured.start = run->start();
    if (run->state_count() != Interactions::max()) measured.states = run->state_count();
    measure(measured, *run, table.unit, request.trials, stop);
  } catch (const Error& error) {
    measured.refusal = error.what();
  }
  return measured;
}

// Why a row cannot be run at this size as asked; empty if it can.
std::string objection(const PromisedRow& row, const TableRequest& request,
                      const std::string& size) {
  try {
    const catalog::Entry entry = catalog::find(row.protocol);
    entry.prepare(request_of(entry, run_text(row, request, size, entry)));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// The keys of one [[run]]: texts in quotes, parameters in braces.
std::string run_of_plan(const PromisedRow& row, const TableRequest& request,
                        const std::vector<std::string>& sizes) {
  std::string plan =
      fmt::format("[[run]]\nprotocol = \"{}\"\nn = [{}]\n", row.protocol, join_parts(sizes, ", "));
  if (!row.parameter.empty()) {
    const std::size_t equals = row.parameter.find('=');
    plan += fmt::format("params = {{ {} = \"{}\" }}\n", row.parameter.substr(0, equals),
                        row.parameter.substr(equals + 1));
  }
  const RunText words = run_text(row, request, sizes.front(), catalog::find(row.protocol));
  for (const Option<RunText>& option : run_options()) {
    const auto* const text = std::get_if<std::string RunText::*>(&option.value);
    const bool is_of_row = text != nullptr && option.is_accepted_by(by_compare) &&
                           *text != &RunText::n && *text != &RunText::seed;
    if (!is_of_row || (words.**text).empty()) continue;
    plan += fmt::format("{} = \"{}\"\n", option.plan_key(), words.**text);
  }
  return plan;
}

// Where nothing could be run, the mistake is the user's.
void check_some_ran(const std::vector<MeasuredRow>& rows) {
  const MeasuredRow* refused = nullptr;
  for (const MeasuredRow& row : rows) {
    if (row.row->protocol.empty()) continue;
    if (row.refusal.empty()) return;
    if (refused == nullptr) refused = &row;
  }
  if (refused != nullptr) throw Error(refused->refusal);
}

}  // namespace

const PaperTable& find_paper_table(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PaperTable& table : tables) {
    if (table.name == name) return table;
    names.push_back(table.name);
  }
  throw Error(unknown_name("table", name, names));
}

std::vector<MeasuredRow> measure_table(const PaperTable& table, const TableRequest& request,
                                       const std::atomic<bool>& stop) {
  std::vector<MeasuredRow> rows;
  for (const std::string& size : request.sizes) {
    for (const PromisedRow& row : table.rows) {
      if (!stop) rows.push_back(measured_row(table, row, request, size, stop));
    }
  }
  check_some_ran(rows);
  return rows;
}

std::string table_plan_name(const PaperTable& table) { return fmt::format("table-{}", table.name); }

std::string_view source_of(const PromisedRow& row) {
  for (const catalog::Entry& entry : catalog::entries()) {
    if (entry.info.name == row.protocol) return name_of(entry.info.source);
  }
  return {};
}

const PaperTable* table_of_plan(std::string_view plan_name) {
  const auto found = std::ranges::find(tables, plan_name, table_plan_name);
  return found == tables.end() ? nullptr : &*found;
}

std::string plan_of(const PaperTable& table, const TableRequest& request) {
  std::string plan = fmt::format("# {}\nname = \"{}\"\nseed = {}\ntrials = {}\n", table.title,
                                 table_plan_name(table), request.words.seed, request.trials);
  std::string refusal;
  bool has_run = false;
  for (const PromisedRow& row : table.rows) {
    plan += fmt::format("\n# {}\n", row.work);
    if (row.protocol.empty()) {
      plan += fmt::format("# not run: {}\n", row.reason());
      continue;
    }
    std::vector<std::string> sizes;
    for (const std::string& size : request.sizes) {
      const std::string problem = objection(row, request, size);
      if (problem.empty()) {
        sizes.push_back(to_string(count_option("--n", size)));
      } else {
        plan += fmt::format("# not run at n = {}: {}\n", size, problem);
        refusal = problem;
      }
    }
    if (!sizes.empty()) plan += run_of_plan(row, request, sizes);
    has_run |= !sizes.empty();
  }
  if (!has_run) throw Error(refusal);
  return plan;
}

}  // namespace conclave::experiment
