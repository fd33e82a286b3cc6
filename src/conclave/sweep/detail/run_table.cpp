#include "conclave/sweep/detail/run_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/run_options.hpp"

namespace conclave::sweep::detail {
namespace {

using experiment::by_rare;
using experiment::by_run;

// The keys besides the options of runs: how many trials or repetitions there are.
constexpr std::array<std::string_view, 5> trial_keys{"trials", "precision", "measure", "batch",
                                                     "max_trials"};
constexpr std::string_view rare_key = "repetitions";

// The keys of options that `kind` accepts and `other` does not.
std::vector<std::string_view> keys_only_of(unsigned kind, unsigned other) {
  std::vector<std::string_view> keys;
  for (const auto& option : experiment::run_options()) {
    if (option.is_accepted_by(kind) && !option.is_accepted_by(other)) {
      keys.push_back(option.plan_key());
    }
  }
  return keys;
}

std::vector<std::string_view> all_keys() {
  std::vector<std::string_view> keys;
  for (const auto& option : experiment::run_options()) keys.push_back(option.plan_key());
  keys.insert(keys.end(), trial_keys.begin(), trial_keys.end());
  keys.insert(keys.end(), {rare_key, "cell_seeds"});
  return keys;
}

// The option that a key of a plan stands for: --n, --param T, --max-parallel-time.
std::string flag_of(std::string_view key) {
  constexpr std::string_view params = "params.";
  if (key.starts_with(params)) return fmt::format("--param {}", key.substr(params.size()));
  const auto found = std::ranges::find(experiment::run_options(), key,
                                       [](const auto& option) { return option.plan_key(); });
  return found == experiment::run_options().end() ? std::string(key) : found->flag();
}

}  // namespace

RunTable::RunTable(std::string path, const toml::table& root, const toml::table& own)
    : path_(std::move(path)), root_(&root), own_(&own) {
  check_keys();
}

void RunTable::check_keys() const {
  std::vector<std::string_view> names = all_keys();
  if (own_ == root_) names.insert(names.end(), {"name", "run"});
  for (const auto& [key, node] : *own_) {
    if (std::ranges::find(names, key.str()) != names.end()) continue;
    object(key.source().begin.line, "", unknown_name("key", key.str(), names));
  }
}

void RunTable::object(std::uint32_t line, std::string_view key, std::string_view sentence) const {
  const std::string_view separator = key.empty() ? "" : ": ";
  if (path_.empty()) throw Error(fmt::format("{}{}{}", flag_of(key), separator, sentence));
  throw Error(fmt::format("{}:{}: {}{}{}", path_, line, key, separator, sentence));
}

const toml::node* RunTable::find(std::string_view key) const {
  const toml::node* const own = own_->get(key);
  return own != nullptr ? own : root_->get(key);
}

const toml::node& RunTable::need(std::string_view key) const {
  if (const toml::node* const node = find(key)) return *node;
  object(line(), "", fmt::format("this run has no {}", key));
}

Value RunTable::only(std::string_view key, const toml::node& node) const {
  return about(key, [&] { return single(node); });
}

std::vector<Value> RunTable::values(std::string_view key) const {
  const toml::node* const node = find(key);
  if (node == nullptr) return {};
  return about(key, [&] { return alternatives(*node); });
}

std::uint64_t RunTable::count(std::string_view key, std::uint64_t low,
                              std::uint64_t fallback) const {
  const toml::node* const node = find(key);
  if (node == nullptr) return fallback;
  const Value value = only(key, *node);
  try {
    return experiment::count_option_64(key, value.text, low, most_trials);
  } catch (const Error& error) {
    object(value.line, "", error.what());
  }
}

std::string RunTable::kind() const {
  constexpr std::array<std::string_view, 2> kinds{"trials", "rare"};
  const toml::node* const node = find("kind");
  const Value value = node == nullptr ? Value{"trials"} : only("kind", *node);
  if (std::ranges::find(kinds, value.text) == kinds.end()) {
    object(value.line, "kind", unknown_name("kind", value.text, kinds));
  }
  const auto refuse = [&](std::string_view key, std::string_view sentence) {
    if (const toml::node* const found = find(key)) object(line_of(*found), key, sentence);
  };
  if (value.text == "trials") {
    std::vector<std::string_view> keys = keys_only_of(by_rare, by_run);
    keys.push_back(rare_key);
    for (const std::string_view key : keys) {
      refuse(key, "only estimates of rare failures have it: add kind = \"rare\"");
    }
    return {};
  }
  refuse("trials", "an estimate of rare failures has repetitions instead");
  std::vector<std::string_view> keys = keys_only_of(by_run, by_rare);
  keys.insert(keys.end(), trial_keys.begin(), trial_keys.end());
  for (const std::string_view key : keys) {
    refuse(key, "an estimate of rare failures does not have it");
  }
  return value.text;
}

bool RunTable::flag(std::string_view key) const {
  const toml::node* const node = find(key);
  if (node == nullptr) return false;
  if (const auto* const value = node->as_boolean()) return value->get();
  object(line_of(*node), key, "true or false is expected here, without quotes");
}

Sampling RunTable::sampling() const {
  if (kind() == "rare") return {.trials = count("repetitions", 2, 20)};
  // A run's own choice comes before that of the whole plan.
  const bool own = own_->contains("trials") || own_->contains("precision");
  const toml::table& decides = own ? *own_ : *root_;
  const toml::node* const precision = decides.get("precision");
  if (precision == nullptr) return {.trials = count("trials", 1, 1)};
  if (decides.contains("trials")) {
    object(line_of(*precision), "precision",
           "it decides the number of trials: instead of trials, give max_trials");
  }
  Sampling result{.trials = count("max_trials", 2, 100'000),
                  .precision = precision_of(only("precision", *precision)),
                  .batch = count("batch", 2, 100)};
  if (const toml::node* measure = find("measure")) {
    result.measure = only("measure", *measure).text;
  }
  return result;
}

double RunTable::precision_of(const Value& value) const {
  const bool is_percentage = value.text.ends_with('%');
  const auto number =
      parse_real(std::string_view(value.text).substr(0, value.text.size() - is_percentage));
  const double precision = number ? *number / (is_percentage ? 100 : 1) : 0;
  if (precision > 0 && precision < 1) return precision;
  object(value.line, "precision",
         fmt::format("a fraction of the mean such as 0.02 or \"2%\" is expected, not '{}'",
                     excerpt(value.text)));
}

std::vector<RunTable::Param> RunTable::params() const {
  const toml::node* const node = find("params");
  if (node == nullptr) return {};
  const toml::table* const table = node->as_table();
  if (table == nullptr) object(line_of(*node), "params", "write params = { N = [\"n\", 100] }");
  // A table of TOML forgets its order.
  std::vector<std::pair<toml::source_position, Param>> placed;
  for (const auto& [key, value] : *table) {
    placed.emplace_back(key.source().begin, Param{std::string(key.str()), &value});
  }
  std::ranges::sort(placed, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Param> result;
  for (auto& [place, param] : placed) result.push_back(std::move(param));
  return result;
}

}  // namespace conclave::sweep::detail
