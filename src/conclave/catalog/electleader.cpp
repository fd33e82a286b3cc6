// The catalog entries of ElectLeader_r and its parts: protocols that own their whole configuration.
// A second representation of the same protocol, where there is one, becomes the engine `dense`.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/configuration_protocol.hpp"
#include "conclave/population/stepping.hpp"
#include "conclave/population/trial_engine.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

namespace {

constexpr EngineInfo stepping_engine{
    "agents", "computes what may matter; exact, one interaction after the other"};
constexpr EngineInfo dense_engine{
    "dense", "the same with literal arrays of messages, slow: the reference for small r"};

// A run of a protocol that owns its configuration.
template <ConfigurationProtocol C, ConfigurationProtocol Dense = C>
class PreparedConfiguration final : public PreparedRun {
 public:
  using Parameters = typename C::Parameters;
  static constexpr bool has_dense = !std::is_same_v<C, Dense>;

  // Throws Error if the request does not make sense.
  explicit PreparedConfiguration(const RunRequest& request)
      : n_(checked_population(request.n)),
        seed_(request.seed),
        plan_(request.plan),
        start_(start_index(C::info, C::starts, request.start)),
        is_dense_(choose_dense(request.engine)),
        settings_(resolved(parse_settings<Parameters>(C::info.name, request.settings), n_)),
        parameters_(values_in_effect(settings_)) {
    accepted_graph(C::info, Topology::complete, request.graph);
    RunRequest beyond_time = request;
    beyond_time.plan.until.reset();
    refuse_horizons(beyond_time, C::info.name, "its agents have more state than a name can hold");
    if (!CorruptibleConfiguration<C>) refuse_faults(C::info.name, plan_);
    for (const Fault& fault : plan_.faults) check_struck_agents(fault, n_, true, engine());
  }

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Workspace>(); }

  void check_fault(const Fault& fault) const override {
    if (!CorruptibleConfiguration<C>) PreparedRun::check_fault(fault);
    check_struck_agents(fault, n_, true, engine());
  }

  AgentCount n() const override { return n_; }
  std::uint64_t bytes_per_trial() const override {
    const bool has_faults = !plan_.faults.empty();
    return is_dense_ ? Dense::bytes_per_trial(settings_, n_, start_, has_faults)
                     : C::bytes_per_trial(settings_, n_, start_, has_faults);
  }
  // 2^O(r^2 log n) states: more than this number can say.
  Interactions state_count() const override { return Interactions::max(); }
  double state_bits() const override {
    if constexpr (requires { C::state_bits(settings_, n_); }) {
      return C::state_bits(settings_, n_);
    } else {
      return PreparedRun::state_bits();
    }
  }
  std::string_view protocol() const override { return C::info.name; }
  std::string_view engine() const override {
    return is_dense_ ? dense_engine.name : stepping_engine.name;
  }
  std::string_view start() const override { return C::starts[start_].name; }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return parameters_; }
  std::span<const Observable> observables() const override { return C::info.observables; }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return {}; }

 protected:
  std::unique_ptr<population::TrialEngine> engine_at_start(
      const StreamName& name, Workspace&, const KeepGoing& keep_going) const override {
    if (is_dense_) return stepping<Dense>(name, keep_going);
    return stepping<C>(name, keep_going);
  }

 private:
  template <class Which>
  std::unique_ptr<population::TrialEngine> stepping(const StreamName& name,
                                                    const KeepGoing& keep_going) const {
    return std::make_unique<population::TrialEngineOf<population::Stepping<Which>>>(
        settings_, n_, start_, name, keep_going ? &keep_going : nullptr);
  }

  static bool choose_dense(const std::string& name) {
    std::vector<std::string_view> names{"auto", stepping_engine.name};
    if (has_dense) names.push_back(dense_engine.name);
    if (name.empty() || name == names[0] || name == names[1]) return false;
    if (has_dense && name == dense_engine.name) return true;
    for (const std::string_view other : {"events", "counts"}) {
      if (name != other) continue;
      throw Error(fmt::format("engine {} cannot run {}, whose agents have too many states and "
                              "change at almost every interaction; use engine agents",
                              other, C::info.name));
    }
    throw Error(unknown_name("engine", name, names));
  }

  Parameters resolved(Parameters parameters, AgentCount n) const {
    parameters.resolve(n);
    const std::string objection =
        is_dense_ ? Dense::objection(parameters, n) : C::objection(parameters, n);
    check_population(C::info, n, objection);
    return parameters;
  }

  AgentCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::size_t start_;
  bool is_dense_;
  Parameters settings_;
  std::vector<ParameterValue> parameters_;
};

// The entry; `bytes_per_agent` is what `describe` reports.
template <ConfigurationProtocol C, ConfigurationProtocol Dense = C>
Entry configuration_entry(std::size_t bytes_per_agent) {
  Entry entry{
      .info = C::info,
      .starts = {C::starts.begin(), C::starts.end()},
      .parameters = parameter_infos<typename C::Parameters>(),
      .engines = {stepping_engine},
      .bytes_per_agent = bytes_per_agent,
      .prepare = [](const RunRequest& request) -> std::unique_ptr<const PreparedRun> {
        return std::make_unique<const PreparedConfiguration<C, Dense>>(request);
      },
  };
  if (PreparedConfiguration<C, Dense>::has_dense) entry.engines.push_back(dense_engine);
  return entry;
}

}  // namespace

std::vector<Entry> electleader_entries() {
  constexpr std::size_t bytes = sizeof(el::Agent);
  ElectLeaderEntries all{
      .whole = configuration_entry<el::ElectLeader<el::LazyMessages>,
                                   el::ElectLeader<el::DenseMessages>>(bytes),
      .propagate_reset = configuration_entry<el::PropagateResetAlone>(bytes),
      .assign_ranks = configuration_entry<el::AssignRanksAlone>(bytes),
      .detect_collision = configuration_entry<el::DetectCollisionAlone<el::LazyMessages>,
                                              el::DetectCollisionAlone<el::DenseMessages>>(bytes)};
  if (const auto add = analyses().add_to_electleader) add(all);
  return {std::move(all.whole), std::move(all.propagate_reset), std::move(all.assign_ranks),
          std::move(all.detect_collision)};
}

}  // namespace conclave::catalog
