// Agents by their brief words (model/brief_words.hpp). The trial is the same, interaction by
// interaction: meetings of agents that must be looked at are carried out as the protocol says, and
// at the end of the stretch the last meetings are drawn once more, for what the words do not tell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/brief_words.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/detail/brief_loops.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// For what brief words have no place for, one number per agent that says how recently it has heard
// of a leader: after a meeting both agents
// have the larger number less one, except that leaders stay at the top.
//
// It may begin with upper bounds in place of the numbers. An agent whose number then comes from a
// leader has the true one: no other chain of meetings reaches more, even with the bounds. So a
// number is kept doubled, plus one if it comes from a leader or was set, and among equal numbers
// the true one prevails.
class HeardOfLeaders {
 public:
  explicit HeardOfLeaders(std::uint32_t most) : top_(most * 2 + 3) {}

  // All agents at the bound; the leaders, or true numbers, follow one by one.
  void begin(std::size_t n) { numbers_.assign(n, top_ - 3); }
  void lead(std::uint32_t agent) { numbers_[agent] = top_; }
  void resign(std::uint32_t agent) { numbers_[agent] = top_ - 2; }
  void set(std::uint32_t agent, std::uint32_t number) { numbers_[agent] = number * 2 + 1; }

  // Carries out these interactions, in which nobody becomes a leader or resigns.
  void meet(std::span<const std::uint64_t> meetings) {
    std::uint32_t* const numbers = numbers_.data();
    for (const std::uint64_t word : meetings) {
      std::uint32_t& u = numbers[Meeting{word}.initiator()];
      std::uint32_t& v = numbers[Meeting{word}.responder()];
      const std::uint32_t next = std::max(u, v) - 2;
      u = u == top_ ? u : next;
      v = v == top_ ? v : next;
    }
  }

  // Whether every number is the true one.
  bool is_true() const {
    return std::ranges::all_of(numbers_, [](std::uint32_t number) { return number % 2 == 1; });
  }
  // Leaders have heard as much as those whom they meet.
  std::uint32_t number(std::uint32_t agent) const {
    return std::min(numbers_[agent], top_ - 2) / 2;
  }

 private:
  std::uint32_t top_;
  std::vector<std::uint32_t> numbers_;
};

template <HasBriefWords P, class Pipeline>
class BriefAgents {
 public:
  using Packed = typename P::Packed;
  using Tally = typename P::Tally;

  // The numbers heard are first recalled from the last meetings, at least this many per agent.
  // With one leader the last 17 suffice on average at n = 1000, and the last 29 at n = 10^5; with
  // more leaders fewer.
  explicit BriefAgents(const P& protocol, std::uint64_t meetings_to_recall = 32)
      : protocol_(protocol),
        brief_(protocol),
        meetings_to_recall_(meetings_to_recall),
        recalled_(brief_.most_heard()) {}

  bool is_running() const { return !words_.empty(); }

  // Whether a stretch may begin: nothing can end the trial but a meeting that is looked at.
  bool suits(const Tally& tally, Watch watch) const {
    return brief_.suits(tally) && tally.leaders() >= least_leaders(watch);
  }

  // Takes the agents over, if the states of all have words. O(n).
  bool begin(std::span<const Packed> agents) {
    if (!std::ranges::all_of(agents, [this](Packed agent) { return brief_.fits(agent); })) {
      return false;
    }
    are_levels_over_ = false;  // found out at the first look around
    leaders_.clear();
    heard_.resize(agents.size());
    words_.resize(agents.size());
    patience_.resize(agents.size());
    for (std::uint32_t agent = 0; agent < agents.size(); ++agent) {
      heard_[agent] = brief_.heard(agents[agent]);
      if (brief_.leads(agents[agent])) leaders_.push_back(agent);
      arm(agent, agents[agent]);
    }
    met_ = look_around_at_ = 0;
    leaders_calm_ = followers_calm_ = {};
    return true;
  }

  // To be called before meetings, with the pipeline that draws them.
  void look_around(const Pipeline& pairs, Tally& tally, std::span<Packed> agents) {
    if (met_ < look_around_at_) return;
    look_around_at_ = met_ + agents.size() * meetings_between_looks;
    keep(pairs);
    if (are_levels_over_) return;
    are_levels_over_ = std::ranges::all_of(
        words_, [](std::uint32_t word) { return BriefWord(word).level() == 0; });
    if (!are_levels_over_) return;
    arm_leaders(tally, agents);
    leaders_calm_ = {};
  }

  // Carries out meetings up to one that may end the trial, or with which the stretch ends.
  std::size_t meet(std::span<const std::uint64_t> meetings, Tally& tally, std::span<Packed> agents,
                   Stream& choice, Watch watch) {
    std::size_t done = 0;
    while (done < meetings.size()) {
      const std::size_t next = meet_some(meetings.subspan(done));
      done += next;
      if (next > 0) continue;
      if (!meet_looking(Meeting{meetings[done]}, tally, agents, choice, watch)) break;
      ++done;
      ++met_;
    }
    return done;
  }

