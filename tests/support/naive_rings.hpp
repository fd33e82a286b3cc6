// Ring elections once more, without nodes and messages: what each must send follows from the order
// of the identifiers alone. Written from the descriptions of the algorithms, not from the code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

namespace conclave::tests::naive {

using Ring = std::vector<std::uint32_t>;  // identifiers in the direction of the ring

// How many steps it is from a place to the next higher identifier; n for the highest.
inline std::size_t to_higher(const Ring& ring, std::size_t place, bool backwards) {
  const std::size_t n = ring.size();
  for (std::size_t step = 1; step < n; ++step) {
    if (ring[(place + (backwards ? n - step : step)) % n] > ring[place]) return step;
  }
  return n;
}

// Each identifier travels to the next higher one.
inline std::uint64_t chang_roberts(const Ring& ring) {
  std::uint64_t messages = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) messages += to_higher(ring, i, false);
  return messages;
}

// In phase k every node that is highest within 2^(k-1) explores 2^k nodes on both sides.
inline std::uint64_t hirschberg_sinclair(const Ring& ring) {
  const std::size_t n = ring.size();
  std::uint64_t messages = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t left = to_higher(ring, i, true);
    const std::size_t right = to_higher(ring, i, false);
    for (std::size_t reach = 1;; reach *= 2) {
      for (const std::size_t higher : {left, right}) {
        messages += higher > reach ? 2 * reach : higher;  // out and back, or until it is swallowed
      }
      if (left <= reach || right <= reach) break;
    }
  }
  return messages;
}

// In every phase those values survive that are higher than both neighbours; the last phase has
// one.
inline std::uint64_t peterson(Ring values) {
  const std::uint64_t n = values.size();
  std::uint64_t messages = n;
  while (values.size() > 1) {
    messages += 2 * n;
    Ring survivors;
    const std::size_t size = values.size();
    for (std::size_t i = 0; i < size; ++i) {
      const bool is_peak =
          values[i] > values[(i + 1) % size] && values[i] > values[(i + size - 1) % size];
      if (is_peak) survivors.push_back(values[i]);
    }
    values = survivors;
  }
  return messages;
}

// The mean over all orders of n identifiers.
template <class Count>
double mean_over_orders(std::size_t n, Count count) {
  Ring ring(n);
  std::iota(ring.begin(), ring.end(), 1u);
  double sum = 0;
  double orders = 0;
  do {
    sum += static_cast<double>(count(ring));
    ++orders;
  } while (std::next_permutation(ring.begin(), ring.end()));
  return sum / orders;
}

// The mean number of tokens' hops of Itai and Rodeh's election among the active nodes of a mask,
// who draw from 1 ... k: all draws one by one.
class ItaiRodehMean {
 public:
  ItaiRodehMean(std::size_t n, std::uint32_t k) : n_(n), k_(k) {}

  double from(unsigned active) {
    if (const auto known = means_.find(active); known != means_.end()) return known->second;
    double hops = 0;
    double further = 0;
    double all = 0;
    double again = 0;
    Ring draws(n_);
    for (bool is_new = first(draws, active); is_new; is_new = next(draws)) {
      const unsigned winners = highest(draws);
      for (std::size_t i = 0; i < n_; ++i) hops += draws[i] > 0 ? travelled(draws, i) : 0;
      again += winners == active ? 1 : 0;
      const bool is_decided = (winners & (winners - 1)) == 0;
      if (winners != active && !is_decided) further += from(winners);
      ++all;
    }
    if ((active & (active - 1)) == 0) again = 0;
    return means_[active] = (hops + further) / (all - again);
  }

 private:
  static bool first(Ring& draws, unsigned active) {
    for (std::size_t i = 0; i < draws.size(); ++i) draws[i] = active >> i & 1;
    return true;
  }
  bool next(Ring& draws) const {  // 0 stands for a passive node
    for (std::uint32_t& draw : draws) {
      if (draw == 0) continue;
      if (++draw <= k_) return true;
      draw = 1;
    }
    return false;
  }
  static unsigned highest(const Ring& draws) {
    const std::uint32_t top = *std::max_element(draws.begin(), draws.end());
    unsigned mask = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) mask |= draws[i] == top ? 1u << i : 0u;
    return mask;
  }
  static double travelled(const Ring& draws, std::size_t place) {
    return static_cast<double>(to_higher(draws, place, false));
  }

  std::size_t n_;
  std::uint32_t k_;
  std::map<unsigned, double> means_;
};

}  // namespace conclave::tests::naive
