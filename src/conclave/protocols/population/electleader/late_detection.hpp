// The rare failure of DetectCollision_r: a rank is there twice, and for long no error is raised.
//
// Only the group of that rank matters. All others are consistent and never raise an error (Lemma
// E.1(a)), so a path holds the agents of this one group and jumps over the interactions in which no
// two of them meet. That is exact in law, and makes its cost independent of n: of k (n/r) ln n
// units of time it sees about k r ln n meetings.
//
// A path survives by luck of the two agents that share the rank. As long as neither has had enough
// meetings for a new signature, only a direct meeting gives them away; after that, the next
// meetings of the other one do.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/protocols/population/electleader/detect_collision.hpp"
#include "conclave/protocols/population/electleader/engine/lazy_messages.hpp"
#include "conclave/protocols/population/electleader/starts.hpp"

namespace conclave::protocols::electleader {

// Immutable once made, so that several threads may share it; paths are values beside it.
class LateDetection {
 public:
  // The places of all_functions.
  enum Function : std::size_t { age, signatures };
  static constexpr std::array<RareWay, 1> all_ways{
      {{"late", "a rank is there twice, and no error is raised within the limit"}}};
  static constexpr std::array<RareFunction, 2> all_functions{
      {{"age", "interactions so far", 0, true},
       {"signatures", "the same, and those until the first new signature of the two, on average", 0,
        true}}};

  struct Path {
    LazyMessages messages;
    std::vector<Agent> agents;  // of the group
    std::uint64_t age = 0;      // in interactions of the whole population
  };

  enum class Step : std::uint8_t { goes_on, is_detected, is_late };

  // From Starts::dup or Starts::dupq0; late is who has raised no error in `limit` interactions.
  LateDetection(const Parameters& parameters, AgentCount n, std::size_t start, std::uint64_t limit)
      : constants_(parameters, n),
        group_(std::make_shared<const Groups>(first_group(constants_))),
        detect_(constants_, *group_),
        beginning_{LazyMessages(*group_, size()), {}},
        wait_(Interactions(std::uint64_t{size()} * (size() - 1)), Interactions(n * (n - 1))),
        limit_(limit),
        stride_(std::max<std::uint64_t>(1, limit / most_strides)),
        meeting_time_(static_cast<double>(n * (n - 1)) / (2.0 * (size() - 1))) {
    const Starts starts(constants_, *group_);
    Stream undrawn({});
    for (AgentIndex u = 0; u < size(); ++u) {
      const StartingAgent made = starts.make(start, u, undrawn);
      beginning_.agents.push_back(made.agent);
      beginning_.messages.enter(u, made.agent.verifier.standing, 0, made.beginning);
    }
  }

  const Path& beginning() const { return beginning_; }

  // One meeting in the group, or a stretch without any: waits have no memory. O(r) expected.
  Step step(Path& path, Stream& stream) const {
    const std::uint64_t most = std::min(stride_, limit_ - path.age);
    const Interactions wait = wait_(stream);
    if (wait > Interactions(most)) {
      path.age += most;
    } else {
      path.age += *wait.as_uint64();
      if (meet(path, stream) != Cause::none) return Step::is_detected;
    }
    return path.age == limit_ ? Step::is_late : Step::goes_on;
  }

  // Grows as an undetected failure comes near; in interactions.
  double importance(std::size_t function, const Path& path) const {
    const auto so_far = static_cast<double>(path.age);
    return function == age ? so_far : so_far + meeting_time_ * meetings_left(path);
  }

 private:
  static constexpr std::uint64_t most_strides = 1024;

  // The first group, which has the rank that is there twice, as if there were no other.
  static Groups first_group(const Constants& constants) {
    const std::uint32_t m = Groups(constants.n, constants.r, constants.messages).size_of(0);
    return {m, m, constants.messages};
  }

  // A group of one rank has two agents all the same.
  AgentIndex size() const { return std::max(2u, group_->size_of(0)); }

  Cause meet(Path& path, Stream& stream) const {
    const AgentIndex u = stream.below(size());
    AgentIndex v = stream.below(size() - 1);
    if (v >= u) ++v;
    return detect_.interact(path.agents[u], path.agents[v], u, v, path.messages, stream);
  }

  // The meetings until the first of the two agents takes a new signature; 0 once one has.
  double meetings_left(const Path& path) const {
    std::uint32_t least = detect_.period(0);
    for (const Agent* twin : {&path.agents.front(), &path.agents.back()}) {
      if (twin->verifier.signature != beginning_.agents.front().verifier.signature) return 0;
      least = std::min(least, detect_.period(0) - twin->verifier.counter);
    }
    return least;
  }

  Constants constants_;
  std::shared_ptr<const Groups> group_;  // shared, since copies look at it through detect_
  DetectCollision detect_;
  Path beginning_;
  Geometric wait_;  // until two agents of the group meet
  std::uint64_t limit_;
  std::uint64_t stride_;
  double meeting_time_;  // of one agent in the group, in interactions
};

}  // namespace conclave::protocols::electleader
