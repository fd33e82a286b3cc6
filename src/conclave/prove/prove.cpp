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

PropertyVerdict always_holds(const std::string& formula, Invariants& invariants) {
  if (formula.empty()) return {};
  auto pair = invariants.refute({invariants.named(!invariants.parse(formula))});
  const bool is_proved = !pair && !invariants.gave_up();
  return {.is_proved = is_proved, .pair = std::move(pair)};
}

}  // namespace

Verdict prove(const std::shared_ptr<const text::ProtocolText>& text,
              const text::CountsQuestion& question, Engine& engine,
              const ProgressCallback& progress) {
  Verdict verdict{.model = text::counts_model(text, question), .proof = {}};
  const Net net{.states = verdict.model.states.size(), .transitions = verdict.model.transitions};
  Invariants invariants(engine, verdict.model, net);
  verdict.proof = prove_reached(verdict.model, net, engine, invariants, progress);
  if (verdict.proof.result == Proof::Result::vacuous) return verdict;
  for (const std::string& each : verdict.model.always) {
    verdict.always.push_back(always_holds(each, invariants));
  }
  if (verdict.is_reached()) {
    verdict.has_leader_always = some_agent_leads(verdict.model, invariants);
    verdict.speed = Speed::none;
    for (const Stage& each : verdict.proof.stages) {
      verdict.speed = std::max(verdict.speed, each.speed);
    }
  }
  verdict.invariants = invariants.all();
  if (verdict.is_reached() || std::ranges::any_of(verdict.always, &PropertyVerdict::is_proved)) {
    verdict.certificate = counts_certificate(question, verdict);
  }
  verdict.queries = engine.queries();
  return verdict;
}

}  // namespace conclave::prove
