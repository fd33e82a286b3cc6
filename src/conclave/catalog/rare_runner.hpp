// Estimates of rare failures without the type of their protocol: each chosen function has a runner,
// and one prepared estimate keeps them all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/catalog/rare.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/population/splitting.hpp"
#include "conclave/text/population_formula.hpp"

namespace conclave::catalog {

// One function of one way, ready to be piloted and run.
class RareRunner {
 public:
  virtual ~RareRunner() = default;
  virtual void pilot(const StreamName& name, const KeepComputing& keep_computing) = 0;
  virtual RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const = 0;
};

// Estimates by splitting. Every pilot and every run has a copy of the process.
std::unique_ptr<RareRunner> splitting_runner(
    std::unique_ptr<const population::FailingProcess> process,
    const population::SplittingOptions& options);

// The description of a protocol in rows.
struct RareLabels {
  std::string_view protocol;
  std::string_view start;
  std::vector<ParameterValue> parameters;
  std::string source_hash{};
  std::optional<Interactions> attempt_limit{};  // as PreparedRare says
  std::shared_ptr<const void> owner{};  // keeps alive what the views and the runners refer to
};

// A user's expression over the fields of the states; n and the parameters are constants in it.
// Throws Error if it makes no sense.
std::shared_ptr<const text::PopulationFormula> rare_formula(
    const std::string& expression, const std::vector<text::FormulaField>& fields, AgentCount n,
    std::span<const ParameterValue> parameters);

// The estimate for the ways and with the functions that the request names, among those of the
// protocol; `make_runner` is called for each of these functions. Throws Error if the request does
// not make sense.
std::unique_ptr<PreparedRare> prepared_rare(
    const RareRequest& request, AgentCount n, RareLabels labels, std::span<const RareWay> ways,
    std::span<const RareFunction> functions,
    const std::function<std::unique_ptr<RareRunner>(const FunctionChoice&)>& make_runner);

}  // namespace conclave::catalog
