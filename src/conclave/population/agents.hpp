// The `agents` engine: one stored state per agent in one array, one interaction after the other.
// Exact for every protocol, on the complete graph or the directed ring as its topology says, or on
// the graph that another pipeline draws from; O(1) per interaction, near the memory's speed.
//
// The trial is the same, interaction by interaction, whichever of its four inner loops runs.
// one_by_one is the plain loop that serves every protocol and that the others are measured against
// (performance.md). by_name looks transitions up where few states are occupied at a time (pll,
// pll-sym, protocol files of many states); briefly counts in words of 32 bits while little else
// happens (ppl, timers); detail::meet_calmly notifies the tally of sums instead of single changes
// (protocol files). A team of threads, if there is one, carries out whole stretches of the schedule
// beside them (detail::LayeredAgents). The file is long because each hands the agents over to the
// others.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/brief_words.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/detail/brief_agents.hpp"
#include "conclave/population/detail/calm_meetings.hpp"
#include "conclave/population/detail/layered_agents.hpp"
#include "conclave/population/detail/named_agents.hpp"
#include "conclave/population/detail/tally_host.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population {
// Arrays larger than this profit from prefetching; a smaller one stays in the caches, where the
// processor's own look-ahead is enough.
inline constexpr std::size_t prefetch_above_bytes = std::size_t{3} << 18;

// Below this size a trial is over before a table of its own pays for a protocol of few states.
inline constexpr AgentCount names_from_agents = 256;

// Brief words pay in calls of `advance` over at least so many interactions per agent, since some
// forty per agent are drawn again at the end. After a stretch, the next one waits for the pause.
inline constexpr std::uint64_t brief_interactions_per_agent = 64;
inline constexpr std::uint64_t brief_pause_per_agent = 16;

// The longest chunk by brief words: so many interactions take some tenths of a second.
inline constexpr std::uint64_t brief_interactions_per_chunk = std::uint64_t{1} << 26;

// The pipeline that draws the meetings of a topology.
template <Topology topology>
struct PipelineFor {
  using type = PairPipeline;
};
template <>
struct PipelineFor<Topology::directed_ring> {
  using type = RingPipeline;
};

// Uses `memory` as long as it lives, and `table` if it is given; both are the caller's, and for one
// engine at a time.
template <PopulationProtocol P, class Pipeline = typename PipelineFor<topology_of<P>>::type>
class Agents : public detail::TallyHost<P> {
 public:
  using typename detail::TallyHost<P>::State;
  using typename detail::TallyHost<P>::Tally;
  using detail::TallyHost<P>::is_positional;
  using Storage = Stored<P>;
  static_assert(!AsksOracle<P> || is_positional, "only loops for positional tallies ask oracles");
  static constexpr AgentCount most_agents = Pipeline::most_agents;
  static constexpr std::size_t fetch_ahead = 12;  // 8 to 24 are about equally good
  static constexpr std::size_t bytes_per_agent = sizeof(typename Storage::type);

  static constexpr bool has_names = MeetsFewStates<P> && !is_positional;
  static constexpr bool has_layers = detail::HasLayers<P, Pipeline>;
  using Named = detail::NamedAgents<P>;
  using MeetingTable = detail::MeetingTable<P>;
  // The part of an agent that most interactions read and write.
  using Touched = std::conditional_t<has_names, typename Named::Name, typename Storage::type>;

  // The pipeline draws its meetings from `source`: the number of agents, or a graph.
  // Trials of the same protocol may share a table of its meetings.
  template <class Source>
  Agents(const P& protocol, AgentCount n, StartingPoint<State> start, StreamName name,
         AgentMemory& memory, const Source& source, MeetingTable* table = nullptr)
      : detail::TallyHost<P>(protocol, n, name),
        pairs_(name.with(Purpose::schedule), source),
        table_(table) {
    agents_ = allocate(memory, n);
    Stream start_choice(name.with(Purpose::start));
    AgentCount agent = 0;
    for_each_starting_agent(protocol_, start, n, start_choice, [&](const State& state) {
      if (agent == 0) try_names(state, start.keep_going);
      put(agent++, 1, state);
      tally_.add(state);
    });
    this->show_oracle(now_);
    use_team_of(memory);
  }

