#include "conclave/catalog/make_network_entry.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/network_graph.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/network/chosen_order.hpp"

namespace conclave::catalog {
namespace {

// Up to this size the messages on each edge are always counted; above it only on request.
constexpr NodeCount counts_edges_up_to = 100'000;
constexpr NodeCount most_run_nodes = (NodeCount{1} << 32) - 2;
constexpr NodeCount most_traced_nodes = 1000;

NodeCount checked_size(const RunRequest& request, const ProtocolInfo& info) {
  if (request.n < info.smallest_n) {
    throw Error(fmt::format("n = {}: {} needs at least {} node{}", to_string(request.n), info.name,
                            info.smallest_n, info.smallest_n == 1 ? "" : "s"));
  }
  if (request.n > most_run_nodes) {
    throw Error(fmt::format("n = {} is too large: engine network holds at most {} nodes",
                            to_string(request.n), most_run_nodes));
  }
  return *request.n.as_uint64();
}

// The entry of that name in a list of things with a name; the default where none is given.
template <class List, class NameOf>
std::size_t index_of(std::string_view kind, const std::string& name, std::string_view fallback,
                     const List& list, NameOf name_of) {
  std::vector<std::string_view> names;
  for (const auto& each : list) names.push_back(name_of(each));
  const auto found = std::ranges::find(names, name.empty() ? fallback : std::string_view(name));
  if (found == names.end()) throw Error(unknown_name(kind, name, names));
  return static_cast<std::size_t>(found - names.begin());
}

std::string_view name_of_adversary(const auto& adversary) { return adversary.info.name; }

}  // namespace

Entry network_entry(const NetworkTraits& traits) {
  NetworkOffer offer{{traits.kinds.begin(), traits.kinds.end()},
                     {traits.ids.begin(), traits.ids.end()},
                     {},
                     {},
                     own_graph(traits.topology),
                     traits.topology == Topology::any};
  for (const auto& each : network::delays()) {
    if (!traits.is_synchronous) offer.delays.push_back({each.info.name, each.info.meaning});
  }
  for (const auto& each : network::wakeups()) {
    if (traits.starts_together && each.info.name != "all") continue;
    offer.wakeups.push_back({each.info.name, each.info.meaning});
  }
  return {.info = traits.info,
          .starts = {sleeping_start},
          .parameters = {},
          .engines = {network_engine},
          .network = std::move(offer),
          .prepare = {}};
}

NetworkRun::NetworkRun(const RunRequest& request, const NetworkTraits& traits)
    : traits_(traits),
      n_(checked_size(request, traits.info)),
      seed_(request.seed),
      plan_(request.plan),
      graph_name_(accepted_network(traits.info, traits.topology, request.graph)),
      graph_(catalog::port_graph(traits.info, traits.topology, request.graph, request.digraph.get(),
                                 n_)) {}

void NetworkRun::choose_adversaries(const RunRequest& request,
                                    std::vector<ParameterValue> parameters) {
  parameters_ = std::move(parameters);
  const std::string& delay = request.network.delay;
  if (!traits_.is_synchronous && delay.starts_with(network::ChosenOrder::prefix)) order_ = delay;
  const auto name_of = [](const auto& each) { return name_of_adversary(each); };
  delay_ = index_of("delay", traits_.is_synchronous || order_ ? "" : delay, "unit",
                    network::delays(), name_of);
  wakeup_ = index_of("wake-up", request.network.wakeup, "all", network::wakeups(), name_of);
  const std::size_t ids =
      index_of("kind of identifiers", request.network.ids, traits_.ids.front().name, traits_.ids,
               [](const Named& each) { return each.name; });
  counts_edges_ = request.network.counts_edges || n_ <= counts_edges_up_to;
  const Problem problem = traits_.info.problem;
  setting_ = {traits_.ids[ids].name, traits_.is_synchronous ? "" : delay_name(),
              network::wakeups()[wakeup_].info.name, traits_.kinds,
              problem == Problem::election ? std::string_view() : conclave::name_of(problem)};
  refuse(request);
}

std::string_view NetworkRun::delay_name() const {
  return order_ ? std::string_view(*order_) : network::delays()[delay_].info.name;
}

std::unique_ptr<network::DelayAdversary> NetworkRun::delays(const StreamName& name) const {
  if (!order_) return network::delays()[delay_].make(n_, name);
  return std::make_unique<network::ChosenOrder>(
      std::string_view(*order_).substr(network::ChosenOrder::prefix.size()), n_);
}

std::unique_ptr<network::WakeupAdversary> NetworkRun::wakeups(const StreamName& name) const {
  return network::wakeups()[wakeup_].make(n_, name);
}

network::NetworkOptions NetworkRun::network_options() const {
  return {.has_identifiers = setting_.ids == id_choices[0].name,
          .counts_edges = counts_edges_,
          .graph = graph_.get()};
}

void NetworkRun::refuse(const RunRequest& request) const {
  const std::string_view name = traits_.info.name;
  const std::array<std::string_view, 1> starts{sleeping_start.name};
  if (!request.start.empty() && request.start != starts[0]) {
    throw Error(
        unknown_name(fmt::format("initial configuration of {}", name), request.start, starts));
  }
  const std::array<std::string_view, 2> engines{"auto", network_engine.name};
  if (!request.engine.empty() && std::ranges::find(engines, request.engine) == engines.end()) {
    throw Error(unknown_name("engine", request.engine, engines));
  }
  if (order_) delays({});  // throws for words that are no order
  refuse_faults(name, plan_);
  refuse_horizons(request, name, "messages have no census, and it ends by itself");
  if (plan_.limit != Interactions::max()) {
    throw Error(fmt::format("{} has no interactions to limit: it ends by itself", name));
  }
  if (traits_.starts_together && setting_.wakeup != "all") {
    throw Error(fmt::format("{} is made for nodes that all start at once: --wakeup all", name));
  }
  if (traits_.is_synchronous && !request.network.delay.empty()) {
    throw Error(fmt::format(
        "{} is synchronous: every message takes one round, and --delay has nothing to decide",
        name));
  }
  if (plan_.grid && n_ > most_traced_nodes) {
    throw Error(fmt::format("n = {}: a trace lists every message, for at most {} nodes", n_,
                            most_traced_nodes));
  }
}

}  // namespace conclave::catalog
