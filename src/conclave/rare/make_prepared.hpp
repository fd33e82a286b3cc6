// Joins a protocol and its rarity (model/rare.hpp) with multilevel splitting: the part that depends
// on the type of the protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/exact/holding_time.hpp"
#include "conclave/exact/lumped_states.hpp"
#include "conclave/exact/state_table.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/rare/prepared.hpp"
#include "conclave/rare/process.hpp"
#include "conclave/text/population_formula.hpp"

namespace conclave::rare {

// The fields of a protocol's states as a formula sees them: their names, and the values of a state
// in the same order. Text protocols, whose fields are known at run time, specialize it.
template <PopulationProtocol P>
struct FormulaFields {
  // In the order of `fields` of the state; every value is a number, true is 1. `read` replaces what
  // is in `values`.
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

// A rarity that is sampled directly, without levels: repetitions of so many independent paths.
template <RareSampler Sampler>
class SamplingRunner final : public Runner {
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
struct FailingProtocol {
  P protocol;
  std::size_t start;
  Rarity rarity;
};

// Splitting of one way to fail, with this importance function.
template <PopulationProtocol P, class Rarity, class Importance>
std::unique_ptr<Runner> splitting_by(Importance importance,
                                     const FailingProtocol<P, Rarity>& failing, AgentCount n,
                                     std::size_t way, const Choice& choice) {
  auto failures = failing.rarity.failures();
  using Population = FailingPopulation<P, Importance, decltype(failures)>;
  Population population(failing.protocol, n, failing.start, way, std::move(importance),
                        std::move(failures));
  return splitting_runner(std::make_unique<SteppedProcess<Population>>(std::move(population)),
                          {choice.particles, choice.most_levels});
}

// The failures of a protocol as a question to the exact module. Those that can tell whether a whole
// configuration has failed (is_over) also tell which states are the same for that (label).
template <PopulationProtocol P, FailuresOf<typename P::State> Failures>
class ExactFailures final : public exact::FailureQuestion {
 public:
  static constexpr bool by_configuration = requires(Failures & failures) { failures.is_over(); };

  // The table must outlive it.
  ExactFailures(const exact::StateTable<P>& table, Failures failures)
      : table_(table), failures_(std::move(failures)) {}

  std::optional<std::size_t> way([[maybe_unused]] exact::StateNumber u,
                                 [[maybe_unused]] exact::StateNumber v,
                                 [[maybe_unused]] exact::StateNumber new_u,
                                 [[maybe_unused]] exact::StateNumber new_v) const override {
    if constexpr (by_configuration) {
      return std::nullopt;
    } else {
      return failures_.way(table_.state(u), table_.state(v), table_.state(new_u),
                           table_.state(new_v));
    }
  }
  bool is_over([[maybe_unused]] std::span<const exact::StateNumber> states) override {
    if constexpr (by_configuration) {
      agents_.clear();
      for (const exact::StateNumber each : states) agents_.push_back(table_.state(each));
      failures_.load(agents_);
      return failures_.is_over();
    } else {
      return false;
    }
  }
  std::uint64_t label([[maybe_unused]] exact::StateNumber state) const override {
    if constexpr (by_configuration) {
      return failures_.label(table_.state(state));
    } else {
      return 0;
    }
  }

 private:
  const exact::StateTable<P>& table_;
  Failures failures_;
  std::vector<typename P::State> agents_;
};

// The exact times until failures of a protocol.
template <PopulationProtocol P, class Rarity>
ExactRunner::MakeTimes exact_times(const FailingProtocol<P, Rarity>& failing, AgentCount n) {
  using Question = ExactFailures<P, decltype(failing.rarity.failures())>;
  return [protocol = failing.protocol, failures = failing.rarity.failures(), start = failing.start,
          n](const exact::HoldingLimits& limits, const ProgressCallback& progress) {
    auto table = std::make_unique<exact::StateTable<P>>(protocol);
    auto question = std::make_unique<Question>(*table, failures);
    return std::make_unique<exact::HoldingTimes>(std::move(table), std::move(question), start, n,
                                                 limits, progress);
  };
}

// The estimate that `choice` asks for. `subject` describes the protocol in rows, without ways and
// functions; `owner` keeps alive what the protocol refers to. Throws Error as Prepared does.
template <PopulationProtocol P, class Rarity>
std::unique_ptr<Prepared> make_prepared(const FailingProtocol<P, Rarity>& failing,
                                        const Choice& choice, const Subject& subject,
                                        std::shared_ptr<const void> owner = nullptr) {
  const ExactRunner::MakeTimes make_times = exact_times(failing, subject.n);
  const auto make_runner = [&](const FunctionChoice& function) -> std::unique_ptr<Runner> {
    if (function.text == exact_name) return std::make_unique<ExactRunner>(make_times, function.way);
    const auto split = [&](auto importance) {
      return splitting_by(std::move(importance), failing, subject.n, function.way, choice);
    };
    if (!function.named) {
      const auto fields = FormulaFields<P>::fields(failing.protocol);
      return split(FormulaImportance<P>(failing.protocol,
                                        importance_formula(function.text, fields, subject)));
    }
    return failing.rarity.with_function(
        *function.named, [&](auto named) -> std::unique_ptr<Runner> {
          if constexpr (RareSampler<decltype(named)>) {
            return std::make_unique<SamplingRunner<decltype(named)>>(std::move(named),
                                                                     choice.particles);
          } else {
            return split(std::move(named));
          }
        });
  };
  bool from_own_start = true;
  if constexpr (requires { Rarity::start; }) from_own_start = subject.start == Rarity::start;
  const auto ways = known_ways(failing.rarity.ways(), from_own_start, make_times);
  return std::make_unique<Prepared>(subject, choice, ways, failing.rarity.functions(), make_runner,
                                    std::move(owner));
}

}  // namespace conclave::rare
