// The `events` engine on a graph: keeps the set of arcs whose interaction would change something
// and jumps from one of them to the next with geometric waiting times. Exact in law; null
// interactions are counted. O(degree) per effective interaction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/detail/jumping.hpp"
#include "conclave/population/detail/reaction.hpp"
#include "conclave/population/detail/tally_host.hpp"

namespace conclave::population {

// The arcs that are active, as a set that can draw a member uniformly: O(1) for everything.
class ActiveArcs {
 public:
  // Fewer than 2^32 - 1 arcs, which is checked; none is active.
  explicit ActiveArcs(Arc arcs) : place_(arcs, absent) { CONCLAVE_CHECK(arcs < absent); }

  std::uint64_t size() const { return members_.size(); }
  // Uniform over the active arcs, of which there must be one.
  Arc draw(Stream& stream) const { return members_[stream.below64(members_.size())]; }

  // For an arc that `set` is called with soon.
  [[gnu::always_inline]] void prefetch(Arc arc) const { __builtin_prefetch(&place_[arc]); }

  void set(Arc arc, bool active) {
    if (active == (place_[arc] != absent)) return;
    if (active) {
      place_[arc] = static_cast<std::uint32_t>(members_.size());
      members_.push_back(static_cast<std::uint32_t>(arc));
      return;
    }
    members_[place_[arc]] = members_.back();
    place_[members_.back()] = place_[arc];
    members_.pop_back();
    place_[arc] = absent;
  }

 private:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> place_;  // where an arc stands among the members
};

// Graph may be a reference type for a graph too large to copy, which must then outlive the engine.
// Memory: a packed state per agent, up to 8 bytes per arc, and a table of 4096 waiting times.
template <PopulationProtocol P, class Graph>
class ArcEvents : public detail::Jumping<ArcEvents<P, Graph>, detail::TallyHost<P>> {
 public:
  using typename detail::TallyHost<P>::State;
  using typename detail::TallyHost<P>::Tally;
  using Storage = Stored<P>;
  static constexpr std::size_t bytes_per_agent = sizeof(typename Storage::type) + 8;

  // O(agents + arcs): every arc is tested. Throws Interrupted if start.keep_going says so.
  ArcEvents(const P& protocol, const std::remove_cvref_t<Graph>& graph, StartingPoint<State> start,
            const StreamName& name)
      : detail::Jumping<ArcEvents<P, Graph>, detail::TallyHost<P>>(protocol, graph.agents(), name),
        graph_(graph),
        active_(graph.arcs()) {
    Stream start_choice(name.with(Purpose::start));
    agents_.reserve(graph.agents());
    for_each_starting_agent(protocol_, start, graph.agents(), start_choice,
                            [this](const State& state) {
                              agents_.push_back(Storage::pack(protocol_, state));
                              tally_.add(state);
                            });
    refresh_all(start.keep_going);
  }

  // A fault; returns how many agents it hit.
  AgentCount strike(const Fault& fault) requires Corruptible<P> {
    const AgentCount hit = this->strike_array(
        fault, size(), [this](AgentCount agent) { return state(agent); },
        [this](AgentCount agent, const State& state) {
          agents_[agent] = Storage::pack(protocol_, state);
        });
    refresh_all();
    return hit;
  }

  // O(1).
  State state(AgentCount agent) const { return Storage::unpack(protocol_, agents_[agent]); }
  AgentCount size() const { return agents_.size(); }

  // The steps that the next event executes.
  void note_next(std::vector<std::string>& steps) const {
    const auto agents = next_agents();
    if (agents) steps = this->steps_of(state(agents->first), state(agents->second));
  }

  // The states that some agent is in, with how many; O(n).
  Census<State> census() const {
    return census_of<State>(size(), [this](AgentCount agent) { return state(agent); });
  }
  std::vector<Observation> observations() const { return detail::observations_of(tally_, *this); }
  // The agents in their order, runs of equal ones counted; O(n).
  Census<State> runs() const {
    return runs_of<State>(size(), [this](AgentCount agent) { return state(agent); });
  }

 private:
  friend detail::Jumping<ArcEvents<P, Graph>, detail::TallyHost<P>>;

  using Packed = typename Storage::type;

