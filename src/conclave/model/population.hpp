// The concepts of population protocols: what a protocol must offer, and what an engine must offer.
//
// A protocol is a plain struct that knows its parameters and n. It is a value: engines copy it, and
// call its functions, which are all const, from one thread at a time; different copies may be used
// by different threads at once. Everything random in it goes through the Choice that it is given.
// Members beyond those of `PopulationProtocol` are offers to engines, which make it faster or tell
// more about it, and never change what happens: a smaller storage, a null test, a tally.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave {

using AgentCount = std::uint64_t;

// The output of an agent.
enum class Role : std::uint8_t { follower, leader };

// The value of an observable in one trial; an empty text where it has none (yet).
struct Observation {
  std::string_view name;
  std::variant<std::uint64_t, bool, double, std::string, Interactions> value;
};

// A protocol for populations of agents that meet in ordered pairs. `initial` is called once for
// each agent, in the order 0 ... n-1, with the number of a start; `interact` changes both states in
// place and must not look at anything else; `role` is the output.
template <class P>
concept PopulationProtocol = Described<typename P::State> &&
    requires(const P& protocol, AgentCount n, typename P::State u, typename P::State v,
             std::size_t start, AnyChoice& choice) {
  { protocol.initial(start, n, choice) } -> std::same_as<typename P::State>;  // of agent n
  { protocol.interact(u, v, choice) } -> std::same_as<void>;  // u initiates, v responds
  { protocol.role(u) } -> std::same_as<Role>;
};

// A protocol of the catalog says what it is. It is built from its Parameters and n; `objection`
// says in one sentence why these do not fit together, or is empty; `state_count` is how many states
// an agent can be in with these parameters. The concept names every required member: what
// satisfies it, make_entry compiles.
template <class P>
concept ListedProtocol = PopulationProtocol<P> &&
    requires(const P& protocol, const typename P::Parameters& parameters, AgentCount n) {
  P::Parameters::fields;
  { P::info } -> std::convertible_to<const ProtocolInfo&>;
  { *P::starts.begin() } -> std::convertible_to<const Start&>;
  { P::starts.size() } -> std::convertible_to<std::size_t>;
  { P::objection(parameters, n) } -> std::same_as<std::string>;
  P(parameters, n);
  { protocol.state_count() } -> std::same_as<Interactions>;
};

// Fails to compile unless P is a ListedProtocol, with a sentence for each member that is missing.
template <class P>
constexpr void demand_listed_protocol() {
  if constexpr (!requires { requires Described<typename P::State>; }) {
    static_assert(ListedProtocol<P>, "a protocol needs `struct State`, which has a default value, "
                                     "operator== and a line `fields` (base/fields.hpp)");
  } else if constexpr (!requires { P::Parameters::fields; }) {
    static_assert(ListedProtocol<P>, "a protocol needs `struct Parameters` with a line `fields`, "
                                     "or `using Parameters = NoParameters;`");
  } else {
    using State = typename P::State;
    using Parameters = typename P::Parameters;
    static_assert(
        requires(const P& p, AgentCount agent, AnyChoice& choice) {
          { p.initial(std::size_t{0}, agent, choice) } -> std::same_as<State>;
        },
        "a protocol needs `State initial(std::size_t start, AgentCount agent, Choice auto&) "
        "const`");
    static_assert(
        requires(const P& p, State u, State v, AnyChoice& choice) {
          { p.interact(u, v, choice) } -> std::same_as<void>;
        },
        "a protocol needs `void interact(State& u, State& v, Choice auto& choice) const`");
    static_assert(
        requires(const P& p, const State& state) {
          { p.role(state) } -> std::same_as<Role>;
        },
        "a protocol needs `Role role(const State&) const`");
    static_assert(
        requires(const P& p) {
          { p.state_count() } -> std::same_as<Interactions>;
        },
        "a protocol needs `Interactions state_count() const`");
    static_assert(
        requires {
          { P::info } -> std::convertible_to<const ProtocolInfo&>;
        },
        "a protocol needs `static constexpr ProtocolInfo info`");
    static_assert(
        requires {
          { *P::starts.begin() } -> std::convertible_to<const Start&>;
        },
        "a protocol needs `static constexpr std::array starts{Start{...}}`");
    static_assert(
        requires(const Parameters& parameters, AgentCount n) {
          { P::objection(parameters, n) } -> std::same_as<std::string>;
        },
        "a protocol needs `static std::string objection(const Parameters&, AgentCount n)`");
    static_assert(std::constructible_from<P, const Parameters&, AgentCount>,
                  "a protocol needs a constructor from (const Parameters&, AgentCount n)");
  }
}

