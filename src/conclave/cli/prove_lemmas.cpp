#include "conclave/cli/prove_lemmas.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/prove/provable.hpp"

namespace conclave::cli {
namespace {

using prove::LemmaVerdict;
using prove::Provable;
using prove::ProvedLemma;

// The variant that the parameters name, or else the first.
const Provable* provable_of(const LemmaRequest& request) {
  const Provable* first = nullptr;
  std::string variants;
  for (const Provable& each : prove::provable_protocols()) {
    if (each.name != request.protocol) continue;
    if (first == nullptr) first = &each;
    if (std::ranges::find(request.params, each.variant) != request.params.end()) return &each;
    variants += fmt::format("{}{}", variants.empty() ? "" : " or ", each.variant);
  }
  if (first == nullptr || request.params.empty()) return first;
  throw Error(fmt::format("the lemmas of {} are proved for all constants{}; no other parameter "
                          "can be given",
                          request.protocol, variants.empty() ? "" : " and " + variants));
}

bool is_asked_for(const ProvedLemma& lemma, const std::string& name) {
  return name.empty() || lemma.name == name || lemma.name == "Lemma " + name;
}

std::string_view text_of(LemmaVerdict verdict) {
  if (verdict == LemmaVerdict::proved) return "proved";
  return verdict == LemmaVerdict::vacuous ? "vacuous" : "not proved";
}

void print(const ProvedLemma& lemma) {
  fmt::print("{:<10}  {:<14}  {}", text_of(lemma.verdict), lemma.name, lemma.statement);
  if (!lemma.failed.empty()) fmt::print(" (at: {})", lemma.failed);
  fmt::print("\n");
}

void check_lemma_exists(const LemmaRequest& request, const prove::PairsProof& proof) {
  std::string names;
  for (const ProvedLemma& lemma : proof.lemmas) {
    if (is_asked_for(lemma, request.lemma)) return;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", lemma.name);
  }
  throw Error(fmt::format("no lemma '{}' of {} is known; there are {}", request.lemma,
                          request.protocol, names));
}

std::string conditions_of(const Provable& provable) {
  std::string text;
  const prove::Theory theory = prove::parse_theory(provable.theory);
  for (const auto& [name, condition] : theory.parameters) {
    if (theory.ghosts.contains(name)) continue;
    text += fmt::format(", every {} {} {}", name, condition[0].word, condition[2].word);
  }
  if (!provable.variant.empty()) text += fmt::format(", {}", provable.variant);
  return text;
}

}  // namespace

std::optional<Exit> prove_lemmas(const LemmaRequest& request) {
  const Provable* const provable = provable_of(request);
  if (provable == nullptr) return std::nullopt;
  prove::Engine engine(4096);
  const prove::PairsProof proof = prove::prove_pairs(*provable, engine);
  check_lemma_exists(request, proof);
  fmt::print("{}: every n >= 2{}\n", provable->name, conditions_of(*provable));
  bool is_proved = true;
  std::size_t obligations = 0;
  for (const ProvedLemma& lemma : proof.lemmas) {
    obligations += lemma.obligations;
    if (!is_asked_for(lemma, request.lemma)) continue;
    print(lemma);
    is_proved = is_proved && lemma.verdict == LemmaVerdict::proved;
  }
  fmt::print("{} obligations about one interaction, derived from the code\n", obligations);
  if (!request.certificate.empty() && !proof.certificate.is_null()) {
    Output file(request.certificate);
    file.write(proof.certificate.dump() + '\n');
    file.finish();
  }
  return is_proved ? Exit::done : Exit::not_converged;
}

}  // namespace conclave::cli