  // The view that a positional tally has of the configuration.
  struct View {
    const ArcEvents* engine;
    State operator()(AgentCount agent) const { return engine->state(agent); }
    Interactions now() const { return engine->now(); }
  };

  void refresh(Arc arc) {
    const AgentCount initiator = graph_.initiator(arc);
    const AgentCount responder = graph_.responder(arc);
    if constexpr (HasNullTest<P>) {
      active_.set(arc, protocol_.may_change(agents_[initiator], agents_[responder]) != 0);
    } else {
      active_.set(arc, detail::reacts(protocol_, state(initiator), state(responder)));
    }
  }

  void refresh_all(const KeepGoing* keep_going = nullptr) {
    for (Arc arc = 0; arc < graph_.arcs(); ++arc) {
      ask_to_go_on(keep_going, arc);
      refresh(arc);
    }
    this->show_oracle(this->now());
    draw_next_event();
  }

  std::optional<std::pair<AgentCount, AgentCount>> next_agents() const {
    if (is_silent() || is_news_) return std::nullopt;
    return std::pair(graph_.initiator(next_arc_), graph_.responder(next_arc_));
  }

  static constexpr std::uint64_t work_per_event() { return 1; }

  // With nothing active, nothing ever happens again, unless an oracle speaks.
  bool is_silent() const {
    if constexpr (AsksOracle<P>) {
      if (oracle_.denies() || oracle_.next_change() != Interactions::max()) return false;
    }
    return active_.size() == 0;
  }

  // While the oracle says that there is no leader, all arcs count as active. Where that begins
  // before the next event, the wait is drawn anew from there, since it has no memory.
  void draw_next_event() {
    this->no_next_event();
    if constexpr (AsksOracle<P>) {
      if (oracle_.denies()) return draw_any_arc();
    }
    if (active_.size() > 0) draw_active_arc();
    if constexpr (AsksOracle<P>) is_news_ = this->comes_first(oracle_.next_change());
  }

  void draw_any_arc() {
    is_news_ = false;
    next_arc_ = schedule_.below64(graph_.arcs());
    this->comes_first(this->now() + 1u);
  }

  void draw_active_arc() {
    next_arc_ = active_.draw(schedule_);
    // In large populations its agents are far away; they arrive while the waiting time is drawn.
    __builtin_prefetch(&agents_[graph_.initiator(next_arc_)], 1);
    active_.prefetch(next_arc_);
    this->next_event_after(law_of(active_.size()));
  }

  // The law of the waiting time depends on the number of active arcs alone; small numbers come
  // again and again.
  Geometric law_of(std::uint64_t active) {
    if (active >= laws_.size()) return {active, graph_.arcs()};
    if (!laws_[active]) laws_[active] = Geometric(active, graph_.arcs());
    return *laws_[active];
  }

  void react() {
    if (is_news_) return this->show_oracle(this->now());
    const Arc arc = next_arc_;
    const AgentCount initiator = graph_.initiator(arc);
    const AgentCount responder = graph_.responder(arc);
    const State u = state(initiator);
    const State v = state(responder);
    State new_u = u;
    State new_v = v;
    this->interact(new_u, new_v);
    agents_[initiator] = Storage::pack(protocol_, new_u);
    agents_[responder] = Storage::pack(protocol_, new_v);
    if constexpr (requires {
                    tally_.replace_at(initiator, responder, u, v, new_u, new_v, View{});
                  }) {
      tally_.replace_at(initiator, responder, u, v, new_u, new_v, View{this});
    } else {
      tally_.replace(u, v, new_u, new_v);
    }
    this->show_oracle(this->now());
    graph_.for_each_near(arc, [this](Arc near) { refresh(near); });
  }

  using detail::TallyHost<P>::oracle_;
  using detail::TallyHost<P>::protocol_;
  using detail::TallyHost<P>::tally_;
  using detail::Jumping<ArcEvents<P, Graph>, detail::TallyHost<P>>::schedule_;

  Graph graph_;
  std::vector<Packed> agents_;
  ActiveArcs active_;
  std::vector<std::optional<Geometric>> laws_{std::size_t{1} << 12};
  Arc next_arc_ = 0;
  bool is_news_ = false;  // at the next event the oracle changes its mind, and no agents meet
};

}  // namespace conclave::population
