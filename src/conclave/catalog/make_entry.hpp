// Builds the catalog entry of one protocol: instantiates the engines that can run it. Included once
// per protocol, by a generated source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/run.hpp"

namespace conclave::catalog {

inline constexpr EngineInfo agents_engine{
    "agents", "one state per agent in an array; exact, one interaction after the other"};

template <PopulationProtocol P>
class PreparedPopulation final : public PreparedRun {
 public:
  using Parameters = typename P::Parameters;
  using Engine = population::Agents<P>;

  explicit PreparedPopulation(const RunRequest& request)
      : n_(checked_population(request.n)),
        seed_(request.seed),
        limit_(request.limit),
        start_(start_index(request.start)),
        settings_(resolved(parse_settings<Parameters>(P::info.name, request.settings), n_)),
        parameters_(values_in_effect(settings_)),
        protocol_(settings_, n_) {
    check_engine(request.engine);
    if (n_ > Engine::most_agents) {
      throw Error(
          fmt::format("n = {} is too large for engine agents, which holds at most {} agents", n_,
                      Engine::most_agents));
    }
  }

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Memory>(); }

  TrialResult run(std::uint64_t trial, Workspace& workspace,
                  const KeepGoing& keep_going) const override {
    const StreamName name{.seed = seed_, .trial = trial};
    Engine engine(protocol_, n_, start_, name, static_cast<Memory&>(workspace).agents);
    const Ending ending = population::run(engine, limit_, keep_going);
    return {ending, engine.now(), engine.leaders(), engine.observations()};
  }

  AgentCount n() const override { return n_; }
  std::uint64_t bytes_per_trial() const override { return n_ * Engine::bytes_per_agent; }
  Interactions state_count() const override { return protocol_.state_count(); }
  std::string_view protocol() const override { return P::info.name; }
  std::string_view engine() const override { return agents_engine.name; }
  std::string_view start() const override { return P::starts[start_].name; }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return parameters_; }

 private:
  struct Memory final : Workspace {
    population::AgentMemory agents;
  };

  static std::size_t start_index(const std::string& name) {
    if (name.empty()) return 0;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < P::starts.size(); ++i) {
      if (P::starts[i].name == name) return i;
      names.push_back(P::starts[i].name);
    }
    throw Error(unknown_name(fmt::format("start of {}", P::info.name), name, names));
  }

  static void check_engine(const std::string& name) {
    const std::vector<std::string_view> names{"auto", agents_engine.name};
    if (name.empty() || std::ranges::find(names, name) != names.end()) return;
    throw Error(unknown_name("engine", name, names));
  }

  static Parameters resolved(Parameters parameters, AgentCount n) {
    if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
    const std::string objection = P::objection(parameters, n);
    if (!objection.empty()) throw Error(objection);
    return parameters;
  }

  AgentCount n_;
  std::uint64_t seed_;
  Interactions limit_;
  std::size_t start_;
  Parameters settings_;
  std::vector<ParameterValue> parameters_;
  P protocol_;
};

template <PopulationProtocol P>
Entry make_entry() {
  return {
      .info = P::info,
      .starts = {P::starts.begin(), P::starts.end()},
      .parameters = parameter_infos<typename P::Parameters>(),
      .engines = {agents_engine},
      .bytes_per_agent = population::Agents<P>::bytes_per_agent,
      .prepare = [](const RunRequest& request) -> std::unique_ptr<const PreparedRun> {
        return std::make_unique<const PreparedPopulation<P>>(request);
      },
  };
}

}  // namespace conclave::catalog
