#include "conclave/experiment/summary.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/json.hpp"

namespace conclave::experiment {
namespace {

std::optional<double> as_number(const Observation& observation) {
  return std::visit(
      [](const auto& v) -> std::optional<double> {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Interactions>)
          return v.as_double();
        else if constexpr (std::is_same_v<T, std::string>)
          return std::nullopt;
        else
          return static_cast<double>(v);
      },
      observation.value);
}

// Six significant digits, 1.25e7; whole numbers of up to ten digits in full.
std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  if (std::abs(value) < 1e10 && value == std::floor(value)) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.6g}", value);
  if (const std::size_t plus = text.find("e+"); plus != std::string::npos) {
    text.erase(plus + 1, text[plus + 2] == '0' ? 2 : 1);
  }
  return text;
}

std::string parameter_text(const catalog::ParameterValue& parameter) {
  return std::visit([&](const auto& value) { return fmt::format("{}={}", parameter.name, value); },
                    parameter.value);
}

// The interval of the mean; NaN where there are fewer than two values.
Interval interval_of(const Summary& summary) {
  return summary.count < 2 ? Interval{NAN, NAN} : nonnegative_mean_interval(summary);
}

// Facts beside each other, on as many lines as they need.
std::string beside(const std::vector<std::string>& facts, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  for (const std::string& fact : facts) {
    const std::size_t length = character_count(fact);
    if (column > 0) {
      const bool fits = column + 3 + length <= width;
      text += fits ? "   " : "\n  ";
      column = fits ? column + 3 : 2;
    }
    text += fact;
    column += length;
  }
  return text + '\n';
}

}  // namespace

RunSummary::Column& RunSummary::column(std::string_view name) {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  if (found != columns_.end()) return *found;
  return columns_.emplace_back(Column{std::string(name), {}});
}

void RunSummary::add(const Row& row) {
  ++trials_;
  if (row.result.ending == Ending::limit) ++limited_;
  if (row.result.ending == Ending::hopeless) ++hopeless_;
  const bool is_at_horizon = row.result.ending == Ending::until;
  if (is_at_horizon) ++until_;
  if (is_at_horizon && row.result.first_convergence) ++until_before_;
  for (const NamedCount& each : row.result.final_agents) {
    census_[each.name] += static_cast<double>(each.count);
  }
  if (row.result.ending != Ending::converged && !is_at_horizon) return;
  if (row.result.network) {
    add_network(row);
  } else {
    column("interactions").values.push_back(row.result.interactions.as_double());
    column("parallel time").values.push_back(format_.parallel_time(row));
  }
  if (row.result.time) column("time").values.push_back(*row.result.time);
  if (run_->plan().until) {
    // Molecules lead nowhere: a network of reactions that names no leader has no such line.
    if (!row.result.time || row.result.leaders > 0) {
      column("leaders").values.push_back(static_cast<double>(row.result.leaders));
    }
    if (row.result.first_convergence) {
      column("first convergence").values.push_back(row.result.first_convergence->as_double());
    }
  }
  for (std::size_t i = 0; i < row.result.faults.size(); ++i) {
    const FaultOutcome& fault = row.result.faults[i];
    if (!fault.recovered) continue;
    column(fmt::format("recovery {}: {}", i + 1, fault.text))
        .values.push_back(fault.recovery.as_double());
  }
  for (const Observation& observation : row.result.observations) {
    if (const auto value = as_number(observation))
      column(observation.name).values.push_back(*value);
  }
}

void RunSummary::add_network(const Row& row) {
  const NetworkOutcome& outcome = *row.result.network;
  column("messages").values.push_back(row.result.interactions.as_double());
  column("messages per node").values.push_back(format_.parallel_time(row));
  for (const KindCount& each : outcome.by_kind) {
    column(each.kind).values.push_back(static_cast<double>(each.messages));
  }
  column("time").values.push_back(outcome.time);
  if (outcome.rounds) column("rounds").values.push_back(static_cast<double>(*outcome.rounds));
  if (outcome.most_on_an_edge) {
    column("max messages per edge").values.push_back(static_cast<double>(*outcome.most_on_an_edge));
  }
}

std::string RunSummary::heading(std::size_t width) const {
  std::vector<std::string> facts{std::string(run_->protocol()), fmt::format("n = {}", run_->n())};
  for (const auto& parameter : run_->parameters()) facts.push_back(parameter_text(parameter));
  if (!run_->graph().empty()) facts.push_back(fmt::format("graph {}", run_->graph()));
  if (const auto* network = run_->network()) {
    facts.push_back(fmt::format("ids {}", network->ids));
    if (!network->delay.empty()) facts.push_back(fmt::format("delay {}", network->delay));
    facts.push_back(fmt::format("wakeup {}", network->wakeup));
  }
  facts.push_back(fmt::format("init {}", run_->start()));
  facts.push_back(run_->device().empty() ? fmt::format("engine {}", run_->engine())
                                         : fmt::format("engine gpu on {}", run_->device()));
  facts.push_back(fmt::format("seed {}", run_->seed()));
  return beside(facts, width);
}

