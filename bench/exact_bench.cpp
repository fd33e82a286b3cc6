#include "bench/exact_bench.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conclave/chain/export.hpp"
#include "conclave/chain/hitting_times.hpp"

#include "bench/cell.hpp"
#include "bench/chain_families.hpp"
#include "bench/cpu_seconds.hpp"

namespace conclave::bench {
namespace {

using chain::MarkovChain;
using chain::StateIndex;
using chain::StateSet;

// The kinds of chains beside the random one have so many times fewer states.
constexpr StateIndex smaller = 10;

// A folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "conclave-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Reads all numbers of the file and does nothing with them but a sum.
double bare_parse(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const double begin = cpu_seconds();
  const char* const end = text.data() + text.size();
  double sum = 0;
  for (const char* here = text.data(); here != end;) {
    double value = 0;
    here = std::from_chars(here, end, value).ptr;
    sum += value;
    while (here != end && (*here == ' ' || *here == '\n')) ++here;
  }
  const double seconds = cpu_seconds() - begin;
  if (!(sum > 0)) throw std::logic_error("the file holds no numbers");
  return seconds;
}

double one_product(const MarkovChain& chain) {
  std::vector<double> x(chain.size(), 1.0);
  std::vector<double> y(chain.size());
  const double begin = cpu_seconds();
  for (StateIndex state = 0; state < chain.size(); ++state) {
    const auto to = chain.successors(state);
    const auto probabilities = chain.probabilities(state);
    for (std::size_t k = 0; k < to.size(); ++k) y[state] += probabilities[k] * x[to[k]];
  }
  const double seconds = cpu_seconds() - begin;
  if (!(y[0] > 0.5)) throw std::logic_error("a row does not sum to 1");
  return seconds;
}

struct Measurement {
  double bare = 1e300, product = 1e300, load = 1e300, solve = 1e300;
  double error = 0, expected = 0;
};

void measure(const std::string& path, const MarkovChain& written, const StateSet& target,
             Measurement& best) {
  best.bare = std::min(best.bare, bare_parse(path));
  best.product = std::min(best.product, one_product(written));
  const double begin = cpu_seconds();
  const MarkovChain chain = chain::read_transitions(path);
  const double loaded = cpu_seconds();
  const chain::HittingTimes times = chain::hitting_times(chain, target);
  best.load = std::min(best.load, loaded - begin);
  best.solve = std::min(best.solve, cpu_seconds() - loaded);
  best.error = times.relative_error;
  best.expected = times.mean[0];
  if (!std::ranges::equal(chain.probabilities(0), written.probabilities(0)) ||
      chain.transitions() != written.transitions()) {
    throw std::logic_error("the file does not read back as it was written");
  }
}

std::string family_row(const Family& family, StateIndex states) {
  const FamilyChain made = family.make(states);
  const double begin = cpu_seconds();
  const chain::HittingTimes times = chain::hitting_times(made.chain, made.target);
  const double seconds = cpu_seconds() - begin;
  return fmt::format("{:<52} {:>8}  {:>7.2f} {:>9.1e} {:>9.1e}\n", family.meaning,
                     made.chain.size(), seconds, times.mean[times.slowest()], times.relative_error);
}

}  // namespace

void run_exact(const ExactOptions& options, const std::function<void(const std::string&)>& print) {
  print(
      "random chains with 5 successors per state, best of the repeats, CPU seconds of one core\n");
  print(fmt::format("{:>10} {:>8}  {:>10} {:>10}  {:>7} {:>7} {:>7}  {:>11} {:>9}\n", "states",
                    "targets", "bare parse", "1 product", "load", "solve", "total", "/ bare parse",
                    "error"));
  const TemporaryFolder folder;
  for (const std::uint64_t size : options.sizes) {
    const auto states = static_cast<StateIndex>(size);
    const MarkovChain chain = chain_families().front().make(states).chain;
    const std::string path = folder.file("chain.tra");
    chain::write_transitions(chain, path);
    for (const StateIndex distance : {states, StateIndex{100}}) {
      StateSet target(states);
      for (StateIndex state = distance - 1; state < states; state += distance) target.insert(state);
      Measurement best;
      for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
        measure(path, chain, target, best);
      }
      const double total = best.load + best.solve;
      print(fmt::format(
          "{:>10} {:>8}  {:>10.3f} {:>10.4f}  {:>7.3f} {:>7.3f} {:>7.3f}  {:>12.1f} {:>9.1e}\n",
          states, target.count(), best.bare, best.product, best.load, best.solve, total,
          total / best.bare, best.error));
    }
    print(fmt::format("\n{:<52} {:>8}  {:>7} {:>9} {:>9}\n", "kind", "states", "solve", "maximum",
                      "error"));
    for (const Family& family : chain_families()) print(family_row(family, states / smaller));
  }
}

// States of the random chain solved per CPU second.
std::vector<Cell> exact_cells() {
  constexpr StateIndex states = 50'000;
  const auto made = std::make_shared<const FamilyChain>(chain_families().front().make(states));
  return {{"exact random chain 5e4 states", Kernel::memory, [made] {
             const double begin = cpu_seconds();
             chain::hitting_times(made->chain, made->target);
             return states / (cpu_seconds() - begin);
           }}};
}

}  // namespace conclave::bench
