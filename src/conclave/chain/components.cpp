#include "conclave/chain/components.hpp"

#include <algorithm>
#include <limits>

#include "conclave/chain/detail/counting_sort.hpp"

namespace conclave::chain {
namespace {

constexpr std::uint32_t unseen = 0;
constexpr std::uint32_t done = std::numeric_limits<std::uint32_t>::max();

class Tarjan {
 public:
  // Gives up where more than `most_open` states are entered and in no component yet.
  Tarjan(const MarkovChain& chain, const StateSet& target, std::size_t most_open)
      : chain_(chain), target_(target), most_open_(most_open), low_(chain.size(), unseen) {
    result_.starts.push_back(0);
  }

  std::optional<Components> run() && {
    for (StateIndex root = 0; root < chain_.size(); ++root) {
      if (low_[root] == unseen && !target_.contains(root) && !search(root)) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  struct Frame {
    StateIndex state;
    std::uint32_t number;
    std::uint32_t next;  // successor to look at
  };

  bool search(StateIndex root) {
    enter(root);
    while (!path_.empty()) {
      if (path_.size() + waiting_.size() > most_open_) return false;
      Frame& frame = path_.back();
      const auto successors = chain_.successors(frame.state);
      if (frame.next == successors.size()) {
        leave();
      } else {
        visit(frame, successors[frame.next++]);
      }
    }
    return true;
  }

  void enter(StateIndex state) {
    low_[state] = ++entered_;
    path_.push_back({state, entered_, 0});
  }

  void visit(const Frame& frame, StateIndex to) {
    if (target_.contains(to)) return;
    if (low_[to] == unseen) return enter(to);
    if (low_[to] != done) low_[frame.state] = std::min(low_[frame.state], low_[to]);
  }

  // States wait in the order in which the search left them; a root takes those that it entered.
  void leave() {
    const Frame frame = path_.back();
    path_.pop_back();
    waiting_.push_back({frame.state, frame.number});
    const std::uint32_t low = low_[frame.state];
    if (low == frame.number) {
      close(frame.number);
    } else {
      StateIndex parent = path_.back().state;
      low_[parent] = std::min(low_[parent], low);
    }
  }

  void close(std::uint32_t first_number) {
    auto begin = waiting_.end();
    while (begin != waiting_.begin() && (begin - 1)->number >= first_number) --begin;
    for (auto entry = begin; entry != waiting_.end(); ++entry) {
      low_[entry->state] = done;
      result_.order.push_back(entry->state);
    }
    waiting_.erase(begin, waiting_.end());
    result_.starts.push_back(static_cast<std::uint32_t>(result_.order.size()));
  }

  struct Waiting {
    StateIndex state;
    std::uint32_t number;
  };

  const MarkovChain& chain_;
  const StateSet& target_;
  std::size_t most_open_;
  std::vector<std::uint32_t> low_;  // the lowest number known to be reached; unseen; done
  std::vector<Frame> path_;
  std::vector<Waiting> waiting_;
  std::uint32_t entered_ = 0;
  Components result_;
};

}  // namespace

Components components(const MarkovChain& chain, const StateSet& target) {
  return *Tarjan(chain, target, chain.size()).run();
}

std::optional<Components> nearly_single_components(const MarkovChain& chain,
                                                   const StateSet& target) {
  auto found = Tarjan(chain, target, chain.size() / 16).run();
  if (found && found->count() < found->order.size() - found->order.size() / 16) return std::nullopt;
  return found;
}

StateSet can_reach(const MarkovChain& chain, const StateSet& set) {
  std::vector<StateIndex> predecessors(chain.transitions());
  const auto for_each_transition = [&](const auto& visit) {
    const auto size = static_cast<StateIndex>(chain.size());
    for (StateIndex from = 0; from < size; ++from) {
      for (const StateIndex to : chain.successors(from)) visit(to, from);
    }
  };
  const std::vector<std::uint64_t> starts = detail::counting_sort(
      chain.size(), for_each_transition,
      [&](std::uint64_t place, StateIndex from) { predecessors[place] = from; });
  StateSet reaching(chain.size());
  std::vector<StateIndex> open;
  const auto take = [&](StateIndex state) {
    if (reaching.contains(state)) return;
    reaching.insert(state);
    open.push_back(state);
  };
  for (StateIndex state = 0; state < chain.size(); ++state) {
    if (set.contains(state)) take(state);
  }
  while (!open.empty()) {
    const StateIndex state = open.back();
    open.pop_back();
    for (std::uint64_t k = starts[state]; k < starts[state + 1]; ++k) take(predecessors[k]);
  }
  return reaching;
}

}  // namespace conclave::chain
