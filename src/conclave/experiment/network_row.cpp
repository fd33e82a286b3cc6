#include "conclave/experiment/network_row.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/experiment/row.hpp"

namespace conclave::experiment {
namespace {

std::string or_null(const std::optional<std::uint64_t>& number) {
  return number ? fmt::format("{}", *number) : "null";
}
std::string or_nothing(const std::optional<std::uint64_t>& number) {
  return number ? fmt::format("{}", *number) : "";
}

}  // namespace

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

}  // namespace conclave::experiment
