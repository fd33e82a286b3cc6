// The lists of adversaries from which --delay and --wakeup choose.
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "conclave/network/adversary.hpp"
#include "conclave/network/delays.hpp"
#include "conclave/network/wakeups.hpp"

namespace conclave::network {
namespace {

template <class Adversary, class Kind>
std::unique_ptr<Adversary> make(NodeCount n, const StreamName& name) {
  return std::make_unique<Kind>(n, name);
}

template <class Adversary, class... Kinds>
std::vector<AdversaryEntry<Adversary>> sorted_entries() {
  std::vector<AdversaryEntry<Adversary>> entries{{Kinds::info, make<Adversary, Kinds>}...};
  std::ranges::sort(entries, {}, [](const auto& each) { return each.info.name; });
  return entries;
}

}  // namespace

std::span<const AdversaryEntry<DelayAdversary>> delays() {
  static const auto all = sorted_entries<DelayAdversary, Burst, Exponential, RankOrder, ReverseRank,
                                         SlowDecide, SlowLeader, Uniform, Unit>();
  return all;
}

std::span<const AdversaryEntry<WakeupAdversary>> wakeups() {
  static const auto all =
      sorted_entries<WakeupAdversary, All, Ambush, Chain, One, Random, Staggered, ThreeWaves>();
  return all;
}

}  // namespace conclave::network
