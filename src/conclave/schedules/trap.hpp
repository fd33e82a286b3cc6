// Almost sure termination of a system in which a schedule chooses the next event and coins choose
// its outcome. A configuration is safe if it is final, or if every event that is possible there has
// an outcome that is safe: then, whatever the schedule does, the coins lead to an end with a
// probability above 0 within as many steps as there are configurations. If all are safe, every
// schedule ends with probability 1; from one that is not, some schedule goes on for ever for sure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace conclave::schedules {

// Edges lead from configurations to `targets`, and lie event by event, configuration by
// configuration: `event_begins` are the first edges of the events, `event_counts` the numbers of
// events up to and including each configuration.
struct EventGraph {
  std::vector<std::uint32_t> targets;
  std::vector<std::size_t> event_begins;
  std::vector<std::size_t> event_counts;
};

// The first configuration that is not safe, or nothing. O(edges).
class TrapSearch {
 public:
  // The graph must outlive it. O(edges) time and memory.
  explicit TrapSearch(const EventGraph& graph)
      : graph_(graph),
        size_(graph.event_counts.size()),
        owners_(graph.event_begins.size()),
        waiting_(size_),
        is_met_(graph.event_begins.size()) {
    for (std::size_t node = 0; node < size_; ++node) {
      const std::size_t begin = node == 0 ? 0 : graph.event_counts[node - 1];
      waiting_[node] = graph.event_counts[node] - begin;
      for (std::size_t event = begin; event < graph.event_counts[node]; ++event) {
        owners_[event] = static_cast<std::uint32_t>(node);
      }
    }
    turn_edges_round();
  }

  // The first configuration that is not safe; nothing if all are. Once only.
  std::optional<std::uint32_t> find() {
    std::vector<std::uint32_t> open;
    std::vector<bool> is_safe(size_);
    const auto settle = [&](std::uint32_t node) {
      is_safe[node] = true;
      open.push_back(node);
    };
    for (std::uint32_t node = 0; node < size_; ++node) {
      if (waiting_[node] == 0) settle(node);
    }
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (std::size_t i = first_[node]; i < first_[node + std::size_t{1}]; ++i) {
        const std::uint32_t event = events_[i];
        if (is_met_[event]) continue;
        is_met_[event] = true;
        if (--waiting_[owners_[event]] == 0) settle(owners_[event]);
      }
    }
    for (std::uint32_t node = 0; node < size_; ++node) {
      if (!is_safe[node]) return node;
    }
    return std::nullopt;
  }

 private:
  // The events that lead to each configuration.
  void turn_edges_round() {
    first_.assign(size_ + 1, 0);
    events_.resize(graph_.targets.size());
    for (const std::uint32_t target : graph_.targets) ++first_[target];
    std::size_t sum = 0;
    for (std::size_t& first : first_) first = sum += first;
    for (std::size_t event = graph_.event_begins.size(); event-- > 0;) {
      const bool is_last = event + 1 == graph_.event_begins.size();
      const std::size_t end = is_last ? graph_.targets.size() : graph_.event_begins[event + 1];
      for (std::size_t edge = graph_.event_begins[event]; edge < end; ++edge) {
        events_[--first_[graph_.targets[edge]]] = static_cast<std::uint32_t>(event);
      }
    }
  }

  const EventGraph& graph_;
  std::size_t size_;
  std::vector<std::uint32_t> owners_;  // of events: the configuration
  std::vector<std::size_t> waiting_;   // events without an outcome that is known to be safe
  std::vector<bool> is_met_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> events_;
};

}  // namespace conclave::schedules
