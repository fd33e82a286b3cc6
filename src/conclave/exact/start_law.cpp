#include "conclave/exact/start_law.hpp"

#include <map>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::exact {
namespace {

constexpr double most_ways = 2e9;
constexpr std::uint64_t look_up = 1 << 16;  // ways between two reports

void convert(const Weight& weight, double& number) { number = weight.as_double(); }
void convert(const Weight& weight, Rational& number) {
  number = Rational(weight.numerator, weight.denominator);
}

// Goes through all combinations of the agents' states like the digits of a counter.
template <class Number>
class Counter {
 public:
  explicit Counter(const std::vector<StateLaw>& agents)
      : agents_(agents),
        factors_(agents.size()),
        digits_(agents.size(), 0),
        states_(agents.size()),
        products_(agents.size() + 1, 1) {
    for (std::size_t i = 0; i < agents.size(); ++i) {
      for (const auto& [state, weight] : agents[i]) convert(weight, factors_[i].emplace_back());
    }
    read(0);
  }

  const std::vector<StateNumber>& states() const { return states_; }
  const Number& weight() const { return products_.back(); }
  bool next() {
    for (std::size_t i = digits_.size(); i-- > 0;) {
      if (++digits_[i] < agents_[i].size()) {
        read(i);
        return true;
      }
      digits_[i] = 0;
    }
    return false;
  }

 private:
  // The digits from `first` on have changed.
  void read(std::size_t first) {
    for (std::size_t i = first; i < digits_.size(); ++i) {
      states_[i] = agents_[i][digits_[i]].first;
      products_[i + 1] = products_[i] * factors_[i][digits_[i]];
    }
  }

  const std::vector<StateLaw>& agents_;
  std::vector<std::vector<Number>> factors_;
  std::vector<std::size_t> digits_;
  std::vector<StateNumber> states_;
  std::vector<Number> products_;  // of the factors before each agent
};

std::uint64_t checked_ways(const std::vector<StateLaw>& agents) {
  double ways = 1;
  for (const StateLaw& law : agents) ways *= static_cast<double>(law.size());
  if (ways <= most_ways) return static_cast<std::uint64_t>(ways);
  throw Error(fmt::format(
      "this start has {:.3g} different configurations, too many to average over exactly; name a "
      "start with --init that is less random",
      ways));
}

template <class Number>
std::vector<Number> combine(const Network& network, const std::vector<StateLaw>& agents,
                            ConfigurationIndex& index, const ProgressCallback& progress) {
  const std::uint64_t ways = checked_ways(agents);
  std::vector<Number> probability(index.size(), 0);
  std::vector<StateNumber> states(agents.size());
  Counter<Number> counter(agents);
  std::uint64_t done = 0;
  do {
    if (done++ % look_up == 0) report_progress(progress, "weighing starts", done, ways);
    states = counter.states();
    network.canonicalize(states);
    const StateIndex number = index.number(states);
    if (number >= probability.size()) probability.resize(index.size(), 0);
    probability[number] += counter.weight();
  } while (counter.next());
  return probability;
}

}  // namespace

StateLaw law_of_agent(NumberedStates& table, std::size_t start, AgentCount agent) {
  std::map<StateNumber, Weight> weights;
  for (const auto& [state, weight] : table.initial_outcomes(start, agent)) {
    const auto [entry, is_new] = weights.try_emplace(state, weight);
    if (!is_new) entry->second = entry->second.plus(weight);
  }
  return {weights.begin(), weights.end()};
}

std::vector<double> start_law(const Network& network, const std::vector<StateLaw>& agents,
                              ConfigurationIndex& index, const ProgressCallback& progress) {
  return combine<double>(network, agents, index, progress);
}

std::vector<Rational> rational_start_law(const Network& network,
                                         const std::vector<StateLaw>& agents,
                                         ConfigurationIndex& index,
                                         const ProgressCallback& progress) {
  return combine<Rational>(network, agents, index, progress);
}

}  // namespace conclave::exact
