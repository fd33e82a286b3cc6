// An estimate of rare failures, prepared: which ways to fail, which importance functions, how much
// effort. It does not know the type of its protocol: each chosen function has a runner, and one
// object keeps them all. `run.hpp` runs the repetitions on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/rare/splitting.hpp"
#include "conclave/rare/subject.hpp"
#include "conclave/text/population_formula.hpp"

namespace conclave::rare {

// The choices of a user beside the protocol, its parameters and the seed.
struct Choice {
  std::string way{};                      // empty: all
  std::vector<std::string> importance{};  // names or expressions; none: the protocol's own choice
  std::uint64_t particles = 1000;         // paths per level
  std::uint64_t most_levels = 2000;
};

// One function of one way, ready to be piloted and run. After the pilot, several threads may run
// repetitions at once; a result depends on the name of its stream alone.
class Runner {
 public:
  virtual ~Runner() = default;
  // Chooses the levels. Throws Error if the function does not serve, and Interrupted.
  virtual void pilot(const StreamName& name, const KeepComputing& keep_computing) = 0;
  // One independent estimate. Throws Interrupted.
  virtual RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const = 0;
};

// Estimates by splitting. Every pilot and every run works on a copy of the process.
std::unique_ptr<Runner> splitting_runner(std::unique_ptr<const FailingProcess> process,
                                         const SplittingOptions& options);

// A function that a user or the protocol has chosen for one way.
struct FunctionChoice {
  std::size_t way = 0;                 // index into all ways
  std::optional<std::size_t> named{};  // index into the protocol's functions; none: an expression
  std::string text{};                  // its name, or the expression
};

// Different functions may be piloted by different threads at once; after its pilot, a function's
// repetitions may be run by several threads. A repetition depends on the subject and its number
// alone.
class Prepared {
 public:
  using MakeRunner = std::function<std::unique_ptr<Runner>(const FunctionChoice&)>;

  // The estimate for the ways and functions that `choice` names, among those of the protocol;
  // `make_runner` is called for each chosen function. `subject` describes the protocol, without
  // ways and functions, which are filled in here. `owner` keeps alive what the runners refer to.
  // Throws Error if a name is unknown or a way is left without a function.
  Prepared(Subject subject, const Choice& choice, std::span<const RareWay> ways,
           std::span<const RareFunction> functions, const MakeRunner& make_runner,
           std::shared_ptr<const void> owner = nullptr);

  const Subject& subject() const { return subject_; }
  // Chooses the levels of a function, given by its index in subject().functions. Throws Error if
  // the function does not serve, and Interrupted.
  void pilot(std::size_t function, const KeepComputing& keep_computing);
  // One repetition, after the pilot. Throws Interrupted.
  RareRepetition run(std::size_t function, std::uint64_t repetition,
                     const KeepComputing& keep_computing) const;

 private:
  std::string about(std::size_t function) const;
  StreamName stream_name(std::size_t function, std::uint64_t repetition, std::uint64_t kind) const;

  std::shared_ptr<const void> owner_;
  Subject subject_;
  std::vector<FunctionChoice> choices_;           // by function
  std::vector<std::unique_ptr<Runner>> runners_;  // by function
};

// The same n. Throws Error for populations whose paths would take too long.
AgentCount checked_population(AgentCount n);

// A user's expression over the fields of the states; n and the parameters are constants in it.
// Throws Error if it cannot be read.
std::shared_ptr<const text::PopulationFormula> importance_formula(
    const std::string& expression, const std::vector<text::FormulaField>& fields,
    const Subject& subject);

}  // namespace conclave::rare
