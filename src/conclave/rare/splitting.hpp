// Multilevel splitting with fixed effort, in flux form.
//
// The process that is simulated restarts when it fails. By renewal theory its expected time from
// the start to a failure is exactly 1 / J, where J is the long-run number of failures per
// interaction. With an importance function f, a quiet set A = {f <= quiet} and levels l_1 < ... <
// l_K above it, every failure belongs to the last crossing from A to l_1, so
//
//   J = (crossings from A to l_1 per interaction) p_1 ... p_K,
//
// where p_k is the probability that a path from its entrance to level k reaches level k+1 (for k =
// K: fails) before it returns to A. A base run counts crossings and keeps the configurations at
// which they enter level 1. For each level a fixed number of paths starts from the entrances of the
// level before, drawn by systematic sampling. The product of the rate and the shares of successes
// is an unbiased estimate of J, though its factors are dependent. A path that jumps over levels
// counts as a success at each of them, and a failure as a success at all.
//
// A failure may also be a matter of one attempt, which ends by itself: the process then "fails
// else" when the attempt has succeeded. All paths begin at the start, nothing is quiet, and the
// product of the shares is an unbiased estimate of the probability that an attempt fails.
//
// Levels are chosen by a pilot with random numbers of its own and then stay as they are: levels
// that follow the same run would bias it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/rare/process.hpp"

namespace conclave::rare {

// No failure was found. The bound on the logarithm of the expected time is infinite if there is
// none; otherwise it follows from how many paths were tried in vain, with 95 % confidence if the
// levels below are right.
class Unreached : public Error {
 public:
  // ln of a time that the failure takes at least, with 95 % confidence; infinite: it never comes.
  Unreached(const std::string& reason, double ln_floor) : Error(reason), ln_floor_(ln_floor) {}
  double ln_floor() const { return ln_floor_; }

 private:
  double ln_floor_;
};

// The decisions of a pilot run.
struct SplittingPlan {
  double quiet = minus_infinity;  // A = {f <= quiet}
  std::vector<double> levels{};   // ascending, at least one; infinite: the failure itself
  std::uint64_t warm_up = 0;      // interactions before the base run
  std::uint64_t base_run = 0;     // interactions, or attempts
};

struct SplittingOptions {
  std::uint64_t particles = 1000;    // paths that start at each level
  std::uint64_t most_levels = 2000;  // a pilot that needs more gives up
  bool by_attempt = false;           // rates are per attempt, not per interaction
};

// The rules by which paths are counted, apart from the simulation so that tests can break them.
struct SplittingRules {
  virtual ~SplittingRules() = default;
  // A crossing counts only if A was visited since the last one.
  virtual bool counts_crossing(bool was_quiet) const { return was_quiet; }
  // An entrance that is already beyond the next level is a success there.
  virtual bool is_beyond(double value, double level) const { return value >= level; }
  virtual double share(std::uint64_t successes, std::uint64_t starts) const {
    return static_cast<double>(successes) / static_cast<double>(starts);
  }
  // Copies of one entrance go on with different random numbers.
  virtual void begin_path(Stream&, const Stream& /*at the level's first path*/) const {}
};

// One object belongs to one thread.
class Splitting {
 public:
  // Owns the process, which `pilot` and `run` restart. `keep_computing` is asked now and then.
  Splitting(std::unique_ptr<FailingProcess> process, const SplittingOptions& options,
            KeepComputing keep_computing,
            std::unique_ptr<const SplittingRules> rules = std::make_unique<SplittingRules>());

  // Chooses levels such that a path passes each with a probability of about a quarter. Throws Error
  // if f does not lead to a failure, and Interrupted.
  SplittingPlan pilot(const StreamName& name);

  // One independent estimate; throws Interrupted.
  RareRepetition run(const SplittingPlan& plan, const StreamName& name);

 private:
  // A configuration in which a path begins. One that has failed has no configuration any more.
  struct Entrance {
    FailingProcess::Configuration configuration{};
    double value = 0;  // infinite: it has failed
    std::uint32_t ancestor = 0;
  };

  Stretch advance(std::uint64_t most, double low, double high, Stream& stream);
  std::uint64_t restart_through(std::uint64_t interactions, Stream& stream);
  SplittingPlan observed_base(Stream& stream);
  std::vector<Entrance> started(std::uint64_t attempts, Stream& stream);
  SplittingPlan observed_plan(std::uint64_t length, Stream& stream);
  std::vector<Entrance> base_entrances(const SplittingPlan& plan, Stream& stream);
  std::vector<Entrance> passed(const std::vector<Entrance>& entrances, double level, double quiet,
                               std::uint64_t paths, Stream& stream);
  double climb(double level, double quiet, Stream& stream);
  double next_level(const std::vector<Entrance>& entrances, double here, double quiet,
                    std::uint64_t paths, Stream& stream);
  std::vector<double> summits(const std::vector<Entrance>& entrances, double quiet,
                              std::uint64_t paths, Stream& stream);
  double summit(const Entrance& from, double quiet, Stream& stream);
  std::vector<Entrance> pilot_entrances(const std::vector<Entrance>& entrances, double level,
                                        double quiet, std::uint64_t& paths, Stream& stream);
  Entrance entrance(double value, std::uint32_t ancestor) const;

  std::unique_ptr<FailingProcess> process_;
  SplittingOptions options_;
  KeepComputing keep_computing_;
  std::unique_ptr<const SplittingRules> rules_;
  std::uint64_t patience_;  // interactions until the callback is called again
  double interactions_ = 0;
};

}  // namespace conclave::rare
