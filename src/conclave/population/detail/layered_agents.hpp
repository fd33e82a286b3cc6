// Agents whose interactions a team of threads carries out together: one long trial on all
// processors, interaction by interaction the same as on one. In a round every thread draws and
// arranges a stretch of the schedule of its own (schedule_layers.hpp), jumping over those of the
// others; then all threads execute these stretches one after the other, each a part of every layer:
//
//     thread 0    draws stretch 0 | a part of layer 0 | a part of layer 1 | ...
//     thread 1    draws stretch 1 | a part of layer 0 | a part of layer 1 | ...
//
// The tally is notified after each stretch, in the order of the interactions where that matters.
// What was executed beyond the one that ends the trial is taken back. So is everything from the
// first interaction on that draws a random number, since which words it gets depends on all before
// it: such a trial goes on with one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/base/jump.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/team.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/detail/calm_meetings.hpp"
#include "conclave/population/detail/schedule_layers.hpp"
#include "conclave/population/detail/tally_host.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// Smaller populations have too few interactions in a layer. With fewer threads the gain is small:
// arranging interactions takes half as long as carrying them out (docs/explanation/performance.md).
inline constexpr AgentCount layers_from_agents = AgentCount{1} << 19;
inline constexpr unsigned layers_from_threads = 4;

// Protocols whose tally can be notified of many interactions at once, on the complete graph.
template <class P, class Pipeline>
concept HasLayers =
    std::same_as<Pipeline, PairPipeline> && !MeetsFewStates<P> &&
    CensusTallyOf<typename TallyFor<P>::type, P> && !has_milestones<typename TallyFor<P>::type>;

// The team outlives it. Use by one thread, which is the team's member 0.
template <HasLayers<PairPipeline> P>
class LayeredAgents {
 public:
  using Source = AllPairs;
  using State = typename P::State;
  using Tally = typename TallyFor<P>::type;
  using Packed = typename Stored<P>::type;

  LayeredAgents(const P& protocol, const Source& source, Team& team, const LayerSizes& sizes)
      : protocol_(protocol),
        source_(source),
        team_(team),
        sizes_(sizes),
        to_next_(Jump::of(sizes.stretch / Lanes::count)) {
    for (unsigned member = 0; member + 1 < team.size(); ++member) over_ = over_.then(to_next_);
    for (unsigned member = 0; member < team.size(); ++member) {
      members_.push_back(std::make_unique<Member>(sizes));
      members_.back()->events.reserve(sizes.stretch / team.size() + 256);  // with each layer's rest
    }
    log_.resize(members_.front()->layers.places());
  }
  LayeredAgents(const LayeredAgents& other) = delete;

  // Fewer interactions than this are not worth a round.
  std::uint64_t interactions_per_round() const {
    return std::uint64_t{sizes_.stretch} * members_.size();
  }

  // Carries out interactions of the schedule, at most `budget`, up to one after which the watched
  // event has happened. Leaves `schedule` at a stretch of which it has carried out the first
  // `passed` interactions: 0 unless the event has happened or `can_go_on` is false from now on.
  struct Result {
    std::uint64_t interactions;
    std::uint64_t passed;
    bool can_go_on;
  };
  Result run(Tally& tally, Watch watch, std::span<Packed> agents, Lanes::State& schedule,
             std::uint64_t budget) {
    tally_ = &tally;
    watch_ = watch;
    agents_ = agents;
    start_ = schedule;
    budget_ = budget;
    done_ = passed_ = 0;
    is_over_ = false;
    for (auto& member : members_) {
      member->ready.store(ScheduleLayers::latency - 1, std::memory_order_relaxed);
    }
    team_.run([this](unsigned member) { work(member); });
    schedule = start_;
    rest();
    return {done_, passed_, can_go_on_};
  }

  // Whether a call is worth it. Not where other processes have often taken the processors of
  // members in the last one: then some chunks are left to one thread, more of them each time.
  bool is_worth_it() {
    if (rest_ == 0) return true;
    --rest_;
    return false;
  }

 private:
  // An interaction that the tally must be notified of.
  struct Event {
    std::uint32_t number;  // in its stretch
    State u, v, new_u, new_v;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Member {
    explicit Member(const LayerSizes& sizes) : layers(sizes) {}

    ScheduleLayers layers;
    Lanes::State begin{};           // of the schedule at its stretch
    bool is_arranged = true;        // its stretch
    std::vector<Event> events;      // of the stretch that is executed
    std::uint32_t drawn_at = none;  // the first interaction in it that drew a random number
    // The last layer, of all stretches, for which others need not wait for this member.
    alignas(64) std::atomic<std::uint64_t> ready = 0;
  };
  // Where a member is among all layers, which all count alike.
  struct Place {
    std::uint64_t layers = 0;  // those before this stretch
    std::uint64_t ready = 0;   // all are for this layer, as far as it knows
    std::uint64_t long_waits = 0;
  };

