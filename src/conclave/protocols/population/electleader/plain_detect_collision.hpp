// DetectCollision_r as a protocol of agents with plain states, so that the exact module can visit
// configurations of toy sizes. It calls the same transition function as ElectLeader_r, on literal
// arrays of messages, which a state packs into a few words.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "conclave/model/population.hpp"
#include "conclave/protocols/population/electleader/dense_messages.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

namespace conclave::protocols::electleader {

class PlainDetectCollision {
 public:
  using Alone = DetectCollisionAlone<DenseMessages>;
  using Parameters = Alone::Parameters;
  static constexpr auto& info = Alone::info;
  static constexpr auto& starts = Alone::starts;

  struct State {
    std::uint32_t rank = 1;
    Cause cause = Cause::none;  // of the error that it is in; nothing else is kept then
    std::uint64_t signature = 1;
    std::uint32_t counter = 1;
    // Contents by (rank, ID), 0 for none, then observations by ID.
    std::uint64_t cells_1 = 0;
    std::uint64_t cells_2 = 0;
    std::uint64_t cells_3 = 0;
    std::uint64_t cells_4 = 0;
    std::uint64_t cells_5 = 0;
    std::uint64_t cells_6 = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{
        Field{"rank", &State::rank},           Field{"cause", &State::cause},
        Field{"signature", &State::signature}, Field{"counter", &State::counter},
        Field{"cells1", &State::cells_1},      Field{"cells2", &State::cells_2},
        Field{"cells3", &State::cells_3},      Field{"cells4", &State::cells_4},
        Field{"cells5", &State::cells_5},      Field{"cells6", &State::cells_6}};
    static constexpr std::array words{&State::cells_1, &State::cells_2, &State::cells_3,
                                      &State::cells_4, &State::cells_5, &State::cells_6};

    bool is_in_error() const { return cause != Cause::none; }
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    std::string general = Alone::objection(parameters, n);
    if (!general.empty()) return general;
    if (parameters.derandomize == Derandomize::yes) {
      return "detect-collision is verified with derandomize=0 only";
    }
    const Constants constants(parameters, n);
    const MessageSpace space = largest_space(constants);
    const std::uint64_t cells = std::uint64_t{space.m + 1} * space.ids();
    if (cells <= most_cells(bits_of(space))) return {};
    return "too large for an exact computation: an agent of a group of " + std::to_string(space.m) +
           " ranks remembers " + std::to_string(cells) + " contents of " +
           std::to_string(bits_of(space)) + " bits, of which " +
           std::to_string(most_cells(bits_of(space))) +
           " can be followed; take a smaller r, c_M or number of signatures";
  }

  PlainDetectCollision(const Parameters& parameters, AgentCount n)
      : constants_(parameters, n),
        groups_(std::make_shared<const Groups>(constants_.n, constants_.r, constants_.messages)),
        detect_(constants_, *groups_),
        bits_(bits_of(largest_space(constants_))) {}

  AgentCount size() const { return constants_.n; }
  const Groups& groups() const { return *groups_; }
  // The numbers of the group of the agent's rank, and its place there.
  const MessageSpace& space(const State& s) const { return groups_->space_of(standing(s).group); }
  Standing standing(const State& s) const { return groups_->of_rank(s.rank); }
  // The counter at which a new signature is due at the next meeting.
  std::uint32_t last_count(const State& s) const { return detect_.period(standing(s).group) - 1; }

  // The content of the message with this governor and ID, 0 if the agent does not hold it.
  std::uint64_t content(const State& s, std::uint32_t governor, std::uint32_t id) const {
    return cell(s, std::size_t{governor} * space(s).ids() + id);
  }
  // The content that the agent has observed of its own message with this ID.
  std::uint64_t observation(const State& s, std::uint32_t id) const {
    return cell(s, std::size_t{space(s).m} * space(s).ids() + id);
  }

  State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const std::size_t which = Alone::start_of_all[start];
    Stream undrawn({});  // the starts that draw are made below
    return started(
        Starts(constants_, *groups_).make(which, static_cast<std::uint32_t>(agent), undrawn),
        choice);
  }

  // A verifier at its start; random contents are drawn here, not from its key.
  State started(StartingAgent made, Choice auto& choice) const {
    const bool is_scrambled = made.beginning.kind == Beginning::Kind::scrambled;
    made.beginning.kind = Beginning::Kind::clean;
    DenseMessages messages(*groups_, 1);
    messages.enter(0, made.agent.verifier.standing, 0, made.beginning);
    State state = state_of(made.agent.verifier, messages, 0);
    if (is_scrambled) scramble(state, choice);
    return state;
  }

  // Without those in error, from which nothing follows.
  State arbitrary(Choice auto& choice) const {
    State state{.rank = 1 + choice.below(constants_.n)};
    state.signature = space(state).signature(choice);
    state.counter = 1 + choice.below(last_count(state) + 1);
    for (std::uint32_t governor = 0; governor < space(state).m; ++governor) {
      draw_ids(state, governor, choice);
    }
    scramble(state, choice);
    return state;
  }

  // How many states `arbitrary` can give.
  Interactions state_count() const {
    double sum = 0;
    for (std::uint32_t rank = 1; rank <= constants_.n; ++rank) sum += states_with({.rank = rank});
    return sum < 9e18 ? Interactions(static_cast<std::uint64_t>(sum)) : Interactions::max();
  }

