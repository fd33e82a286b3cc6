// Builds the catalog entry of one message passing protocol. Included once per protocol, by a
// generated source.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/exploration.hpp"
#include "conclave/catalog/network_graph.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/message.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/chosen_order.hpp"
#include "conclave/network/recorder.hpp"
#include "conclave/network/rules.hpp"
#include "conclave/network/synchronous.hpp"

namespace conclave::catalog {

inline constexpr EngineInfo network_engine{
    "network", "every message of every node; exact, in order of time or round by round"};
inline constexpr Start sleeping_start{"asleep", "all nodes sleep until they are woken", true};
inline constexpr std::array id_choices{
    Named{"unique", "every node has an identifier, which breaks ties"},
    Named{"anonymous", "no identifiers: ties can leave the network without a leader"},
};
// The first is the default.
template <MessageProtocol P>
constexpr std::span<const Named> ids_of() {
  if constexpr (NeedsIdentifiers<P>) return std::span(id_choices).first(1);
  if constexpr (Anonymous<P>) return std::span(id_choices).last(1);
  return id_choices;
}
// The observables of protocols that can be watched.
inline constexpr std::array watched_observables{
    network_observables[0],
    network_observables[1],
    network_observables[2],
    network_observables[3],
    Observable{"candidates_by_phase", "watch=1 only: nodes that have begun phase 1, 2, ..."},
    Observable{"candidates_in_last_phase",
               "watch=1 only: nodes that have begun the highest phase that any has begun"},
};
// A protocol that keeps a record has its observables besides, and they come last.
template <KeepsRecord P>
inline constexpr auto recorded_observables = [] {
  std::array<Observable, network_observables.size() + P::info.observables.size()> all{};
  std::ranges::copy(network_observables, all.begin());
  std::ranges::copy(P::info.observables, all.begin() + network_observables.size());
  return all;
}();
template <MessageProtocol P>
constexpr std::span<const Observable> observables_of() {
  if constexpr (KeepsRecord<P>) return recorded_observables<P>;
  if constexpr (requires(const P& protocol) { protocol.is_watched(); }) {
    return watched_observables;
  }
  return network_observables;
}
// The number of messages on each edge is counted up to this size unless it is asked for.
inline constexpr NodeCount counts_edges_up_to = 100'000;
inline constexpr NodeCount most_nodes = (NodeCount{1} << 32) - 2;
inline constexpr NodeCount most_traced_nodes = 1000;

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

template <MessageProtocol P>
class PreparedNetwork final : public PreparedRun {
 public:
  using Parameters = typename P::Parameters;
  static constexpr bool is_synchronous = SynchronousProtocol<P>;

  explicit PreparedNetwork(const RunRequest& request)
      : n_(checked_size(request)),
        seed_(request.seed),
        plan_(request.plan),
        graph_name_(accepted_network(P::info, network_of<P>, request.graph)),
        graph_(port_graph(P::info, network_of<P>, request.graph, request.digraph.get(), n_)),
        settings_(with_diameter(P::info, parse_settings<Parameters>(P::info.name, request.settings),
                                graph_.get())),
        parameters_(values_in_effect(settings_)),
        protocol_(checked(settings_, n_), n_),
        order_(order_in(request.network.delay)),
        delay_(index_of("delay", is_synchronous || order_ ? "" : request.network.delay, "unit",
                        network::delays(), name_of)),
        wakeup_(index_of("wake-up", request.network.wakeup, "all", network::wakeups(), name_of)),
        ids_(ids_of<P>()[index_of("kind of identifiers", request.network.ids,
                                  ids_of<P>().front().name, ids_of<P>(),
                                  [](const Named& each) { return each.name; })]
                 .name),
        counts_edges_(request.network.counts_edges || n_ <= counts_edges_up_to),
        setting_{ids_, is_synchronous ? "" : delay_name(), network::wakeups()[wakeup_].info.name,
                 P::kinds, problem()} {
    refuse(request);
  }

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Workspace>(); }