  // On the complete graph or the directed ring, as the protocol says.
  Agents(const P& protocol, AgentCount n, StartingPoint<State> start, StreamName name,
         AgentMemory& memory)
      : Agents(protocol, n, start, name, memory, n) {}

  // Agents in these states; on the complete graph it does not matter which is which.
  Agents(const P& protocol, AgentCount n, const Census<State>& census, StreamName name,
         AgentMemory& memory)
      : detail::TallyHost<P>(protocol, n, name), pairs_(name.with(Purpose::schedule), n) {
    agents_ = allocate(memory, n);
    try_names(census.front().first, nullptr);
    AgentCount next = 0;
    for (const auto& [state, count] : census) {
      put(next, count, state);
      next += count;
      tally_.add(state, count);
    }
    use_team_of(memory);
  }

  // Goes on exactly as the other one does, the state of its generators included; O(n).
  Agents(const Agents& other, AgentMemory& memory)
      : detail::TallyHost<P>(other), pairs_(other.pairs_), now_(other.now_) {
    agents_ = allocate(memory, other.size());
    take_agents(other);
  }
  Agents(const Agents&) = delete;

  // From now on, `advance` by chunks uses the team, which outlives the engine.
  void use(Team& team, const detail::LayerSizes& sizes) requires has_layers {
    layered_ = std::make_unique<typename decltype(layered_)::element_type>(
        protocol_, pairs_.source(), team, sizes);
  }

  // Simulates up to `budget` interactions, fewer only if the protocol converges or can never do so,
  // or after `hold`, if it is violated; the last one simulated is then the one at which that
  // happened.
  Interactions advance(Interactions budget) {
    const Interactions before = now_;
    may_be_brief_ = budget >= size() * brief_interactions_per_agent;
    while (budget > 0u && !is_over()) {
      const std::span<const std::uint64_t> meetings = pairs_.upcoming();
      const std::uint64_t most = budget.as_uint64().value_or(meetings.size());
      const std::size_t used =
          meet_all(meetings.first(std::min<std::size_t>(meetings.size(), most)));
      pairs_.drop(used);
      now_ += used;
      budget -= used;
    }
    end_brief_words();
    return now_ - before;
  }
  // The same for a budget that may take long: at most a chunk of it, which may be longer where
  // brief words, or a team of threads, make it quick.
  Interactions advance(Interactions budget, std::uint64_t chunk) {
    if constexpr (has_layers) {
      if (layered_ && layered_->is_worth_it()) {
        const Interactions done = in_layers(budget);
        if (done > 0u) return done;
      }
    }
    if constexpr (HasBriefWords<P>) {
      if (size() * brief_interactions_per_agent <= brief_interactions_per_chunk) {
        chunk = std::max(chunk, brief_interactions_per_chunk);
      }
    }
    return advance(std::min<Interactions>(budget, chunk));
  }

  // Interactions so far, null ones included.
  Interactions now() const { return now_; }
  bool hopeless() const { return tally_.hopeless(); }
  bool has_stopped() const { return is_over(); }

  // A fault; returns how many agents it hit.
  AgentCount strike(const Fault& fault) requires Corruptible<P> {
    const AgentCount hit = this->strike_array(
        fault, size(), [this](AgentCount agent) { return state(agent); },
        [this](AgentCount agent, const State& state) { put(agent, 1, state); });
    this->show_oracle(now_);
    return hit;
  }

  // The state of an agent, 0 ... n-1, between two calls of `advance`. O(1).
  State state(AgentCount agent) const {
    if constexpr (has_names) {
      if (named_) return named_->state(agent);
    }
    return Storage::unpack(protocol_, agents_[agent]);
  }
  AgentCount size() const { return agents_.size(); }
  // Who will interact next; does not change the trial.
  NextMeeting next_meeting() {
    const Meeting next{pairs_.upcoming().front()};
    return {now_ + 1u, std::pair<AgentCount, AgentCount>(next.initiator(), next.responder())};
  }

  // The steps that the next interaction will execute; does not change the trial.
  void note_next(std::vector<std::string>& steps) {
    const Meeting next{pairs_.upcoming().front()};
    steps = this->steps_of(state(next.initiator()), state(next.responder()));
  }

