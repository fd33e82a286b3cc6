// Every protocol by name, joined with the engines that can run it: the only place that knows both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::catalog {

// A parameter as the user gave it, "m=20".
struct Setting {
  std::string name;
  std::string value;
};

// A parameter with the value in effect.
struct ParameterValue {
  std::string_view name;
  std::variant<std::uint64_t, std::string, double> value;
};

struct ParameterInfo {
  std::string_view name;
  std::string_view meaning;
  std::string_view fallback;
  std::string allowed;
};

struct EngineInfo {
  std::string_view name;
  std::string_view meaning;
};

struct RunRequest {
  Interactions n;
  std::vector<Setting> settings;
  std::string start;   // empty: the protocol's first
  std::string engine;  // empty or "auto": chosen here
  std::uint64_t seed = 1;
  TrialPlan plan{};
  std::string graph{};                       // empty: the protocol's own
  std::shared_ptr<const Digraph> digraph{};  // what `graph` names, unless it is complete
};

// The memory of one worker, kept from trial to trial.
class Workspace {
 public:
  virtual ~Workspace() = default;
};

// A protocol with parameters, size, start and engine fixed. Trials are independent of each other
// and of the workspace's past; one workspace serves one thread.
class PreparedRun {
 public:
  virtual ~PreparedRun() = default;

  virtual std::unique_ptr<Workspace> workspace() const = 0;
  virtual TrialResult run(std::uint64_t trial, Workspace& workspace,
                          const KeepGoing& keep_going) const = 0;

  virtual AgentCount n() const = 0;
  virtual std::uint64_t bytes_per_trial() const = 0;
  virtual Interactions state_count() const = 0;
  virtual std::string_view protocol() const = 0;
  virtual std::string_view engine() const = 0;
  virtual std::string_view start() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual std::span<const ParameterValue> parameters() const = 0;
  virtual std::span<const Observable> observables() const = 0;  // all that a trial may report
  virtual const TrialPlan& plan() const = 0;
  virtual std::string_view graph() const = 0;  // empty: the protocol's own
};

struct Entry {
  ProtocolInfo info;
  std::vector<Start> starts;
  std::vector<ParameterInfo> parameters;
  std::vector<EngineInfo> engines;
  std::size_t bytes_per_agent = 0;
  // Throws Error where the request does not make sense.
  std::function<std::unique_ptr<const PreparedRun>(const RunRequest&)> prepare;
};

// Sorted by name.
std::span<const Entry> entries();

// Throws Error with the nearest name.
const Entry& find(std::string_view name);

inline constexpr Interactions most_agents = std::uint64_t{1} << 62;

// n as a number of agents; throws Error unless 2 <= n <= 2^62.
AgentCount checked_population(Interactions n);

}  // namespace conclave::catalog
