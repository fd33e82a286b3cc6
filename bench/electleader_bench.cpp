#include "bench/electleader_bench.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/population/stepping.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"

namespace conclave::bench {
namespace {

namespace el = protocols::electleader;
template <class M>
using Engine = population::Stepping<el::ElectLeader<M>>;
using Fast = Engine<el::LazyMessages>;

// Resident memory of the process.
double memory() {
  malloc_trim(0);
  std::ifstream pages("/proc/self/statm");
  double total = 0;
  double resident = 0;
  pages >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

el::Parameters with_r(std::uint64_t r) {
  el::Parameters parameters;
  parameters.r = r;
  return parameters;
}

template <class E>
Interactions time_to_safety(std::uint64_t n, std::uint64_t r, std::size_t start) {
  E engine(with_r(r), n, start, {.seed = 1});
  engine.advance(Interactions::max());
  return engine.now();
}

void check_electleader() {
  for (const std::size_t start : {el::Starts::clean, el::Starts::dup, el::Starts::dupq0}) {
    if (time_to_safety<Fast>(24, 8, start) !=
        time_to_safety<Engine<el::DenseMessages>>(24, 8, start)) {
      throw std::logic_error("electleader: fast and dense messages differ");
    }
  }
}

// One run from a start to safety, and the memory it has taken at its first detection or at its end.
std::string measure(std::uint64_t n, std::uint64_t r, std::size_t start) {
  const double memory_before = memory();
  const double begin = cpu_seconds();
  Fast engine(with_r(r), n, start, {.seed = 1});
  double seconds = cpu_seconds() - begin;
  double most = 0;
  while (!engine.converged()) {
    const double from = cpu_seconds();
    const std::uint64_t soft_resets = engine.configuration().history().soft_resets();
    const std::uint64_t full_resets = engine.configuration().history().full_resets();
    while (!engine.converged() && soft_resets == engine.configuration().history().soft_resets() &&
           full_resets == engine.configuration().history().full_resets()) {
      engine.advance(Interactions(std::min<std::uint64_t>(n, 1000)));
    }
    seconds += cpu_seconds() - from;
    most = std::max(most, memory() - memory_before);
  }
  const double interactions = engine.now().as_double();
  return fmt::format("{:>8} {:>6}  {:<8} {:>12.4g} {:>10.3f} {:>12.3g} {:>14.4g}\n", n, r,
                     el::Starts::table[start].name, interactions, seconds, interactions / seconds,
                     most / static_cast<double>(n));
}

constexpr std::uint64_t largest_for_all_sizes = 4000;

std::vector<std::uint64_t> group_sizes(std::uint64_t n) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t r = 1; r < n / 2; r *= 8) sizes.push_back(r);
  sizes.push_back(n / 2);
  if (n <= largest_for_all_sizes) return sizes;
  el::Parameters usual;  // r = log^2 n: others take too long
  usual.resolve(n);
  return {*usual.r};
}

}  // namespace

void run_electleader(const ElectLeaderOptions& options,
                     const std::function<void(const std::string&)>& print) {
  check_electleader();
  print("one trial to safety on one core; most memory seen right after a reset or at the end\n");
  print(fmt::format("{:>8} {:>6}  {:<8} {:>12} {:>10} {:>12} {:>14}\n", "n", "r", "start",
                    "interactions", "CPU s", "per second", "bytes/agent"));
  for (const std::uint64_t n : options.sizes) {
    for (const std::uint64_t r : group_sizes(n)) {
      for (const std::size_t start : {el::Starts::clean, el::Starts::dup}) {
        print(measure(n, r, start));
      }
    }
  }
}

std::vector<Cell> electleader_cells() {
  return {{"electleader n=128 r=8", Kernel::arithmetic, [] {
             const double begin = cpu_seconds();
             const Interactions done = time_to_safety<Fast>(128, 8, el::Starts::clean);
             return done.as_double() / (cpu_seconds() - begin);
           }}};
}

}  // namespace conclave::bench
