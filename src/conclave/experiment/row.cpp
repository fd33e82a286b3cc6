#include "conclave/experiment/row.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"

namespace conclave::experiment {
namespace {

// Numbers are written by hand because JSON libraries stop at 64 bits and interactions do not.
template <class... Ts>
std::string json_value(const std::variant<Ts...>& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>)
          return json_string(v);
        else if constexpr (std::is_same_v<T, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_same_v<T, double>)
          return json_number(v);
        else
          return to_string(Interactions(v));
      },
      value);
}

template <class... Ts>
std::string csv_value(const std::variant<Ts...>& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  return json_value(value);
}

template <class Named>
std::string json_object(const Named& pairs) {
  std::string text = "{";
  for (const auto& pair : pairs) {
    if (text.size() > 1) text += ',';
    text += json_string(pair.name) + ':' + json_value(pair.value);
  }
  return text + '}';
}

// Without those that have no value: an empty text.
std::string json_observations(std::vector<Observation> observations) {
  std::erase_if(observations, [](const Observation& observation) {
    const auto* text = std::get_if<std::string>(&observation.value);
    return text != nullptr && text->empty();
  });
  return json_object(observations);
}

std::string json_fault(const FaultOutcome& fault) {
  std::string text = fmt::format(
      R"({{"fault":{},"interactions":{},"agents":{},"leaders":{},"recovered":{})",
      json_string(fault.text), to_string(fault.at), fault.agents, fault.leaders, fault.recovered);
  if (fault.recovered) {
    text += fmt::format(R"(,"recovery_interactions":{})", to_string(fault.recovery));
  }
  return text + '}';
}

std::string json_faults(const std::vector<FaultOutcome>& faults) {
  std::vector<std::string> texts;
  for (const FaultOutcome& fault : faults) texts.push_back(json_fault(fault));
  return fmt::format("[{}]", join_parts(texts, ","));
}

// With a horizon, whether it has by then.
bool has_converged(const TrialResult& result) {
  return result.ending == Ending::converged ||
         (result.ending == Ending::until && result.first_convergence);
}

std::string_view reached(const TrialResult& result) {
  if (result.ending == Ending::until) return "until";
  return result.ending == Ending::converged ? "convergence" : "limit";
}

std::string first_convergence(const TrialResult& result, const std::string& none) {
  return result.first_convergence ? to_string(*result.first_convergence) : none;
}

std::string csv_fault(const FaultOutcome& fault) {
  return fmt::format(",{},{}", to_string(fault.at),
                     fault.recovered ? to_string(fault.recovery) : "");
}

// Rows of message passing have their own members in place of interactions and parallel time: JSON
// members from "ids" to the problem, with a comma before each, and CSV fields likewise.
std::string or_null(const std::optional<std::uint64_t>& number) {
  return number ? fmt::format("{}", *number) : "null";
}
std::string or_nothing(const std::optional<std::uint64_t>& number) {
  return number ? fmt::format("{}", *number) : "";
}

std::string network_json_head(const catalog::NetworkSetting& setting) {
  std::string text = fmt::format(R"(,"ids":{})", json_string(setting.ids));
  if (!setting.delay.empty()) text += fmt::format(R"(,"delay":{})", json_string(setting.delay));
  text += fmt::format(R"(,"wakeup":{})", json_string(setting.wakeup));
  if (setting.problem.empty()) return text;
  return text + fmt::format(R"(,"problem":{})", json_string(setting.problem));
}

std::string network_csv_head(const catalog::NetworkSetting& setting) {
  const std::string line = fmt::format(",{},{},{}", setting.ids, setting.delay, setting.wakeup);
  return setting.problem.empty() ? line : fmt::format("{},{}", line, setting.problem);
}
std::string network_csv_head_names(const catalog::NetworkSetting& setting) {
  return setting.problem.empty() ? ",ids,delay,wakeup" : ",ids,delay,wakeup,problem";
}

