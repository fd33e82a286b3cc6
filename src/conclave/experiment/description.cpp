#include "conclave/experiment/description.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace conclave::experiment {
namespace {

template <class Items, class Convert>
Json json_array(const Items& items, Convert convert) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(convert(item));
  return array;
}

constexpr auto named = [](const auto& item) -> Json {
  return {{"name", item.name}, {"meaning", item.meaning}};
};

void append_network(const catalog::NetworkOffer& network, Json& description) {
  description["messages"] = network.kinds;
  description["ids"] = json_array(network.ids, named);
  description["delays"] = json_array(network.delays, named);
  description["wakeups"] = json_array(network.wakeups, named);
  if (network.own_graph == "complete" && !network.runs_on_any_graph) return;
  description["graph"] = network.own_graph;
  description["any_graph"] = network.runs_on_any_graph;
}

}  // namespace

Json description_of(const catalog::Entry& entry) {
  const ProtocolInfo& info = entry.info;
  Json description{
      {"name", info.name},
      {"title", info.title},
      {"paper", info.paper},
      {"network", info.network},
      {"smallest_n", info.smallest_n},
      {"convergence", info.convergence},
      {"bound", info.bound},
      {"states", info.states},
      {"bytes_per_agent", entry.bytes_per_agent},
      {"variables",
       json_array(info.variables,
                  [](const Variable& v) -> Json {
                    return {{"name", v.name}, {"domain", v.domain}, {"meaning", v.meaning}};
                  })},
      {"parameters", json_array(entry.parameters,
                                [](const catalog::ParameterInfo& p) -> Json {
                                  return {{"name", p.name},
                                          {"meaning", p.meaning},
                                          {"default", p.fallback},
                                          {"allowed", p.allowed}};
                                })},
      {"init", json_array(entry.starts, named)},
      {"engines", json_array(entry.engines, named)},
      {"observables", json_array(info.observables, named)},
      {"errata", json_array(info.errata,
                            [](const Erratum& e) -> Json {
                              return {{"id", e.id}, {"place", e.place}, {"remark", e.remark}};
                            })},
  };
  if (!info.steps.empty()) {
    description["steps"] = json_array(info.steps, [](const PseudocodeStep& step) -> Json {
      return {{"line", step.line}, {"text", step.text}, {"sets", step.sets}};
    });
  }
  if (!info.paper.empty()) {
    description["source"] = name_of(info.source);
    if (!info.version.empty()) description["version"] = info.version;
  }
  if (info.problem == Problem::implicit_election) description["problem"] = name_of(info.problem);
  if (!info.failure.empty()) description["failure"] = info.failure;
  if (!info.closed_form.empty()) description["expected_time"] = info.closed_form;
  for (const catalog::Detail& detail : entry.details) {
    std::string key(detail.name);
    std::ranges::replace(key, ' ', '_');
    description[key] = detail.text;
  }
  if (!entry.details.empty()) description["warnings"] = entry.warnings;
  if (!entry.rare_functions.empty()) {
    description["rare_ways"] = json_array(entry.rare_ways, named);
    description["importance"] =
        json_array(entry.rare_functions, [&](const RareFunction& function) -> Json {
          return {{"name", function.name},
                  {"way", entry.rare_ways[function.way].name},
                  {"meaning", function.meaning}};
        });
  }
  if (entry.network) append_network(*entry.network, description);
  return description;
}

Json json_of(std::span<const catalog::ParameterValue> parameters) {
  Json all = Json::object();
  for (const catalog::ParameterValue& each : parameters) {
    std::visit([&](const auto& value) { all[each.name] = value; }, each.value);
  }
  return all;
}

}  // namespace conclave::experiment
