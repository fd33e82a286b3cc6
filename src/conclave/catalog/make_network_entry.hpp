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

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/network_graph.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/edge_counts.hpp"
#include "conclave/network/network_state.hpp"
#include "conclave/network/rules.hpp"
#include "conclave/network/synchronous.hpp"
#include "conclave/network/watcher.hpp"

namespace conclave::catalog {

// The part of a prepared run of message passing that does not depend on the protocol's type: the
// request, the graph, and the adversaries.
inline constexpr EngineInfo network_engine{
    "network", "every message of every node; exact, in order of time or round by round"};
inline constexpr Start sleeping_start{"asleep", "all nodes sleep until they are woken", true};
inline constexpr std::array id_choices{
    Named{"unique", "every node has an identifier, which breaks ties"},
    Named{"anonymous", "no identifiers: ties can leave the network without a leader"},
};

// A message passing protocol without its type.
struct NetworkTraits {
  ProtocolInfo info;
  Topology topology;
  std::span<const Named> ids;  // that it can run with; the first is the default
  std::span<const std::string_view> kinds;
  bool is_synchronous;
  bool starts_together;
};

// The entry of a message passing protocol, but for its parameters, its size and how it is run.
Entry network_entry(const NetworkTraits& traits);

// The part of a prepared run that does not depend on the type of the protocol.
class NetworkRun : public PreparedRun {
 public:
  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Memory>(); }
  AgentCount n() const override { return n_; }
  Interactions state_count() const override { return 0u; }  // nodes are not finite automata
  std::string_view protocol() const override { return traits_.info.name; }
  std::string_view engine() const override { return network_engine.name; }
  std::string_view start() const override { return sleeping_start.name; }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return parameters_; }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return graph_name_; }
  const NetworkSetting* network() const override { return &setting_; }

 protected:
  struct Memory final : Workspace {
    network::EdgeCounts edges;
  };

  // The adversaries are still to be chosen. Throws Error if n or the graph does not fit.
  NetworkRun(const RunRequest& request, const NetworkTraits& traits);

  // Takes the delays, wake-ups and identifiers of the request; `parameters` are those in effect.
  // Throws Error for options that have no meaning in message passing.
  void choose_adversaries(const RunRequest& request, std::vector<ParameterValue> parameters);

  const PortGraph* port_graph() const { return graph_.get(); }  // null: complete
  network::NetworkOptions network_options() const;
  bool has_unit_delays() const { return delay_name() == "unit"; }
  bool counts_edges() const { return counts_edges_; }
  std::unique_ptr<network::DelayAdversary> delays(const StreamName& name) const;
  std::unique_ptr<network::WakeupAdversary> wakeups(const StreamName& name) const;

 private:
  std::string_view delay_name() const;
  void refuse(const RunRequest& request) const;

  NetworkTraits traits_;
  NodeCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::string graph_name_;
  std::shared_ptr<const PortGraph> graph_;
  std::vector<ParameterValue> parameters_;
  std::optional<std::string> order_;  // of messages chosen by hand, and then not delay_
  std::size_t delay_ = 0;
  std::size_t wakeup_ = 0;
  bool counts_edges_ = false;
  NetworkSetting setting_;
};

// The first is the default.
template <MessageProtocol P>
constexpr std::span<const Named> ids_of() {
  if constexpr (NeedsIdentifiers<P>) return std::span(id_choices).first(1);
  if constexpr (Anonymous<P>) return std::span(id_choices).last(1);
  return id_choices;
}
// The observables of protocols with the parameter `watch`.
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

// The traits of a protocol, from its type.
template <MessageProtocol P>
NetworkTraits traits_of() {
  return {P::info, network_of<P>, ids_of<P>(), P::kinds, SynchronousProtocol<P>, StartsTogether<P>};
}

// Throws Error if the request does not make sense.
template <MessageProtocol P>
class PreparedNetwork final : public NetworkRun {
 public:
  using Parameters = typename P::Parameters;
  static constexpr bool is_synchronous = SynchronousProtocol<P>;