// A protocol that starts anywhere can name any state.
template <class P>
concept SelfStabilizing = PopulationProtocol<P> && requires(const P& protocol, AnyChoice& choice) {
  { protocol.arbitrary(choice) } -> std::same_as<typename P::State>;
};

// Where a protocol runs: on the complete graph unless it names another topology.
template <PopulationProtocol P>
inline constexpr Topology topology_of = Topology::complete;
template <PopulationProtocol P>
  requires requires { P::topology; }
inline constexpr Topology topology_of<P> = P::topology;

// A protocol may store a state in fewer bytes than it computes with. unpack(pack(s)) == s for every
// state that can occur.
template <class P>
concept Packing = PopulationProtocol<P> &&
    requires(const P& protocol, typename P::State state, typename P::Packed packed) {
  { protocol.pack(state) } -> std::same_as<typename P::Packed>;
  { protocol.unpack(packed) } -> std::same_as<typename P::State>;
};

// A protocol with many states of which few, some hundreds at most, are occupied at a time may say
// so: an engine then gives these short names and looks up what comes of a meeting.
template <class P>
concept MeetsFewStates = PopulationProtocol<P> && requires {
  requires P::meets_few_states;
};

// A protocol that looks transitions up in a table too large for the near caches may fetch the place
// of two states that will probably meet soon.
template <class P>
concept FetchesAhead = PopulationProtocol<P> &&
    requires(const P& protocol, const typename P::State& state) {
  { protocol.fetch(state, state) } -> std::same_as<void>;
};

// A protocol whose interactions mostly change nothing may test that on packed states, without
// branches. Where `may_change` is 0, the interaction leaves both states as they are and makes no
// random choice; `events` on graphs keeps the arcs for which it is not 0.
template <class P>
concept HasNullTest = Packing<P> && requires(const P& protocol, typename P::Packed packed) {
  { protocol.may_change(packed, packed) } -> std::same_as<typename P::Packed>;
};

// A protocol may say that most of its interactions change nothing (`static constexpr bool
// is_mostly_null`): `--engine auto` then jumps over them in small populations.
template <PopulationProtocol P>
constexpr bool is_mostly_null() {
  if constexpr (requires { P::is_mostly_null; }) return P::is_mostly_null;
  return false;
}

// A protocol file is not known beforehand: whether most of its interactions come to change nothing
// while it runs, so that jumping may pay, is for `--engine auto` to find out. Built-in protocols
// know.
template <PopulationProtocol P>
bool may_become_null(const P& protocol) {
  if constexpr (requires { protocol.may_become_null(); }) return protocol.may_become_null();
  return false;
}

// How an engine stores states of a protocol: packed where it can be.
template <PopulationProtocol P>
struct Stored {
  using type = typename P::State;
  static constexpr type pack(const P&, const typename P::State& state) { return state; }
  static constexpr typename P::State unpack(const P&, const type& state) { return state; }
};
template <Packing P>
struct Stored<P> {
  using type = typename P::Packed;
  static constexpr type pack(const P& protocol, const typename P::State& state) {
    return protocol.pack(state);
  }
  static constexpr typename P::State unpack(const P& protocol, type packed) {
    return protocol.unpack(packed);
  }
};

// A tally knows at every interaction whether the protocol has converged. An engine notifies it of
// every agent at the start and of every interaction that may matter; it never scans the agents. It
// is made for a protocol that outlives it. A call is O(1) amortized, or nearly.
template <class T, class P>
concept TallyOf = PopulationProtocol<P> &&
    requires(T& tally, const T& view, const P& protocol, const typename P::State& state) {
  T(protocol);
  { tally.add(state) } -> std::same_as<void>;
  { tally.replace(state, state, state, state) } -> std::same_as<void>;  // u, v before; after
  { view.leaders() } -> std::same_as<AgentCount>;
  { view.converged() } -> std::same_as<bool>;
  { view.hopeless() } -> std::same_as<bool>;  // convergence can never happen any more
  { view.observations() } -> std::same_as<std::vector<Observation>>;
};