  unsigned size() const { return static_cast<unsigned>(members_.size()); }

  // After a call in which members often had to wait for long.
  void rest() {
    constexpr unsigned longest = 256;
    const std::uint64_t rounds = done_ / interactions_per_round() + 1;
    usual_rest_ = long_waits_ > 4 * rounds ? std::min(2 * usual_rest_ + 1, longest) : 0;
    rest_ = usual_rest_;
  }

  // --- by every member ---

  void work(unsigned me) {
    Member& own = *members_[me];
    alignas(64) Lanes::State schedule = start_;  // as the kernels that draw from it want it
    for (unsigned i = 0; i < me; ++i) to_next_.advance(schedule);
    for (Place place; !is_over_;) {
      own.begin = schedule;
      own.is_arranged = own.layers.draw(schedule, source_);
      over_.advance(schedule);
      team_.wait_for_all();
      for (unsigned stretch = 0; stretch < size() && !is_over_; ++stretch) {
        if (is_next(stretch)) execute(me, members_[stretch]->layers, place);
        team_.wait_for_all();
        if (me == 0) settle(stretch);
        team_.wait_for_all();
      }
      if (me == 0) long_waits_ = place.long_waits;
    }
  }

  // Whether this stretch can be executed as a whole.
  bool is_next(unsigned stretch) const {
    const Member& member = *members_[stretch];
    return member.is_arranged && member.layers.interactions() <= budget_ - done_;
  }

  void execute(unsigned me, const ScheduleLayers& layers, Place& place) {
    const P protocol = protocol_;
    const Tally& tally = *tally_;
    Member& own = *members_[me];
    const std::uint64_t* const pairs = layers.pairs();
    Packed* const agents = agents_.data();
    Before* const log = log_.data();
    const bool are_far = agents_.size_bytes() > far_above_bytes;
    for (std::uint32_t layer = 0; layer < layers.layers(); ++layer) {
      const std::uint64_t size_of_layer = layers.size(layer);
      const std::size_t first = layers.first(layer) + size_of_layer * me / size();
      const std::size_t end = layers.first(layer) + size_of_layer * (me + 1) / size();
      for (std::size_t i = first; i < std::min(first + ahead, end); ++i) {
        __builtin_prefetch(agents + Meeting{pairs[i]}.initiator(), 1);
        __builtin_prefetch(agents + Meeting{pairs[i]}.responder(), 1);
      }
      wait_for(place.layers + layer, place);
      for (std::size_t i = first; i < end; ++i) {
        fetch_agents<ahead>(agents, &pairs[i], are_far);
        Packed& u = agents[Meeting{pairs[i]}.initiator()];
        Packed& v = agents[Meeting{pairs[i]}.responder()];
        log[i] = {u, v};
        if (!take_shortcut(protocol, u, v)) {
          interact(protocol, tally, u, v, layers.numbers()[i], own);
        }
      }
      own.ready.store(place.layers + layer + ScheduleLayers::latency, std::memory_order_release);
    }
    place.layers += layers.layers();
    std::ranges::sort(own.events, {}, &Event::number);
  }

  // Until all members are ready for this layer.
  void wait_for(std::uint64_t layer, Place& place) {
    for (unsigned turn = 0; place.ready < layer; ++turn) {
      if (turn > 0) team_.pause(turn);
      if (turn == Team::long_turns) ++place.long_waits;
      place.ready = ~std::uint64_t{0};
      for (const auto& member : members_) {
        place.ready = std::min(place.ready, member->ready.load(std::memory_order_acquire));
      }
    }
  }

  [[gnu::always_inline]] static void interact(const P& protocol, const Tally& tally, Packed& u,
                                              Packed& v, std::uint32_t number, Member& own) {
    NoticedChoice choice;
    const State old_u = Stored<P>::unpack(protocol, u);
    const State old_v = Stored<P>::unpack(protocol, v);
    State new_u = old_u;
    State new_v = old_v;
    protocol.interact(new_u, new_v, choice);
    if (choice.is_asked) [[unlikely]]
      own.drawn_at = std::min(own.drawn_at, number);
    u = Stored<P>::pack(protocol, new_u);
    v = Stored<P>::pack(protocol, new_v);
    if (tally.is_counted(old_u, old_v, new_u, new_v)) {
      own.events.push_back({number, old_u, old_v, new_u, new_v});
    }
  }

