// Gillespie's direct method in whole numbers, for protocols that are networks of reactions with few
// channels (ways to react): jumps from one reaction to the next with geometric waiting times, and
// draws the reaction by its share of all. `auto` uses it while most interactions are null
// (population/adaptive.hpp).
//
// At each interaction, channel r happens with probability w_r x_r y_r / total: w_r is its weight,
// x_r the number of agents of its first reactant, and y_r that of the second one, or 1 if there is
// none; of two equal reactants y_r is x_r - 1. These shares are 64-bit integers and so exact; after
// a reaction only those whose reactants have changed are computed anew.
//
// A waiting time takes a logarithm of the sum of all shares, which every reaction changes. So the
// engine waits for candidates instead, which come at the rate of a bound that is a little larger
// and is kept for many reactions; a candidate is a reaction with probability sum / bound.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/detail/tally_host.hpp"

namespace conclave::population {

// channels() lists `reactants` and `products` (two species each), `is_pair` and `weight`; without
// `is_pair` only the first of each counts. channel_total() is at most 2^62, and 0 where the numbers
// do not fit and there is no list. Species are the numbers 0 ... state_count()-1 of states.
template <class P>
concept HasChannels = requires(const P& protocol, const typename P::State& state) {
  { protocol.channel_total() } -> std::same_as<std::uint64_t>;
  protocol.channels().front().weight;
  { protocol.species_of(state) } -> std::same_as<std::size_t>;
  { protocol.state_of_species(0) } -> std::same_as<typename P::State>;
};

// Exact in law as far as Geometric is. O(channels) per reaction, most of it a sum of integers.
template <HasChannels P>
class DirectMethod : public detail::TallyHost<P> {
 public:
  using typename detail::TallyHost<P>::State;
  using typename detail::TallyHost<P>::Tally;
  static_assert(CensusTallyOf<Tally, P> && !HasMilestones<Tally, P>);

  // channel_total() must not be 0.
  DirectMethod(const P& protocol, AgentCount n, const Census<State>& census, const StreamName& name)
      : detail::TallyHost<P>(protocol, n, name),
        n_(n),
        total_(protocol.channel_total()),
        no_species_(static_cast<Species>(protocol.state_count().as_wide())),
        counts_(std::size_t{no_species_} + 1),
        schedule_(name.with(Purpose::schedule)) {
    counts_[no_species_] = 1;  // the partner of who reacts alone
    for (const auto& each : protocol_.channels()) add_channel(each);
    list_affected();
    for (const auto& [state, count] : census) {
      counts_[protocol_.species_of(state)] += count;
      detail::add_to(tally_, state, count);
    }
    tallied_ = counts_;
    for (std::size_t i = 0; i < channels_.size(); ++i) refresh(i);
    draw_candidate();
  }

  // Simulates up to `budget` interactions, fewer only if the watched event happens, or after this
  // many reactions.
  Interactions advance(Interactions budget, std::uint64_t most_reactions = UINT64_MAX) {
    const Interactions before = now_;
    const Interactions end =
        budget < Interactions::max() - now_ ? now_ + budget : Interactions::max();
    const std::uint64_t pause = reactions_ + std::min(most_reactions, UINT64_MAX - reactions_);
    while (!has_stopped() && now_ < end && reactions_ < pause) {
      react_until(end, std::min(pause - reactions_, calm_reactions()));
      notify_tally();
    }
    return now_ - before;
  }

  AgentCount size() const { return n_; }
  // Interactions so far, and how many of them were reactions.
  Interactions now() const { return now_; }
  std::uint64_t reactions() const { return reactions_; }
  std::vector<Observation> observations() const { return detail::observations_of(tally_, *this); }
  bool hopeless() const { return tally_.hopeless() || (is_silent() && !tally_.converged()); }
  // The watched event has happened, or, while convergence is watched, nothing can react any more.
  bool has_stopped() const {
    return this->is_over() || (is_silent() && this->watch_ == Watch::convergence);
  }
  // The occupied species, in the order of their numbers. O(species).
  Census<State> census() const {
    Census<State> result;
    for (std::size_t i = 0; i < no_species_; ++i) {
      if (counts_[i] != 0) result.emplace_back(protocol_.state_of_species(i), counts_[i]);
    }
    return result;
  }

  // The cost of an interaction at present, in nanoseconds on a common machine: an estimate, the
  // same on every machine.
  double cost() const {
    const double reacting = static_cast<double>(weight_) / static_cast<double>(total_);
    return reacting * (20 + 1.6 * static_cast<double>(channels_.size()));
  }

 private:
  using Species = std::uint32_t;

  struct Channel {
    std::array<Species, 2> reactants;
    std::array<Species, 2> products;
    std::uint64_t weight;
    std::uint32_t is_dimer;  // 1: two equal reactants
    std::uint32_t affected;  // the part of affected_ that is its own
    std::uint32_t affected_end;
  };

