#include "conclave/catalog/gpu_run.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/population_run.hpp"

namespace conclave::catalog {
namespace {

struct DeviceWorkspace final : Workspace {
  std::unique_ptr<gpu::Engine> engine;
};

gpu::Engine& engine_in(Workspace& workspace) {
  return *static_cast<DeviceWorkspace&>(workspace).engine;
}

class GpuRun final : public PreparedRun {
 public:
  GpuRun(std::unique_ptr<const PreparedRun> agents, DeviceRun run, std::string device)
      : agents_(std::move(agents)), run_(std::move(run)), device_(std::move(device)) {}

  std::unique_ptr<Workspace> workspace() const override {
    auto workspace = std::make_unique<DeviceWorkspace>();
    workspace->engine = run_.make(run_.protocol.get(), run_.device);
    return workspace;
  }

  TrialResult run(std::uint64_t trial, Workspace& workspace,
                  const KeepGoing& keep_going) const override {
    TrialResult result;
    run_batch(trial, 1, workspace, keep_going,
              [&](std::uint64_t, TrialResult found) { result = std::move(found); });
    return result;
  }

  std::uint64_t trials_at_once(const Workspace&) const override { return gpu::most_trials; }

  void run_batch(std::uint64_t first, std::uint64_t trials, Workspace& workspace,
                 const KeepGoing& keep_going,
                 const std::function<void(std::uint64_t, TrialResult)>& take) const override {
    const gpu::BatchRequest request{.n = size(),
                                    .start = run_.start,
                                    .limit = plan().limit.as_uint64().value_or(UINT64_MAX),
                                    .seed = seed(),
                                    .first_trial = first,
                                    .trials = trials};
    engine_in(workspace).run(
        request, [&] { return keep_going(Interactions()); },
        [&](std::uint64_t trial, TrialResult result) {
          if (run_.finish) run_.finish(result);
          take(trial, std::move(result));
        });
  }

  AgentCount n() const override { return agents_->n(); }
  std::uint64_t bytes_per_trial() const override { return 0; }  // of this machine's memory
  Interactions state_count() const override { return agents_->state_count(); }
  std::string_view protocol() const override { return agents_->protocol(); }
  std::string_view engine() const override { return agents_->engine(); }
  std::string_view device() const override { return device_; }
  std::string_view start() const override { return agents_->start(); }
  std::uint64_t seed() const override { return agents_->seed(); }
  std::span<const ParameterValue> parameters() const override { return agents_->parameters(); }
  std::span<const Observable> observables() const override { return agents_->observables(); }
  const TrialPlan& plan() const override { return agents_->plan(); }
  std::string_view graph() const override { return agents_->graph(); }
  std::string_view source_hash() const override { return agents_->source_hash(); }
  std::span<const std::string> warnings() const override { return agents_->warnings(); }

 private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(n()); }

  std::unique_ptr<const PreparedRun> agents_;
  DeviceRun run_;
  std::string device_;
};

void check(const PreparedRun& run, bool is_ring) {
  if (!gpu::is_built()) {
    throw Error("this program was built without engine gpu; it needs a CUDA compiler: cmake "
                "--preset cuda");
  }
  if (run.n() > gpu::most_agents) {
    throw Error(fmt::format("n = {} is too large for engine gpu, which holds at most {} agents",
                            run.n(), gpu::most_agents));
  }
  if (!run.plan().faults.empty() || run.plan().grid) {
    throw Error("engine gpu supports neither --fault nor --trace; engine agents runs the same "
                "trials and does");
  }
  if (run.plan().until || run.plan().keeps_final) {
    throw Error("engine gpu supports neither --until nor --final; engine agents runs the same "
                "trials and does");
  }
  if (run.has_clock()) {
    throw Error("engine gpu does not support networks of reactions; use engine agents");
  }
  if (!is_ring && !run.graph().empty() && run.graph() != "complete") {
    throw Error("engine gpu is for the complete graph, and for protocols made for the directed "
                "ring; use engine agents");
  }
}

// Throws Error if the engine cannot do this run or there is none.
std::unique_ptr<gpu::Engine> engine_for(const PreparedRun& agents, const DeviceRun& run) {
  check(agents, run.is_ring);
  std::unique_ptr<gpu::Engine> engine = run.make(run.protocol.get(), run.device);
  if (engine) return engine;
  throw Error(fmt::format("engine gpu does not run {}: it is for protocols whose agents and tally "
                          "are plain memory, whose functions are constexpr, and which ask no "
                          "oracle; use engine agents",
                          agents.protocol()));
}

// Whether there is a device and `--engine auto` may take it.
bool may_choose_device(const RunRequest& request, const PreparedRun& agents) {
  const bool may_choose = request.engine.empty() || request.engine == auto_engine.name;
  return may_choose && !request.given && !request.places_randomly && gpu::is_built() &&
         agents.engine() == agents_engine.name && agents.n() <= gpu::most_agents &&
         gpu::device_count() > 0;
}

bool has_trials_enough(const RunRequest& request, const PreparedRun& agents) {
  return request.trials >= device_trials_per_thread * request.threads &&
         request.trials >= device_agents_in_all / agents.n();
}

bool may_be_spread(const RunRequest& request, const PreparedRun& agents) {
  return request.trials > 0 && agents.n() >= gpu::least_spread_agents &&
         agents.plan().limit >= Interactions(device_interactions_per_agent * agents.n());
}

}  // namespace

std::unique_ptr<const PreparedRun> on_gpu(std::unique_ptr<const PreparedRun> agents,
                                          DeviceRun run) {
  std::string device = engine_for(*agents, run)->device();
  return std::make_unique<GpuRun>(std::move(agents), std::move(run), std::move(device));
}

bool fills_a_device(const RunRequest& request, const PreparedRun& agents) {
  return has_trials_enough(request, agents) && may_choose_device(request, agents);
}

std::unique_ptr<const PreparedRun> on_gpu_if_worth_it(const RunRequest& request,
                                                      std::unique_ptr<const PreparedRun> agents,
                                                      const std::function<DeviceRun()>& run) {
  const bool is_full = has_trials_enough(request, *agents);
  if (!is_full && !may_be_spread(request, *agents)) return agents;
  if (!may_choose_device(request, *agents)) return agents;
  try {
    DeviceRun there = run();
    const std::unique_ptr<gpu::Engine> engine = engine_for(*agents, there);
    const auto n = static_cast<std::uint32_t>(agents->n());
    if (!is_full && !engine->spreads(n, request.trials)) return agents;
    return std::make_unique<GpuRun>(std::move(agents), std::move(there), engine->device());
  } catch (const Error&) {  // a run that the device cannot do
    return agents;
  }
}

}  // namespace conclave::catalog
