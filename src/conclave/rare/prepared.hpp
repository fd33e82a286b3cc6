// An estimate of rare failures, prepared: which ways to fail, which importance functions, how much
// effort. It does not know the type of its protocol: each chosen function has a runner, and one
// object keeps them all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/rare/splitting.hpp"
#include "conclave/rare/subject.hpp"
#include "conclave/text/population_formula.hpp"

// Declared only: the explorer reads this header, and has no exact module.
namespace conclave::exact {
class HoldingTimes;
struct HoldingLimits;
}  // namespace conclave::exact

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

// Solves for the time of one way.
class ExactRunner final : public Runner {
 public:
  using MakeTimes = std::function<std::unique_ptr<exact::HoldingTimes>(const exact::HoldingLimits&,
                                                                       const ProgressCallback&)>;
  // `way` counts from 0 among all ways of the protocol.
  ExactRunner(MakeTimes make_times, std::size_t way);

  // Throws Error if the population is too large, and Unreached if it cannot fail so.
  void pilot(const StreamName& name, const KeepComputing& keep_computing) override;
  RareRepetition run(const StreamName& name, const KeepComputing& keep_computing) const override;

 private:
  MakeTimes make_times_;
  std::size_t way_;
  RareRepetition found_;
};

// The ways of a protocol; those of which a quick look at all configurations shows that they cannot
// happen have an infinite floor. Floors are left out where the start is not the rarity's own.
std::vector<RareWay> known_ways(std::span<const RareWay> ways, bool from_own_start,
                                const ExactRunner::MakeTimes& make_times);

// The name under which any way of a small population is solved instead of estimated.
inline constexpr std::string_view exact_name = "exact";

// A function that a user or the protocol has chosen for one way.
struct FunctionChoice {
  std::size_t way = 0;                 // index into all ways
  std::optional<std::size_t> named{};  // index into the protocol's functions; none: an expression
  std::string text{};                  // its name, or the expression
  std::uint64_t place{};               // names its streams
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
  // Throws Error if a name is unknown or a way is left without a function, unless no default
  // function is for it and its floor is known: then that stands in its place.
  Prepared(Subject subject, const Choice& choice, std::span<const RareWay> ways,
           std::span<const RareFunction> functions, const MakeRunner& make_runner,
           std::shared_ptr<const void> owner = nullptr);

  // The ways and functions that were chosen; settle() may remove functions.
  const Subject& subject() const { return subject_; }
  // Chooses the levels of a function, given by its index in subject().functions. Throws Error if
  // the function does not serve, and Interrupted.
  void pilot(std::size_t function, const KeepComputing& keep_computing);
  // The same, but a function that does not serve is noted instead; after all pilots, settle()
  // removes these from the subject. It throws Error as pilot() does if some way is left with
  // neither a function nor a bound.
  void try_pilot(std::size_t function, const KeepComputing& keep_computing);
  void settle();
  // One repetition, after the pilot. Throws Interrupted.
  RareRepetition run(std::size_t function, std::uint64_t repetition,
                     const KeepComputing& keep_computing) const;

 private:
  // Why a function does not serve.
  struct Refusal {
    std::string reason;
    std::optional<double> ln_floor{};
  };

  std::string about(std::size_t function) const;
  bool has_function(std::size_t way) const;
  void remove(std::size_t function);
  StreamName stream_name(std::size_t function, std::uint64_t repetition, std::uint64_t kind) const;

  std::shared_ptr<const void> owner_;
  Subject subject_;
  std::vector<FunctionChoice> choices_;           // by function
  std::vector<std::unique_ptr<Runner>> runners_;  // by function
  std::vector<std::optional<Refusal>> refusals_;  // by function
};

// The same n. Throws Error for populations whose paths would take too long.
AgentCount checked_population(AgentCount n);

// A user's expression over the fields of the states; n and the parameters are constants in it.
// Throws Error if it cannot be read.
std::shared_ptr<const text::PopulationFormula> importance_formula(
    const std::string& expression, const std::vector<text::FormulaField>& fields,
    const Subject& subject);

// A repetition depends on its number alone, so that the result is the same for any number of
// threads.
struct RunOptions {
  std::uint64_t repetitions = 20;
  unsigned threads = 1;
};

// Counters for a progress display, read from another thread.
struct Progress {
  std::atomic<std::uint64_t> pilots_done = 0;
  std::atomic<std::uint64_t> repetitions_done = 0;
  std::atomic<double> interactions = 0;  // for display only
};

// The repetitions of each function, in order and without a gap: all of them, or after `stop` became
// true the first ones, so that short ones are not preferred. Functions that do not serve are
// removed from the subject (Prepared::settle). Throws Error if nothing can be said about some way
// then.
std::vector<std::vector<RareRepetition>> run_rare(Prepared& rare, const RunOptions& options,
                                                  Progress& progress,
                                                  const std::atomic<bool>& stop);

}  // namespace conclave::rare
