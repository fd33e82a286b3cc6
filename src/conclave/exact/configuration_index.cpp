#include "conclave/exact/configuration_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "conclave/base/check.hpp"
#include "conclave/base/key_index.hpp"

namespace conclave::exact {
namespace {

// All tuples, as numbers in base `states`. Where agents can be rotated, only the smallest rotation
// of a ring counts, and its number is how many of these come before it: the bits of `smallest_`
// say which those are, and `before_` how many there are before each word.
class TupleIndex final : public ConfigurationIndex {
 public:
  TupleIndex(const Network& network, std::size_t states, const ProgressCallback& progress)
      : base_(states), agents_(network.agents()), rotates_(network.symmetry() != Symmetry::none) {
    tuples_ = 1;
    for (std::size_t i = 0; i < agents_; ++i) tuples_ *= base_;
    size_ = tuples_;
    if (rotates_) mark_smallest(network, progress);
  }

  std::uint64_t size() const override { return size_; }
  std::uint64_t bytes() const override {
    return smallest_.size() * sizeof(std::uint64_t) +
           (before_.size() + words_.size()) * sizeof(std::uint32_t);
  }

  StateIndex number(std::span<const StateNumber> configuration) override {
    std::uint64_t tuple = 0;
    for (const StateNumber state : configuration) tuple = tuple * base_ + state;
    if (!rotates_) return static_cast<StateIndex>(tuple);
    const std::uint64_t below = smallest_[tuple / 64] & ((std::uint64_t{1} << tuple % 64) - 1);
    return before_[tuple / 64] + static_cast<std::uint32_t>(std::popcount(below));
  }

  void read(StateIndex number, std::span<StateNumber> configuration) const override {
    std::uint64_t tuple = rotates_ ? tuple_of(number) : number;
    for (std::size_t i = agents_; i-- > 0; tuple /= base_) {
      configuration[i] = static_cast<StateNumber>(tuple % base_);
    }
  }

 private:
  void mark_smallest(const Network& network, const ProgressCallback& progress) {
    constexpr std::uint64_t look_up = 1u << 18;  // some milliseconds
    smallest_.resize(tuples_ / 64 + 1);
    std::vector<StateNumber> tuple(agents_, 0);
    std::vector<StateNumber> canonical(agents_);
    for (std::uint64_t number = 0; number < tuples_; ++number) {
      if (number % look_up == 0) report_progress(progress, "numbering rings", number, tuples_);
      // In the smallest rotation, the first agent has the smallest state.
      if (tuple[0] == *std::ranges::min_element(tuple)) {
        canonical = tuple;
        network.canonicalize(canonical);
        if (canonical == tuple) smallest_[number / 64] |= std::uint64_t{1} << number % 64;
      }
      for (std::size_t i = agents_; i-- > 0 && ++tuple[i] == base_;) tuple[i] = 0;
    }
    std::uint32_t sum = 0;
    for (const std::uint64_t word : smallest_) {
      before_.push_back(sum);
      sum += static_cast<std::uint32_t>(std::popcount(word));
    }
    size_ = sum;
    for (std::uint32_t word = 0; word < before_.size(); ++word) {
      while (words_.size() * stretch < before_[word]) words_.push_back(word - 1);
    }
    words_.resize(size_ / stretch + 2, static_cast<std::uint32_t>(before_.size() - 1));
  }

  std::uint64_t tuple_of(StateIndex number) const {
    const auto first = before_.begin() + words_[number / stretch];
    const auto last = before_.begin() + words_[number / stretch + 1] + 1;
    const auto after = std::upper_bound(first, last, number);
    const auto place = static_cast<std::size_t>(after - before_.begin()) - 1;
    std::uint64_t word = smallest_[place];
    for (std::uint32_t skip = number - before_[place]; skip > 0; --skip) word &= word - 1;
    return place * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
  }

  static constexpr std::uint64_t stretch = 256;

  std::uint64_t base_;
  std::size_t agents_;
  bool rotates_;
  std::uint64_t tuples_;
  std::uint64_t size_;
  std::vector<std::uint64_t> smallest_;
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> words_;  // the word of every 256th number
};

// All multisets: s_0 <= s_1 <= ... has the number sum of C(s_i + i, i + 1), the combinatorial
// number system for s_i + i.
class CensusIndex final : public ConfigurationIndex {
 public:
  CensusIndex(const Network& network, std::size_t states)
      : agents_(network.agents()), states_(states), choose_(agents_) {
    const std::size_t largest = states + agents_;
    std::vector<std::uint64_t> column(largest + 1, 1);  // C(m, i) for all m
    for (std::size_t i = 0; i < agents_; ++i) {
      std::vector<std::uint64_t> next(largest + 1, 0);
      for (std::size_t m = 1; m <= largest; ++m) next[m] = next[m - 1] + column[m - 1];
      choose_[i] = column = next;
    }
  }

  std::uint64_t size() const override { return choose_[agents_ - 1][states_ + agents_ - 1]; }
  std::uint64_t bytes() const override {
    return agents_ * (states_ + agents_) * sizeof(std::uint64_t);
  }

  StateIndex number(std::span<const StateNumber> configuration) override {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < agents_; ++i) sum += choose_[i][configuration[i] + i];
    return static_cast<StateIndex>(sum);
  }

  void read(StateIndex number, std::span<StateNumber> configuration) const override {
    std::uint64_t rest = number;
    for (std::size_t i = agents_; i-- > 0;) {
      const auto above = std::ranges::upper_bound(choose_[i], rest);
      const auto value = static_cast<std::size_t>(above - choose_[i].begin()) - 1;
      configuration[i] = static_cast<StateNumber>(value - i);
      rest -= choose_[i][value];
    }
  }

