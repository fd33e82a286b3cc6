// From a plan's TOML to cells: one pass over the keys, one nest of loops over their alternatives.
// The file is long because each cell is checked where it is made.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/checksum.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/base/toml.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/sweep/detail/run_table.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/plan_values.hpp"
#include "conclave/sweep/rare_cells.hpp"
#include "conclave/sweep/row_fields.hpp"
#include "conclave/text/compiled.hpp"
#include "conclave/text/protocol_text.hpp"

namespace conclave::sweep {

using detail::RunTable;

namespace {

using experiment::RunText;

constexpr std::size_t most_cells = 1'000'000;

using RunOption = experiment::Option<RunText>;

// The options of runs whose values have alternatives, in the order of the nest of loops: words are
// copied as they stand, then come lists (a list of lists has alternatives), then the parameters,
// and last the limits, which may be expressions. Sizes and protocols have loops of their own.
std::vector<const RunOption*> looped_options() {
  std::vector<const RunOption*> words, lists, limits, params;
  for (const RunOption& option : experiment::run_options()) {
    if (option.accepted_by == 0 || option.name == "n") continue;
    if (std::holds_alternative<std::vector<std::string> RunText::*>(option.value)) {
      (option.name == "param" ? params : lists).push_back(&option);
    } else if (std::holds_alternative<std::string RunText::*>(option.value)) {
      (option.kind == experiment::ValueKind::limit ? limits : words).push_back(&option);
    }
  }
  for (const auto* const more : {&lists, &params, &limits}) {
    words.insert(words.end(), more->begin(), more->end());
  }
  return words;
}

// Limits on the plan itself, and on a text or a graph that it names, which is kept with the
// results.
constexpr std::size_t most_plan_bytes = std::size_t{16} << 20;
constexpr std::size_t trials_on_a_device = std::size_t{1} << 14;  // they fill it, and can be shared
constexpr std::size_t most_named_bytes = std::size_t{256} << 20;

class PlanReader {
 public:
  PlanReader(const std::string& path, std::string text, Outside outside)
      : path_(path), folder_(std::filesystem::path(path).parent_path()), outside_(outside) {
    plan_.text = std::move(text);
    plan_.name = std::filesystem::path(path).stem().string();
  }

  Plan read() {
    root_ = parse_toml(plan_.text, path_);
    const RunTable top(path_, root_, root_);
    if (const toml::node* name = root_.get("name")) plan_.name = top.only("name", *name).text;
    const toml::node* const runs = root_.get("run");
    if (runs == nullptr) {
      expand(top);
      return std::move(plan_);
    }
    const toml::array* const list = runs->as_array();
    const bool is_list = list != nullptr && std::ranges::all_of(*list, [](const auto& each) {
                           return each.is_table();
                         });
    if (!is_list) {
      top.object(RunTable::line_of(*runs), "run",
                 "write [[run]], with two brackets: there may be several");
    }
    for (; run_ < list->size(); ++run_) expand({path_, root_, *list->get(run_)->as_table()});
    return std::move(plan_);
  }

 private:
  void expand(const RunTable& table) {
    table_ = &table;
    table_->need("protocol");
    table_->need("n");
    const Sampling sampling = table_->sampling();
    for (const Value& protocol : table_->values("protocol")) {
      keep_text(protocol);
      for (const Value& n : table_->values("n")) {
        RunText words{.protocol = protocol.text, .n = size_of(n), .kind = table_->kind()};
        for (const RunOption& option : experiment::run_options()) {
          const auto* const flag = std::get_if<bool RunText::*>(&option.value);
          if (flag != nullptr) words.** flag = table_->flag(option.plan_key());
        }
        expand_options(0, words, {{"n", number_of(*parse_count(words.n))}}, sampling);
      }
    }
  }

  std::string size_of(const Value& value) const {
    const std::string text =
        table_->about("n", [&] { return evaluated(value, {}, Rounding::down); });
    const auto n = parse_count(text);
    if (!n) table_->object(value.line, "n", fmt::format("'{}' is no whole number", excerpt(text)));
    if (*n > catalog::most_agents) {
      table_->object(value.line, "n", "at most 2^62 agents are allowed");
    }
    return to_string(*n);
  }

