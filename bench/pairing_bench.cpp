#include "bench/pairing_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/variates.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/protocols/population/pll.hpp"

#include "bench/counts_workloads.hpp"
#include "bench/cpu_seconds.hpp"

namespace conclave::bench {
namespace {

using population::Counts;
using population::detail::Pairing;
using population::detail::SpeciesId;

// Initiators of each state, responders of each state, and for each state of initiators the states
// of their responders.
class PlainPairing {
 public:
  void meet(const std::vector<AgentCount>& pool, AgentCount total, AgentCount pairs,
            Stream& stream) {
    samples_ = 0;
    draw(pool, total, pairs, initiators_, stream);
    rest_ = pool;
    for (std::size_t i = 0; i < pool.size(); ++i) rest_[i] -= initiators_[i];
    draw(rest_, total - pairs, pairs, responders_, stream);
    AgentCount left = pairs;
    for (const AgentCount count : initiators_) {
      if (count == 0) continue;
      draw(responders_, left, count, met_, stream);
      for (std::size_t i = 0; i < met_.size(); ++i) responders_[i] -= met_[i];
      left -= count;
    }
  }
  std::uint64_t samples() const { return samples_; }

 private:
  void draw(const std::vector<AgentCount>& counts, AgentCount total, AgentCount draws,
            std::vector<AgentCount>& drawn, Stream& stream) {
    drawn.assign(counts.size(), 0);
    for (std::size_t i = 0; i < counts.size() && draws != 0; ++i) {
      if (counts[i] == 0) continue;
      drawn[i] = hypergeometric(total, counts[i], draws, stream);
      ++samples_;
      total -= counts[i];
      draws -= drawn[i];
    }
  }

  std::vector<AgentCount> initiators_, responders_, rest_, met_;
  std::uint64_t samples_ = 0;
};

struct Cost {
  double seconds = 0;  // per batch
  double samples = 0;
};

template <class AnyPairing>
Cost cost_of(AnyPairing& pairing, const std::vector<AgentCount>& pool, AgentCount pairs) {
  const AgentCount total = std::accumulate(pool.begin(), pool.end(), AgentCount{0});
  Stream stream({.seed = 1});
  Cost sum;
  int batches = 0;
  const double begin = cpu_seconds();
  for (; cpu_seconds() - begin < 0.3; ++batches) {
    pairing.meet(pool, total, pairs, stream);
    sum.samples += static_cast<double>(pairing.samples());
  }
  return {(cpu_seconds() - begin) / batches, sum.samples / batches};
}

constexpr AgentCount n = 1'000'000;

// After so many interactions per agent.
template <class P>
Census<typename P::State> census_after(const P& protocol, std::uint64_t time) {
  Counts<P> engine(protocol, n, 0, {.seed = 1});
  engine.watch(Watch::nothing);
  engine.advance(time * n);
  return engine.census();
}

// All digits, none of them marked, equally often.
Census<Digit> all_digits(std::uint16_t q) {
  Census<Digit> census;
  for (std::uint16_t digit = 0; digit < q; ++digit) {
    census.push_back({{static_cast<std::uint16_t>(2 * digit)}, n / q});
  }
  return census;
}

// A census of 10^6 agents, every count `factor` times as large, meets in sqrt(n) fresh pairs.
template <class P>
std::string line(std::string_view name, const P& protocol, Census<typename P::State> census,
                 std::uint64_t factor) {
  std::ranges::sort(census,
                    [](const auto& a, const auto& b) { return comes_before(a.first, b.first); });
  population::detail::SpeciesOf<P> table(protocol);
  std::vector<SpeciesId> species;
  std::vector<AgentCount> pool;
  for (const auto& [state, count] : census) {
    species.push_back(table.id_of(state));
    pool.push_back(count * factor);
  }
  Pairing by_classes;
  by_classes.learn(species, [&](SpeciesId u, SpeciesId v) { return table.outcome(u, v); });
  PlainPairing plain;
  const double agents = static_cast<double>(n) * static_cast<double>(factor);
  const auto pairs = static_cast<AgentCount>(std::sqrt(agents));
  const Cost ours = cost_of(by_classes, pool, pairs);
  const Cost theirs = cost_of(plain, pool, pairs);
  return fmt::format("{:<11} {:>6.0e}  {:>6}  {:>8.0f}  {:>9.1f}  {:>8.0f}  {:>9.1f}  {:>6.1f}\n",
                     name, agents, pool.size(), ours.samples, 1e6 * ours.seconds, theirs.samples,
                     1e6 * theirs.seconds, theirs.seconds / ours.seconds);
}

}  // namespace

void run_pairing(const std::function<void(const std::string&)>& print) {
  print(
      "sqrt(n) fresh pairs drawn by classes and the plain way; variates and CPU time per batch\n");
  print(fmt::format("{:<11} {:>6}  {:>6}  {:>8}  {:>9}  {:>8}  {:>9}  {:>6}\n", "census", "n",
                    "states", "classes", "in us", "plain", "in us", "ratio"));
  for (const std::uint64_t factor : {1'000u, 10'000u, 1'000'000u}) {
    protocols::Pll::Parameters parameters;
    parameters.resolve(n * factor);
    const protocols::Pll pll(parameters, n * factor);
    const PhaseClock clock(n, 1000);
    const RandomTable table(n, 100);
    print(line("pll, 10 n", pll, census_after(pll, 10), factor));
    print(line("pll, 30 n", pll, census_after(pll, 30), factor));
    print(line("clock-1000", clock, census_after(clock, 30), factor));
    print(line("all digits", clock, all_digits(1000), factor));
    print(line("table-100", table, census_after(table, 2), factor));
  }
}

}  // namespace conclave::bench
