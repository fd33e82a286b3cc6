#include "conclave/experiment/exact_text.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::experiment {
namespace {

constexpr std::array<std::string_view, 2> extents{"all", "start"};
constexpr std::array<std::string_view, 2> identifiers{"unique", "anonymous"};

// Trials are compared with the law up to a time after which fewer than this many of them are
// expected to converge; and no further than a few minutes allow for all trials together.
constexpr double trials_left = 5;
constexpr std::uint64_t most_law_steps = 1'000'000;
constexpr std::uint64_t fewest_law_steps = 1'000;
constexpr std::uint64_t most_interactions = 10'000'000'000;

exact::Extent extent(const std::string& from) {
  if (from.empty()) return exact::Extent::as_claimed;
  if (from == "all") return exact::Extent::everywhere;
  if (from == "start") return exact::Extent::start;
  throw Error(unknown_name("value of --from", from, extents));
}

std::uint64_t trials(const VerifyText& words) {
  return count_option_64("--trials", words.trials, 1, UINT64_MAX);
}

void set_comparison(const VerifyText& words, exact::VerifyOptions& options) {
  if (words.against.empty()) return;
  if (!options.target.empty()) throw Error("--against is about convergence, not about --target");
  options.comparison_steps =
      std::clamp(most_interactions / trials(words), fewest_law_steps, most_law_steps);
  options.comparison_tail = trials_left / static_cast<double>(trials(words));
}

// Their trials end at the limit at the latest.
std::vector<std::unique_ptr<const catalog::PreparedRun>> engines_of(const catalog::Entry& entry,
                                                                    const VerifyText& words,
                                                                    const catalog::RunRequest& run,
                                                                    std::uint64_t limit) {
  std::vector<std::unique_ptr<const catalog::PreparedRun>> engines;
  if (words.against.empty()) return engines;
  for (const std::string& name : list_option("--against", words.against)) {
    catalog::RunRequest with_engine = run;
    with_engine.engine = name;
    with_engine.plan.limit = limit;
    engines.push_back(entry.prepare(with_engine));
  }
  return engines;
}

// Small populations take little time, and their maxima are hard to tell from their neighbours.
std::uint64_t default_budget(Interactions n) {
  return static_cast<std::uint64_t>(std::clamp(1e7 / n.as_double(), 2e4, 2e6));
}

// The expected number of trials that end at each time, and, last, later.
std::vector<double> expectations(std::span<const double> law, double trials) {
  std::vector<double> expected;
  double before = 0;
  for (const double now : law) {
    expected.push_back(trials * (now - before));
    before = now;
  }
  expected.push_back(trials * (1 - before));
  return expected;
}

void fit(std::span<const double> observed, std::span<const double> expected, LawTest& test) {
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] > 0 || observed[i] == 0) continue;
    test.fit = {.statistic = observed[i], .p_value = 0};
    return;
  }
  const Buckets buckets = pool_buckets(observed, expected);
  if (buckets.observed.size() >= 2) {
    test.fit = chi_square(buckets.observed, buckets.expected);
  } else {  // where only one time is possible, all trials have been seen to take it
    test.is_informative = std::ranges::count_if(expected, [](double e) { return e > 0; }) == 1;
  }
}

}  // namespace

void check_verifiable(const catalog::Entry& entry, const std::string& name) {
  if (entry.explore) {
    throw Error(fmt::format(
        "{0} passes messages; to try all its schedules: conclave explore {0} --n 4", name));
  }
  catalog::require(entry, &catalog::Entry::verify, "cannot be verified exactly");
}

