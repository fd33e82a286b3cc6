#include "conclave/catalog/rare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::catalog {

AgentCount rare_population(AgentCount n) {
  constexpr AgentCount most = 1 << 20;
  if (n <= most) return n;
  throw Error(
      fmt::format("n = {} is too large for rare events: at most {} agents are allowed", n, most));
}

std::vector<std::size_t> chosen_ways(std::string_view protocol, std::span<const RareWay> ways,
                                     const std::string& asked) {
  std::vector<std::size_t> chosen;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (asked.empty() || ways[i].name == asked) chosen.push_back(i);
    names.push_back(ways[i].name);
  }
  if (!chosen.empty()) return chosen;
  throw Error(unknown_name(fmt::format("way in which {} fails", protocol), asked, names));
}

namespace {

// A word that could only be a name is not taken for an expression.
bool is_word(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz-_";
  return text.find_first_not_of(letters) == std::string_view::npos;
}

std::optional<std::size_t> find_function(std::string_view protocol,
                                         std::span<const RareFunction> functions,
                                         const std::string& asked) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == asked) return i;
    names.push_back(functions[i].name);
  }
  if (!is_word(asked)) return std::nullopt;
  throw Error(unknown_name(fmt::format("importance function of {}", protocol), asked, names) +
              (names.empty() ? "; an expression such as count(A) can be given" : ""));
}

}  // namespace

std::vector<FunctionChoice> chosen_functions(std::string_view protocol,
                                             std::span<const RareFunction> functions,
                                             std::span<const RareWay> ways,
                                             const std::vector<std::size_t>& chosen_ways,
                                             const std::vector<std::string>& asked) {
  std::vector<FunctionChoice> chosen;
  const auto is_chosen = [&](std::size_t way) {
    return std::ranges::find(chosen_ways, way) != chosen_ways.end();
  };
  for (std::size_t i = 0; asked.empty() && i < functions.size(); ++i) {
    if (functions[i].by_default && is_chosen(functions[i].way)) {
      chosen.push_back({functions[i].way, i, std::string(functions[i].name)});
    }
  }
  for (const std::string& each : asked) {
    const auto named = find_function(protocol, functions, each);
    if (named && is_chosen(functions[*named].way)) {
      chosen.push_back({functions[*named].way, named, each});
    } else if (named) {
      throw Error(fmt::format("importance function {} is for the way {}", each,
                              ways[functions[*named].way].name));
    }
    for (const std::size_t way : chosen_ways) {
      if (!named) chosen.push_back({way, std::nullopt, each});
    }
  }
  std::ranges::stable_sort(chosen, {}, &FunctionChoice::way);
  for (const std::size_t way : chosen_ways) {
    if (std::ranges::find(chosen, way, &FunctionChoice::way) != chosen.end()) continue;
    throw Error(fmt::format("no importance function is given for the way {} of {}; give one with "
                            "--importance, or choose another way with --way",
                            ways[way].name, protocol));
  }
  return chosen;
}

void check_rare_request(std::string_view protocol, const RareRequest& request, bool by_attempt) {
  refuse_network_options(request.run, protocol);
  if (!request.run.graph.empty() && request.run.digraph) {
    throw Error("rare events are estimated on the complete graph only");
  }
  if (by_attempt || request.run.plan.limit == Interactions::max()) return;
  throw Error(fmt::format("{} may fail at any time, so that rare takes no limit: leave out "
                          "--max-parallel-time and --max-interactions",
                          protocol));
}

}  // namespace conclave::catalog