 private:
  std::size_t agents_;
  std::size_t states_;
  std::vector<std::vector<std::uint64_t>> choose_;  // [i][m] = C(m, i + 1)
};

// Configurations stored one after the other, in as few bytes per agent as the largest state number
// so far needs.
class HashedIndex final : public ConfigurationIndex {
 public:
  explicit HashedIndex(std::size_t agents) : agents_(agents) {}

  std::uint64_t size() const override { return size_; }
  std::uint64_t bytes() const override { return bytes_.capacity() + index_.bytes(); }

  StateIndex number(std::span<const StateNumber> configuration) override {
    return number(configuration, hash(configuration));
  }

  void number_all(std::span<const StateNumber> configurations,
                  std::span<StateIndex> numbers) override {
    hashes_.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      hashes_[i] = hash(configurations.subspan(i * agents_, agents_));
      index_.prefetch(hashes_[i]);
    }
    for (const std::uint64_t hash : hashes_) {
      const StateIndex likely = index_.guess(hash);
      if (likely != index_.none) __builtin_prefetch(place(likely, 0));
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = number(configurations.subspan(i * agents_, agents_), hashes_[i]);
    }
  }

  void read(StateIndex number, std::span<StateNumber> configuration) const override {
    for (std::size_t i = 0; i < agents_; ++i) configuration[i] = state(number, i);
  }

 private:
  static std::uint64_t hash(std::span<const StateNumber> configuration) {
    std::uint64_t hash = 0;
    for (const StateNumber state : configuration) {
      hash = (hash ^ state) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }

  StateIndex number(std::span<const StateNumber> configuration, std::uint64_t hash) {
    const auto [number, is_new] = index_.find_or_add(
        hash, [&](StateIndex other) { return is_equal(other, configuration); },
        [this](StateIndex other) { return hash_of(other); });
    if (is_new) append(configuration);
    return number;
  }

  std::uint64_t hash_of(StateIndex number) {
    scratch_.resize(agents_);
    read(number, scratch_);
    return hash(scratch_);
  }

  const std::uint8_t* place(StateIndex number, std::size_t agent) const {
    return bytes_.data() + (number * agents_ + agent) * width_;
  }

  StateNumber state(StateIndex number, std::size_t agent) const {
    const std::uint8_t* bytes = place(number, agent);
    StateNumber state = 0;
    for (std::size_t i = width_; i-- > 0;) state = state << 8 | bytes[i];
    return state;
  }

  bool is_equal(StateIndex number, std::span<const StateNumber> configuration) const {
    for (std::size_t i = 0; i < agents_; ++i) {
      if (state(number, i) != configuration[i]) return false;
    }
    return true;
  }

  void append(std::span<const StateNumber> configuration) {
    const StateNumber largest = *std::ranges::max_element(configuration);
    while (width_ < 4 && largest >> (8 * width_) != 0) widen();
    for (const StateNumber state : configuration) {
      for (std::size_t i = 0; i < width_; ++i) {
        bytes_.push_back(static_cast<std::uint8_t>(state >> (8 * i)));
      }
    }
    ++size_;
  }

  void widen() {
    HashedIndex wider(agents_);
    wider.width_ = width_ * 2;
    std::vector<StateNumber> configuration(agents_);
    for (StateIndex number = 0; number < size_; ++number) {
      read(number, configuration);
      wider.append(configuration);
    }
    bytes_ = std::move(wider.bytes_);
    width_ = wider.width_;
  }

  std::size_t agents_;
  std::size_t width_ = 1;  // bytes per agent
  StateIndex size_ = 0;
  std::vector<std::uint8_t> bytes_;
  KeyIndex<TaggedSlot> index_{70};
  std::vector<std::uint64_t> hashes_;  // of those asked for at once
  std::vector<StateNumber> scratch_;   // a configuration read back
};

// The number of necklaces, by Burnside: the mean over all rotations of base^(cycles).
double count_necklaces(std::size_t agents, double base) {
  double sum = 0;
  for (std::size_t turn = 0; turn < agents; ++turn) {
    sum += std::pow(base, static_cast<double>(std::gcd(turn, agents)));
  }
  return sum / static_cast<double>(agents);
}

}  // namespace

void ConfigurationIndex::number_all(std::span<const StateNumber> configurations,
                                    std::span<StateIndex> numbers) {
  const std::size_t agents = numbers.empty() ? 0 : configurations.size() / numbers.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = number(configurations.subspan(i * agents, agents));
  }
}

double count_multisets(std::size_t agents, double states) {
  double product = 1;
  for (std::size_t i = 0; i < agents; ++i) {
    product = product * (states + static_cast<double>(i)) / static_cast<double>(i + 1);
  }
  return product;
}

double count_canonical(const Network& network, double states) {
  if (network.symmetry() == Symmetry::permutation) return count_multisets(network.agents(), states);
  if (network.symmetry() == Symmetry::rotation) return count_necklaces(network.agents(), states);
  return std::pow(states, static_cast<double>(network.agents()));
}

std::unique_ptr<ConfigurationIndex> index_all(const Network& network, std::size_t states,
                                              const ProgressCallback& progress) {
  CONCLAVE_CHECK(count_canonical(network, static_cast<double>(states)) < 4e9);
  if (network.symmetry() == Symmetry::permutation) {
    return std::make_unique<CensusIndex>(network, states);
  }
  return std::make_unique<TupleIndex>(network, states, progress);
}

std::unique_ptr<ConfigurationIndex> index_as_met(const Network& network) {
  return std::make_unique<HashedIndex>(network.agents());
}

}  // namespace conclave::exact
