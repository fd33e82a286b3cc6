#include "conclave/experiment/summary.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "conclave/experiment/json.hpp"

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

// Six significant digits, without an exponent where people do not expect one.
std::string number(double value) {
  if (std::isnan(value)) return "-";
  if (std::abs(value) >= 1e6 && std::abs(value) < 1e15 && value == std::floor(value)) {
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.6g}", value);
}

std::string parameter_text(const catalog::ParameterValue& parameter) {
  return std::visit([&](const auto& value) { return fmt::format("{}={}", parameter.name, value); },
                    parameter.value);
}

// The name's width comes after the name.
constexpr const char* line_layout = "{:<{}} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n";

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
  if (row.result.ending != Ending::converged) return;
  if (row.result.network) {
    add_network(row);
  } else {
    column("interactions").values.push_back(row.result.interactions.as_double());
    column("parallel time").values.push_back(format_.parallel_time(row));
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

std::string RunSummary::table() const {
  std::string text = fmt::format("{}   n = {}", run_->protocol(), run_->n());
  for (const auto& parameter : run_->parameters()) text += "   " + parameter_text(parameter);
  if (!run_->graph().empty()) text += fmt::format("   graph {}", run_->graph());
  if (const auto* network = run_->network()) {
    text += fmt::format("   ids {}", network->ids);
    if (!network->delay.empty()) text += fmt::format("   delay {}", network->delay);
    text += fmt::format("   wakeup {}", network->wakeup);
  }
  text += fmt::format("   start {}   engine {}   seed {}\n", run_->start(), run_->engine(),
                      run_->seed());
  text += fmt::format("{} of {} trials converged", converged(), trials_);
  if (limited_ > 0) text += fmt::format(", {} reached the limit", limited_);
  if (hopeless_ > 0) text += fmt::format(", {} can never converge", hopeless_);
  if (asked_ > 0) text += fmt::format("; interrupted, {} were asked for", asked_);
  text += '\n';
  if (columns_.empty()) return text;
  text += '\n';
  std::size_t width = 34;
  for (const Column& each : columns_) width = std::max(width, each.name.size());
  text += fmt::format(line_layout, "", width, "mean", "95% low", "95% high", "std dev", "median",
                      "90% quant.", "maximum");
  for (const Column& each : columns_) {
    std::vector<double> sorted = each.values;
    std::ranges::sort(sorted);
    const Summary summary = summarize(sorted);
    const bool one = summary.count < 2;
    const Interval interval = one ? Interval{NAN, NAN} : mean_interval(summary);
    text += fmt::format(line_layout, each.name, width, number(summary.mean), number(interval.low),
                        number(interval.high), number(one ? NAN : std::sqrt(summary.variance)),
                        number(quantile(sorted, 0.5)), number(quantile(sorted, 0.9)),
                        number(summary.maximum));
  }
  return text;
}

std::string RunSummary::json() const {
  std::string text = fmt::format(R"({{"trials":{},"converged":{},"limited":{},"hopeless":{})",
                                 trials_, converged(), limited_, hopeless_);
  if (asked_ > 0) text += fmt::format(R"(,"interrupted":true,"asked":{})", asked_);
  for (const Column& each : columns_) {
    std::vector<double> sorted = each.values;
    std::ranges::sort(sorted);
    const Summary summary = summarize(sorted);
    const Interval interval = summary.count < 2 ? Interval{NAN, NAN} : mean_interval(summary);
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
