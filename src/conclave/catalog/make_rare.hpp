// Joins a protocol and its rarity with multilevel splitting. A generated source includes this once
// per protocol that has a file of importance functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/catalog/rare.hpp"
#include "conclave/catalog/rare_runner.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/population/rare_process.hpp"
#include "conclave/text/population_formula.hpp"

namespace conclave::catalog {

// The fields of a protocol's states as a formula sees them.
template <PopulationProtocol P>
struct FormulaFields {
  static std::vector<text::FormulaField> fields(const P&) {
    std::vector<text::FormulaField> all;
    std::apply([&](const auto&... field) { (all.push_back({std::string(field.name)}), ...); },
               P::State::fields);
    return all;
  }
  static void read(const P&, const typename P::State& state, std::vector<double>& values) {
    values.clear();
    std::apply(
        [&](const auto&... field) {
          (values.push_back(static_cast<double>(state.*field.member)), ...);
        },
        P::State::fields);
  }
};

// A user's expression as an importance function. It keeps what each agent contributes.
template <PopulationProtocol P>
class FormulaImportance {
 public:
  using State = typename P::State;
  using Total = text::PopulationFormula::Total;

  FormulaImportance(const P& protocol, std::shared_ptr<const text::PopulationFormula> formula)
      : protocol_(protocol), formula_(std::move(formula)) {}

  void load(std::span<const State> agents) {
    parts_.assign(formula_->totals(), std::vector<double>(agents.size()));
    totals_.assign(formula_->totals(), 0);
    for (std::size_t i = 0; i < agents.size(); ++i) take(agents[i], i);
    finish();
  }

  void replace(std::span<const State> agents, std::size_t u, std::size_t v) {
    take(agents[u], u);
    take(agents[v], v);
    finish();
  }

  double value() const { return value_; }

 private:
  // Sums of whole numbers are exact, so it does not matter in which order they are made.
  void take(const State& state, std::size_t agent) {
    FormulaFields<P>::read(protocol_, state, fields_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double now = formula_->contribution(i, fields_);
      totals_[i] += now - parts_[i][agent];
      parts_[i][agent] = now;
    }
  }

  void finish() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (formula_->kind(i) == Total::least) totals_[i] = *std::ranges::min_element(parts_[i]);
      if (formula_->kind(i) == Total::largest) totals_[i] = *std::ranges::max_element(parts_[i]);
    }
    value_ = formula_->value(totals_);
  }

  P protocol_;
  std::shared_ptr<const text::PopulationFormula> formula_;
  std::vector<std::vector<double>> parts_;  // by total and agent
  std::vector<double> totals_;
  std::vector<double> fields_;
  double value_ = 0;
};

template <RareSampler Sampler>
class SamplingRunner final : public RareRunner {
 public:
  SamplingRunner(Sampler sampler, std::uint64_t paths)
      : sampler_(std::move(sampler)), paths_(paths) {}

  void pilot(const StreamName&, const KeepComputing&) override {}
  RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const override {
    Stream stream(name);
    return sampler_.sample(paths_, stream, keep_computing);
  }

 private:
  Sampler sampler_;
  std::uint64_t paths_;
};

// A protocol built for n and its parameters, the start from which it may fail, and how.
template <PopulationProtocol P, class Rarity>
struct RareSubject {
  P protocol;
  AgentCount n;
  std::size_t start;
  Rarity rarity;
};

// Splitting of one way to fail, with this importance function.
template <PopulationProtocol P, class Rarity, class Importance>
std::unique_ptr<RareRunner> splitting_by(Importance importance,
                                         const RareSubject<P, Rarity>& subject, std::size_t way,
                                         const RareRequest& request) {
  auto failures = subject.rarity.failures();
  using Process = population::RareProcess<P, Importance, decltype(failures)>;
  Process process(subject.protocol, subject.n, subject.start, way, std::move(importance),
                  std::move(failures));
  return splitting_runner(std::make_unique<population::SteppedProcess<Process>>(std::move(process)),
                          {request.particles, request.most_levels});
}

template <PopulationProtocol P, class Rarity>
std::unique_ptr<PreparedRare> prepared_rare_of(const RareSubject<P, Rarity>& subject,
                                               const RareRequest& request, RareLabels labels) {
  const std::vector<ParameterValue> parameters = labels.parameters;
  const auto make_runner = [&](const FunctionChoice& choice) -> std::unique_ptr<RareRunner> {
    if (!choice.named) {
      const auto fields = FormulaFields<P>::fields(subject.protocol);
      const auto formula = rare_formula(choice.text, fields, subject.n, parameters);
      return splitting_by(FormulaImportance<P>(subject.protocol, formula), subject, choice.way,
                          request);
    }
    return subject.rarity.with_function(
        *choice.named, [&](auto function) -> std::unique_ptr<RareRunner> {
          if constexpr (RareSampler<decltype(function)>) {
            return std::make_unique<SamplingRunner<decltype(function)>>(std::move(function),
                                                                        request.particles);
          } else {
            return splitting_by(std::move(function), subject, choice.way, request);
          }
        });
  };
  return prepared_rare(request, subject.n, std::move(labels), subject.rarity.ways(),
                       subject.rarity.functions(), make_runner);
}

// The answer to a request of Entry::rare.
template <ListedProtocol P>
std::unique_ptr<PreparedRare> prepare_rare(const RareRequest& request) {
  const AgentCount n = rare_population(checked_population(request.run.n));
  const auto parameters = resolved_parameters<P>(request.run.settings, n);
  accepted_graph(P::info, topology_of<P>, request.run.graph);
  const P protocol(parameters, n);
  auto rarity = rarity_of(protocol, n);
  if (const std::string objection = rarity.objection(); !objection.empty()) {
    throw Error(fmt::format("{}: {}", P::info.name, objection));
  }
  const std::string asked =
      request.run.start.empty() ? std::string(rarity.start) : request.run.start;
  const std::size_t start = start_index(P::info, P::starts, asked);
  if (const std::string objection = rarity.objection_to(start); !objection.empty()) {
    throw Error(fmt::format("start {} of {}: {}", P::starts[start].name, P::info.name, objection));
  }
  RareLabels labels{.protocol = P::info.name,
                    .start = P::starts[start].name,
                    .parameters = values_in_effect(parameters)};
  const RareSubject<P, decltype(rarity)> subject{protocol, n, start, std::move(rarity)};
  return prepared_rare_of(subject, request, std::move(labels));
}

// Adds to the entry how the rare failures of a listed protocol are estimated.
template <ListedProtocol P>
void add_rarity(Entry& entry) {
  using Rarity = decltype(rarity_of(std::declval<const P&>(), AgentCount{}));
  entry.rare_ways = Rarity::all_ways;
  entry.rare_functions = Rarity::all_functions;
  entry.rare = prepare_rare<P>;
}

}  // namespace conclave::catalog
