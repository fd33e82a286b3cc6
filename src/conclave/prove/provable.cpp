#include "conclave/prove/provable.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "conclave/protocols/population/ag_minions.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/prl.hpp"
#include "conclave/protocols/population/timers.hpp"
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {

namespace {

using S = SymbolicValues;

Integer constant(Paths& paths, const char* name) {
  return {paths, paths.terms().variable(name, false)};
}

StepFormula derive_pll(const Theory& theory, Paths& paths) {
  return derive_step(protocols::PllOver<S>({constant(paths, "c_max"), constant(paths, "nonce")}),
                     theory, paths);
}

StepFormula derive_ppl(const Theory& theory, Paths& paths) {
  const protocols::PplOver<S> protocol(constant(paths, "t_max"), constant(paths, "t_virus"),
                                       constant(paths, "t_emit"));
  return derive_step(protocol, theory, paths);
}

StepFormula derive_prl(const Theory& theory, Paths& paths) {
  return derive_step(protocols::PrlOver<S>(constant(paths, "N")), theory, paths);
}

StepFormula derive_timers(const Theory& theory, Paths& paths) {
  using Timers = protocols::TimersOver<S>;
  return derive_step(Timers(constant(paths, "t_max"), Timers::Reading::first), theory, paths);
}

template <protocols::AgMinionsOver<S>::Tie tie>
StepFormula derive_ag_minions(const Theory& theory, Paths& paths) {
  return derive_step(protocols::AgMinionsOver<S>(constant(paths, "m"), tie), theory, paths);
}

using Tie = protocols::AgMinionsOver<S>::Tie;

Json certificate_of(const Provable& what, const StepFormula& step) {
  Json fields = Json::array();
  for (const FieldSort& field : step.fields)
    fields.push_back(std::vector<std::string>{field.name, field.sort});
  Json definitions = Json::array();
  for (const Definition& each : step.definitions)
    definitions.push_back(std::vector<std::string>{each.name, each.sort, each.text});
  return {{"format", "conclave-proof 1"}, {"kind", "pairs"},  {"protocol", what.name},
          {"variant", what.variant},      {"fields", fields}, {"step", definitions},
          {"theory", what.theory}};
}

// Each query begins anew: Z3 is several times faster at one large query than at additions to it.
std::string answer(Engine& engine, const std::string& query) {
  std::string text =
      engine.evaluate("(reset)\n(set-option :smt.arith.solver 2)\n" + query + "(check-sat)\n");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::span<const Provable> provable_protocols() {
  static const std::array provable{
      Provable{"ag-minions", "tie=first", ag_minions_theory, derive_ag_minions<Tie::first>},
      Provable{"ag-minions", "tie=contender", ag_minions_theory, derive_ag_minions<Tie::contender>},
      Provable{"pll", "reading=corrected", pll_theory, derive_pll},
      Provable{"ppl", "", ppl_theory, derive_ppl},
      Provable{"prl", "", prl_theory, derive_prl},
      Provable{"timers", "reading=first", timers_theory, derive_timers},
  };
  return provable;
}

bool PairsProof::is_proved() const {
  return std::ranges::all_of(
      lemmas, [](const ProvedLemma& lemma) { return lemma.verdict == LemmaVerdict::proved; });
}

std::vector<ProvedLemma> prove_theory(const Theory& theory, const StepFormula& step,
                                      Engine& engine) {
  std::vector<ProvedLemma> lemmas{
      {.name = "domain", .statement = "every variable stays in its domain, without overflow"}};
  for (const Lemma& lemma : theory.lemmas) lemmas.push_back({lemma.name, lemma.statement});
  const std::string declarations = preamble(theory, step.fields, step.definitions);
  bool is_sound = true;  // what was proved so far may be used
  for (const Obligation& obligation : obligations_of(theory, step.fields)) {
    ProvedLemma& lemma = lemmas[obligation.lemma];
    ++lemma.obligations;
    if (lemma.verdict != LemmaVerdict::proved) continue;
    const bool is_possible = obligation.expected == Expected::sat;
    const std::string result =
        is_sound ? answer(engine, declarations + obligation.text) : "not asked";
    if (result == (is_possible ? "sat" : "unsat")) continue;
    lemma.verdict =
        is_possible && result == "unsat" ? LemmaVerdict::vacuous : LemmaVerdict::not_proved;
    lemma.failed = obligation.name;
    is_sound = is_sound && is_possible;
  }
  return lemmas;
}

PairsProof prove_pairs(const Provable& what, Engine& engine) {
  const Theory theory = parse_theory(what.theory);
  Terms terms;
  Paths paths(terms);
  const StepFormula step = what.derive(theory, paths);
  PairsProof proof{.lemmas = prove_theory(theory, step, engine), .certificate = {}};
  if (proof.is_proved()) proof.certificate = certificate_of(what, step);
  return proof;
}

}  // namespace conclave::prove
