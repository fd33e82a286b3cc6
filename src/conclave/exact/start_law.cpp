#include "conclave/exact/start_law.hpp"

namespace conclave::exact {
namespace {

constexpr double most_ways = 2e9;

// Goes through all combinations of the agents' states like the digits of a counter.
class Counter {
 public:
  explicit Counter(const std::vector<StateLaw>& agents)
      : agents_(agents), digits_(agents.size(), 0) {}

  void read(std::vector<StateNumber>& states) const {
    for (std::size_t i = 0; i < agents_.size(); ++i) states[i] = agents_[i][digits_[i]].first;
  }
  double weight() const {
    double product = 1;
    for (std::size_t i = 0; i < agents_.size(); ++i) product *= agents_[i][digits_[i]].second;
    return product;
  }
  bool next() {
    for (std::size_t i = digits_.size(); i-- > 0;) {
      if (++digits_[i] < agents_[i].size()) return true;
      digits_[i] = 0;
    }
    return false;
  }

 private:
  const std::vector<StateLaw>& agents_;
  std::vector<std::size_t> digits_;
};

}  // namespace

std::vector<double> combine(const Network& network, const std::vector<StateLaw>& agents,
                            ConfigurationIndex& index) {
  double ways = 1;
  for (const StateLaw& law : agents) ways *= static_cast<double>(law.size());
  if (ways > most_ways) {
    throw Error(fmt::format(
        "this start has {:.3g} different configurations, too many to average over exactly; name a "
        "start with --init that is less random",
        ways));
  }
  std::vector<double> probability(index.size(), 0.0);
  std::vector<StateNumber> states(agents.size());
  Counter counter(agents);
  do {
    counter.read(states);
    network.canonicalize(states);
    const StateIndex number = index.number(states);
    if (number >= probability.size()) probability.resize(index.size(), 0.0);
    probability[number] += counter.weight();
  } while (counter.next());
  return probability;
}

}  // namespace conclave::exact