  TrialResult run(std::uint64_t trial, Workspace&, const KeepGoing& keep_going) const override {
    if (!plan_.grid) return run_watched(trial, nullptr, keep_going);
    network::Recorder recorder;
    TrialResult result = run_watched(trial, &recorder, keep_going);
    if (result.network) result.network->trace = std::move(recorder).events();
    return result;
  }

  // A trial against the adversary of this table; the delays and wake-ups of the run are not used.
  TrialResult run_ruled(const network::Situations& situations, std::span<const network::Rule> table,
                        std::uint64_t trial) const requires(!is_synchronous) {
    const StreamName name{.seed = seed_, .trial = trial};
    network::RuledDelays delays(situations, table);
    network::RuledWakeups wakeups(situations, table, n_, name);
    network::NetworkOptions options = options_with(nullptr);
    options.counts_edges = false;
    network::Asynchronous<P, network::AdversarialTransit> network(protocol_, n_, name, &delays,
                                                                  wakeups, options);
    return network.run([](Interactions) { return true; });
  }

  AgentCount n() const override { return n_; }

  // Nodes, and about twenty messages per node on their way at once if many are woken.
  std::uint64_t bytes_per_trial() const override {
    const std::uint64_t messages = setting_.wakeup == "one" ? 2 : 20;
    const std::uint64_t bytes = is_synchronous ? 28 : delay_name() == "unit" ? 8 : 36;
    return n_ * (sizeof(typename P::Node) + messages * bytes + (counts_edges_ ? 64 * messages : 1));
  }

