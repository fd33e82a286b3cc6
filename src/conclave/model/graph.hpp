// Who can meet whom: the arcs (initiator, responder) of a directed graph. Every step of the
// scheduler picks one of them uniformly. Graphs do not change once they are made, so that threads
// may share one. Arcs and agents are numbered from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

using Arc = std::uint64_t;

// The directed ring: arc i lets agent i initiate and agent i + 1 mod n respond.
class DirectedRing {
 public:
  explicit DirectedRing(AgentCount n) : n_(n) {}

  AgentCount agents() const { return n_; }
  Arc arcs() const { return n_; }
  // arc < n.
  AgentCount initiator(Arc arc) const { return arc; }
  AgentCount responder(Arc arc) const { return arc + 1 == n_ ? 0 : arc + 1; }

  // Calls `visit` once for each arc that has an agent in common with this one, itself included.
  template <class Visit>
  void for_each_near(Arc arc, Visit&& visit) const {
    const Arc before = arc == 0 ? n_ - 1 : arc - 1;
    const Arc after = responder(arc);
    visit(arc);
    visit(after);
    if (before != after) visit(before);
  }

 private:
  AgentCount n_;
};

// Any digraph of fewer than 2^32 agents and arcs, as a list of arcs. Loops are a failed check; an
// arc may come twice and is then twice as likely. 16 bytes per arc and 8 per agent; all questions
// about an arc are O(1).
class Digraph {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // initiator, responder

  // Every arc leads from one agent to another, both below n; n and the number of arcs are below
  // 2^32 - 1. All this is checked. O(n + arcs).
  Digraph(AgentCount n, std::vector<Pair> arcs)
      : n_(n), arcs_(std::move(arcs)), first_(n + 1), near_(2 * arcs_.size()) {
    CONCLAVE_CHECK(n < most && arcs_.size() < most);
    for (const auto& [u, v] : arcs_) {
      CONCLAVE_CHECK(u < n && v < n && u != v);
      ++first_[u];
      ++first_[v];
    }
    std::size_t sum = 0;
    for (std::size_t& first : first_) sum = std::exchange(first, sum) + sum;
    std::vector<std::size_t> next(first_.begin(), first_.end());
    for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
      near_[next[arcs_[arc].first]++] = arc;
      near_[next[arcs_[arc].second]++] = arc;
    }
  }

  AgentCount agents() const { return n_; }
  Arc arcs() const { return arcs_.size(); }
  AgentCount initiator(Arc arc) const { return arcs_[arc].first; }
  AgentCount responder(Arc arc) const { return arcs_[arc].second; }

  // Calls `visit` for each arc at this agent, whether it initiates or responds there.
  template <class Visit>
  void for_each_at(AgentCount agent, Visit&& visit) const {
    for (std::size_t i = first_[agent]; i < first_[agent + 1]; ++i) visit(Arc{near_[i]});
  }

  // Calls `visit` for each arc that has an agent in common with this one, some of them twice.
  template <class Visit>
  void for_each_near(Arc arc, Visit&& visit) const {
    for_each_at(initiator(arc), visit);
    for_each_at(responder(arc), visit);
  }

  // Whether every agent can be reached from every other along arcs. O(agents + arcs).
  bool is_strongly_connected() const { return reaches_all(true) && reaches_all(false); }

 private:
  static constexpr std::uint64_t most = 0xffffffffu;

  bool reaches_all(bool forwards) const {
    std::vector<bool> seen(n_);
    std::vector<AgentCount> open{0};
    seen[0] = true;
    AgentCount count = 1;
    while (!open.empty()) {
      const AgentCount agent = open.back();
      open.pop_back();
      for_each_at(agent, [&](Arc arc) {
        const AgentCount from = forwards ? initiator(arc) : responder(arc);
        const AgentCount to = forwards ? responder(arc) : initiator(arc);
        if (from != agent || seen[to]) return;
        seen[to] = true;
        ++count;
        open.push_back(to);
      });
    }
    return count == n_;
  }

  AgentCount n_;
  std::vector<Pair> arcs_;
  std::vector<std::size_t> first_;   // where an agent's arcs begin in near_
  std::vector<std::uint32_t> near_;  // the arcs at each agent
};

}  // namespace conclave