std::string RunSummary::table(std::size_t width) const {
  std::string text = heading(width);
  text += outcome_text();
  if (asked_ > 0) text += fmt::format("; interrupted, {} were asked for", asked_);
  text += '\n' + undone_text(width);
  if (columns_.empty()) return text;
  text += '\n' + (trials_ == 1 ? values_table(width) : statistics_table(width));
  return text + census_text();
}

// Says of trials that end at convergence whether that is where they would stay.
std::string RunSummary::undone_text(std::size_t width) const {
  if (run_->plan().until || converged() == 0) return {};
  const std::string command = run_->undone();
  if (command.empty()) return {};
  return beside(
      {"the stop condition can be undone later, and a trial ends when it first holds:", command},
      width);
}

// A single trial has values, not statistics.
std::string RunSummary::values_table(std::size_t width) const {
  TextTable table({{"", TextTable::Align::left, true}, {"value", TextTable::Align::right, true}});
  for (const Column& each : columns_) table.add({each.name, short_number(each.values.front())});
  return table.text(width);
}

std::string RunSummary::statistics_table(std::size_t width) const {
  std::vector<TextTable::Column> columns{{"", TextTable::Align::left, true}};
  for (const char* title :
       {"mean", "95% low", "95% high", "std dev", "median", "90% quant.", "maximum"}) {
    columns.push_back({title, TextTable::Align::right, true});
  }
  TextTable table(std::move(columns));
  for (const Column& each : columns_) {
    std::vector<double> sorted = each.values;
    std::ranges::sort(sorted);
    const Summary summary = summarize(sorted);
    const Interval interval = interval_of(summary);
    table.add({each.name, short_number(summary.mean), short_number(interval.low),
               short_number(interval.high), short_number(std::sqrt(summary.variance)),
               short_number(quantile(sorted, 0.5)), short_number(quantile(sorted, 0.9)),
               short_number(summary.maximum)});
  }
  return table.text(width);
}

std::string RunSummary::outcome_text() const {
  std::string text;
  if (const auto& until = run_->plan().until) {
    const std::string time = json_number(until->time.as_double());
    text = until->or_convergence
               ? fmt::format("{} of {} trials ended at convergence, {} ran until time {}",
                             converged() - until_, trials_, until_, time)
               : fmt::format("{} of {} trials ran until time {}; {} had converged by then", until_,
                             trials_, time, until_before_);
  } else {
    text = fmt::format("{} of {} trials converged", converged(), trials_);
  }
  if (limited_ > 0) text += fmt::format(", {} reached the limit", limited_);
  if (hopeless_ > 0) text += fmt::format(", {} can never converge", hopeless_);
  return text;
}

// The most frequent states at the end.
std::string RunSummary::census_text() const {
  if (!run_->plan().until || census_.empty()) return {};
  constexpr std::size_t most = 20;
  std::vector<std::pair<std::string, double>> states(census_.begin(), census_.end());
  std::ranges::stable_sort(states, std::ranges::greater{}, &std::pair<std::string, double>::second);
  std::string text = fmt::format("\ncensus at the end: {} state{}, agents per trial\n",
                                 states.size(), states.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(most, states.size()); ++i) {
    text +=
        fmt::format("{:>16}  {}\n", short_number(states[i].second / static_cast<double>(trials_)),
                    states[i].first);
  }
  if (states.size() > most) {
    text += fmt::format("{:>16}  and {} more; --final FILE writes them all\n", "",
                        states.size() - most);
  }
  return text;
}

std::string RunSummary::json() const {
  std::string text = fmt::format(
      R"({{"trials":{},"converged":{},"limited":{},"hopeless":{})", trials_,
      run_->plan().until ? until_before_ + converged() - until_ : converged(), limited_, hopeless_);
  if (run_->plan().until) text += fmt::format(R"(,"reached_until":{})", until_);
  if (asked_ > 0) text += fmt::format(R"(,"interrupted":true,"asked":{})", asked_);
  for (const Column& each : columns_) {
    std::vector<double> sorted = each.values;
    std::ranges::sort(sorted);
    const Summary summary = summarize(sorted);
    const Interval interval = interval_of(summary);
    std::string key = each.name;
    std::ranges::replace(key, ' ', '_');
    text += fmt::format(
        R"(,{}:{{"mean":{},"mean_low_95":{},"mean_high_95":{},"variance":{},"minimum":{},)"
        R"("quantile_10":{},"median":{},"quantile_90":{},"maximum":{}}})",
        json_string(key), json_number(summary.mean), json_number(interval.low),
        json_number(interval.high), json_number(summary.variance), json_number(summary.minimum),
        json_number(quantile(sorted, 0.1)), json_number(quantile(sorted, 0.5)),
        json_number(quantile(sorted, 0.9)), json_number(summary.maximum));
  }
  return text + '}';
}

}  // namespace conclave::experiment