  // The states that some agent is in, with how many; O(n). Throws Interrupted where `keep_going`,
  // unless it is null, says no.
  Census<State> census(const KeepGoing* keep_going = nullptr) const {
    if constexpr (sizeof(Packed) == 1 && !has_names) return census_of_bytes(keep_going);
    return census_of<State>(size(), [this, keep_going](AgentCount agent) {
      ask_to_go_on(keep_going, agent);
      return state(agent);
    });
  }
  std::vector<Observation> observations() const { return detail::observations_of(tally_, *this); }
  // The agents in their order, runs of equal ones counted, where it matters who is who; O(n).
  Census<State> runs() const requires(!std::same_as<Pipeline, PairPipeline>) {
    return runs_of<State>(size(), [this](AgentCount agent) { return state(agent); });
  }

 private:
  using Packed = typename Storage::type;
  static std::span<Packed> allocate(AgentMemory& memory, AgentCount n) {
    // The memory is not cleared, which could take seconds: every agent is put there before it is
    // read.
    static_assert(std::is_trivially_copyable_v<Packed> && std::is_trivially_destructible_v<Packed>);
    std::byte* const bytes = memory.reserve(n * sizeof(Packed)).data();
    return {reinterpret_cast<Packed*>(bytes), n};
  }

  // Agents of one byte are counted by their values; four counters of each, since one of them cannot
  // grow in every cycle.
  Census<State> census_of_bytes(const KeepGoing* keep_going) const {
    std::array<std::array<AgentCount, 4>, 256> counts{};
    for (AgentCount agent = 0; agent < size(); ++agent) {
      ask_to_go_on(keep_going, agent);
      ++counts[std::bit_cast<std::uint8_t>(agents_[agent])][agent % 4];
    }
    Census<State> result;
    for (std::size_t value = 0; value < counts.size(); ++value) {
      const auto& [a, b, c, d] = counts[value];
      const AgentCount count = a + b + c + d;
      if (count == 0) continue;
      const auto packed = std::bit_cast<Packed>(static_cast<std::uint8_t>(value));
      result.emplace_back(Storage::unpack(protocol_, packed), count);
    }
    sort_by_state(result);
    return result;
  }

  // A copy with names gets its own table, since meetings change it.
  void take_agents(const Agents& other) {
    if constexpr (has_names) {
      if (other.named_) {
        table_ = &own_table_.emplace(*other.table_);
        named_.emplace(*other.named_, *table_, room_for_names());
        return;
      }
    }
    std::ranges::copy(other.agents_, agents_.begin());
  }

  std::span<typename Named::Name> room_for_names() requires has_names {
    using Name = typename Named::Name;
    static_assert(sizeof(Name) <= sizeof(Packed));
    auto* const first = reinterpret_cast<Name*>(agents_.data());
    std::uninitialized_default_construct_n(first, size());
    return {first, size()};
  }

  // Gives all agents the name of this state. Names use the memory of the states, which replace them
  // if there are more states than names.
  void try_names(const State& state, [[maybe_unused]] const KeepGoing* keep_going) {
    if constexpr (has_names) {
      if constexpr (MeasuresHolding<P>) {
        if (protocol_.measures_holding()) return;  // a holding time is watched state by state
      }
      if (table_ == nullptr) {
        if (size() < names_from_agents) return;
        table_ = &own_table_.emplace(protocol_);
      }
      named_.emplace(*table_, room_for_names(), state, keep_going);
    }
  }

  // From the last agent to the first, since a state takes more room than a name.
  void store_states() {
    if constexpr (has_names) {
      for (AgentCount agent = size(); agent-- > 0;) {
        const Packed packed = Storage::pack(protocol_, named_->state(agent));
        std::construct_at(&agents_[agent], packed);
      }
      named_.reset();
    }
  }

  void put(AgentCount first, AgentCount count, const State& state) {
    if constexpr (has_names) {
      if (named_) {
        if (named_->put(first, count, state)) return;
        store_states();
      }
    }
    std::fill_n(&agents_[first], count, Storage::pack(protocol_, state));
  }

  void use_team_of([[maybe_unused]] const AgentMemory& memory) {
    if constexpr (has_layers) {
      Team* const team = memory.team();
      if (team == nullptr || size() < detail::layers_from_agents) return;
      if (team->size() < detail::layers_from_threads) return;
      use(*team, detail::LayerSizes::of(size(), team->size()));
    }
  }

