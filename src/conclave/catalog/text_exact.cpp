// Joins protocol files with the exact module and the search for bad starts.
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/make_search.hpp"
#include "conclave/catalog/make_verifier.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/chain/export.hpp"
#include "conclave/population/census_engines.hpp"
#include "conclave/text/text_protocol.hpp"

namespace conclave::text {

using Protocol = TextProtocol<std::uint64_t>;

bool is_silent(const Compiled& compiled, ConfigurationView<Protocol::State> agents) {
  for (std::size_t u = 0; u < agents.size(); ++u) {
    for (std::size_t v = 0; v < agents.size(); ++v) {
      if (u != v && compiled.reacts(agents[u].index, agents[v].index)) return false;
    }
  }
  return true;
}

bool has_property(const Compiled& compiled, const Node& property,
                  ConfigurationView<Protocol::State> agents) {
  std::map<StateIndex, AgentCount> counts;
  for (const Protocol::State& each : agents) ++counts[each.index];
  const ConditionTally::States census(counts.begin(), counts.end());
  return holds_in(compiled, property, census);
}

void add_claims(Claims<Protocol::State>& claims, const Compiled& compiled, const std::string& name,
                const std::vector<PropertyText>& texts, const std::vector<Node>& properties,
                ClaimKind kind) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string set = fmt::format("{}_{}", name, i + 1);
    claims.sets.push_back({set, texts[i].text, [&compiled, &property = properties[i]](auto agents) {
                             return has_property(compiled, property, agents);
                           }});
    claims.claims.push_back({name, texts[i].text, kind, set});
  }
}

// A file claims that its stop condition comes true, and its own properties.
Claims<Protocol::State> claims_of(const Protocol& protocol) {
  const Compiled& compiled = protocol.compiled();
  Claims<Protocol::State> claims;
  claims.elects = compiled.has_leader();
  claims.sets.push_back({"silent", "no two agents can change anything any more",
                         [&compiled](auto agents) { return is_silent(compiled, agents); }});
  claims.claims.push_back({"stop condition",
                           compiled.text().document().stop_text + " with probability 1",
                           ClaimKind::reached, std::string(converged_set)});
  const Document& document = compiled.text().document();
  add_claims(claims, compiled, "always", document.properties, compiled.properties(),
             ClaimKind::everywhere);
  add_claims(claims, compiled, "eventually", document.goals, compiled.goals(), ClaimKind::reached);
  claims.notation = [protocol](const Protocol::State& state) { return protocol.name_of(state); };
  return claims;
}

}  // namespace conclave::text

namespace conclave::catalog {

// Jumps on every graph: a file may fall silent without saying that this is the end, which only an
// engine that jumps notices.
template <>
class GivenStarts<text::Protocol> {
 public:
  using State = text::Protocol::State;

  GivenStarts(const text::Protocol& protocol, const RunRequest& request, AgentCount n)
      : protocol_(protocol), n_(n), request_(request) {}

  double simulate(std::span<const State> agents, std::uint64_t trial, const KeepGoing& keep_going) {
    const Census<State> runs = runs_of_agents(agents);
    const StreamName name{.seed = request_.seed, .trial = trial};
    const TrialResult result = run({0, &runs}, name, keep_going);
    if (result.ending == Ending::hopeless) return std::numeric_limits<double>::infinity();
    return result.interactions.as_double();
  }

 private:
  TrialResult run(const StartingPoint<State>& start, const StreamName& name,
                  const KeepGoing& keep_going) const {
    if (request_.digraph) {
      using Events = population::ArcEvents<text::Protocol, const Digraph&>;
      return population::run_trial(std::make_unique<population::TrialEngineOf<Events>>(
                                       protocol_, *request_.digraph, start, name),
                                   request_.plan, keep_going);
    }
    return population::run_trial(population::events_engine(protocol_, n_, start, name),
                                 request_.plan, keep_going);
  }

  text::Protocol protocol_;
  AgentCount n_;
  const RunRequest& request_;
};

namespace {

// The probabilities of all interactions of a network must have a common denominator of 63 bits.
void check_fractions(const text::Compiled& compiled) {
  if (!compiled.is_network()) return;
  Interactions common = Interactions(compiled.agents()) * Interactions(compiled.agents() - 1);
  constexpr Interactions most = std::uint64_t{1} << 62;
  for (text::StateIndex u = 0; u < compiled.space().size(); ++u) {
    for (text::StateIndex v = 0; v < compiled.space().size(); ++v) {
      const std::uint64_t total = compiled.reaction(u, v).total;
      if (common <= most) {
        common = common * Interactions(total / std::gcd(*common.as_uint64(), total));
      }
    }
  }
  if (common <= most) return;
  throw Error(fmt::format("the rates of {} have too many digits to be computed with exactly: their "
                          "probabilities have no common denominator below 2^62",
                          compiled.text().name()));
}

ProtocolInfo info_of(const text::Compiled& compiled) {
  ProtocolInfo info{};
  info.name = compiled.text().name();
  return info;
}

}  // namespace

Verified verify_text(const VerifyRequest& request, const text::Compiled& compiled) {
  if (compiled.horizon() && compiled.text().document().stop->name == "false") {
    throw Error(fmt::format("{} stops by its time only; there is no condition to verify",
                            compiled.text().name()));
  }
  check_fractions(compiled);
  const auto& starts = compiled.text().starts();
  const std::size_t start = start_index(info_of(compiled), starts, request.run.start);
  exact::Verifier<text::Protocol> verification(
      text::Protocol(compiled),
      exact_network(text::Protocol::topology, request.run, compiled.agents()), request.options,
      start);
  Verified verified{verification.run(), text_parameters(compiled), starts[start].name};
  if (compiled.is_network()) verified.ticks_per_time = compiled.ticks_per_time().as_double();
  const std::string& folder = request.options.folder;
  const bool is_complete = request.run.graph.empty() || !request.run.digraph;
  if (is_complete) {
    for (exact::ClaimReport& each : computations_of(compiled, request.options.bounds.progress)) {
      verified.report.claims.push_back(std::move(each));
    }
  }
  const bool is_random = compiled.starts()[start].is_random;
  if (!folder.empty() && compiled.is_network() && !is_random) {
    write_network(compiled, start, folder + "/network.prism");
  } else if (!folder.empty() && is_complete) {
    if (const auto table = census_table(compiled, start)) {
      chain::write_prism_module(*table, folder + "/census.prism");
    }
  }
  return verified;
}

Searched search_text(const SearchRequest& request, const text::Compiled& compiled) {
  std::vector<std::size_t> starts;  // those that fit n
  for (std::size_t i = 0; i < compiled.starts().size(); ++i) {
    if (compiled.starts()[i].objection.empty()) starts.push_back(i);
  }
  Searched found = searched(text::Protocol(compiled), starts, compiled.agents(), request);
  found.parameters = text_parameters(compiled);
  return found;
}

}  // namespace conclave::catalog
