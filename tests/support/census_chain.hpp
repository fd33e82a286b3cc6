// The exact Markov chain of a protocol on the complete graph with few agents: its states are all
// configurations reachable from a start, each a census of agents' states, its steps are single
// interactions of an ordered pair uniform over all n(n-1), those that change nothing included.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/model/population.hpp"

#include "tests/support/markov_chain.hpp"
#include "tests/support/state_table.hpp"

namespace conclave::tests {

// How far to explore: everything, or no further than the configurations with exactly one leader,
// which then keep to themselves. The law of the first time of one leader is the same in both.
enum class Extent : std::uint8_t { everything, until_one_leader };

template <PopulationProtocol P>
class CensusChain {
 public:
  using State = typename P::State;
  using Number = exact::StateNumber;
  using Configuration = std::vector<Number>;  // the agents' states by number, ascending

  // From the protocol's first start, which must not be random.
  CensusChain(const P& protocol, AgentCount n, Extent extent = Extent::everything)
      : states_(protocol), n_(n) {
    CONCLAVE_CHECK(n >= 2);
    number(first_configuration());
    for (std::size_t from = 0; from < size(); ++from) {
      const bool is_end = extent == Extent::until_one_leader && leaders(from) == 1;
      chain_.add_row(is_end ? std::vector<MarkovChain::Arc>{{from, 1.0}}
                            : arcs_from(*configurations_[from]));
    }
  }

  CensusChain(const CensusChain&) = delete;  // it holds pointers into itself
  CensusChain& operator=(const CensusChain&) = delete;
  ~CensusChain() = default;

  std::size_t size() const { return configurations_.size(); }
  AgentCount agents() const { return n_; }
  const MarkovChain& chain() const { return chain_; }

  // The agents' states in configuration number `index`; 0 is the start.
  std::vector<State> states(std::size_t index) const {
    std::vector<State> all;
    for (const Number state : *configurations_[index]) all.push_back(states_.state(state));
    return all;
  }

  AgentCount leaders(std::size_t index) const {
    const P& protocol = states_.protocol();
    return static_cast<AgentCount>(std::ranges::count_if(*configurations_[index], [&](Number s) {
      return protocol.role(states_.state(s)) == Role::leader;
    }));
  }

  // The configurations with exactly one leader.
  MarkovChain::Target one_leader() const {
    MarkovChain::Target target(size());
    for (std::size_t index = 0; index < size(); ++index) target[index] = leaders(index) == 1;
    return target;
  }

 private:
  struct Hash {
    std::size_t operator()(const Configuration& configuration) const {
      std::uint64_t hash = 0;
      for (const Number state : configuration) {
        hash = (hash ^ state) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
      }
      return static_cast<std::size_t>(hash);
    }
  };

  Configuration first_configuration() {
    Configuration first;
    for (AgentCount agent = 0; agent < n_; ++agent) {
      exact::EveryWeightedChoice choice;
      first.push_back(states_.number(states_.protocol().initial(0, agent, choice)));
      CONCLAVE_CHECK(!choice.next());
    }
    return first;
  }

  std::size_t number(Configuration configuration) {
    std::ranges::sort(configuration);
    const auto [entry, is_new] = numbers_.try_emplace(std::move(configuration), size());
    if (is_new) configurations_.push_back(&entry->first);
    return entry->second;
  }

  // One arc per target, over all pairs of states that can meet.
  std::vector<MarkovChain::Arc> arcs_from(const Configuration& from) {
    const double all_pairs = static_cast<double>(n_) * static_cast<double>(n_ - 1);
    std::map<std::size_t, double> weights;
    for (std::size_t u = 0; u < from.size(); u = past(from, u)) {
      for (std::size_t v = 0; v < from.size(); v = past(from, v)) {
        const std::size_t others = past(from, v) - v - (u == v ? 1 : 0);
        if (others == 0) continue;
        const auto pairs = static_cast<double>((past(from, u) - u) * others);
        const std::size_t second = u == v ? v + 1 : v;
        for (const auto& result : states_.outcomes(from[u], from[v])) {
          weights[after(from, u, second, result)] += pairs / all_pairs * result.weight.as_double();
        }
      }
    }
    std::vector<MarkovChain::Arc> arcs;
    arcs.reserve(weights.size());
    for (const auto& [to, weight] : weights) arcs.push_back({to, weight});
    return arcs;
  }

  // Behind the last agent in the same state as the one at `index`.
  static std::size_t past(const Configuration& configuration, std::size_t index) {
    const auto end =
        std::upper_bound(configuration.begin(), configuration.end(), configuration[index]);
    return static_cast<std::size_t>(end - configuration.begin());
  }

  std::size_t after(Configuration configuration, std::size_t u, std::size_t v,
                    const exact::PairOutcome& result) {
    configuration[u] = result.u;
    configuration[v] = result.v;
    return number(std::move(configuration));
  }

  StateTable<P> states_;
  AgentCount n_;
  std::unordered_map<Configuration, std::size_t, Hash> numbers_;
  std::vector<const Configuration*> configurations_;  // keys of numbers_, which stay in place
  MarkovChain chain_;
};

}  // namespace conclave::tests
