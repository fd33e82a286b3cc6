// The engines of population protocols as users know them, and the part of a prepared run that does
// not depend on the protocol's type: the request, and the engine that is chosen for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave::catalog {

// As users choose it; `adaptive` is behind `auto`.
enum class Engine : std::uint8_t { agents, events, counts, adaptive };

inline constexpr EngineInfo agents_engine{
    "agents", "one state per agent in an array; exact, one interaction after the other"};
inline constexpr EngineInfo events_engine{
    "events",
    "jumps over interactions that change nothing; exact, for protocols with many of them"};
inline constexpr EngineInfo counts_engine{
    "counts",
    "how many agents are in which state, many interactions at once; exact, complete graph only"};
inline constexpr EngineInfo gpu_engine{
    "gpu", "the same trials as agents, thousands at a time on a CUDA device; rows name agents"};
inline constexpr EngineInfo auto_engine{
    "auto", "counts or agents, whichever takes less work at the time; exact"};

// The name and the sentence by which users know an engine.
const EngineInfo& engine_info(Engine engine);

// The description of a protocol built for n and its parameters; `source_hash` identifies the text
// it was made from, if any.
struct RunLabels {
  ProtocolInfo info;
  std::vector<Start> starts;
  std::vector<ParameterValue> parameters;
  std::string source_hash{};
  std::vector<std::string> warnings{};
  std::function<std::string()> undone{};                                      // see PreparedRun
  std::function<std::string(std::uint64_t, const TrialResult&)> violation{};  // the same
  std::shared_ptr<const void> owner{};  // keeps alive what the protocol and the views refer to
};

// The properties of a protocol and of its start that decide which engine runs it best.
struct EngineHints {
  bool is_mostly_null = false;   // most interactions change nothing
  bool may_become_null = false;  // or it must be found out during the run
  bool has_clock = false;        // a network of reactions
  bool has_small_census = false;
  AgentCount most_agents = 0;  // that engine agents can hold
};

// A run whose engine is chosen by properties of the protocol; how trials begin is left to the type.
class PopulationRun : public PreparedRun {
 public:
  // The events engine on the complete graph keeps a table of all pairs of states it has met; agents
  // in as many different states as a random start gives would fill the memory.
  static constexpr AgentCount most_different_agents = 4096;

  AgentCount n() const override { return n_; }
  std::string_view protocol() const override { return labels_.info.name; }
  std::string_view engine() const override { return engine_info(engine_).name; }
  std::string_view start() const override {
    return given_ ? std::string_view(given_->label) : labels_.starts[start_].name;
  }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return labels_.parameters; }
  std::span<const Observable> observables() const override { return labels_.info.observables; }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return graph_; }
  std::string_view source_hash() const override { return labels_.source_hash; }
  std::span<const std::string> warnings() const override { return labels_.warnings; }
  std::string undone() const override { return labels_.undone ? labels_.undone() : ""; }
  std::string violation(std::uint64_t trial, const TrialResult& result) const override {
    return labels_.violation ? labels_.violation(trial, result) : "";
  }

 protected:
  // The engine is still to be chosen. Throws Error if n, the graph or the start does not fit.
  PopulationRun(const RunRequest& request, RunLabels labels, Topology topology);

  // Takes the engine that the request names, or the best one, which is decided by the protocol, the
  // graph, the start and n alone, so that it is the same everywhere. Throws Error if it cannot run
  // this, or if the request has options of message passing.
  void choose_engine(const RunRequest& request, const EngineHints& hints);

  Engine chosen_engine() const { return engine_; }
  const Digraph* digraph() const { return digraph_.get(); }  // null: the protocol's own graph
  std::size_t start_number() const { return start_; }
  const GivenStart* given() const { return given_.get(); }
  bool places_randomly() const { return places_randomly_; }
  // Whether the engine knows the agents only by their states.
  bool keeps_census() const { return is_complete() && engine_ != Engine::agents; }

 private:
  bool is_complete() const { return !is_ring_ && !digraph_; }
  Engine best_engine(const EngineHints& hints) const;

  RunLabels labels_;
  bool is_ring_;
  AgentCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::string graph_;
  std::shared_ptr<const Digraph> digraph_;
  std::size_t start_;
  std::shared_ptr<const GivenStart> given_;
  bool places_randomly_;
  Engine engine_ = Engine::agents;
};

}  // namespace conclave::catalog
