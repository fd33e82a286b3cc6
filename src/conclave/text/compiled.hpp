// A protocol file made ready to run: parameters and n are fixed, states numbered, transitions
// known. Immutable once made, so that trials on several threads share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/text/arithmetic.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/program.hpp"
#include "conclave/text/protocol_text.hpp"
#include "conclave/text/resolver.hpp"
#include "conclave/text/state_space.hpp"
#include "conclave/text/transitions.hpp"
#include "conclave/text/uniformized.hpp"

namespace conclave::text {

// A parameter as the user gave it.
struct Given {
  std::string name;
  std::string value;
};

// An initial configuration: a census, or every agent in a random state of its own. A start that
// does not fit n says why in `objection`, and must not be used.
struct CompiledStart {
  std::string objection{};
  bool is_random = false;
  std::vector<std::pair<StateIndex, AgentCount>> census{};
  std::vector<AgentCount> ends{};  // the agents of group i are those before ends[i]

  // The next `count` agents have this state.
  void add(StateIndex state, AgentCount count) {
    if (count == 0) return;
    census.emplace_back(state, count);
    ends.push_back((ends.empty() ? 0 : ends.back()) + count);
  }
};

// An input is a number of agents in each of these states. The case that applies to it says on which
// output all agents agree in the end.
struct Computation {
  struct Case {
    Node condition;  // of the input
    Node consensus;  // of a configuration: all agents give the output
    std::string output;
  };
  std::vector<StateIndex> inputs;
  std::vector<Case> cases;
  std::string text;
};

class Compiled {
 public:
  // Fixes the parameters that were given, the defaults of the others, and n >= 2 agents, and works
  // out all transitions where there are few states. Throws Error with the place in the file.
  static std::shared_ptr<const Compiled> make(const std::shared_ptr<const ProtocolText>& text,
                                              const std::vector<Given>& given, AgentCount n);
  // The same with n open: parameters that depend on n and are not given are open, too, and there
  // are neither starts nor conditions (text/counts_model.hpp has those). Throws Error where states
  // or rules depend on n, and for networks.
  static std::shared_ptr<const Compiled> for_every_n(
      const std::shared_ptr<const ProtocolText>& text, const std::vector<Given>& given);
  // How many agents the start of this number has, if that does not depend on n. Throws Error if a
  // given parameter makes no sense or a number of agents is negative.
  static std::optional<AgentCount> fixed_population(const std::shared_ptr<const ProtocolText>& text,
                                                    const std::vector<Given>& given,
                                                    std::size_t start = 0);
  Compiled(const Compiled&) = delete;  // its parts look at each other
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() = default;

  // The file, n, and what was made of them: all live as long as this.
  const ProtocolText& text() const { return *text_; }
  const std::shared_ptr<const ProtocolText>& shared_text() const { return text_; }
  AgentCount agents() const { return n_; }
  const StateSpace& space() const { return *space_; }
  const Transitions& transitions() const { return *transitions_; }
  // As in Transitions, with an Error where the rules turn out to make no sense.
  Reaction reaction(StateIndex u, StateIndex v) const;
  bool reacts(StateIndex u, StateIndex v) const;

  // In the order of the file; the first is the default.
  const std::vector<CompiledStart>& starts() const { return starts_; }
  // Whole numbers and fractions, all exact.
  const std::vector<std::pair<std::string, Number>>& parameters() const { return parameters_; }

  const Resolver::Constants& constants() const { return constants_; }
  // n and the parameters that are open, where n is.
  const std::vector<std::string>& symbols() const { return symbols_; }
  // The state that a target of an initial configuration describes. Throws Mistake.
  StateIndex start_state(const Target& target, Resolver& resolver) const;

  // Whether the file says who leads; otherwise nobody does.
  bool has_leader() const { return text_->document().leader.has_value(); }
  bool leads(StateIndex state) const { return is_in_set(0, state); }

  // The sets of states whose agents are counted; set 0 holds the leaders, and the first
  // decisive_sets() are those that the stop and fail conditions need. Likewise with aggregates.
  const std::vector<CountedSet>& counted() const { return counted_; }
  std::size_t decisive_sets() const { return decisive_sets_; }
  const std::vector<Aggregate>& aggregates() const { return aggregates_; }
  std::size_t decisive_aggregates() const { return decisive_aggregates_; }
  // Those beyond the first observed ones belong to the file's properties, which only
  // property_holds (condition_tally.hpp) evaluates.
  std::size_t observed_sets() const { return observed_sets_; }
  std::size_t observed_aggregates() const { return observed_aggregates_; }
  // Whether the conditions need more than the counts of the first most_lanes sets.
  static constexpr std::size_t most_lanes = 8;
  static constexpr const char* hold_parameter = "hold";  // of every file that has none of its own
  bool follows_states() const { return follows_states_; }
  // Whether an observable needs more than these counts.
  bool observes_census() const { return observes_census_; }
  bool observes_silence() const { return observes_silence_; }

