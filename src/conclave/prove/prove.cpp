#include "conclave/prove/prove.hpp"

#include <algorithm>
#include <utility>

#include "conclave/prove/certificate.hpp"

namespace conclave::prove {
namespace {

bool some_agent_leads(const text::CountsModel& model, Invariants& invariants) {
  if (std::ranges::find(model.leaders, true) == model.leaders.end()) return false;
  const z3::expr nobody = invariants.named(!invariants.is_occupied(model.leaders));
  return !invariants.refute({nobody}) && !invariants.gave_up();
}

}  // namespace

Verdict prove(const std::shared_ptr<const text::ProtocolText>& text,
              const text::CountsQuestion& question, Engine& engine,
              const ProgressCallback& progress) {
  Verdict verdict{.model = text::counts_model(text, question), .proof = {}};
  const Net net{.states = verdict.model.states.size(), .transitions = verdict.model.transitions};
  Invariants invariants(engine, verdict.model, net);
  verdict.proof = prove_reached(verdict.model, net, engine, invariants, progress);
  if (verdict.is_proved()) {
    verdict.has_leader_always = some_agent_leads(verdict.model, invariants);
    verdict.invariants = invariants.all();
    verdict.speed = Speed::none;
    for (const Stage& each : verdict.proof.stages) {
      verdict.speed = std::max(verdict.speed, each.speed);
    }
    verdict.certificate = counts_certificate(verdict.model, question, verdict.invariants,
                                             verdict.proof, verdict.speed);
  }
  verdict.queries = engine.queries();
  return verdict;
}

}  // namespace conclave::prove
