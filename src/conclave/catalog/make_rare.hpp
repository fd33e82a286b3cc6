// Joins a protocol and its rarity with multilevel splitting. A generated source includes this once
// per protocol that has a file of importance functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/catalog/rare.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/population/rare_process.hpp"
#include "conclave/population/splitting.hpp"
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

// One function of one way, ready to be piloted and run.
class RareRunner {
 public:
  virtual ~RareRunner() = default;
  virtual void pilot(const StreamName& name, const KeepComputing& keep_computing) = 0;
  virtual RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const = 0;
};

template <class Process>
class SplittingRunner final : public RareRunner {
 public:
  SplittingRunner(Process process, const population::SplittingOptions& options)
      : process_(std::move(process)), options_(options) {}

  void pilot(const StreamName& name, const KeepComputing& keep_computing) override {
    plan_ = population::Splitting<Process>(process_, options_, keep_computing).pilot(name);
  }
  RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const override {
    return population::Splitting<Process>(process_, options_, keep_computing).run(plan_, name);
  }

 private:
  Process process_;
  population::SplittingOptions options_;
  population::SplittingPlan plan_;
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

// A protocol built for n and its parameters, and the rows' words about it.
template <PopulationProtocol P>
struct RareSubject {
  P protocol;
  std::string_view name;
  std::string_view start;
  std::size_t start_index;
  std::vector<ParameterValue> parameters;
  std::string source_hash{};
  std::shared_ptr<const void> owner{};  // keeps alive what the protocol and the views refer to
};

template <PopulationProtocol P, class Rarity>
class PreparedRarePopulation final : public PreparedRare {
 public:
  PreparedRarePopulation(const RareRequest& request, AgentCount n, RareSubject<P> subject,
                         Rarity rarity)
      : subject_(std::move(subject)), rarity_(std::move(rarity)), n_(n), seed_(request.run.seed) {
    check_rare_request(subject_.name, request);
    const std::vector<std::size_t> ways = chosen_ways(subject_.name, rarity_.ways(), request.way);
    for (const std::size_t way : ways) ways_.push_back(rarity_.ways()[way]);
    choices_ = chosen_functions(subject_.name, rarity_.functions(), rarity_.ways(), ways,
                                request.importance);
    for (const FunctionChoice& choice : choices_) {
      const auto place = std::ranges::find(ways, choice.way) - ways.begin();
      functions_.push_back({static_cast<std::size_t>(place), choice.text});
      runners_.push_back(runner(choice, request));
    }
  }

  std::span<const RareWay> ways() const override { return ways_; }
  std::span<const ChosenFunction> functions() const override { return functions_; }
  void pilot(std::size_t function, const KeepComputing& keep_computing) override {
    runners_[function]->pilot(stream_name(function, 0, 1), keep_computing);
  }
  RareRepetition run(std::size_t function, std::uint64_t repetition,
                     const KeepComputing& keep_computing) const override {
    return runners_[function]->run(stream_name(function, repetition, 0), keep_computing);
  }

  AgentCount n() const override { return n_; }
  std::string_view protocol() const override { return subject_.name; }
  std::string_view start() const override { return subject_.start; }
  std::span<const ParameterValue> parameters() const override { return subject_.parameters; }
  std::string_view source_hash() const override { return subject_.source_hash; }

 private:
  using State = typename P::State;

  // The stream of a function depends on its place in the protocol's list alone, not on which others
  // are used; expressions follow behind, in the order in which they were given.
  StreamName stream_name(std::size_t function, std::uint64_t repetition, std::uint64_t kind) const {
    const FunctionChoice& choice = choices_[function];
    const std::uint64_t place = choice.named.value_or(100 + function);
    return {.seed = seed_,
            .trial = repetition,
            .purpose = rare_purpose,
            .part = (place * 16 + choice.way) * 2 + kind};
  }

  std::unique_ptr<RareRunner> runner(const FunctionChoice& choice, const RareRequest& request) {
    const population::SplittingOptions options{request.particles, request.most_levels};
    const auto splitting = [&](auto importance) -> std::unique_ptr<RareRunner> {
      using Importance = decltype(importance);
      using Process =
          population::RareProcess<P, Importance, decltype(std::declval<Rarity>().failures())>;
      return std::make_unique<SplittingRunner<Process>>(
          Process(subject_.protocol, n_, subject_.start_index, choice.way, std::move(importance),
                  rarity_.failures()),
          options);
    };
    if (!choice.named) {
      return splitting(FormulaImportance<P>(subject_.protocol, formula(choice.text)));
    }
    return rarity_.with_function(*choice.named, [&](auto function) -> std::unique_ptr<RareRunner> {
      if constexpr (RareSampler<decltype(function)>) {
        return std::make_unique<SamplingRunner<decltype(function)>>(std::move(function),
                                                                    request.particles);
      } else {
        return splitting(std::move(function));
      }
    });
  }

  std::shared_ptr<const text::PopulationFormula> formula(const std::string& expression) const {
    text::Constants constants{{"n", text::Number(static_cast<std::int64_t>(n_))}};
    for (const ParameterValue& each : subject_.parameters) {
      if (const auto* whole = std::get_if<std::uint64_t>(&each.value)) {
        constants.emplace(std::string(each.name), text::Number(static_cast<std::int64_t>(*whole)));
      } else if (const auto* real = std::get_if<double>(&each.value)) {
        constants.emplace(std::string(each.name), text::Number::real(*real));
      }
    }
    return std::make_shared<const text::PopulationFormula>(
        expression, FormulaFields<P>::fields(subject_.protocol), constants);
  }

  RareSubject<P> subject_;
  Rarity rarity_;
  AgentCount n_;
  std::uint64_t seed_;
  std::vector<RareWay> ways_;
  std::vector<FunctionChoice> choices_;
  std::vector<ChosenFunction> functions_;
  std::vector<std::unique_ptr<RareRunner>> runners_;
};

// Throws Error for populations whose paths would take too long.
inline AgentCount rare_population(AgentCount n) {
  constexpr AgentCount most = 1 << 20;
  if (n <= most) return n;
  throw Error(
      fmt::format("n = {} is too large for rare events: at most {} agents are allowed", n, most));
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
  RareSubject<P> subject{.protocol = protocol,
                         .name = P::info.name,
                         .start = P::starts[start].name,
                         .start_index = start,
                         .parameters = values_in_effect(parameters)};
  return std::make_unique<PreparedRarePopulation<P, decltype(rarity)>>(
      request, n, std::move(subject), std::move(rarity));
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