  static text::Number number_of(Interactions count) { return text::evaluate(to_string(count), {}); }

  // One loop per option. The constants are n and the parameters so far.
  void expand_options(std::size_t index, RunText& words, const text::Constants& constants,
                      const Sampling& sampling) {
    if (index == options_.size()) return add(words, sampling);
    const RunOption& option = *options_[index];
    const auto go_on = [&](const text::Constants& known) {
      expand_options(index + 1, words, known, sampling);
    };
    if (option.name == "param") return expand_params(0, words, constants, go_on);
    const std::string_view key = option.plan_key();
    const toml::node* const node = table_->find(key);
    if (node == nullptr) return go_on(constants);
    if (const auto* const text = std::get_if<std::string RunText::*>(&option.value)) {
      for (const Value& each : table_->values(key)) {
        words.** text = word_of(option, each, constants);
        go_on(constants);
      }
      words.** text = RunText{}.**text;
      return;
    }
    const auto list = std::get<std::vector<std::string> RunText::*>(option.value);
    for (const auto& values : table_->about(key, [&] { return list_alternatives(*node); })) {
      (words.*list).clear();
      for (const Value& each : values) (words.*list).push_back(each.text);
      go_on(constants);
    }
  }

  // A limit may speak of n and of the parameters.
  std::string word_of(const RunOption& option, const Value& value,
                      const text::Constants& constants) {
    if (option.name == "graph") return kept_graph(value);
    if (option.kind != experiment::ValueKind::limit) return value.text;
    const bool is_count = option.name == "max_interactions";
    const Rounding rounding = is_count ? Rounding::down : Rounding::none;
    return table_->about(option.plan_key(), [&] { return evaluated(value, constants, rounding); });
  }

  // A parameter may speak of n and of those before it.
  template <class GoOn>
  void expand_params(std::size_t index, RunText& words, const text::Constants& constants,
                     const GoOn& go_on) {
    const std::vector<RunTable::Param> all = table_->params();
    if (index == all.size()) return go_on(constants);
    const std::string& name = all[index].name;
    const toml::node* const node = all[index].node;
    const std::string key = "params." + name;
    const Rounding rounding = rounding_of(words.protocol, name, constants);
    for (const Value& value : table_->about(key, [&] { return alternatives(*node); })) {
      const std::string text =
          table_->about(key, [&] { return evaluated(value, constants, rounding); });
      text::Constants known = constants;
      const auto count = parse_count(text);
      if (count && *count <= catalog::most_agents) known[name] = number_of(*count);
      words.params.push_back(fmt::format("{}={}", name, text));
      expand_params(index + 1, words, known, go_on);
      words.params.pop_back();
    }
  }

  // Texts take fractions exactly, protocols of the catalog as doubles.
  Rounding rounding_of(const std::string& protocol, const std::string& param,
                       const text::Constants& constants) const {
    const auto kept = plan_.texts.find(protocol);
    if (kept == plan_.texts.end()) {
      return takes_decimals(protocol, param) ? Rounding::none : Rounding::down;
    }
    const text::ProtocolText text(kept->second.name, kept->second.content);
    const bool is_fraction = text::takes_decimals(text.document(), param, constants);
    return is_fraction ? Rounding::fraction : Rounding::down;
  }

  bool takes_decimals(const std::string& protocol, const std::string& param) const {
    for (const auto& info : entry_of(protocol, plan_.texts).parameters) {
      if (info.name == param) return info.allowed.ends_with("decimals too");
    }
    return false;
  }

  // Plans name files as seen from their own folder, and lie there or below: errors quote lines of
  // them, and results keep them. Links count as what they lead to.
  std::filesystem::path place_of(const std::string& file) const {
    std::filesystem::path path = folder_ / file;
    if (outside_ == Outside::allowed) return path;
    const auto own = std::filesystem::canonical(folder_.empty() ? "." : folder_);
    const auto found = std::filesystem::weakly_canonical(own / file);
    if (std::ranges::mismatch(own, found).in1 == own.end()) return path;
    throw Error(fmt::format("'{}' lies outside the folder of the plan: add --allow-outside if this "
                            "plan may name files anywhere",
                            excerpt(file)));
  }