std::string network_json(const TrialResult& result) {
  const NetworkOutcome& outcome = *result.network;
  std::vector<std::string> kinds;
  for (const KindCount& each : outcome.by_kind) {
    kinds.push_back(fmt::format("{}:{}", json_string(each.kind), each.messages));
  }
  std::string text = fmt::format(R"("messages":{},"messages_by_type":{{{}}},"time":{})",
                                 to_string(result.interactions), join_parts(kinds, ","),
                                 json_number(outcome.time));
  if (outcome.rounds) text += fmt::format(R"(,"rounds":{})", *outcome.rounds);
  return text + fmt::format(R"(,"elected":{},"informed":{},"max_messages_per_edge":{})",
                            outcome.elected, outcome.informed, or_null(outcome.most_on_an_edge));
}

std::string network_csv_names(const catalog::NetworkSetting& setting) {
  std::string line = "messages";
  for (const std::string_view kind : setting.kinds)
    line += fmt::format(",messages_by_type.{}", kind);
  return line + ",time,rounds,elected,informed,max_messages_per_edge";
}

std::string network_csv(const TrialResult& result) {
  const NetworkOutcome& outcome = *result.network;
  std::string line = to_string(result.interactions);
  for (const KindCount& each : outcome.by_kind) line += fmt::format(",{}", each.messages);
  return line + fmt::format(",{},{},{},{},{}", json_number(outcome.time),
                            or_nothing(outcome.rounds), outcome.elected, outcome.informed,
                            or_nothing(outcome.most_on_an_edge));
}

std::string network_trace_header() { return "trial,event,time,node,peer,message,sent,phase\n"; }

std::string network_trace(std::uint64_t trial, const NetworkOutcome& outcome) {
  std::string text;
  for (const NetworkEvent& each : outcome.trace) {
    text += fmt::format("{},{},{},{}", trial, each.event, json_number(each.time), each.node);
    text += each.message.empty()
                ? fmt::format(",,,,{}\n", each.phase)
                : fmt::format(",{},{},{},\n", each.peer, each.message, json_number(each.sent));
  }
  return text;
}

}  // namespace

std::string observation_text(const Observation& observation) {
  const auto* const text = std::get_if<std::string>(&observation.value);
  return text != nullptr ? *text : json_value(observation.value);
}

std::string interrupted_end(std::uint64_t asked) {
  return fmt::format(R"(,"interrupted":true,"asked":{}}})", asked);
}

std::string interrupted_line(std::uint64_t trials, std::uint64_t asked) {
  return fmt::format("# interrupted: {} of {} trials\n", trials, asked);
}

RowFormat::RowFormat(const catalog::PreparedRun& run) : run_(&run) {
  json_head_ = fmt::format(R"({{"protocol":{},"engine":{},"n":{},"params":{},"init":{},"seed":{})",
                           json_string(run.protocol()), json_string(run.engine()), run.n(),
                           json_object(run.parameters()), json_string(run.start()), run.seed());
  if (run.network() != nullptr) json_head_ += network_json_head(*run.network());
  if (!run.source_hash().empty()) {
    json_head_ += fmt::format(R"(,"source_hash":{})", json_string(run.source_hash()));
  }
  if (!run.graph().empty()) json_head_ += fmt::format(R"(,"graph":{})", json_string(run.graph()));
  csv_head_ = fmt::format("{},{},{},{},{}", csv_field(std::string(run.protocol())), run.engine(),
                          run.n(), run.start(), run.seed());
  if (run.network() != nullptr) csv_head_ += network_csv_head(*run.network());
}

std::string RowFormat::json_head() const { return json_head_ + '}'; }

double RowFormat::parallel_time(const Row& row) const {
  return row.result.interactions.as_double() / std::max(1.0, static_cast<double>(run_->n()));
}

std::string RowFormat::json(const Row& row) const { return unclosed_json(row) + '}'; }

