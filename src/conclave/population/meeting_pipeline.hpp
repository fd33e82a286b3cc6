// Who interacts with whom, drawn in blocks ahead of their use so that the agents' cache lines can
// be fetched in time. The source decides which interactions there are: a scheduler is one small
// struct (AllPairs, RingArcs, GraphArcs).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conclave/base/check.hpp"
#include "conclave/base/lanes.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population {

// A meeting in one word: who initiates in the low half, who responds in the high half.
struct Meeting {
  std::uint64_t word;
  // Both below 2^32.
  std::uint32_t initiator() const { return static_cast<std::uint32_t>(word); }
  std::uint32_t responder() const { return static_cast<std::uint32_t>(word >> 32); }
};

// Arrays larger than this lie mostly beyond the caches.
inline constexpr std::size_t far_above_bytes = std::size_t{1} << 22;

// Fetches the agents of the meeting `ahead` places after this one into the nearest cache and, where
// they are far, those of a much later one into the second: it waits for more lines of memory at
// once than the first does, which is worth a factor of two from ten million agents on. 64 more
// meetings must lie behind this one. Inlined by force: GCC 12 drops calls that only prefetch.
template <std::size_t ahead, class T>
[[gnu::always_inline]] inline void fetch_agents(const T* agents, const std::uint64_t* meeting,
                                                bool are_far) {
  constexpr std::size_t far_ahead = 60;
  if (are_far) {
    const Meeting later{meeting[far_ahead]};
    __builtin_prefetch(agents + later.initiator(), 0, 2);
    __builtin_prefetch(agents + later.responder(), 0, 2);
  }
  const Meeting soon{meeting[ahead]};
  __builtin_prefetch(agents + soon.initiator(), 1);
  __builtin_prefetch(agents + soon.responder(), 1);
}

// A source of interactions. fill turns `words` words of the stream (a multiple of 8) into at most
// as many interactions, independent and of the right law, and returns how many it wrote.
template <class S>
concept MeetingSource = requires(const S& source, Lanes::State& state, std::uint64_t* meetings,
                                 std::size_t words) {
  { source.fill(state, meetings, words) } -> std::same_as<std::size_t>;
};

// The meetings of one trial, in order; which they are follows from the name of the stream and the
// source alone, not from how they are taken out.
template <MeetingSource Source>
class MeetingPipeline {
 public:
  static constexpr std::size_t block = 512;
  static constexpr std::size_t lookahead = 64;
  static constexpr std::size_t least = 32;
  static constexpr AgentCount most_agents = 0xffffffffu;

  MeetingPipeline(const StreamName& name, const Source& source) : lanes_(name), source_(source) {}

  // For sources that follow from the number of agents.
  MeetingPipeline(const StreamName& name,
                  AgentCount n) requires std::constructible_from<Source, AgentCount>
      : MeetingPipeline(name, Source(n)) {
    CONCLAVE_CHECK(n >= 2 && n <= most_agents);
  }

  // The words of the next meetings, at least `least` of them. `lookahead` more lie in memory behind
  // the end of the span: they come next and may be prefetched.
  std::span<const std::uint64_t> upcoming() {
    while (end_ - next_ < lookahead + least) refill();
    return {&meetings_[next_], end_ - next_ - lookahead};
  }

  // The first `used` of them have taken place.
  void drop(std::size_t used) { next_ += used; }

  // The meetings that have been drawn and not taken out; behind them the stream goes on.
  std::span<const std::uint64_t> drawn() const { return {&meetings_[next_], end_ - next_}; }
  // The stream behind those, of which none may be left: for a caller that draws from it instead.
  Lanes::State& stream() {
    CONCLAVE_CHECK(next_ == end_);
    return lanes_.state();
  }
  // Skips the next meetings, as if they had taken place; O(meetings).
  void skip(std::uint64_t meetings) {
    while (meetings > 0) {
      const std::uint64_t some = std::min<std::uint64_t>(meetings, upcoming().size());
      drop(some);
      meetings -= some;
    }
  }
  const Source& source() const { return source_; }

 private:
  void refill() {
    std::copy(&meetings_[next_], &meetings_[end_], meetings_.data());
    end_ -= next_;
    next_ = 0;
    end_ += source_.fill(lanes_.state(), &meetings_[end_], block);
  }

  Lanes lanes_;
  Source source_;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  alignas(64) std::array<std::uint64_t, block + 2 * lookahead> meetings_;
};

// The complete graph: ordered pairs of distinct agents, independent and uniform over all n(n-1),
// exactly.
class AllPairs {
 public:
  explicit AllPairs(AgentCount n) : n_(n) {}
  std::size_t fill(Lanes::State& state, std::uint64_t* meetings, std::size_t words) const {
    return fill_pairs(state, n_, meetings, words);
  }

 private:
  AgentCount n_;
};
using PairPipeline = MeetingPipeline<AllPairs>;

// The directed ring: the arcs (i, i + 1 mod n), independent and uniform over all n, exactly.
class RingArcs {
 public:
  explicit RingArcs(AgentCount n) : n_(n) {}
  std::size_t fill(Lanes::State& state, std::uint64_t* meetings, std::size_t words) const {
    return fill_arcs(state, n_, meetings, words);
  }

 private:
  AgentCount n_;
};
using RingPipeline = MeetingPipeline<RingArcs>;

// The arcs of any digraph, independent and uniform over all of them, exactly. The graph must
// outlive the source.
class GraphArcs {
 public:
  // The graph must outlive it.
  explicit GraphArcs(const Digraph& graph) : graph_(&graph) {}
  std::size_t fill(Lanes::State& state, std::uint64_t* meetings, std::size_t words) const {
    const std::size_t count = fill_arcs(state, graph_->arcs(), meetings, words);
    for (std::size_t k = 0; k < count; ++k) {
      const Arc arc = meetings[k] & 0xffffffffu;
      meetings[k] = graph_->initiator(arc) | graph_->responder(arc) << 32;
    }
    return count;
  }

 private:
  const Digraph* graph_;
};
using GraphPipeline = MeetingPipeline<GraphArcs>;

}  // namespace conclave::population