  void keep(const std::string& key, const std::string& file) {
    const std::filesystem::path path = place_of(file);
    plan_.texts[key] = {path.filename().string(), read_text(path.string(), most_named_bytes)};
  }

  void keep_with_imports(const std::string& file) {
    const auto text = text::ProtocolText::read(place_of(file).string());
    if (text->content().size() > most_named_bytes) {
      throw Error(fmt::format("'{}' is too large to be kept with the results", file));
    }
    plan_.texts[file] = {text->name(), text->content()};
  }

  // A protocol text is kept under the name that the plan has for it.
  void keep_text(const Value& protocol) {
    try {
      if (text::ProtocolText::is_path(protocol.text)) keep_with_imports(protocol.text);
      entry_of(protocol.text, plan_.texts);
    } catch (const Error& error) {
      table_->object(protocol.line, "protocol", error.what());
    }
  }

  // A graph in a file is kept only to notice when it changes.
  std::string kept_graph(const Value& graph) {
    constexpr std::string_view file = "file:";
    if (!graph.text.starts_with(file)) return graph.text;
    const std::string path = graph.text.substr(file.size());
    std::string name = fmt::format("{}{}", file, (folder_ / path).string());
    try {
      keep(name, path);
    } catch (const Error& error) {
      table_->object(graph.line, "graph", error.what());
    }
    return name;
  }

  // Cells that differ in anything have seeds that look independent, whatever else is in the plan.
  std::string seed_of(const RunText& words) const {
    const toml::node* const asked = table_->find("cell_seeds");
    if (asked == nullptr) return words.seed;
    const Value value = table_->only("cell_seeds", *asked);
    constexpr std::array<std::string_view, 2> names{"same", "different"};
    if (std::ranges::find(names, value.text) == names.end()) {
      table_->object(value.line, "cell_seeds", unknown_name("choice", value.text, names));
    }
    if (value.text == "same") return words.seed;
    const std::uint64_t hash = checksum_of(json_of(words));  // then 52 bits that every JSON keeps
    return fmt::format("{}", (hash ^ hash >> 32) & ((std::uint64_t{1} << 52) - 1));
  }

  void add(RunText words, const Sampling& sampling) {
    words.seed = seed_of(words);
    if (plan_.cells.size() == most_cells) {
      table_->object(table_->line(), "", fmt::format("more than {} cells", most_cells));
    }
    if (words.kind == "rare") return add_rare(words, sampling);
    const auto run = prepared(words);
    plan_.cells.push_back({.run = run_,
                           .words = words,
                           .sampling = with_measure(sampling, *run),
                           .head = experiment::RowFormat(*run).json_head(),
                           .bytes = run->bytes_per_trial(),
                           .at_once = run->device().empty() ? 1 : trials_on_a_device});
    check_fields(*run);
    for (const std::string& warning : run->warnings()) {
      const auto found = std::ranges::find(plan_.warnings, warning);
      if (found == plan_.warnings.end()) plan_.warnings.push_back(warning);
    }
  }

  // Readers of results take so many and no more.
  void check_fields(const catalog::PreparedRun& run) const {
    constexpr std::size_t beside = 1000;
    if (run.observables().size() + beside < static_cast<std::size_t>(most_fields)) return;
    table_->object(table_->line(), "protocol",
                   fmt::format("{} observables are more than rows of results can have, {}",
                               run.observables().size(), most_fields));
  }

  void add_rare(const RunText& words, const Sampling& sampling) try {
    plan_.cells.push_back({.run = run_,
                           .words = words,
                           .sampling = sampling,
                           .head = RareCell(words, plan_.texts).head()});
  } catch (const Error& error) {
    blame(words, error.what());
  }