  // Carries out some rounds of the budget by the team; returns how many interactions: 0 where they
  // are left to this thread.
  Interactions in_layers(Interactions budget) requires has_layers {
    constexpr std::uint64_t rounds_per_chunk = 16;
    const std::uint64_t round = layered_->interactions_per_round();
    if (budget < round || is_over()) return {};
    const Interactions before = now_;
    finish_drawn();
    if (is_over()) return now_ - before;
    budget = std::min<Interactions>(budget - (now_ - before), round * rounds_per_chunk);
    const auto result =
        layered_->run(tally_, watch_, agents_, pairs_.stream(), budget.as_uint64().value());
    now_ += result.interactions;
    pairs_.skip(result.passed);
    if (!result.can_go_on) layered_.reset();
    return now_ - before;
  }

  // Carries out the interactions that the pipeline has already drawn. The zeros behind them are
  // only prefetched.
  void finish_drawn() {
    const std::span<const std::uint64_t> drawn = pairs_.drawn();
    std::vector<std::uint64_t> meetings(drawn.size() + Pipeline::lookahead);
    std::ranges::copy(drawn, meetings.begin());
    const std::size_t used = meet_all(std::span(meetings).first(drawn.size()));
    end_brief_words();
    pairs_.drop(used);
    now_ += used;
  }

  // Carries out interactions, all of them or up to one that ends the trial; returns how many.
  std::size_t meet_all(std::span<const std::uint64_t> meetings) {
    if constexpr (has_names) {
      if (named_) return by_name(meetings);
    }
    if constexpr (HasBriefWords<P>) {
      if (const std::size_t done = briefly(meetings)) return done;
    }
    return agents_.size_bytes() > prefetch_above_bytes ? by_state<fetch_ahead>(meetings)
                                                       : by_state<0>(meetings);
  }

  std::size_t by_name(std::span<const std::uint64_t> meetings) {
    const auto over = [this] { return is_over(); };
    const std::size_t done =
        named_->bytes() > prefetch_above_bytes
            ? named_->template meet<fetch_ahead>(meetings, tally_, choice_, over)
            : named_->template meet<0>(meetings, tally_, choice_, over);
    if (named_->is_full()) store_states();
    return done;
  }

  // Carries out the first meetings, as many as brief words can express, and returns how many; 0 if
  // agents have no brief words now.
  std::size_t briefly(std::span<const std::uint64_t> meetings) requires HasBriefWords<P> {
    if (!brief_.is_running()) {
      if (!may_be_brief_ || now_ < brief_again_ || !brief_.suits(tally_, watch_)) return 0;
      brief_again_ = now_ + size() * brief_pause_per_agent;
      if (!brief_.begin(agents_)) return 0;
    }
    brief_.look_around(pairs_, tally_, agents_);
    const std::size_t done = brief_.meet(meetings, tally_, agents_, choice_, watch_);
    if (done < meetings.size()) end_brief_words();
    return done;
  }

  void end_brief_words() {
    if constexpr (HasBriefWords<P>) brief_.end(tally_, agents_);
  }

  template <std::size_t ahead>
  std::size_t by_state(std::span<const std::uint64_t> meetings) {
    if constexpr (detail::PatientTallyOf<Tally, P>) {
      if (tally_.is_patient()) {
        return detail::meet_calmly<ahead>(protocol_, tally_, std::span(agents_), meetings, choice_,
                                          [this] { return is_over(); });
      }
    }
    return one_by_one<ahead>(meetings);
  }

  // The plain loop. A positional tally stays in place, for it may be large; of others, as of
  // everything that the loop uses, there is a local copy, which the compiler can keep in registers.
  template <std::size_t ahead>
  std::size_t one_by_one(std::span<const std::uint64_t> meetings) {
    if constexpr (is_positional) {
      return until<ahead>(protocol_, meetings, [this](Meeting meeting, std::size_t number) {
        return may_change(meeting) && meet_in_place(meeting, now_ + number);
      });
    } else {
      Packed* const agents = agents_.data();
      const P protocol = protocol_;
      const Watch watch = watch_;
      Tally tally = std::move(tally_);
      const std::size_t done = until<ahead>(protocol, meetings, [&](Meeting meeting, std::size_t) {
        Packed& u = agents[meeting.initiator()];
        Packed& v = agents[meeting.responder()];
        if (detail::take_shortcut(protocol, u, v)) return false;
        meet(protocol, tally, u, v);
        return is_over(watch, tally);
      });
      tally_ = std::move(tally);
      return done;
    }
  }

