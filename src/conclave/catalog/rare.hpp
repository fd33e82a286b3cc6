// A question about rare failures, prepared: which ways to fail, which importance functions, how
// much effort. `experiment/rare_runner.hpp` runs its repetitions on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/rare.hpp"

namespace conclave::catalog {

struct RareRequest {
  RunRequest run;                         // n, parameters, start and seed
  std::string way{};                      // empty: all
  std::vector<std::string> importance{};  // names or expressions; none: the protocol's own choice
  std::uint64_t particles = 1000;         // paths per level
  std::uint64_t most_levels = 2000;
};

// A function that is used, for one way.
struct ChosenFunction {
  std::size_t way = 0;  // index into ways()
  std::string name;     // or the expression
};

// Different functions may be piloted by different threads at once; after its pilot, a function's
// repetitions may be run by several threads. A repetition depends on the request and its number
// alone.
class PreparedRare {
 public:
  virtual ~PreparedRare() = default;

  virtual std::span<const RareWay> ways() const = 0;  // the chosen ones
  virtual std::span<const ChosenFunction> functions() const = 0;
  // Chooses the levels. Throws Error if the function does not serve, and Interrupted.
  virtual void pilot(std::size_t function, const KeepComputing& keep_computing) = 0;
  // Throws Interrupted.
  virtual RareRepetition run(std::size_t function, std::uint64_t repetition,
                             const KeepComputing& keep_computing) const = 0;

  virtual AgentCount n() const = 0;
  virtual std::string_view protocol() const = 0;
  virtual std::string_view start() const = 0;
  virtual std::span<const ParameterValue> parameters() const = 0;
  virtual std::string_view source_hash() const { return {}; }
  // Where failures are counted per attempt, the interactions after which an attempt has failed;
  // none: failures are counted per interaction.
  virtual std::optional<Interactions> attempt_limit() const { return std::nullopt; }
};

// The same n. Throws Error for populations whose paths would take too long.
AgentCount rare_population(AgentCount n);

// The indices of the ways with this name, or of all ways. Throws Error for an unknown name.
std::vector<std::size_t> chosen_ways(std::string_view protocol, std::span<const RareWay> ways,
                                     const std::string& asked);

// The functions for those ways, as (index into `functions` or none for an expression). Throws Error
// if no function is left for a way.
struct FunctionChoice {
  std::size_t way = 0;                 // index into all ways
  std::optional<std::size_t> named{};  // none: an expression
  std::string text{};
};
std::vector<FunctionChoice> chosen_functions(std::string_view protocol,
                                             std::span<const RareFunction> functions,
                                             std::span<const RareWay> ways,
                                             const std::vector<std::size_t>& chosen_ways,
                                             const std::vector<std::string>& asked);

// Throws Error if a request has options that rare events do not support: a limit only where
// failures are counted by attempts.
void check_rare_request(std::string_view protocol, const RareRequest& request, bool by_attempt);

}  // namespace conclave::catalog