  Interactions state_count() const override { return 0u; }  // nodes are not finite automata
  std::string_view protocol() const override { return P::info.name; }
  std::string_view engine() const override { return network_engine.name; }
  std::string_view start() const override { return sleeping_start.name; }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return parameters_; }
  std::span<const Observable> observables() const override {
    if constexpr (requires { protocol_.is_watched(); }) {
      return protocol_.is_watched() ? std::span<const Observable>(watched_observables)
                                    : std::span<const Observable>(network_observables);
    }
    return observables_of<P>();
  }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return graph_name_; }
  const NetworkSetting* network() const override { return &setting_; }

 private:
  static constexpr auto name_of = [](const auto& adversary) { return adversary.info.name; };
  static std::string_view problem() {
    return P::info.problem == Problem::election ? std::string_view()
                                                : conclave::name_of(P::info.problem);
  }
  std::string_view delay_name() const {
    return order_ ? std::string_view(*order_) : network::delays()[delay_].info.name;
  }

  // The whole word where messages are chosen by hand.
  static std::optional<std::string> order_in(const std::string& delay) {
    if (is_synchronous || !delay.starts_with(network::ChosenOrder::prefix)) return std::nullopt;
    return delay;
  }

  std::unique_ptr<network::DelayAdversary> delay_adversary(const StreamName& name) const {
    if (!order_) return network::delays()[delay_].make(n_, name);
    return std::make_unique<network::ChosenOrder>(
        std::string_view(*order_).substr(network::ChosenOrder::prefix.size()), n_);
  }

  network::NetworkOptions options_with(network::Watcher* watcher) const {
    return {.has_identifiers = ids_ == id_choices[0].name,
            .counts_edges = counts_edges_,
            .watcher = watcher,
            .graph = graph_.get()};
  }

  TrialResult run_watched(std::uint64_t trial, network::Watcher* watcher,
                          const KeepGoing& keep_going) const {
    const StreamName name{.seed = seed_, .trial = trial};
    const network::NetworkOptions options = options_with(watcher);
    const auto wakeup = network::wakeups()[wakeup_].make(n_, name);
    if constexpr (is_synchronous) {
      network::Synchronous<P> network(protocol_, n_, name, *wakeup, options);
      return network.run(keep_going);
    } else if (delay_name() == "unit") {
      network::Asynchronous<P, network::ConstantTransit> network(protocol_, n_, name, nullptr,
                                                                 *wakeup, options);
      return network.run(keep_going);
    } else {
      const auto delay = delay_adversary(name);
      network::Asynchronous<P, network::AdversarialTransit> network(protocol_, n_, name,
                                                                    delay.get(), *wakeup, options);
      return network.run(keep_going);
    }
  }

  static NodeCount checked_size(const RunRequest& request) {
    if (request.n < P::info.smallest_n) {
      throw Error(fmt::format("n = {}: {} needs at least {} node{}", to_string(request.n),
                              P::info.name, P::info.smallest_n,
                              P::info.smallest_n == 1 ? "" : "s"));
    }
    if (request.n > most_nodes) {
      throw Error(fmt::format("n = {} is too large: engine network holds at most {} nodes",
                              to_string(request.n), most_nodes));
    }
    return *request.n.as_uint64();
  }

  static const Parameters& checked(const Parameters& parameters, NodeCount n) {
    const std::string objection = P::objection(parameters, n);
    if (!objection.empty()) throw Error(objection);
    return parameters;
  }

  // Throws Error for options that have no meaning in message passing.
  void refuse(const RunRequest& request) const {
    const std::array<std::string_view, 1> starts{sleeping_start.name};
    if (!request.start.empty() && request.start != starts[0]) {
      throw Error(unknown_name(fmt::format("start of {}", P::info.name), request.start, starts));
    }
    const std::array<std::string_view, 2> engines{"auto", network_engine.name};
    if (!request.engine.empty() && std::ranges::find(engines, request.engine) == engines.end()) {
      throw Error(unknown_name("engine", request.engine, engines));
    }
    if (order_) delay_adversary({});  // throws for words that are no order
    refuse_faults(P::info.name, plan_);
    refuse_horizons(request, P::info.name, "messages have no census, and it ends by itself");
    if (plan_.limit != Interactions::max()) {
      throw Error(fmt::format("{} has no interactions to limit: it ends by itself", P::info.name));
    }
    if (StartsTogether<P> && setting_.wakeup != "all") {
      throw Error(
          fmt::format("{} is made for nodes that all start at once: --wakeup all", P::info.name));
    }
    if (is_synchronous && !request.network.delay.empty()) {
      throw Error(fmt::format("{} is synchronous: every message takes one round, and --delay has "
                              "nothing to decide",
                              P::info.name));
    }
    if (plan_.grid && n_ > most_traced_nodes) {
      throw Error(fmt::format("n = {}: a trace lists every message, for at most {} nodes", n_,
                              most_traced_nodes));
    }
  }

  NodeCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::string graph_name_;
  std::shared_ptr<const PortGraph> graph_;  // null: complete
  Parameters settings_;
  std::vector<ParameterValue> parameters_;
  P protocol_;
  std::optional<std::string> order_;  // of messages chosen by hand, and then not delay_
  std::size_t delay_;
  std::size_t wakeup_;
  std::string_view ids_;
  bool counts_edges_;
  NetworkSetting setting_;
};

template <MessageProtocol P>
Entry make_network_entry() {
  NetworkOffer offer{{P::kinds.begin(), P::kinds.end()},
                     {ids_of<P>().begin(), ids_of<P>().end()},
                     {},
                     {},
                     own_graph(network_of<P>),
                     network_of<P> == Topology::any};
  for (const auto& each : network::delays()) {
    if (!SynchronousProtocol<P>) offer.delays.push_back({each.info.name, each.info.meaning});
  }
  for (const auto& each : network::wakeups()) {
    if (StartsTogether<P> && each.info.name != "all") continue;
    offer.wakeups.push_back({each.info.name, each.info.meaning});
  }
  ProtocolInfo info = P::info;
  info.observables = observables_of<P>();
  return {
      .info = info,
      .starts = {sleeping_start},
      .parameters = parameter_infos<typename P::Parameters>(),
      .engines = {network_engine},
      .bytes_per_agent = sizeof(typename P::Node),
      .network = std::move(offer),
      .prepare = [](const RunRequest& request) -> std::unique_ptr<const PreparedRun> {
        return std::make_unique<const PreparedNetwork<P>>(request);
      },
  };
}

}  // namespace conclave::catalog
