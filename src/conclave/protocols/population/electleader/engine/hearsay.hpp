// A part of the engine inside the protocol: what agents have heard of each other's labels, computed
// on demand.
//
// While deputies hand out labels, every meeting merges two channels of r numbers (Protocol 7, lines
// 8-9), and nothing depends on them before all n labels are given out. So meetings are only written
// down, and merged later: some columns of the channels at a time, since columns do not influence
// each other, so that what is at work fits the caches.
//
// Old meetings are forgotten as soon as they cannot matter. What one agent knew at some time is
// known to all agents at a later time if, in between, chains of meetings lead from all agents to
// one and from that one to all. Both are epidemics over the meetings written down, the first of
// them backward in time, O(1) per meeting. If they succeed, all agents know at the later time at
// least the labels that had been given out at the earlier one, and these with the labels and
// meetings since then are all that is needed. If they do not, meetings are kept until they do: what
// is computed is exact in any case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"

namespace conclave::protocols::electleader {

class Hearsay {
 public:
  // Channels are as the agents have them; `given`: labels given out so far, by deputy, of which no
  // channel has more. O(1) but for the copy.
  void begin(std::size_t n, std::vector<std::uint32_t> given) {
    n_ = n;
    given_ = std::move(given);
    is_common_ = false;
    meetings_.clear();
    labels_.clear();
    reach_ = usual_reach(n);
  }

  // Meetings (initiator + responder * 2^32) that have taken place, in their order.
  void note(std::span<const std::uint64_t> meetings) {
    if (meetings_.size() >= 4 * reach_) forget();
    meetings_.insert(meetings_.end(), meetings.begin(), meetings.end());
  }

  // A label that this agent, the deputy with this number (from 1), gives out in the next meeting.
  void note_label(std::uint32_t agent, std::uint32_t deputy, std::uint32_t label) {
    labels_.push_back({meetings_.size(), agent, deputy - 1, label});
  }

  // Brings the channels of all agents up to date. O(r) per agent and per meeting remembered.
  void settle(std::span<Agent> agents) {
    if (meetings_.size() >= 2 * reach_) forget();
    for (std::size_t first = 0; first < given_.size(); first += columns) {
      settle_columns(agents, first, std::min(columns, given_.size() - first));
    }
    for (Agent& agent : agents) {
      agent.ranker.sum = 0;
      for (const std::uint32_t labels : agent.ranker.channel) agent.ranker.sum += labels;
    }
    rows_ = {};
  }

  // Meetings remembered.
  std::size_t size() const { return meetings_.size(); }

  // Memory for n agents, about.
  static std::uint64_t bytes(std::uint64_t n) { return 64 * n + 40 * usual_reach(n); }

 private:
  static constexpr std::size_t columns = 16;  // fill one line of memory
  static constexpr std::size_t ahead = 8;     // meetings whose rows are fetched
  struct alignas(64) Row {
    std::uint32_t at[columns]{};
  };
  struct Given {
    std::size_t before;  // which of the meetings remembered
    std::uint32_t agent;
    std::size_t column;
    std::uint32_t label;
  };

  // An epidemic takes n ln n meetings, hardly ever 6 n more.
  static std::size_t usual_reach(std::uint64_t n) {
    return static_cast<std::size_t>(static_cast<double>(n) * (natural_logarithm(n) + 6)) + 64;
  }
  static std::uint32_t initiator(std::uint64_t meeting) {
    return static_cast<std::uint32_t>(meeting);
  }
  static std::uint32_t responder(std::uint64_t meeting) {
    return static_cast<std::uint32_t>(meeting >> 32);
  }

  void settle_columns(std::span<Agent> agents, std::size_t first, std::size_t width) {
    rows_.assign(agents.size(), {});
    for (std::size_t u = 0; u < agents.size(); ++u) {
      const std::vector<std::uint32_t>& known = is_common_ ? given_ : agents[u].ranker.channel;
      std::copy_n(&known[first], width, rows_[u].at);
    }
    merge_rows(first, width);
    for (std::size_t u = 0; u < agents.size(); ++u) {
      std::copy_n(rows_[u].at, width, &agents[u].ranker.channel[first]);
    }
  }

  void merge_rows(std::size_t first, std::size_t width) {
    std::size_t label = 0;
    for (std::size_t k = 0; k < meetings_.size(); ++k) {
      for (; label < labels_.size() && labels_[label].before == k; ++label) {
        const Given& given = labels_[label];
        const std::size_t column = given.column - first;  // huge if it comes before
        if (column < width) rows_[given.agent].at[column] = given.label;
      }
      const std::uint64_t later = meetings_[std::min(k + ahead, meetings_.size() - 1)];
      __builtin_prefetch(&rows_[initiator(later)], 1);
      __builtin_prefetch(&rows_[responder(later)], 1);
      merge(rows_[initiator(meetings_[k])], rows_[responder(meetings_[k])]);
    }
  }

  static void merge(Row& u, Row& v) {
    for (std::size_t i = 0; i < columns; ++i) u.at[i] = v.at[i] = std::max(u.at[i], v.at[i]);
  }

  // Drops the oldest meetings, if it is certain that they do not matter.
  void forget() {
    const std::size_t middle = meetings_.size() - reach_;
    const std::optional<std::size_t> from = last_before_which_all_reach_one(middle);
    if (from && one_reaches_all(middle)) return drop(*from);
    reach_ += reach_ / 2;
  }

  std::optional<std::size_t> last_before_which_all_reach_one(std::size_t end) {
    Epidemic epidemic(n_);
    while (end > 0 && !epidemic.is_over()) epidemic.meet(meetings_[--end]);
    return epidemic.is_over() ? std::optional(end) : std::nullopt;
  }

  bool one_reaches_all(std::size_t begin) {
    Epidemic epidemic(n_);
    while (begin < meetings_.size() && !epidemic.is_over()) epidemic.meet(meetings_[begin++]);
    return epidemic.is_over();
  }

  // It begins at the first agent and reaches whoever meets one that it has reached.
  class Epidemic {
   public:
    explicit Epidemic(std::size_t n) : is_reached_(n), left_(n - 1) { is_reached_[0] = 1; }
    void meet(std::uint64_t meeting) {
      std::uint8_t& u = is_reached_[initiator(meeting)];
      std::uint8_t& v = is_reached_[responder(meeting)];
      left_ -= u ^ v;
      u = v = u | v;
    }
    bool is_over() const { return left_ == 0; }

   private:
    std::vector<std::uint8_t> is_reached_;
    std::size_t left_;
  };

  // By now, all agents know at least the labels given out before the meeting `from`.
  void drop(std::size_t from) {
    std::size_t old = 0;
    for (; old < labels_.size() && labels_[old].before < from; ++old) {
      given_[labels_[old].column] = labels_[old].label;
    }
    labels_.erase(labels_.begin(), labels_.begin() + static_cast<std::ptrdiff_t>(old));
    for (Given& label : labels_) label.before -= from;
    meetings_.erase(meetings_.begin(), meetings_.begin() + static_cast<std::ptrdiff_t>(from));
    is_common_ = true;
  }

  std::size_t n_ = 0;
  std::size_t reach_ = 0;             // within this many meetings, an epidemic reaches all
  std::vector<std::uint32_t> given_;  // labels given out before those remembered, by deputy
  bool is_common_ = false;            // all agents know of these by now
  std::vector<std::uint64_t> meetings_;
  std::vector<Given> labels_;  // in the order of meetings
  std::vector<Row> rows_;      // while settling
};

}  // namespace conclave::protocols::electleader
