// The part of a prepared run of message passing that does not depend on the protocol's type: the
// request, the graph, and the adversaries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/edge_counts.hpp"
#include "conclave/network/network_state.hpp"

namespace conclave::catalog {

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

}  // namespace conclave::catalog