  void interact(State& u, State& v, Choice auto& choice) const {
    if (u.is_in_error() || v.is_in_error()) return;      // erratum 30
    if (standing(u).group != standing(v).group) return;  // Protocol 3, lines 1-2
    DenseMessages messages(*groups_, 2);
    Agent a = agent_of(u, messages, 0);
    Agent b = agent_of(v, messages, 1);
    const Cause cause = detect_.interact(a, b, 0, 1, messages, choice);
    u = cause == Cause::none ? state_of(a.verifier, messages, 0) : State{u.rank, cause};
    v = cause == Cause::none ? state_of(b.verifier, messages, 1) : State{v.rank, cause};
  }

  // A verifier that is not in error, whose messages enter a room; and its plain state.
  Agent agent_of(const State& s, DenseMessages& messages, AgentIndex index,
                 std::uint8_t generation = 0) const {
    DenseMessages::Arrays arrays;
    const std::size_t ids = space(s).ids();
    const std::size_t contents = ids * space(s).m;
    for (std::size_t i = 0; i < contents; ++i) arrays.contents.push_back(cell(s, i));
    for (std::size_t i = 0; i < ids; ++i) arrays.observations.push_back(cell(s, contents + i));
    messages.enter(index, standing(s), generation, std::move(arrays));
    Agent agent{.duty = Duty::verifying};
    agent.verifier = {
        .rank = s.rank, .standing = standing(s), .signature = s.signature, .counter = s.counter};
    agent.verifier.generation = generation;
    return agent;
  }

  // The state of a verifier with the messages that it has in the system.
  State state_of(const Verifier& verifier, const DenseMessages& messages, AgentIndex index) const {
    State state{
        .rank = verifier.rank, .signature = verifier.signature, .counter = verifier.counter};
    std::size_t place = 0;
    const DenseMessages::Arrays& arrays = messages.arrays(index);
    for (const std::uint64_t content : arrays.contents) set_cell(state, place++, content);
    for (const std::uint64_t content : arrays.observations) set_cell(state, place++, content);
    return state;
  }

  Role role(const State& s) const { return s.rank == 1 ? Role::leader : Role::follower; }

  // Converged when some agent is in error.
  class Tally {
   public:
    explicit Tally(const PlainDetectCollision&) {}
    void add(const State& state) { in_error_ += state.is_in_error() ? 1 : 0; }
    bool converged() const { return in_error_ > 0; }

   private:
    AgentCount in_error_ = 0;
  };

 private:
  // The first group is the largest.
  static MessageSpace largest_space(const Constants& constants) {
    return Groups(constants.n, constants.r, constants.messages).space_of(0);
  }
  static std::uint32_t bits_of(const MessageSpace& space) {
    return static_cast<std::uint32_t>(std::bit_width(space.contents));
  }
  static std::uint64_t most_cells(std::uint32_t bits) { return State::words.size() * (64 / bits); }

  std::uint64_t cell(const State& s, std::size_t index) const {
    const std::size_t per_word = 64 / bits_;
    const std::uint64_t word = s.*State::words[index / per_word];
    return word >> (index % per_word * bits_) & ((std::uint64_t{1} << bits_) - 1);
  }
  void set_cell(State& s, std::size_t index, std::uint64_t value) const {
    const std::size_t per_word = 64 / bits_;
    const std::size_t shift = index % per_word * bits_;
    std::uint64_t& word = s.*State::words[index / per_word];
    word = (word & ~(((std::uint64_t{1} << bits_) - 1) << shift)) | value << shift;
  }

  // Holds any block of IDs of one rank, with content 1; all sets of them are equally likely.
  void draw_ids(State& s, std::uint32_t governor, Choice auto& choice) const {
    const std::uint32_t ids = space(s).ids();
    std::uint32_t missing = space(s).block;
    for (std::uint32_t id = 0; id < ids; ++id) {
      if (!choice.chance(missing, ids - id)) continue;
      set_cell(s, std::size_t{governor} * ids + id, 1);
      --missing;
    }
  }

  // Gives all observations and all messages that it holds random contents; those that it governs
  // itself are as observed.
  void scramble(State& s, Choice auto& choice) const {
    const MessageSpace& all = space(s);
    const std::size_t ids = all.ids();
    for (std::size_t id = 0; id < ids; ++id) {
      set_cell(s, ids * all.m + id, 1 + below64(choice, all.contents));
    }
    for (std::size_t i = 0; i < ids * all.m; ++i) {
      if (cell(s, i) == 0) continue;
      const bool is_own = i / ids == standing(s).position;
      set_cell(s, i, is_own ? cell(s, ids * all.m + i % ids) : 1 + below64(choice, all.contents));
    }
  }

  // By multiplication alone, which is the same on every machine.
  static double power(double base, std::uint32_t exponent) {
    double result = 1;
    for (std::uint32_t i = 0; i < exponent; ++i) result *= base;
    return result;
  }

  double states_with(const State& s) const {
    const MessageSpace& all = space(s);
    double sets = 1;  // of IDs: all.ids() over all.block
    for (std::uint32_t i = 0; i < all.block; ++i) sets *= double(all.ids() - i) / (i + 1);
    const std::uint32_t free = all.ids() + all.block * (all.m - 1) + 1;
    return std::round(power(sets, all.m)) * power(static_cast<double>(all.contents), free) *
           (last_count(s) + 1);
  }

  Constants constants_;
  // Shared, since copies of the protocol look at the same groups through `detect_`.
  std::shared_ptr<const Groups> groups_;
  DetectCollision detect_;
  std::uint32_t bits_;
};

}  // namespace conclave::protocols::electleader
