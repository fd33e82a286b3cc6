#include "conclave/exact/network.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::exact {
namespace {

// How far the smallest of all rotations is rotated to the left.
std::size_t smallest_rotation(std::span<const StateNumber> ring) {
  std::size_t best = 0;
  const auto after = [&](std::size_t place) { return place + 1 == ring.size() ? 0 : place + 1; };
  for (std::size_t start = 1; start < ring.size(); ++start) {
    std::size_t ours = start;
    std::size_t least = best;
    std::size_t same = 0;
    for (; same < ring.size() && ring[ours] == ring[least]; ++same) {
      ours = after(ours);
      least = after(least);
    }
    if (same < ring.size() && ring[ours] < ring[least]) best = start;
  }
  return best;
}

// How many different rotations there are.
std::size_t period(std::span<const StateNumber> ring) {
  std::size_t length = 1;
  const auto repeats = [&] {
    if (ring.size() % length != 0) return false;
    for (std::size_t i = length; i < ring.size(); ++i) {
      if (ring[i] != ring[i - length]) return false;
    }
    return true;
  };
  while (!repeats()) ++length;
  return length;
}

// n! over the product of the factorials of the groups' sizes.
double multinomial(std::span<const StateNumber> sorted) {
  double ways = 1;
  double group = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    group = i > 0 && sorted[i] == sorted[i - 1] ? group + 1 : 1;
    ways = ways * static_cast<double>(i + 1) / group;
  }
  return ways;
}

// Far beyond what can be explored; no table of arcs should be made to find that out.
AgentCount checked_size(AgentCount n) {
  constexpr AgentCount most = AgentCount{1} << 20;
  if (n <= most) return n;
  throw Error(
      fmt::format("too large for an exact computation: n = {}, and at most {} agents can be "
                  "explored; take a smaller n",
                  n, most));
}

}  // namespace

std::string_view name_of(Symmetry symmetry) {
  constexpr std::array<std::string_view, 3> names{"none", "rotation", "permutation"};
  return names[static_cast<std::size_t>(symmetry)];
}

Network Network::complete(AgentCount n) {
  Network network(checked_size(n));
  network.symmetry_ = Symmetry::permutation;
  return network;
}

Network Network::directed_ring(AgentCount n) {
  Network network(checked_size(n));
  for (std::uint32_t i = 0; i < n; ++i) {
    network.arcs_.emplace_back(i, i + 1 == n ? 0 : i + 1);
  }
  network.symmetry_ = Symmetry::rotation;
  network.is_directed_ring_ = true;
  return network;
}

Network Network::of(const Digraph& graph) {
  Network network(checked_size(graph.agents()));
  for (conclave::Arc arc = 0; arc < graph.arcs(); ++arc) {
    network.arcs_.emplace_back(static_cast<std::uint32_t>(graph.initiator(arc)),
                               static_cast<std::uint32_t>(graph.responder(arc)));
  }
  if (network.is_rotatable()) network.symmetry_ = Symmetry::rotation;
  return network;
}

std::uint64_t Network::pairs() const {
  return symmetry_ == Symmetry::permutation ? agents_ * (agents_ - 1) : arcs_.size();
}

bool Network::is_rotatable() const {
  std::vector<Pair> before = arcs_;
  std::vector<Pair> after;
  const auto n = static_cast<std::uint32_t>(agents_);
  for (const auto& [u, v] : arcs_) after.emplace_back((u + 1) % n, (v + 1) % n);
  std::ranges::sort(before);
  std::ranges::sort(after);
  return before == after;
}

void Network::canonicalize(std::span<StateNumber> configuration) const {
  if (symmetry_ == Symmetry::permutation) std::ranges::sort(configuration);
  if (symmetry_ != Symmetry::rotation) return;
  const std::size_t turn = smallest_rotation(configuration);
  if (turn == 0) return;
  const auto middle = configuration.begin() + static_cast<std::ptrdiff_t>(turn);
  std::rotate(configuration.begin(), middle, configuration.end());
}

double Network::orbit(std::span<const StateNumber> configuration) const {
  if (symmetry_ == Symmetry::permutation) return multinomial(configuration);
  if (symmetry_ == Symmetry::rotation) return static_cast<double>(period(configuration));
  return 1;
}

}  // namespace conclave::exact