std::string RowFormat::unclosed_json(const Row& row) const {
  const TrialResult& result = row.result;
  std::string cost =
      result.network ? network_json(result)
                     : fmt::format(R"("interactions":{},"parallel_time":{})",
                                   to_string(result.interactions), json_number(parallel_time(row)));
  if (result.time) cost += fmt::format(R"(,"time":{})", json_number(*result.time));
  std::string text = fmt::format(R"({},"trial":{},"converged":{},{},"leaders":{},"observables":{})",
                                 json_head_, row.trial, has_converged(result), cost, result.leaders,
                                 json_observations(result.observations));
  if (run_->plan().until) {
    text += fmt::format(R"(,"until":{},"reached":"{}","first_convergence":{})",
                        json_number(run_->plan().until->time.as_double()), reached(result),
                        first_convergence(result, "null"));
  }
  if (!result.faults.empty()) text += fmt::format(R"(,"faults":{})", json_faults(result.faults));
  return text;
}

std::string RowFormat::csv_header() const {
  const catalog::NetworkSetting* const network = run_->network();
  std::string line = fmt::format("protocol,engine,n,init,seed{},trial,converged,{},leaders",
                                 network != nullptr ? network_csv_head_names(*network) : "",
                                 network != nullptr  ? network_csv_names(*network)
                                 : run_->has_clock() ? "interactions,parallel_time,time"
                                                     : "interactions,parallel_time");
  for (const auto& parameter : run_->parameters())
    line += fmt::format(",params.{}", parameter.name);
  if (!run_->source_hash().empty()) line += ",source_hash";
  for (const auto& o : run_->observables()) line += fmt::format(",observables.{}", o.name);
  for (std::size_t i = 0; i < run_->plan().faults.size(); ++i) {
    line += fmt::format(",faults.{0}.interactions,faults.{0}.recovery_interactions", i);
  }
  if (run_->plan().until) line += ",reached,first_convergence";
  return line;
}

// Fields that a trial does not report are empty.
std::string RowFormat::csv(const Row& row) const {
  const TrialResult& result = row.result;
  std::string cost = result.network ? network_csv(result)
                                    : fmt::format("{},{}", to_string(result.interactions),
                                                  json_number(parallel_time(row)));
  if (result.time) cost += ',' + json_number(*result.time);
  std::string line = fmt::format("{},{},{},{},{}", csv_head_, row.trial, has_converged(result),
                                 cost, result.leaders);
  for (const auto& parameter : run_->parameters()) line += ',' + csv_value(parameter.value);
  if (!run_->source_hash().empty()) line += fmt::format(",{}", run_->source_hash());
  for (const auto& declared : run_->observables()) {
    const auto found = std::ranges::find(result.observations, declared.name, &Observation::name);
    line += ',' + (found == result.observations.end() ? "" : csv_value(found->value));
  }
  for (std::size_t i = 0; i < run_->plan().faults.size(); ++i) {
    line += i < result.faults.size() ? csv_fault(result.faults[i]) : ",,";
  }
  if (run_->plan().until) {
    line += fmt::format(",{},{}", reached(result), first_convergence(result, ""));
  }
  return line;
}

std::string RowFormat::trace_header(const Row& row) const {
  if (run_->network() != nullptr) return network_trace_header();
  std::string line = run_->has_clock() ? "trial,interactions,parallel_time,time,leaders"
                                       : "trial,interactions,parallel_time,leaders";
  if (!row.result.trace.empty()) {
    for (const auto& o : row.result.trace.front().observations) line += fmt::format(",{}", o.name);
  }
  return line + '\n';
}

std::string RowFormat::trace(const Row& row) const {
  if (row.result.network) return network_trace(row.trial, *row.result.network);
  std::string text;
  for (const TracePoint& point : row.result.trace) {
    const double time =
        point.interactions.as_double() / std::max(1.0, static_cast<double>(run_->n()));
    text += fmt::format("{},{},{},", row.trial, to_string(point.interactions), json_number(time));
    if (run_->has_clock()) text += json_number(point.time) + ',';
    text += fmt::format("{}", point.leaders);
    for (const auto& o : point.observations) text += ',' + csv_value(o.value);
    text += '\n';
  }
  return text;
}

}  // namespace conclave::experiment
