// A population in which one kind of failure is looked for, with the importance of its
// configuration: what `splitting.hpp` simulates. Complete graph, one interaction after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/rare.hpp"

namespace conclave::population {

// The result of one interaction.
enum class RareStep : std::uint8_t {
  goes_on,
  fails,       // in the way that is looked for
  fails_else,  // in another way
};

template <PopulationProtocol P, ImportanceOf<typename P::State> Importance,
          FailuresOf<typename P::State> Failures>
class RareProcess {
 public:
  using State = typename P::State;
  using Configuration = std::vector<State>;

  RareProcess(const P& protocol, AgentCount n, std::size_t start, std::size_t way,
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

  void load(const Configuration& configuration) {
    agents_ = configuration;
    look();
  }

  const Configuration& configuration() const { return agents_; }
  double value() const { return importance_.value(); }

  RareStep step(Stream& stream) {
    const std::uint64_t n = agents_.size();
    const auto u = static_cast<std::size_t>(stream.below64(n));
    auto v = static_cast<std::size_t>(stream.below64(n - 1));
    if (v >= u) ++v;
    const State before_u = agents_[u];
    const State before_v = agents_[v];
    protocol_.interact(agents_[u], agents_[v], stream);
    if (agents_[u] == before_u && agents_[v] == before_v) return RareStep::goes_on;
    const auto failed = failures_.way(before_u, before_v, agents_[u], agents_[v]);
    if (failed) return *failed == way_ ? RareStep::fails : RareStep::fails_else;
    importance_.replace(agents_, u, v);
    return RareStep::goes_on;
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

}  // namespace conclave::population