  // These throw Error if the file's expressions have no value for the state.
  bool is_in_set(std::size_t set, StateIndex state) const;
  Number value_of(const Aggregate& aggregate, StateIndex state) const;
  // 1 in the byte of every set that the state belongs to, for the first most_lanes sets.
  std::uint64_t counting_word(StateIndex state) const;
  // The bits of packed states on which these words depend; all bits of dense ones.
  StateIndex counted_bits() const { return counted_bits_; }
  // The same words by dense state; null for packed states.
  const std::uint64_t* counting_steps() const {
    return space_->is_dense() ? counting_steps_.data() : nullptr;
  }
  // Conditions and numbers about the population, to be evaluated in a scene with the counts of
  // counted() and the totals of aggregates(); without `fail when`, there is no fail().
  const Node& stop() const { return stop_; }
  const std::optional<Node>& fail() const { return fail_; }
  const std::vector<Node>& observables() const { return observables_; }
  const std::vector<Node>& properties() const { return properties_; }  // in the file's order
  const std::vector<Node>& goals() const { return goals_; }            // of `eventually`
  const std::vector<Computation>& computations() const { return computations_; }
  bool watches_silence() const { return watches_silence_; }  // the stop or the fail condition
  // The time at which a trial ends, of `stop when ... or time >= 10`; exact and not negative.
  const std::optional<Number>& horizon() const { return horizon_; }
  // How long the stop condition must hold, in parallel time; positive.
  const std::optional<Number>& lasting() const { return lasting_; }
  // The condition that must hold on after the stop, and whether `hold` asks for how long it does.
  const Node& hold() const { return hold_ ? *hold_ : stop_; }
  bool measures_holding() const { return measures_holding_; }
  // Those of the file, and those of holding times where they are measured.
  const std::vector<Observable>& listed_observables() const { return listed_observables_; }

  // For networks of reactions (text/uniformized.hpp): the average number of interactions, there
  // called ticks, per unit of time, and the weights of pairs for engines that jump.
  bool is_network() const { return text_->document().is_network; }
  const Number& ticks_per_time() const { return ticks_per_time_; }
  const std::vector<MassAction>& reactions() const { return reactions_; }
  const Number& volume() const { return volume_; }
  const Channels& channels() const { return channels_; }
  // Whether molecules are born or die. Then there are no ticks, transitions and channels, but this.
  bool is_open() const { return open_.has_value(); }
  const OpenNetwork& open() const { return *open_; }
  bool stops_when_silent() const { return stops_when_silent_; }  // of open networks
  std::uint32_t jump_scale() const { return jump_scale_; }
  const std::uint32_t* jump_weights() const { return jump_weights_.data(); }

  // One sentence each on what looks like an oversight.
  std::vector<std::string> warnings() const;

 private:
  Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given, AgentCount n);
  Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given);
  struct OpenSize {};
  Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given, OpenSize);

  std::optional<AgentCount> init_population(std::size_t start) const;
  void make_network(Resolver& resolver);
  std::vector<MassAction> resolved_reactions(Resolver& resolver) const;
  void make_open_network(Resolver& resolver);
  Number rate_of(const ReactionText& reaction, Resolver& resolver) const;
  void set_silence();

  void check_names() const;
  void set_parameters(const std::vector<Given>& given);
  void set_closed_parameters(const std::vector<Given>& given);
  void check_parameter_names(const std::vector<Given>& given) const;
  Number parameter_value(const ParameterText& parameter, const std::vector<Given>& given,
                         Resolver& resolver) const;
  void make_space(Resolver& resolver);
  Field field(const FieldText& text, Resolver& resolver) const;
  void set_roles(Resolver& resolver);
  CompiledStart start(const StartText& text, Resolver& resolver) const;
  AgentCount round_up_shares(CompiledStart& start, const StartText& text, AgentCount left,
                             Resolver& resolver) const;
  AgentCount item_count(const StartItem& item, AgentCount n, Resolver& resolver) const;
  void spread_evenly(CompiledStart& start, AgentCount agents) const;
  void set_conditions(Resolver& resolver);
  Computation computation(const ComputationText& text, Resolver& resolver) const;
  void set_horizon(Resolver& resolver);
  void set_lasting(Resolver& resolver);
  void set_holding(const std::vector<Given>& given);
  void set_counting();
  std::size_t lanes() const { return std::min(observed_sets_, most_lanes); }

  std::shared_ptr<const ProtocolText> text_;
  AgentCount n_;
  Resolver::Constants constants_;
  std::vector<std::string> symbols_;
  std::vector<std::pair<std::string, Number>> parameters_;
  std::optional<StateSpace> space_;
  std::optional<Transitions> transitions_;
  std::vector<CompiledStart> starts_;
  std::vector<CountedSet> counted_;
  std::size_t decisive_sets_ = 0;
  std::vector<Aggregate> aggregates_;
  std::size_t decisive_aggregates_ = 0;
  std::size_t observed_sets_ = 0;
  std::size_t observed_aggregates_ = 0;
  bool follows_states_ = false;
  bool observes_census_ = false;
  bool observes_silence_ = false;
  std::optional<Number> horizon_;
  std::optional<Number> lasting_;
  std::optional<Node> hold_;
  bool measures_holding_ = false;
  std::vector<Observable> listed_observables_;
  std::vector<std::uint64_t> counting_steps_;
  Program counting_program_;  // of packed states
  StateIndex counted_bits_ = ~StateIndex{0};
  Node stop_;
  std::optional<Node> fail_;
  std::vector<Node> observables_;
  std::vector<Node> properties_;
  std::vector<Node> goals_;
  std::vector<Computation> computations_;
  bool watches_silence_ = false;
  std::vector<MassAction> reactions_;
  Number volume_;
  Number ticks_per_time_;
  Channels channels_;
  std::optional<OpenNetwork> open_;
  bool stops_when_silent_ = false;
  std::uint32_t jump_scale_ = 1;
  std::vector<std::uint32_t> jump_weights_;  // of a network, by ordered pair of states
};

// Whether the parameter of this name may be a fraction. Parameters before it that are not `known`
// have their defaults. False where there is no such parameter, or its range makes no sense.
bool takes_decimals(const Document& document, std::string_view name, Constants known);

}  // namespace conclave::text
