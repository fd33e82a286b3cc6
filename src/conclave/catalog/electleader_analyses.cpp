// The exact module and rare failures for ElectLeader_r and its parts. A rare failure is a late
// detection, found by splitting; one attempt is one detection.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/make_verifier.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"
#include "conclave/protocols/population/electleader/late_detection.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"
#include "conclave/protocols/population/lemmas/electleader.hpp"
#include "conclave/protocols/population/lemmas/electleader_detection.hpp"
#include "conclave/protocols/population/lemmas/electleader_parts.hpp"
#include "conclave/rare/process.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

namespace {

// A path of LateDetection as rare::SteppedProcess wants it.
class DetectionAttempt {
 public:
  using Configuration = el::LateDetection::Path;

  DetectionAttempt(std::shared_ptr<const el::LateDetection> detection, std::size_t function)
      : detection_(std::move(detection)), function_(function), path_(detection_->beginning()) {}

  void restart(Stream&) { path_ = detection_->beginning(); }
  void load(const Configuration& path) { path_ = path; }
  const Configuration& configuration() const { return path_; }
  double value() const { return detection_->importance(function_, path_); }
  rare::Step step(Stream& stream) {
    switch (detection_->step(path_, stream)) {
      case el::LateDetection::Step::is_late:
        return rare::Step::fails;
      case el::LateDetection::Step::is_detected:
        return rare::Step::fails_else;
      default:
        return rare::Step::goes_on;
    }
  }

 private:
  std::shared_ptr<const el::LateDetection> detection_;
  std::size_t function_;
  Configuration path_;
};

std::uint64_t checked_limit(std::string_view protocol, Interactions limit) {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;  // ages are exact in a double
  if (limit == Interactions::max()) {
    throw Error(fmt::format("rare {} needs the time within which an error should be raised: give "
                            "--max-parallel-time or --max-interactions",
                            protocol));
  }
  if (limit == Interactions() || limit > Interactions(most)) {
    throw Error(fmt::format("the limit of rare {} must be between 1 and 2^53 interactions, not {}",
                            protocol, to_string(limit)));
  }
  return *limit.as_uint64();
}

// The start by its number in P::starts: one with a single rank that is there twice.
template <class P>
std::size_t checked_start(const std::string& asked) {
  const std::size_t start = start_index(P::info, P::starts, asked.empty() ? "dup" : asked);
  const std::string_view name = P::starts[start].name;
  if (name == "dup" || name == "dupq0") return start;
  throw Error(fmt::format("init {} of {}: detections are measured from dup and dupq0, where one "
                          "rank is there twice",
                          name, P::info.name));
}

template <class P>
std::unique_ptr<rare::Prepared> rare_detection(const RareRequest& request) {
  const AgentCount n = rare::checked_population(checked_population(request.run.n));
  auto parameters = parse_settings<typename P::Parameters>(P::info.name, request.run.settings);
  parameters.resolve(n);
  check_population(P::info, n, P::objection(parameters, n));
  accepted_graph(P::info, Topology::complete, request.run.graph);
  if (parameters.derandomize == el::Derandomize::yes) {
    throw Error(fmt::format("rare {} needs derandomize=0: coins of agents outside the group would "
                            "have to be followed",
                            P::info.name));
  }
  const std::size_t start = checked_start<P>(request.run.start);
  const std::uint64_t limit = checked_limit(P::info.name, request.run.plan.limit);
  const auto detection = std::make_shared<const el::LateDetection>(
      parameters, n,
      P::starts[start].name == "dup" ? el::Starts::Index::dup : el::Starts::Index::dupq0, limit);
  const auto make_runner =
      [&](const rare::FunctionChoice& choice) -> std::unique_ptr<rare::Runner> {
    if (!choice.named) {
      throw Error(fmt::format("'{}': {} has the importance functions age and signatures, no "
                              "expressions and no exact times: an agent has more state than fields "
                              "can hold",
                              choice.text, P::info.name));
    }
    using Process = rare::SteppedProcess<DetectionAttempt>;
    return rare::splitting_runner(
        std::make_unique<Process>(DetectionAttempt(detection, *choice.named)),
        {request.choice.particles, request.choice.most_levels, true});
  };
  check_rare_request(P::info.name, request, true);
  rare::Subject subject =
      rare_subject(request, n, P::info.name, P::starts[start].name, values_in_effect(parameters));
  subject.attempt_limit = Interactions(limit);
  return std::make_unique<rare::Prepared>(std::move(subject), request.choice,
                                          el::LateDetection::all_ways,
                                          el::LateDetection::all_functions, make_runner);
}

template <class P>
void add_late_detection(Entry& entry) {
  entry.rare_ways = el::LateDetection::all_ways;
  entry.rare_functions = el::LateDetection::all_functions;
  entry.rare = rare_detection<P>;
}

}  // namespace

void add_electleader_analyses(ElectLeaderEntries& entries) {
  entries.whole.verify = verify<el::PlainElectLeader>;
  entries.propagate_reset.verify = verify<el::PlainPropagateReset>;
  entries.assign_ranks.verify = verify<el::PlainAssignRanks>;
  entries.detect_collision.verify = verify<el::PlainDetectCollision>;
  add_late_detection<el::ElectLeader<el::LazyMessages>>(entries.whole);
  add_late_detection<el::DetectCollisionAlone<el::LazyMessages>>(entries.detect_collision);
}

}  // namespace conclave::catalog
