// A population in which one kind of failure is looked for, with the importance of its
// configuration: what `splitting.hpp` simulates. Complete graph, one interaction after the other.
// Splitting advances processes by stretches of interactions, not by single ones, so it can call
// them through virtual functions and is compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/rare.hpp"

namespace conclave::rare {

// The result of one interaction.
enum class Step : std::uint8_t {
  goes_on,
  fails,       // in the way that is looked for
  fails_else,  // in another way
};

// Why a stretch of interactions has ended.
enum class StretchEnd : std::uint8_t {
  enough,  // the requested number of interactions
  fails,   // as in Step
  fails_else,
  is_low,  // the importance has reached the given bound
  is_high,
};

// How many interactions were simulated, and why no more.
struct Stretch {
  std::uint64_t interactions = 0;
  StretchEnd end = StretchEnd::enough;
};

// A bound that no importance reaches.
inline constexpr double no_bound = std::numeric_limits<double>::quiet_NaN();

// A process that may fail, as splitting sees it. One object belongs to one thread.
class FailingProcess {
 public:
  // A configuration, which only a process of the same kind can look into.
  using Configuration = std::shared_ptr<const void>;

  virtual ~FailingProcess() = default;
  // One that goes on from the same configuration, for another thread.
  virtual std::unique_ptr<FailingProcess> copy() const = 0;
  // Back to the start configuration, which is drawn anew where it is random.
  virtual void restart(Stream& stream) = 0;
  // The configuration of now, which stays as it is when the process goes on, and a return to one.
  // Both O(agents).
  virtual Configuration configuration() const = 0;
  virtual void load(const Configuration& configuration) = 0;
  // How near the failure is: the larger, the nearer. O(1).
  virtual double importance() const = 0;
  // Carries out at least one and at most `most` interactions; ends after one that fails, or after
  // which the importance is at most `low` or at least `high`.
  virtual Stretch advance(std::uint64_t most, double low, double high, Stream& stream) = 0;
};

// A process that carries out one interaction after the other: a FailingPopulation, or one that
// offers the same.
template <class Process>
class SteppedProcess final : public FailingProcess {
 public:
  explicit SteppedProcess(Process process) : process_(std::move(process)) {}

  std::unique_ptr<FailingProcess> copy() const override {
    return std::make_unique<SteppedProcess>(process_);
  }
  void restart(Stream& stream) override { process_.restart(stream); }
  Configuration configuration() const override {
    return std::make_shared<const Own>(process_.configuration());
  }
  void load(const Configuration& configuration) override {
    process_.load(*static_cast<const Own*>(configuration.get()));
  }
  double importance() const override { return process_.value(); }

  Stretch advance(std::uint64_t most, double low, double high, Stream& stream) override {
    for (std::uint64_t done = 1;; ++done) {
      const Step came = process_.step(stream);
      if (came == Step::fails) return {done, StretchEnd::fails};
      if (came == Step::fails_else) return {done, StretchEnd::fails_else};
      const double value = process_.value();
      if (value >= high) return {done, StretchEnd::is_high};
      if (value <= low) return {done, StretchEnd::is_low};
      if (done == most) return {done, StretchEnd::enough};
    }
  }

 private:
  using Own = typename Process::Configuration;
  Process process_;
};

// A population that fails in some way: agents one by one, an importance function that is kept up to
// date with each interaction, and a judge of the interactions themselves.
template <PopulationProtocol P, ImportanceOf<typename P::State> Importance,
          FailuresOf<typename P::State> Failures>
class FailingPopulation {
 public:
  using State = typename P::State;
  using Configuration = std::vector<State>;

  // In no configuration until restart() or load(). `way` is the failure that counts; others end an
  // attempt as well. The protocol is copied.
  FailingPopulation(const P& protocol, AgentCount n, std::size_t start, std::size_t way,
                    Importance importance, Failures failures)
      : protocol_(protocol),
        start_(start),
        way_(way),
        importance_(std::move(importance)),
        failures_(std::move(failures)),
        agents_(static_cast<std::size_t>(n)) {}

  // Back to the start configuration, which is drawn anew where it is random.
  void restart(Stream& stream) {
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      agents_[i] = protocol_.initial(start_, i, stream);
    }
    look();
  }

  // Goes on from there, with failures and importance computed anew. O(agents).
  void load(const Configuration& configuration) {
    agents_ = configuration;
    look();
  }

  const Configuration& configuration() const { return agents_; }
  double value() const { return importance_.value(); }

  // One interaction of two agents drawn uniformly, and whether it is a failure.
  Step step(Stream& stream) {
    const std::uint64_t n = agents_.size();
    const auto u = static_cast<std::size_t>(stream.below64(n));
    auto v = static_cast<std::size_t>(stream.below64(n - 1));
    if (v >= u) ++v;
    const State before_u = agents_[u];
    const State before_v = agents_[v];
    protocol_.interact(agents_[u], agents_[v], stream);
    if (agents_[u] == before_u && agents_[v] == before_v) return Step::goes_on;
    const auto failed = failures_.way(before_u, before_v, agents_[u], agents_[v]);
    if (failed) return *failed == way_ ? Step::fails : Step::fails_else;
    importance_.replace(agents_, u, v);
    return Step::goes_on;
  }

 private:
  void look() {
    importance_.load(agents_);
    failures_.load(agents_);
  }

  P protocol_;
  std::size_t start_;
  std::size_t way_;
  Importance importance_;
  Failures failures_;
  Configuration agents_;
};

}  // namespace conclave::rare
