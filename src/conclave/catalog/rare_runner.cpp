#include "conclave/catalog/rare_runner.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "conclave/base/error.hpp"

namespace conclave::catalog {
namespace {

class SplittingRunner final : public RareRunner {
 public:
  SplittingRunner(std::unique_ptr<const population::FailingProcess> process,
                  const population::SplittingOptions& options)
      : process_(std::move(process)), options_(options) {}

  void pilot(const StreamName& name, const KeepComputing& keep_computing) override {
    plan_ = splitting(keep_computing).pilot(name);
  }
  RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const override {
    return splitting(keep_computing).run(plan_, name);
  }

 private:
  population::Splitting splitting(const KeepComputing& keep_computing) const {
    return {process_->copy(), options_, keep_computing};
  }

  std::unique_ptr<const population::FailingProcess> process_;
  population::SplittingOptions options_;
  population::SplittingPlan plan_;
};

class PreparedRunners final : public PreparedRare {
 public:
  PreparedRunners(std::uint64_t seed, AgentCount n, RareLabels labels)
      : labels_(std::move(labels)), n_(n), seed_(seed) {}

  void add_way(const RareWay& way) { ways_.push_back(way); }
  // The function is for the way that was added last.
  void add_function(const FunctionChoice& choice, std::unique_ptr<RareRunner> runner) {
    functions_.push_back({ways_.size() - 1, choice.text});
    choices_.push_back(choice);
    runners_.push_back(std::move(runner));
  }

  std::span<const RareWay> ways() const override { return ways_; }
  std::span<const ChosenFunction> functions() const override { return functions_; }
  void pilot(std::size_t function, const KeepComputing& keep_computing) override {
    try {
      runners_[function]->pilot(stream_name(function, 0, 1), keep_computing);
    } catch (const Error& error) {
      throw Error(about(function) + ": " + error.what());
    }
  }
  RareRepetition run(std::size_t function, std::uint64_t repetition,
                     const KeepComputing& keep_computing) const override {
    return runners_[function]->run(stream_name(function, repetition, 0), keep_computing);
  }

  AgentCount n() const override { return n_; }
  std::string_view protocol() const override { return labels_.protocol; }
  std::string_view start() const override { return labels_.start; }
  std::span<const ParameterValue> parameters() const override { return labels_.parameters; }
  std::string_view source_hash() const override { return labels_.source_hash; }
  std::optional<Interactions> attempt_limit() const override { return labels_.attempt_limit; }

 private:
  // "timeout by group", and how to go on without it where there are other ways to fail.
  std::string about(std::size_t function) const {
    const ChosenFunction& chosen = functions_[function];
    std::string text = std::string(ways_[chosen.way].name) + " by " + chosen.name;
    if (ways_.size() == 1) return text;
    text += " (leave it out with --way ";
    const char* separator = "";
    for (std::size_t way = 0; way < ways_.size(); ++way) {
      if (way == chosen.way) continue;
      text += separator + std::string(ways_[way].name);
      separator = " or ";
    }
    return text + ")";
  }

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

  RareLabels labels_;
  AgentCount n_;
  std::uint64_t seed_;
  std::vector<RareWay> ways_;
  std::vector<FunctionChoice> choices_;
  std::vector<ChosenFunction> functions_;
  std::vector<std::unique_ptr<RareRunner>> runners_;
};

}  // namespace

std::unique_ptr<RareRunner> splitting_runner(
    std::unique_ptr<const population::FailingProcess> process,
    const population::SplittingOptions& options) {
  return std::make_unique<SplittingRunner>(std::move(process), options);
}

std::shared_ptr<const text::PopulationFormula> rare_formula(
    const std::string& expression, const std::vector<text::FormulaField>& fields, AgentCount n,
    std::span<const ParameterValue> parameters) {
  text::Constants constants{{"n", text::Number(static_cast<std::int64_t>(n))}};
  for (const ParameterValue& each : parameters) {
    if (const auto* whole = std::get_if<std::uint64_t>(&each.value)) {
      constants.emplace(std::string(each.name), text::Number(static_cast<std::int64_t>(*whole)));
    } else if (const auto* real = std::get_if<double>(&each.value)) {
      constants.emplace(std::string(each.name), text::Number::real(*real));
    }
  }
  return std::make_shared<const text::PopulationFormula>(expression, fields, constants);
}

std::unique_ptr<PreparedRare> prepared_rare(
    const RareRequest& request, AgentCount n, RareLabels labels, std::span<const RareWay> ways,
    std::span<const RareFunction> functions,
    const std::function<std::unique_ptr<RareRunner>(const FunctionChoice&)>& make_runner) {
  check_rare_request(labels.protocol, request, labels.attempt_limit.has_value());
  const std::vector<std::size_t> chosen = chosen_ways(labels.protocol, ways, request.way);
  const auto choices =
      chosen_functions(labels.protocol, functions, ways, chosen, request.importance);
  auto prepared = std::make_unique<PreparedRunners>(request.run.seed, n, std::move(labels));
  for (const std::size_t way : chosen) {
    prepared->add_way(ways[way]);
    for (const FunctionChoice& choice : choices) {
      if (choice.way == way) prepared->add_function(choice, make_runner(choice));
    }
  }
  return prepared;
}

}  // namespace conclave::catalog