  template <class Listed>
  void add_channel(const Listed& listed) {
    Channel channel{{}, {}, listed.weight, 0, 0, 0};
    channel.reactants.fill(no_species_);
    channel.products = channel.reactants;
    for (std::size_t i = 0; i < (listed.is_pair ? 2u : 1u); ++i) {
      channel.reactants[i] = static_cast<Species>(listed.reactants[i]);
      channel.products[i] = static_cast<Species>(listed.products[i]);
    }
    channel.is_dimer = channel.reactants[0] == channel.reactants[1] ? 1 : 0;
    channels_.push_back(channel);
    shares_.push_back(0);
  }

  void list_affected() {
    for (Channel& channel : channels_) {
      channel.affected = static_cast<std::uint32_t>(affected_.size());
      for (std::size_t other = 0; other < channels_.size(); ++other) {
        const auto& needed = channels_[other].reactants;
        if (changes(channel, needed[0]) || changes(channel, needed[1])) {
          affected_.push_back(static_cast<std::uint32_t>(other));
        }
      }
      channel.affected_end = static_cast<std::uint32_t>(affected_.size());
    }
  }

  static bool changes(const Channel& channel, Species species) {
    return std::ranges::count(channel.reactants, species) !=
           std::ranges::count(channel.products, species);
  }

  void refresh(std::size_t index) {
    const Channel& channel = channels_[index];
    const std::uint64_t share = channel.weight * counts_[channel.reactants[0]] *
                                (counts_[channel.reactants[1]] - channel.is_dimer);
    weight_ += share - shares_[index];
    shares_[index] = share;
  }

  bool is_silent() const { return weight_ == 0; }

  // How many reactions cannot bring about the watched event, at least 1: each changes two agents at
  // most.
  std::uint64_t calm_reactions() const {
    if (this->watch_ == Watch::nothing) return UINT64_MAX;
    const AgentCount changes = tally_.changes_to_stop();
    return changes < 3 ? 1 : (changes - 1) / 2;
  }

  void react_until(Interactions end, std::uint64_t most) {
    const std::uint64_t pause = reactions_ + std::min(most, UINT64_MAX - reactions_);
    while (reactions_ < pause) {
      if (next_candidate_ > end) {
        now_ = end;
        return;
      }
      now_ = next_candidate_;
      const std::uint64_t pick = schedule_.below64(bound_);
      if (pick < weight_) react(pick);
      draw_candidate();
    }
  }

  void draw_candidate() {
    if (weight_ > bound_ || weight_ < bound_ - bound_ / 8) set_bound();
    next_candidate_ = Interactions::max();
    if (is_silent()) return;
    const Interactions wait = wait_(schedule_);
    if (wait < Interactions::max() - now_) next_candidate_ = now_ + wait;
  }

  void set_bound() {
    bound_ = std::min(total_, weight_ + weight_ / 16);
    if (!is_silent()) wait_ = Geometric(bound_, total_);
  }

  void react(std::uint64_t pick) {
    ++reactions_;
    std::size_t index = 0;
    for (; pick >= shares_[index]; ++index) pick -= shares_[index];
    const Channel& channel = channels_[index];
    for (std::size_t i = 0; i < 2; ++i) {
      --counts_[channel.reactants[i]];
      ++counts_[channel.products[i]];
    }
    for (std::uint32_t i = channel.affected; i < channel.affected_end; ++i) refresh(affected_[i]);
  }

  // Notifies the tally of how the census has changed since the last call.
  void notify_tally() {
    for (std::size_t i = 0; i < no_species_; ++i) {
      if (counts_[i] == tallied_[i]) continue;
      const State state = protocol_.state_of_species(i);
      if (counts_[i] < tallied_[i]) tally_.remove(state, tallied_[i] - counts_[i]);
      if (counts_[i] > tallied_[i]) tally_.add(state, counts_[i] - tallied_[i]);
      tallied_[i] = counts_[i];
    }
  }

  using detail::TallyHost<P>::protocol_;
  using detail::TallyHost<P>::tally_;

  AgentCount n_;
  std::uint64_t total_;
  Species no_species_;               // the number after the last species
  std::vector<AgentCount> counts_;   // by species
  std::vector<AgentCount> tallied_;  // the same at the last call of notify_tally
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> affected_;  // channels, by the channel that affects them
  std::vector<std::uint64_t> shares_;    // of the total, by channel
  std::uint64_t weight_ = 0;             // their sum
  std::uint64_t bound_ = 0;              // at least the sum, at most the total
  Geometric wait_;                       // for the next candidate, at the rate of the bound
  Stream schedule_;
  Interactions now_;
  Interactions next_candidate_;
  std::uint64_t reactions_ = 0;
};

}  // namespace conclave::population