catalog::VerifyRequest verify_request(const catalog::Entry& entry, const VerifyText& words,
                                      catalog::RunRequest run) {
  catalog::VerifyRequest asked{.run = std::move(run), .options = words.plain};
  exact::VerifyOptions& options = asked.options;
  options.extent = extent(words.from);
  options.congruence = !words.no_congruence;
  options.bounds.memory =
      words.memory.empty() ? available_memory() : size_option("--memory", words.memory);
  if (words.memory.empty()) options.bounds.memory_while_unknown = std::uint64_t{4} << 30;
  if (!words.distribution.empty()) {
    options.distribution_steps =
        count_option_64("--distribution", words.distribution, 1, most_law_steps);
  }
  set_comparison(words, options);
  engines_of(entry, words, asked.run, most_law_steps);
  return asked;
}

// Later or non-converging trials are pooled into one bucket, so no trial need go further than the
// law.
std::vector<LawTest> compared_engines(const catalog::Entry& entry, const VerifyText& words,
                                      const catalog::RunRequest& run, std::span<const double> law,
                                      const std::atomic<bool>& stop) {
  std::vector<LawTest> tests;
  for (const auto& engine : engines_of(entry, words, run, law.size())) {
    Progress progress;
    tests.push_back(test_law(
        *engine, law,
        {.trials = trials(words), .threads = std::max(1u, std::thread::hardware_concurrency())},
        progress, stop));
  }
  return tests;
}

void check_searchable(const catalog::Entry& entry) {
  catalog::require(entry, &catalog::Entry::search, "has no starts that can be searched");
}

catalog::SearchRequest search_request(const catalog::Entry& entry, const std::string& budget,
                                      const std::string& objective, catalog::RunRequest run) {
  if (!entry.network && !objective.empty()) {
    throw Error(fmt::format("--objective is for message passing; {} is a population protocol",
                            entry.info.name));
  }
  catalog::SearchRequest asked{.run = std::move(run)};
  asked.objective = objective;
  asked.budget = budget.empty() ? default_budget(asked.run.n)
                                : count_option_64("--budget", budget, 1000, 1'000'000'000'000);
  return asked;
}

catalog::ExplorationRequest exploration_request(const catalog::Entry& entry, const RunText& words,
                                                const std::string& most_configurations) {
  const std::string ids = words.ids.empty() ? "unique" : words.ids;
  if (std::ranges::find(identifiers, ids) == identifiers.end()) {
    throw Error(unknown_name("kind of identifiers", ids, identifiers));
  }
  if (!entry.explore) {
    throw Error(fmt::format("{} is not a message-passing protocol: it has no schedules of messages",
                            words.protocol));
  }
  const catalog::RunRequest run = request_of(entry, words, {.command = "explore", .n = "4"});
  return {.n = run.n,
          .settings = run.settings,
          .has_identifiers = ids == "unique",
          .graph = run.graph,
          .digraph = run.digraph,
          .most_configurations = count_option_64(
              "--max-configurations", most_configurations.empty() ? "4e6" : most_configurations, 1,
              std::uint64_t{1} << 31)};
}

LawTest test_law(const catalog::PreparedRun& run, std::span<const double> law,
                 const RunnerOptions& options, Progress& progress, const std::atomic<bool>& stop) {
  std::vector<double> observed(law.size() + 1, 0.0);
  double sum = 0;
  double in_time = 0;
  const auto take = [&](const Row& row) {
    const double time = row.result.interactions.as_double();
    const bool counts =
        row.result.ending == Ending::converged && time < static_cast<double>(law.size());
    ++observed[counts ? static_cast<std::size_t>(time) : law.size()];
    sum += counts ? time : 0;
    in_time += counts ? 1 : 0;
  };
  LawTest test;
  test.engine = run.engine();
  test.trials = run_trials(run, options, take, progress, stop);
  test.mean = in_time > 0 ? sum / in_time : 0;
  const std::vector<double> expected = expectations(law, static_cast<double>(test.trials));
  test.horizon = law.size() - 1;
  test.expected_beyond = expected.back();
  test.found_beyond = static_cast<std::uint64_t>(observed.back());
  fit(observed, expected, test);
  return test;
}

}  // namespace conclave::experiment