// A tally for engines that work in batches. Its counts, apart from milestones, depend on the census
// alone, so that it can be notified of many changes at once, in any order.
template <class T, class P>
concept CensusTallyOf = TallyOf<T, P> &&
    requires(T& tally, const T& view, const typename P::State& state, AgentCount count) {
  { tally.add(state, count) } -> std::same_as<void>;
  { tally.remove(state, count) } -> std::same_as<void>;
  // Whether the counts can differ after this meeting: u, v before; after.
  { view.is_counted(state, state, state, state) } -> std::same_as<bool>;
  // At least this many agents must change in what is counted before the tally converges or becomes
  // hopeless.
  { view.changes_to_stop() } -> std::same_as<AgentCount>;
};

// A tally that records something at the first interaction that reaches a milestone: it must be
// notified of that interaction at its time, with all counts as they are then.
template <class T, class P>
concept HasMilestones = CensusTallyOf<T, P> &&
    requires(const T& view, const typename P::State& state) {
  { view.milestone_of(state, state) } -> std::same_as<std::uint8_t>;  // of u, v after a meeting
  { view.milestone() } -> std::same_as<std::uint8_t>;  // the last one reached; they only grow
};

// A protocol that elects for long but not for ever can measure how long: after convergence, `hold`
// makes its tally watch from then on whether any agent's output has changed.
template <class P>
concept MeasuresHolding = PopulationProtocol<P> &&
    requires(const P& protocol, typename P::Tally& tally, const typename P::Tally& view) {
  { protocol.measures_holding() } -> std::same_as<bool>;  // whether the parameters ask for it
  { tally.hold() } -> std::same_as<void>;
  { view.violated() } -> std::same_as<bool>;
};

// The view that an engine gives to a positional tally: the configuration and the number of
// interactions so far, both after the one it is notified of.
template <class State>
struct AnyView {  // archetype, for concepts only
  State operator()(AgentCount agent) const;
  Interactions now() const;
};

// A tally for protocols on graphs, where it matters which agents have which states. It is built for
// n agents and gets them in order. Interactions that change no state may be kept from it.
template <class T, class P>
concept PositionalTallyOf = PopulationProtocol<P> &&
    requires(T& tally, const T& view, const P& protocol, AgentCount agent,
             const typename P::State& state, const AnyView<typename P::State>& configuration) {
  T(protocol, agent);
  { tally.add(state) } -> std::same_as<void>;
  // Initiator, responder; their states before; after.
  tally.replace_at(agent, agent, state, state, state, state, configuration);
  { view.leaders() } -> std::same_as<AgentCount>;
  { view.converged() } -> std::same_as<bool>;
  { view.hopeless() } -> std::same_as<bool>;
  { view.observations() } -> std::same_as<std::vector<Observation>>;
};

// The event that ends an engine's `advance` before its budget is spent.
enum class Watch : std::uint8_t {
  convergence,  // the protocol converges, or can never do so any more
  violation,    // after `hold`: what was elected has changed
  nothing,
};

// One trial in the making: an engine is built in its starting configuration, and `advance`
// simulates up to `budget` interactions, fewer only if the watched event happens; the last one
// simulated is then the one at which it happened. Engines are not copied and belong to one thread.
template <class E>
concept PopulationEngine = requires(E& engine, const E& view, Interactions budget) {
  { engine.watch(Watch::convergence) } -> std::same_as<void>;
  { view.has_stopped() } -> std::same_as<bool>;  // the watched event has happened
  { view.size() } -> std::same_as<AgentCount>;
  { engine.advance(budget) } -> std::same_as<Interactions>;  // how many it really simulated
  { view.now() } -> std::same_as<Interactions>;              // null interactions are counted too
  { view.leaders() } -> std::same_as<AgentCount>;
  { view.converged() } -> std::same_as<bool>;
  { view.hopeless() } -> std::same_as<bool>;
  { view.observations() } -> std::same_as<std::vector<Observation>>;
};

// An engine of a protocol that MeasuresHolding. After `hold`, `advance` goes on past convergence
// and ends at the first violation instead.
template <class E>
concept HoldingEngine = PopulationEngine<E> && requires(E& engine, const E& view) {
  { view.measures_holding() } -> std::same_as<bool>;
  { engine.hold() } -> std::same_as<void>;
  { view.violated() } -> std::same_as<bool>;
};

}  // namespace conclave
