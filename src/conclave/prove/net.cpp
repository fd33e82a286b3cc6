#include "conclave/prove/net.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace conclave::prove {
namespace {

using Two = std::array<std::size_t, 2>;

Bag bag_of(const Two& agents) {
  if (agents[0] == agents[1]) return {{agents[0], 2}};
  return {{agents[0], 1}, {agents[1], 1}};
}

bool meets(const Two& agents, const States& set) { return set[agents[0]] || set[agents[1]]; }

// Takes agents' states out of the set while some live transition is not allowed; `refused` gives
// the states to take out, or null.
template <class Refused>
void shrink(const Net& net, const std::vector<bool>& live, States& set, Refused refused) {
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t t = 0; t < net.transitions.size(); ++t) {
      if (!live[t]) continue;
      const Two* const out = refused(net.transitions[t]);
      if (out == nullptr) continue;
      set[(*out)[0]] = set[(*out)[1]] = false;
      changes = true;
    }
  }
}

}  // namespace

Bag Net::needs(const Transition& transition) { return bag_of(transition.pre); }
Bag Net::gives(const Transition& transition) { return bag_of(transition.post); }

Bag Net::change(const Transition& transition) {
  std::map<std::size_t, std::int64_t> sum;
  for (const std::size_t state : transition.post) ++sum[state];
  for (const std::size_t state : transition.pre) --sum[state];
  Bag result;
  for (const auto& each : sum) {
    if (each.second != 0) result.push_back(each);
  }
  return result;
}

std::int64_t weight_change(const Counts& weights, const Transition& transition) {
  const auto& [pre, post] = transition;
  return weights[post[0]] + weights[post[1]] - weights[pre[0]] - weights[pre[1]];
}

bool covers(const Counts& counts, const Bag& bag) {
  return std::ranges::all_of(bag,
                             [&](const auto& each) { return counts[each.first] >= each.second; });
}

bool covers(const Bag& large, const Bag& small) {
  return std::ranges::all_of(small, [&](const auto& wanted) {
    return std::ranges::any_of(large, [&](const auto& each) {
      return each.first == wanted.first && each.second >= wanted.second;
    });
  });
}

bool is_enabled(const Counts& counts, const Transition& transition) {
  const auto [p, q] = transition.pre;
  return counts[p] >= (p == q ? 2 : 1) && counts[q] >= 1;
}

void fire(Counts& counts, const Transition& transition) {
  for (const std::size_t state : transition.pre) --counts[state];
  for (const std::size_t state : transition.post) ++counts[state];
}

Bag before(const Bag& bag, const Transition& transition) {
  std::map<std::size_t, std::int64_t> wanted(bag.begin(), bag.end());
  for (const auto& [state, count] : Net::gives(transition)) {
    const auto found = wanted.find(state);
    if (found != wanted.end()) found->second = std::max<std::int64_t>(0, found->second - count);
  }
  for (const std::size_t state : transition.pre) ++wanted[state];
  Bag result;
  for (const auto& each : wanted) {
    if (each.second > 0) result.push_back(each);
  }
  return result;
}

States support(const Counts& counts) {
  States result;
  for (const std::int64_t count : counts) result.push_back(count > 0);
  return result;
}

States complement(States set) {
  set.flip();
  return set;
}

bool intersects(const States& a, const States& b) {
  for (std::size_t state = 0; state < a.size(); ++state) {
    if (a[state] && b[state]) return true;
  }
  return false;
}

bool is_empty(const States& set) { return std::ranges::find(set, true) == set.end(); }

States largest_trap(const Net& net, const std::vector<bool>& live, States within) {
  shrink(net, live, within, [&](const Transition& each) {
    return meets(each.pre, within) && !meets(each.post, within) ? &each.pre : nullptr;
  });
  return within;
}

States largest_follower(const Net& net, const std::vector<bool>& live, States within,
                        const States& y) {
  shrink(net, live, within, [&](const Transition& each) {
    const bool is_allowed =
        !meets(each.post, within) || meets(each.pre, within) || meets(each.post, y);
    return is_allowed ? nullptr : &each.post;
  });
  return within;
}

bool is_trap(const Net& net, const std::vector<bool>& live, const States& set) {
  return largest_trap(net, live, set) == set;
}

bool is_siphon(const Net& net, const std::vector<bool>& live, const States& set) {
  return largest_follower(net, live, set, States(net.states)) == set;
}

}  // namespace conclave::prove