  // --- by member 0, while the others wait ---

  // After a stretch has been executed, or found to be beyond what may be.
  void settle(unsigned stretch) {
    const ScheduleLayers& layers = members_[stretch]->layers;
    if (!is_next(stretch)) return stop_at(stretch, 0, members_[stretch]->is_arranged);
    std::uint32_t drawn_at = none;
    std::size_t count = 0;
    for (auto& member : members_) {
      drawn_at = std::min(std::exchange(member->drawn_at, none), drawn_at);
      count += member->events.size();
    }
    std::uint32_t end = std::min(drawn_at, layers.interactions());
    // Agents that change in what is counted: two per event.
    const bool is_calm = drawn_at == none && changes_to_stop(*tally_, watch_) > 2 * count;
    if (is_calm) {
      for (const auto& member : members_) {
        for (const Event& event : member->events) notify(event);
      }
    } else {
      end = notify_in_order(end);
    }
    for (auto& member : members_) member->events.clear();
    done_ += end;
    if (end < layers.interactions()) take_back(layers, end);
    if (has_happened<P>(watch_, *tally_) || drawn_at == end) {
      stop_at(stretch, end, drawn_at != end);
    }
  }

  void stop_at(unsigned stretch, std::uint64_t passed, bool can_go_on) {
    is_over_ = true;
    start_ = members_[stretch]->begin;
    passed_ = passed;
    can_go_on_ = can_go_on;
  }

  void notify(const Event& event) { tally_->replace(event.u, event.v, event.new_u, event.new_v); }

  // Notifies the tally of events before the interaction with the number `end`. Returns how many
  // interactions there are up to the watched event, or `end`.
  std::uint32_t notify_in_order(std::uint32_t end) {
    put_in_order();
    for (const Event& event : events_) {
      if (event.number >= end) break;
      notify(event);
      if (has_happened<P>(watch_, *tally_)) return event.number + 1;
    }
    return end;
  }

  // Those of all members, which have put theirs in order.
  void put_in_order() {
    events_.clear();
    std::vector<std::ptrdiff_t> ends{0};
    for (const auto& member : members_) {
      events_.insert(events_.end(), member->events.begin(), member->events.end());
      ends.push_back(static_cast<std::ptrdiff_t>(events_.size()));
    }
    const auto begin = events_.begin();
    const std::size_t runs = members_.size();
    for (std::size_t width = 1; width < runs; width *= 2) {
      for (std::size_t run = 0; run + width < runs; run += 2 * width) {
        std::ranges::inplace_merge(begin + ends[run], begin + ends[run + width],
                                   begin + ends[std::min(run + 2 * width, runs)], {},
                                   &Event::number);
      }
    }
  }

  // The interactions from the number `end` on.
  void take_back(const ScheduleLayers& layers, std::uint32_t end) {
    for (std::uint32_t layer = layers.layers(); layer-- > 0;) {
      const std::size_t first = layers.first(layer);
      for (std::size_t place = first; place < first + layers.size(layer); ++place) {
        if (layers.numbers()[place] < end) continue;
        const Meeting pair{layers.pairs()[place]};
        agents_[pair.initiator()] = log_[place].u;
        agents_[pair.responder()] = log_[place].v;
      }
    }
  }

  static constexpr std::size_t ahead = 24;
  struct Before {
    Packed u, v;
  };

  P protocol_;
  Source source_;
  Team& team_;
  LayerSizes sizes_;
  Jump to_next_;  // stretch
  Jump over_;     // those of the other members
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Before> log_;    // of the stretch that is executed: the agents before
  std::vector<Event> events_;  // of all members, in order

  // The call of `run`. Member 0 writes to it between two barriers.
  Tally* tally_ = nullptr;
  Watch watch_ = Watch::convergence;
  std::span<Packed> agents_;
  Lanes::State start_{};  // of the schedule, at the first stretch that has not been executed
  std::uint64_t budget_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t passed_ = 0;
  bool is_over_ = false;
  bool can_go_on_ = true;
  std::uint64_t long_waits_ = 0;  // of member 0

  unsigned rest_ = 0;  // so many calls are left to one thread
  unsigned usual_rest_ = 0;
};

// Null where no team is used; nothing for others.
struct NoLayers {};
template <class P, class Pipeline>
struct LayersOf : std::type_identity<NoLayers> {};
template <class P, class Pipeline>
  requires HasLayers<P, Pipeline>
struct LayersOf<P, Pipeline> : std::type_identity<std::unique_ptr<LayeredAgents<P>>> {
};

}  // namespace conclave::population::detail