  Sampling with_measure(Sampling sampling, const catalog::PreparedRun& run) const {
    if (sampling.precision == 0) return sampling;
    const bool is_network = run.network() != nullptr;
    std::vector<std::string> names{"interactions", "parallel_time", "leaders"};
    if (is_network) names = {"messages", "time", "rounds", "leaders"};
    for (const auto& each : run.observables()) {
      names.push_back(fmt::format("observables.{}", each.name));
    }
    if (sampling.measure.empty()) sampling.measure = names.front();
    if (std::ranges::find(names, sampling.measure) != names.end()) return sampling;
    table_->object(RunTable::line_of(table_->need("measure")), "measure",
                   unknown_name("measure", sampling.measure,
                                std::vector<std::string_view>(names.begin(), names.end())));
  }

  std::unique_ptr<const catalog::PreparedRun> prepared(const RunText& words) const {
    try {
      return prepare(words, plan_.texts);
    } catch (const Error& error) {
      blame(words, error.what());
    }
  }

  // The key to blame is one without which the cell would make sense.
  [[noreturn]] void blame(const RunText& words, const std::string& sentence) const {
    const auto is_cured = [&](const RunText& without) {
      try {
        if (without.kind == "rare") {
          const RareCell tried(without, plan_.texts);
        } else {
          prepare(without, plan_.texts);
        }
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    const auto try_without = [&](const RunOption& option) {
      const std::string_view key = option.plan_key();
      if (table_->find(key) == nullptr) return;
      RunText without = words;
      std::visit([&](auto member) { without.*member = RunText{}.*member; }, option.value);
      if (is_cured(without)) table_->object(RunTable::line_of(*table_->find(key)), key, sentence);
    };
    // Words and limits first, then lists.
    for (const bool is_list : {false, true}) {
      for (const RunOption* const option : options_) {
        const bool has_list =
            std::holds_alternative<std::vector<std::string> RunText::*>(option->value);
        if (has_list == is_list && option->name != "param") try_without(*option);
      }
    }
    for (const RunOption& option : experiment::run_options()) {
      if (std::holds_alternative<bool RunText::*>(option.value)) try_without(option);
    }
    const std::vector<RunTable::Param> all = table_->params();
    for (std::size_t i = 0; i < all.size(); ++i) {
      RunText without = words;
      without.params.erase(without.params.begin() + static_cast<std::ptrdiff_t>(i));
      if (!is_cured(without)) continue;
      table_->object(RunTable::line_of(*all[i].node), "params." + all[i].name, sentence);
    }
    try_without(experiment::option_of(&RunText::kind));  // last: without it most mistakes are none
    table_->object(RunTable::line_of(table_->need("n")), "",
                   fmt::format("{} n={}: {}", words.protocol, words.n, sentence));
  }

  std::string path_;
  std::filesystem::path folder_;
  Outside outside_;
  const std::vector<const RunOption*> options_ = looped_options();
  Plan plan_;
  toml::table root_;
  const RunTable* table_ = nullptr;  // the run that is being expanded
  std::size_t run_ = 0;
};

}  // namespace

catalog::Entry entry_of(const std::string& protocol, const KeptTexts& texts) {
  const auto kept = texts.find(protocol);
  if (kept == texts.end()) return catalog::find(protocol);
  return catalog::kept_text_entry(kept->second.name, kept->second.content);
}

std::unique_ptr<const catalog::PreparedRun> prepare(const experiment::RunText& words,
                                                    const KeptTexts& texts, unsigned device) {
  const catalog::Entry entry = entry_of(words.protocol, texts);
  catalog::RunRequest request = experiment::request_of(entry, words);
  request.device = device;
  return entry.prepare(request);
}

std::string cell_text(const Cell& cell) {
  std::string text = cell.words.kind.empty()
                         ? cell.words.protocol
                         : fmt::format("{} {}", cell.words.kind, cell.words.protocol);
  for (const auto& [option, value] : experiment::given_options(cell.words)) {
    const bool is_whole = option == "param" || value.empty();
    text += is_whole ? fmt::format(" {}", value.empty() ? option : value)
                     : fmt::format(" {}={}", option, value);
  }
  return text;
}

Plan read_plan(const std::string& path, Outside outside) {
  return PlanReader(path, read_text(path, most_plan_bytes), outside).read();
}

Plan parse_plan(const std::string& path, std::string text) {
  return PlanReader(path, std::move(text), Outside::allowed).read();
}

}  // namespace conclave::sweep
