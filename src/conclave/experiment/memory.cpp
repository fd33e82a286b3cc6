#include "conclave/experiment/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::experiment {
namespace {

std::string gibibytes(double bytes) {
  return fmt::format("{:.3g} GiB", bytes / (1024.0 * 1024.0 * 1024.0));
}

}  // namespace

std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  for (std::string unit; info >> key >> kibibytes; std::getline(info, unit)) {
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked, std::uint64_t memory) {
  if (!run.device().empty()) return 1;  // which runs all trials by itself
  const std::uint64_t bytes = run.bytes_per_trial();
  const std::uint64_t fitting = memory / std::max<std::uint64_t>(1, bytes);
  const std::uint64_t wanted = std::min<std::uint64_t>(
      trials, asked.value_or(std::max(1u, std::thread::hardware_concurrency())));
  const std::uint64_t least = asked ? wanted : 1;
  if (fitting < least) {
    const double needed = static_cast<double>(bytes) * static_cast<double>(least);
    throw Error(fmt::format(
        "n = {} needs {} of memory with engine {}{}, but only {} are free on this machine", run.n(),
        gibibytes(needed), run.engine(),
        least > 1 ? fmt::format(" on {} threads at once", least) : "",
        gibibytes(static_cast<double>(memory))));
  }
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fitting, 1, wanted));
}

unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked) {
  constexpr std::uint64_t small = std::uint64_t{1} << 16;  // bytes of a trial
  if (!asked && run.bytes_per_trial() <= small) return worker_count(run, trials, asked, 1 << 26);
  return worker_count(run, trials, asked, available_memory());
}

}  // namespace conclave::experiment
