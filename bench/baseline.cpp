#include "bench/baseline.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"
#include "bench/median.hpp"

namespace conclave::bench {
namespace {

constexpr std::size_t most_record_bytes = std::size_t{1} << 20;  // of a file of ratios
constexpr unsigned second_looks = 2;                             // at a cell that seems slower

// --- the kernels ---

// Multiplies, shifts and adds in eight independent chains; nothing leaves the registers.
[[gnu::noinline]] std::uint64_t mix(std::uint64_t steps) {
  std::uint64_t chains[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::uint64_t& each : chains) {
      each = (each ^ each >> 29) * 0x9e3779b97f4a7c15u + step;
    }
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : chains) sum ^= each;
  return sum;
}

// Reads words anywhere in an array that no near cache holds; the reads do not wait for each other.
[[gnu::noinline]] std::uint64_t wander(const std::vector<std::uint32_t>& words,
                                       std::uint64_t steps) {
  std::uint64_t sum = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    sum += words[(step * 0x9e3779b97f4a7c15u) >> 40];
  }
  return sum;
}

class Kernels {
 public:
  // Steps per CPU second.
  double rate(Kernel kernel) {
    const std::uint64_t steps = kernel == Kernel::memory ? 3'000'000 : 2'000'000;
    const double begin = cpu_seconds();
    sink_ = kernel == Kernel::memory ? wander(words_, steps) : mix(steps);
    return static_cast<double>(steps) / (cpu_seconds() - begin);
  }

 private:
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(std::size_t{1} << 24, 1);
  volatile std::uint64_t sink_ = 0;  // what the loops compute is needed
};

// --- measuring ---

struct Ratios {
  std::vector<double> rates, ratios;

  void measure(const Cell& cell, Kernels& kernels) {
    const double before = kernels.rate(cell.kernel);
    const double rate = cell.rate();
    const double after = kernels.rate(cell.kernel);
    rates.push_back(rate);
    ratios.push_back(rate / ((before + after) / 2));
  }
  double rate() const { return median(rates); }
  double ratio() const { return median(ratios); }
};

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const auto list : {agents_cells, counts_cells, electleader_cells, events_cells, exact_cells,
                          network_cells, reactions_cells, texts_cells}) {
    for (Cell& cell : list()) cells.push_back(std::move(cell));
  }
  return cells;
}

// --- records ---

struct Record {
  std::string machine{}, code{};
  std::map<std::string, double, std::less<>> ratios{};

  std::optional<double> ratio(std::string_view cell) const {
    const auto found = ratios.find(cell);
    return found == ratios.end() ? std::nullopt : std::optional(found->second);
  }
};

Record read_record(const std::string& path) {
  const Json json = Json::parse(read_text(path, most_record_bytes)).value_or(Json());
  Record record;
  if (const Json* const machine = json.find("machine")) record.machine = machine->plain();
  if (const Json* const code = json.find("code")) record.code = code->plain();
  const Json* const cells = json.find("cells");
  for (const JsonMember& cell : cells != nullptr ? cells->members() : Json().members()) {
    const Json* const ratio = cell.value.find("ratio");
    const double value = ratio != nullptr ? ratio->real().value_or(0) : 0;
    if (value > 0) record.ratios.emplace(cell.name, value);
  }
  if (!record.ratios.empty()) return record;
  throw Error(
      fmt::format("'{}' is no record of benchmarks; conclave bench all --save writes one", path));
}

void save(const AllOptions& options, const std::vector<Cell>& cells,
          const std::vector<Ratios>& measured) {
  Json all{{"machine", machine_name()}, {"code", options.code}, {"cells", Json::object()}};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    all["cells"][cells[i].name] = {{"rate", measured[i].rate()}, {"ratio", measured[i].ratio()}};
  }
  write_file(options.save, all.dump(2) + '\n');
}

std::string cell_line(const Cell& cell, const Ratios& measured, std::optional<double> recorded,
                      bool is_slower) {
  std::string comparison = fmt::format("{:>9}  {:>6}", "-", "-");
  if (recorded) {
    comparison = fmt::format("{:>9.4g}  {:>6.2f}{}", *recorded, measured.ratio() / *recorded,
                             is_slower ? "  slower" : "");
  }
  return fmt::format("{:<34} {:<10} {:>9.3g}  {:>9.4g}  {}\n", cell.name,
                     cell.kernel == Kernel::memory ? "memory" : "arithmetic", measured.rate(),
                     measured.ratio(), comparison);
}

void print_head(const AllOptions& options, const Record& recorded,
                const std::function<void(const std::string&)>& print) {
  print("rate: work per CPU second of one core; ratio: to a calibration kernel that is run before "
        "and after,\nmedian of the repeats\n");
  if (!options.compare.empty()) {
    print(fmt::format("recorded in {} by {} on {}\n", printable(options.compare),
                      excerpt(recorded.code), excerpt(recorded.machine)));
    if (recorded.machine != machine_name()) {
      print("that is another machine: ratios differ between kinds of processors\n");
    }
  }
  print(fmt::format("{:<34} {:<10} {:>9}  {:>9}  {:>9}  {:>6}\n", "cell", "kernel", "rate", "ratio",
                    "recorded", "change"));
}

}  // namespace

std::string machine_name() {
  std::string model = "an unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string words; std::getline(file, words);) {
    if (!words.starts_with("model name")) continue;
    model = words.substr(words.find(':') + 2);
    break;
  }
  return fmt::format("{}, {} threads", model, std::thread::hardware_concurrency());
}

bool run_all(const AllOptions& options, const std::function<void(const std::string&)>& print) {
  const Record recorded = options.compare.empty() ? Record{} : read_record(options.compare);
  const std::vector<Cell> cells = all_cells();
  std::vector<Ratios> measured(cells.size());
  Kernels kernels;
  std::size_t slower = 0;
  check_can_be_written(options.save);
  print_head(options, recorded, print);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::optional<double> before = recorded.ratio(cells[i].name);
    bool is_slower = true;
    for (unsigned look = 0; look <= second_looks && is_slower; ++look) {
      for (unsigned k = 0; k < options.repeats; ++k) measured[i].measure(cells[i], kernels);
      is_slower = before && measured[i].ratio() < *before / options.tolerance;
    }
    slower += is_slower ? 1 : 0;
    print(cell_line(cells[i], measured[i], before, is_slower));
  }
  if (!options.save.empty()) save(options, cells, measured);
  if (options.compare.empty()) return true;
  print(fmt::format("{} of {} cells slower than recorded by a factor of {:.3g} or more\n", slower,
                    cells.size(), options.tolerance));
  return slower == 0;
}

}  // namespace conclave::bench