  // Calls `is_last` for each interaction and its number, up to the first for which it holds;
  // returns how many. Agents are fetched `ahead` interactions before their turn unless that is 0.
  template <std::size_t ahead, class IsLast>
  [[gnu::always_inline]] std::size_t until(const P& protocol,
                                           std::span<const std::uint64_t> meetings,
                                           IsLast is_last) {
    static_assert(ahead <= Pipeline::lookahead);
    const Packed* const agents = agents_.data();
    [[maybe_unused]] const bool are_far = agents_.size_bytes() > far_above_bytes;
    for (std::size_t done = 0; done < meetings.size();) {
      const std::uint64_t* const word = &meetings[done++];
      if constexpr (ahead > 0) fetch_agents<ahead>(agents, word, are_far);
      detail::fetch_transition(protocol, agents, word);
      if (is_last(Meeting{*word}, done)) return done;
    }
    return meetings.size();
  }

  // The general interaction.
  void meet(const P& protocol, Tally& tally, Packed& initiator, Packed& responder) {
    const State u = Storage::unpack(protocol, initiator);
    const State v = Storage::unpack(protocol, responder);
    State new_u = u;
    State new_v = v;
    protocol.interact(new_u, new_v, choice_);
    initiator = Storage::pack(protocol, new_u);
    responder = Storage::pack(protocol, new_v);
    tally.replace(u, v, new_u, new_v);
  }

  // False only if this interaction changes nothing; an oracle must be asked before each.
  bool may_change([[maybe_unused]] Meeting meeting) const {
    if constexpr (HasNullTest<P> && !AsksOracle<P>) {
      return protocol_.may_change(agents_[meeting.initiator()], agents_[meeting.responder()]) != 0;
    }
    return true;
  }

  struct View {
    const Agents* engine;
    Interactions time;
    State operator()(AgentCount agent) const { return engine->state(agent); }
    Interactions now() const { return time; }
  };

  // True if that interaction, the one with this number, ends the trial.
  [[gnu::noinline]] bool meet_in_place(Meeting meeting, Interactions number) {
    Packed& initiator = agents_[meeting.initiator()];
    Packed& responder = agents_[meeting.responder()];
    const State u = Storage::unpack(protocol_, initiator);
    const State v = Storage::unpack(protocol_, responder);
    State new_u = u;
    State new_v = v;
    this->interact(new_u, new_v);
    if (!AsksOracle<P> && new_u == u && new_v == v) return false;
    initiator = Storage::pack(protocol_, new_u);
    responder = Storage::pack(protocol_, new_v);
    tally_.replace_at(meeting.initiator(), meeting.responder(), u, v, new_u, new_v,
                      View{this, number});
    this->show_oracle(number);
    return is_over();
  }

  using detail::TallyHost<P>::choice_;
  using detail::TallyHost<P>::is_over;
  using detail::TallyHost<P>::protocol_;
  using detail::TallyHost<P>::tally_;
  using detail::TallyHost<P>::watch_;

  Pipeline pairs_;
  std::span<Packed> agents_;
  std::optional<MeetingTable> own_table_;
  MeetingTable* table_ = nullptr;
  std::optional<Named> named_;  // the agents, as long as their states have names
  Interactions now_;

  [[no_unique_address]] typename detail::LayersOf<P, Pipeline>::type layered_;  // with a team
  using Brief = typename detail::BriefAgentsOf<P, Pipeline>::type;
  [[no_unique_address]] Brief brief_{protocol_};  // the agents, as long as they have brief words
  bool may_be_brief_ = false;
  Interactions brief_again_;  // not before
};

// Whether `auto` may store n agents in an array; larger populations are left to their counts.
template <PopulationProtocol P>
constexpr bool may_use_agents(AgentCount n) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  return n <= std::min<AgentCount>(Agents<P>::most_agents, most_bytes / Agents<P>::bytes_per_agent);
}

}  // namespace conclave::population