  explicit PreparedNetwork(const RunRequest& request)
      : NetworkRun(request, traits_of<P>()),
        settings_(with_diameter(P::info, parse_settings<Parameters>(P::info.name, request.settings),
                                port_graph())),
        protocol_(checked(settings_, n()), n()) {
    choose_adversaries(request, values_in_effect(settings_));
  }

  TrialResult run(std::uint64_t trial, Workspace& workspace,
                  const KeepGoing& keep_going) const override {
    network::NetworkOptions options = network_options();
    options.edges = &static_cast<Memory&>(workspace).edges;
    if (!plan().grid) return run_with(options, trial, keep_going);
    network::Recorder recorder;
    options.watcher = &recorder;
    TrialResult result = run_with(options, trial, keep_going);
    if (result.network) result.network->trace = std::move(recorder).events();
    return result;
  }

  // A trial against the adversary of this table; the delays and wake-ups of the run are not used.
  TrialResult run_ruled(const network::Situations& situations, std::span<const network::Rule> table,
                        std::uint64_t trial) const requires(!is_synchronous) {
    const StreamName name{.seed = seed(), .trial = trial};
    network::RuledDelays delays(situations, table);
    network::RuledWakeups wakeups(situations, table, n(), name);
    network::NetworkOptions options = network_options();
    options.counts_edges = false;
    network::Asynchronous<P, network::AdversarialTransit> network(protocol_, n(), name, &delays,
                                                                  wakeups, options);
    return network.run([](Interactions) { return true; });
  }

  // Nodes, and about twenty messages per node on their way at once if many are woken.
  std::uint64_t bytes_per_trial() const override {
    const std::uint64_t messages = network()->wakeup == "one" ? 2 : 20;
    const std::uint64_t bytes = is_synchronous ? 28 : has_unit_delays() ? 8 : 36;
    const std::uint64_t counted = counts_edges() ? 64 * messages : 1;
    return n() * (sizeof(typename P::Node) + messages * bytes + counted);
  }

  std::span<const Observable> observables() const override {
    if constexpr (requires { protocol_.is_watched(); }) {
      return protocol_.is_watched() ? std::span<const Observable>(watched_observables)
                                    : std::span<const Observable>(network_observables);
    }
    return observables_of<P>();
  }

 private:
  TrialResult run_with(const network::NetworkOptions& options, std::uint64_t trial,
                       const KeepGoing& keep_going) const {
    const StreamName name{.seed = seed(), .trial = trial};
    const auto wakeup = wakeups(name);
    if constexpr (is_synchronous) {
      network::Synchronous<P> network(protocol_, n(), name, *wakeup, options);
      return network.run(keep_going);
    } else if (has_unit_delays()) {
      network::Asynchronous<P, network::ConstantTransit> network(protocol_, n(), name, nullptr,
                                                                 *wakeup, options);
      return network.run(keep_going);
    } else {
      const auto delay = delays(name);
      network::Asynchronous<P, network::AdversarialTransit> network(protocol_, n(), name,
                                                                    delay.get(), *wakeup, options);
      return network.run(keep_going);
    }
  }

  static const Parameters& checked(const Parameters& parameters, NodeCount n) {
    const std::string objection = P::objection(parameters, n);
    if (!objection.empty()) throw Error(objection);
    return parameters;
  }

  Parameters settings_;
  P protocol_;
};

// The protocol's entry; what it refers to lives as long as the program.
template <MessageProtocol P>
Entry make_network_entry() {
  Entry entry = network_entry(traits_of<P>());
  entry.info.observables = observables_of<P>();
  entry.parameters = parameter_infos<typename P::Parameters>();
  entry.bytes_per_agent = sizeof(typename P::Node);
  entry.prepare = [](const RunRequest& request) -> std::unique_ptr<const PreparedRun> {
    return std::make_unique<const PreparedNetwork<P>>(request);
  };
  return entry;
}

}  // namespace conclave::catalog
