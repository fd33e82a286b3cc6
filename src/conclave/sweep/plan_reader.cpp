// From a plan's TOML to cells: one pass over the keys, one nest of loops over their alternatives.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/plan_values.hpp"

namespace conclave::sweep {
namespace {

using experiment::RunWords;

constexpr std::size_t most_cells = 1'000'000;
constexpr std::array<std::string_view, 19> run_keys{"protocol",
                                                    "n",
                                                    "params",
                                                    "init",
                                                    "engine",
                                                    "graph",
                                                    "faults",
                                                    "delay",
                                                    "wakeup",
                                                    "ids",
                                                    "seed",
                                                    "count_edges",
                                                    "trials",
                                                    "max_parallel_time",
                                                    "max_interactions",
                                                    "precision",
                                                    "measure",
                                                    "batch",
                                                    "max_trials"};

// The keys that are copied into the words of a run as they stand.
constexpr std::array<std::pair<std::string_view, std::string RunWords::*>, 7> plain_keys{
    {{"init", &RunWords::init},
     {"engine", &RunWords::engine},
     {"graph", &RunWords::graph},
     {"delay", &RunWords::delay},
     {"wakeup", &RunWords::wakeup},
     {"ids", &RunWords::ids},
     {"seed", &RunWords::seed}}};
constexpr std::array<std::pair<std::string_view, std::string RunWords::*>, 2> limit_keys{
    {{"max_parallel_time", &RunWords::max_parallel_time},
     {"max_interactions", &RunWords::max_interactions}}};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw Error(
        fmt::format("cannot read '{}': {}", path, file ? "it is a folder" : std::strerror(errno)));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

class PlanReader {
 public:
  explicit PlanReader(const std::string& path)
      : path_(path), folder_(std::filesystem::path(path).parent_path()) {
    plan_.text = content_of(path);
    plan_.name = std::filesystem::path(path).stem().string();
  }

  Plan read() {
    parse();
    check_keys(root_, true);
    if (const toml::node* name = root_.get("name")) plan_.name = single_of("name", *name).text;
    const toml::node* runs = root_.get("run");
    if (runs == nullptr) {
      expand(root_);
    } else if (const auto* list = runs->as_array()) {
      for (const toml::node& each : *list) {
        if (each.as_table() == nullptr) object(line_of(*runs), "run", "write [[run]]");
        check_keys(*each.as_table(), false);
        expand(*each.as_table());
        ++run_;
      }
    } else {
      object(line_of(*runs), "run", "write [[run]], with two brackets: there may be several");
    }
    return std::move(plan_);
  }

 private:
  static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

  [[noreturn]] void object(std::uint32_t line, std::string_view key,
                           std::string_view sentence) const {
    throw Error(fmt::format("{}:{}: {}{}{}", path_, line, key, key.empty() ? "" : ": ", sentence));
  }

  void parse() {
    try {
      root_ = toml::parse(plan_.text);
    } catch (const toml::parse_error& error) {
      object(error.source().begin.line, "", error.description());
    }
  }

  void check_keys(const toml::table& table, bool is_root) const {
    std::vector<std::string_view> names(run_keys.begin(), run_keys.end());
    if (is_root) names.insert(names.end(), {"name", "run"});
    for (const auto& [key, node] : table) {
      if (std::ranges::find(names, key.str()) != names.end()) continue;
      throw Error(fmt::format("{}:{}: {}", path_, key.source().begin.line,
                              unknown_name("key", key.str(), names)));
    }
  }

  // Mistakes in values get their file and key.
  template <class Work>
  auto about(std::string_view key, Work work) const {
    try {
      return work();
    } catch (const ValueError& error) {
      object(error.line(), key, error.what());
    }
  }
  Value single_of(std::string_view key, const toml::node& node) const {
    return about(key, [&] { return single(node); });
  }

