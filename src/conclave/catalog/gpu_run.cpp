#include "conclave/catalog/gpu_run.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

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
  GpuRun(std::unique_ptr<const PreparedRun> agents, std::shared_ptr<const void> protocol,
         std::size_t start, gpu::MakeEngine make, std::string device)
      : agents_(std::move(agents)),
        protocol_(std::move(protocol)),
        start_(start),
        make_(make),
        device_(std::move(device)) {}

  std::unique_ptr<Workspace> workspace() const override {
    auto workspace = std::make_unique<DeviceWorkspace>();
    workspace->engine = make_(protocol_.get());
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
                                    .start = start_,
                                    .limit = plan().limit.as_uint64().value_or(UINT64_MAX),
                                    .seed = seed(),
                                    .first_trial = first,
                                    .trials = trials};
    engine_in(workspace).run(
        request, [&] { return keep_going(Interactions()); }, take);
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

 private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(n()); }

  std::unique_ptr<const PreparedRun> agents_;
  std::shared_ptr<const void> protocol_;
  std::size_t start_;
  gpu::MakeEngine make_;
  std::string device_;
};

void check(const PreparedRun& run) {
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
  if (!run.graph().empty() && run.graph() != "complete") {
    throw Error("engine gpu is for the complete graph; use engine agents");
  }
}

}  // namespace

std::unique_ptr<const PreparedRun> on_gpu(std::unique_ptr<const PreparedRun> agents,
                                          std::shared_ptr<const void> protocol, std::size_t start,
                                          gpu::MakeEngine make) {
  check(*agents);
  const std::unique_ptr<gpu::Engine> engine = make(protocol.get());  // throws without a device
  if (!engine) {
    throw Error(fmt::format("engine gpu does not run {}: it is for protocols on the complete graph "
                            "whose convergence can be seen from counts; use engine agents",
                            agents->protocol()));
  }
  return std::make_unique<GpuRun>(std::move(agents), std::move(protocol), start, make,
                                  engine->device());
}

}  // namespace conclave::catalog