  // Gives the agents back, if it has them. O(n), and some forty meetings per agent are drawn again.
  void end(Tally& tally, std::span<Packed> agents) {
    if (!is_running()) return;
    recall();
    for (std::uint32_t agent = 0; agent < agents.size(); ++agent) {
      store(agent, brief_.having_heard(now(agent, agents), recalled_.number(agent)), tally, agents);
    }
    words_.clear();
    moments_.clear();
    losses_.clear();
  }

 private:
  // Some meetings without a look; 0 if the next one needs it.
  std::size_t meet_some(std::span<const std::uint64_t> meetings) {
    const Calm calm = next_calm();
    const auto some = meetings.first(std::min<std::uint64_t>(calm.until - met_, meetings.size()));
    const std::size_t done = calm.looks ? meet_by<true>(some) : meet_by<false>(some);
    met_ += done;
    return done;
  }

  template <bool looks>
  std::size_t meet_by(std::span<const std::uint64_t> meetings) {
    constexpr BriefLoop levels{.has_levels = true, .looks = looks};
    constexpr BriefLoop counts{.has_levels = false, .looks = looks};
    return are_levels_over_ ? meet_in_words<counts>(words_, meetings)
                            : meet_in_words<levels>(words_, meetings);
  }

  // Up to some meeting either none of the leaders, or of the followers, needs a look, or every
  // meeting has to check.
  struct Calm {
    std::uint64_t until = 0;
    bool looks = true;
  };

  // A meeting takes at most one interaction of an agent's patience. Where the next look is so near
  // that finding out when does not pay, each of the next `step` meetings checks.
  Calm calm_of(std::uint32_t largest_low_half, std::uint64_t step) const {
    const std::uint64_t patience = BriefWord::look_bit - 1 - largest_low_half;
    return {.until = met_ + std::max(patience, step), .looks = patience < step};
  }
  std::uint64_t leaders_step() const { return 64 + 8 * leaders_.size(); }

  // While meetings check because of leaders, it does not matter whether followers are calm.
  Calm next_calm() {
    if (met_ >= leaders_calm_.until) leaders_calm_ = calm_of(largest_of_leaders(), leaders_step());
    if (leaders_calm_.looks) return leaders_calm_;
    if (met_ >= followers_calm_.until) {
      followers_calm_ = calm_of(largest_of_followers(), 64 + words_.size() / 4);
    }
    return {.until = std::min(leaders_calm_.until, followers_calm_.until),
            .looks = followers_calm_.looks};
  }

  std::uint32_t largest_of_leaders() const {
    std::uint32_t largest = 0;
    for (const std::uint32_t leader : leaders_) {
      largest = std::max(largest, words_[leader] & BriefWord::low_half);
    }
    return largest;
  }