  // What the run says, or else the top of the plan.
  const toml::node* find(std::string_view key) const {
    const toml::node* const own = table_->get(key);
    return own != nullptr ? own : root_.get(key);
  }
  std::vector<Value> values(std::string_view key) const {
    const toml::node* const node = find(key);
    if (node == nullptr) return {};
    return about(key, [&] { return alternatives(*node); });
  }
  std::uint64_t count(std::string_view key, std::uint64_t low, std::uint64_t fallback) const {
    const toml::node* const node = find(key);
    if (node == nullptr) return fallback;
    const Value value = single_of(key, *node);
    try {
      return experiment::count_option_64(key, value.text, low, 1'000'000'000);
    } catch (const Error& error) {
      object(value.line, "", error.what());
    }
  }

  Sampling sampling() const {
    // A run's own choice comes before that of the whole plan.
    const bool own = table_->contains("trials") || table_->contains("precision");
    const toml::table& decides = own ? *table_ : root_;
    const toml::node* const precision = decides.get("precision");
    if (precision == nullptr) return {.trials = count("trials", 1, 1)};
    if (decides.contains("trials")) {
      object(line_of(*precision), "precision",
             "it decides the number of trials: instead of trials, give max_trials");
    }
    Sampling result{.trials = count("max_trials", 2, 100'000),
                    .precision = precision_of(single_of("precision", *precision)),
                    .batch = count("batch", 2, 100)};
    if (const toml::node* measure = find("measure")) {
      result.measure = single_of("measure", *measure).text;
    }
    return result;
  }

  double precision_of(const Value& value) const {
    const bool is_percentage = value.text.ends_with('%');
    const auto number =
        parse_real(std::string_view(value.text).substr(0, value.text.size() - is_percentage));
    const double precision = number ? *number / (is_percentage ? 100 : 1) : 0;
    if (precision > 0 && precision < 1) return precision;
    object(value.line, "precision",
           fmt::format("a fraction of the mean such as 0.02 or \"2%\" is expected, not '{}'",
                       value.text));
  }

  void expand(const toml::table& table) {
    table_ = &table;
    if (find("protocol") == nullptr) object(line_of(table), "", "this run names no protocol");
    if (find("n") == nullptr) object(line_of(table), "", "this run has no n");
    const Sampling sampling_of_run = sampling();
    for (const Value& protocol : values("protocol")) {
      const std::string path = kept(protocol);
      for (const Value& n : values("n")) {
        RunWords words{.protocol = path, .n = size_of(n)};
        expand_plain(0, words, [&] { expand_faults(words, sampling_of_run); });
      }
    }
  }

  std::string size_of(const Value& value) const {
    const std::string text = about("n", [&] { return evaluated(value, {}, Rounding::down); });
    const auto n = parse_count(text);
    if (!n) object(value.line, "n", fmt::format("'{}' is no whole number", text));
    if (*n > catalog::most_agents) object(value.line, "n", "at most 2^62 agents are allowed");
    return to_string(*n);
  }

  // One loop per key that is copied, then `inner`.
  void expand_plain(std::size_t index, RunWords& words, const std::function<void()>& inner) const {
    if (index == plain_keys.size()) return inner();
    const auto& [key, member] = plain_keys[index];
    const std::vector<Value> all = values(key);
    if (all.empty()) return expand_plain(index + 1, words, inner);
    for (const Value& each : all) {
      words.*member = each.text;
      expand_plain(index + 1, words, inner);
    }
    words.*member = RunWords{}.*member;
  }

  void expand_faults(RunWords& words, const Sampling& sampling) {
    const toml::node* const node = find("faults");
    std::vector<std::vector<Value>> all{{}};
    if (node != nullptr) all = about("faults", [&] { return fault_alternatives(*node); });
    for (const std::vector<Value>& faults : all) {
      words.faults.clear();
      for (const Value& fault : faults) words.faults.push_back(fault.text);
      set_rest(words);
      expand_params(0, words, constants_of(words), sampling);
    }
  }

  static text::Constants constants_of(const RunWords& words) {
    return {{"n", text::evaluate(words.n, {})}};
  }

  void set_rest(RunWords& words) const {
    const text::Constants constants = constants_of(words);
    for (const auto& [key, member] : limit_keys) {
      const toml::node* const node = find(key);
      if (node == nullptr) continue;
      const Rounding rounding = key == "max_interactions" ? Rounding::down : Rounding::none;
      words.*member = about(key, [&] { return evaluated(single(*node), constants, rounding); });
    }
    if (const toml::node* flag = find("count_edges")) {
      words.count_edges = single_of("count_edges", *flag).text == "true";
    }
  }

  struct Param {
    std::string name;
    const toml::node* node;
  };

  // In the order of the plan, which a table of TOML forgets.
  std::vector<Param> params() const {
    const toml::node* const node = find("params");
    if (node == nullptr) return {};
    const toml::table* const table = node->as_table();
    if (table == nullptr) object(line_of(*node), "params", "write params = { N = [\"n\", 100] }");
    std::vector<std::pair<toml::source_position, Param>> placed;
    for (const auto& [key, value] : *table) {
      placed.emplace_back(key.source().begin, Param{std::string(key.str()), &value});
    }
    std::ranges::sort(placed, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Param> result;
    for (auto& [place, param] : placed) result.push_back(std::move(param));
    return result;
  }

  // A parameter may speak of n and of those before it.
  void expand_params(std::size_t index, RunWords& words, const text::Constants& constants,
                     const Sampling& sampling) {
    const std::vector<Param> all = params();
    if (index == all.size()) return add(words, sampling);
    const auto& [name, node] = all[index];
    const std::string key = "params." + name;
    const Rounding rounding =
        takes_decimals(words.protocol, name) ? Rounding::none : Rounding::down;
    for (const Value& value : about(key, [&] { return alternatives(*node); })) {
      const std::string text = about(key, [&] { return evaluated(value, constants, rounding); });
      text::Constants known = constants;
      if (parse_count(text) || parse_real(text)) known[name] = text::evaluate(text, {});
      words.params.push_back(name + '=' + text);
      expand_params(index + 1, words, known, sampling);
      words.params.pop_back();
    }
  }

  bool takes_decimals(const std::string& protocol, const std::string& param) const {
    for (const auto& info : entry_of(protocol, plan_.texts).parameters) {
      if (info.name == param) return info.allowed.ends_with("decimals too");
    }
    return false;
  }

  // A protocol text is kept, with its path as seen from here; plans name it as seen from theirs.
  std::string kept(const Value& protocol) {
    const bool is_path = protocol.text.find('/') != std::string::npos ||
                         protocol.text.ends_with(".pp") || protocol.text.ends_with(".rules");
    try {
      if (!is_path) {
        catalog::find(protocol.text);
        return protocol.text;
      }
      const std::filesystem::path path = folder_ / protocol.text;
      plan_.texts[protocol.text] = {path.filename().string(), content_of(path.string())};
      entry_of(protocol.text, plan_.texts);
    } catch (const Error& error) {
      object(protocol.line, "protocol", error.what());
    }
    return protocol.text;
  }

  void add(const RunWords& words, const Sampling& sampling) {
    if (plan_.cells.size() == most_cells) {
      object(line_of(*table_), "", fmt::format("more than {} cells", most_cells));
    }
    try {
      const auto run = prepare(words, plan_.texts);
      Cell cell{.run = run_,
                .words = words,
                .sampling = sampling,
                .head = experiment::RowFormat(*run).json_head(),
                .bytes = run->bytes_per_trial()};
      set_measure(cell.sampling, *run);
      for (const std::string& warning : run->warnings()) {
        if (std::ranges::find(plan_.warnings, warning) == plan_.warnings.end()) {
          plan_.warnings.push_back(warning);
        }
      }
      plan_.cells.push_back(std::move(cell));
    } catch (const Error& error) {
      blame(words, error.what());
    }
  }

  void set_measure(Sampling& sampling, const catalog::PreparedRun& run) const {
    if (sampling.precision == 0) return;
    const bool is_network = run.network() != nullptr;
    if (sampling.measure.empty()) sampling.measure = is_network ? "messages" : "interactions";
    std::vector<std::string> names{"leaders"};
    if (is_network) names.insert(names.end(), {"messages", "time", "rounds"});
    if (!is_network) names.insert(names.end(), {"interactions", "parallel_time"});
    for (const auto& each : run.observables())
      names.push_back(fmt::format("observables.{}", each.name));
    if (std::ranges::find(names, sampling.measure) != names.end()) return;
    throw Error(unknown_name("measure", sampling.measure,
                             std::vector<std::string_view>(names.begin(), names.end())));
  }

  // The key to blame is one without which the cell would make sense.
  [[noreturn]] void blame(const RunWords& words, const std::string& sentence) const {
    const auto is_cured = [&](const RunWords& without) {
      try {
        prepare(without, plan_.texts);
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    const auto try_without = [&](std::string_view key, auto member) {
      RunWords without = words;
      without.*member = RunWords{}.*member;
      if (find(key) != nullptr && is_cured(without)) object(line_of(*find(key)), key, sentence);
    };
    for (const auto& [key, member] : plain_keys) try_without(key, member);
    for (const auto& [key, member] : limit_keys) try_without(key, member);
    try_without("faults", &RunWords::faults);
    try_without("count_edges", &RunWords::count_edges);
    const std::vector<Param> all = params();
    for (std::size_t i = 0; i < all.size(); ++i) {
      RunWords without = words;
      without.params.erase(without.params.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_cured(without)) object(line_of(*all[i].node), "params." + all[i].name, sentence);
    }
    object(line_of(*find("n")), "", fmt::format("{} n={}: {}", words.protocol, words.n, sentence));
  }

  std::string path_;
  std::filesystem::path folder_;
  Plan plan_;
  toml::table root_;
  const toml::table* table_ = nullptr;  // of the run that is being expanded
  std::size_t run_ = 0;
};

}  // namespace

Plan read_plan(const std::string& path) { return PlanReader(path).read(); }

}  // namespace conclave::sweep