  std::uint32_t largest_of_followers() {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t leader : leaders_) kept.push_back(std::exchange(words_[leader], 0));
    const std::uint32_t largest = largest_low_half(words_);
    for (std::size_t k = 0; k < kept.size(); ++k) words_[leaders_[k]] = kept[k];
    return largest;
  }

  // Where meetings can be drawn again from.
  struct Moment {
    std::uint64_t met;
    Pipeline pairs;
    std::vector<std::uint32_t> leaders;
  };
  struct Loss {
    std::uint64_t met;  // before the meeting
    std::uint32_t agent;
  };

  static constexpr std::uint64_t meetings_between_looks = 12;  // per agent
  static constexpr std::size_t kept_moments = 8;

  static AgentCount least_leaders(Watch watch) { return watch == Watch::convergence ? 2 : 1; }

  void arm(std::uint32_t agent, Packed state) {
    const std::uint32_t patience =
        std::min(brief_.patience(state, are_levels_over_), BriefWord::most_patience);
    patience_[agent] = static_cast<std::uint16_t>(patience);
    words_[agent] = BriefWord::of(brief_.level(state), patience).word();
  }

  // The state now, but for what it has heard.
  Packed now(std::uint32_t agent, std::span<const Packed> agents) const {
    const BriefWord word(words_[agent]);
    return brief_.later(agents[agent], word.interactions(patience_[agent]), word.level());
  }

  // The tally always counts what is stored.
  void store(std::uint32_t agent, Packed state, Tally& tally, std::span<Packed> agents) {
    tally.remove(protocol_.unpack(agents[agent]), 1);
    tally.add(protocol_.unpack(state), 1);
    agents[agent] = state;
  }

  void arm_leaders(Tally& tally, std::span<Packed> agents) {
    for (const std::uint32_t leader : leaders_) {
      store(leader, now(leader, agents), tally, agents);
      arm(leader, agents[leader]);
    }
  }

  // One meeting as the protocol says; false, and nothing has been done, if the stretch ends here.
  bool meet_looking(Meeting meeting, Tally& tally, std::span<Packed> agents, Stream& choice,
                    Watch watch) {
    const std::uint32_t u = meeting.initiator();
    const std::uint32_t v = meeting.responder();
    for (const std::uint32_t agent : {u, v}) {
      const bool is_impatient = BriefWord(words_[agent]).interactions(patience_[agent]) ==
                                std::uint32_t{patience_[agent]};
      if (is_impatient && !brief_.leads(agents[agent])) return false;
    }
    auto new_u = protocol_.unpack(now(u, agents));
    auto new_v = protocol_.unpack(now(v, agents));
    protocol_.interact(new_u, new_v, choice);
    const Packed packed_u = protocol_.pack(new_u);
    const Packed packed_v = protocol_.pack(new_v);
    const bool u_resigns = brief_.leads(agents[u]) && !brief_.leads(packed_u);
    const bool v_resigns = brief_.leads(agents[v]) && !brief_.leads(packed_v);
    if (u_resigns || v_resigns) {
      const AgentCount lost = AgentCount{u_resigns} + AgentCount{v_resigns};
      if (watch == Watch::violation || tally.leaders() < least_leaders(watch) + lost) return false;
    }
    tally.replace(protocol_.unpack(agents[u]), protocol_.unpack(agents[v]), new_u, new_v);
    agents[u] = packed_u;
    agents[v] = packed_v;
    if (u_resigns) lose(u);
    if (v_resigns) lose(v);
    const bool has_level = brief_.level(packed_u) > 0 || brief_.level(packed_v) > 0;
    arm(u, packed_u);
    arm(v, packed_v);
    if (are_levels_over_ && has_level) begin_levels(tally, agents);
    leaders_calm_ = {.until = met_ + 1 + leaders_step(), .looks = true};
    return true;
  }

  void lose(std::uint32_t leader) {
    losses_.push_back({met_, leader});
    std::erase(leaders_, leader);
  }

  // Some agent has a level again. All others were left at 0 or below.
  void begin_levels(Tally& tally, std::span<Packed> agents) {
    are_levels_over_ = false;
    arm_leaders(tally, agents);
  }

  void keep(const Pipeline& pairs) {
    moments_.push_back({met_, pairs, leaders_});
    if (moments_.size() > kept_moments) moments_.erase(moments_.begin() + 1);
  }

  // Finds what every agent has heard: from the last meetings if they are enough, else from all.
  void recall() {
    for (std::size_t k = moments_.size(); k-- > 1;) {
      if (met_ - moments_[k].met < meetings_to_recall_ * words_.size()) continue;
      recalled_.begin(words_.size());
      recall_from(moments_[k]);
      if (recalled_.is_true()) return;
    }
    recalled_.begin(words_.size());
    for (std::uint32_t agent = 0; agent < words_.size(); ++agent) {
      recalled_.set(agent, heard_[agent]);
    }
    recall_from(moments_.front());
  }

  void recall_from(const Moment& moment) {
    for (const std::uint32_t leader : moment.leaders) recalled_.lead(leader);
    Pipeline pairs = moment.pairs;
    std::uint64_t met = moment.met;
    for (const Loss& loss : losses_) {
      if (loss.met < moment.met) continue;
      draw_again(pairs, loss.met + 1 - met);
      met = loss.met + 1;
      recalled_.resign(loss.agent);
    }
    draw_again(pairs, met_ - met);
  }

  void draw_again(Pipeline& pairs, std::uint64_t meetings) {
    while (meetings > 0) {
      const std::span<const std::uint64_t> upcoming = pairs.upcoming();
      const std::size_t some = std::min<std::uint64_t>(upcoming.size(), meetings);
      recalled_.meet(upcoming.first(some));
      pairs.drop(some);
      meetings -= some;
    }
  }

  const P& protocol_;
  typename P::Brief brief_;
  std::uint64_t meetings_to_recall_;
  std::vector<std::uint32_t> words_;     // empty unless it is running
  std::vector<std::uint16_t> patience_;  // of each agent when its word was made
  std::vector<std::uint32_t> heard_;     // by each agent at the beginning
  std::vector<std::uint32_t> leaders_;
  bool are_levels_over_ = false;  // as the last look found: all 0
  std::uint64_t met_ = 0;         // meetings since the beginning
  std::uint64_t look_around_at_ = 0;
  Calm leaders_calm_;
  Calm followers_calm_;
  std::deque<Moment> moments_;  // the beginning and the latest
  std::vector<Loss> losses_;    // of leaders, since the beginning
  HeardOfLeaders recalled_;
};

// Those of a protocol, or nothing where it has no brief words.
template <class P>
struct NoBriefAgents {
  explicit NoBriefAgents(const P&) {}
};
template <class P, class Pipeline>
struct BriefAgentsOf : std::type_identity<NoBriefAgents<P>> {};
template <HasBriefWords P, class Pipeline>
struct BriefAgentsOf<P, Pipeline> : std::type_identity<BriefAgents<P, Pipeline>> {};

}  // namespace conclave::population::detail
