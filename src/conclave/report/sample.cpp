#include "conclave/report/sample.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/report/measures.hpp"
#include "conclave/sweep/selection.hpp"

namespace conclave::report {
namespace {

bool is_result(const std::string& name) {
  return name == "interactions" || name == "parallel_time" || name == "messages" ||
         name == "time" || name == "rounds" || name.starts_with("observables.") ||
         (name.starts_with("faults.") && name.ends_with(".recovery_interactions"));
}

Variables variables_of(const sweep::Fields& fields) {
  Variables variables;
  for (const auto& [name, value] : fields) {
    const bool is_parameter = name.starts_with("params.");
    if (!is_parameter && name != "n") continue;
    if (const auto number = parse_real(value)) {
      variables[is_parameter ? name.substr(7) : name] = *number;
    }
  }
  return variables;
}

// The mean of something that is true or false is its probability.
std::optional<double> number_of(const std::string& value) {
  if (value == "true" || value == "false") return value == "true" ? 1 : 0;
  return parse_real(value);
}

void add_row(CellSample& sample, const sweep::Fields& fields) {
  ++sample.trials;
  if (sweep::field(fields, "messages")) sample.by_messages = true;
  if (sweep::field(fields, "converged") != "true") return;
  ++sample.converged;
  for (const auto& [name, value] : fields) {
    if (!is_result(name)) continue;
    if (const auto number = number_of(value)) sample.values[name].push_back(*number);
  }
}

CellSample read_cell(const sweep::Results& results, const sweep::StoredCell& cell,
                     const sweep::Filter& filter) {
  CellSample sample{.cell = cell, .variables = variables_of(cell.fields)};
  sweep::PlacedRow placed{.cell = cell.id};
  sweep::for_each_row_of_prefix(results, cell.id, [&](std::uint64_t trial, const std::string& row) {
    placed.fields = results.fields_of_row(cell.id, trial, row);
    if (filter.accepts(placed)) add_row(sample, placed.fields);
  });
  for (auto& [name, values] : sample.values) std::ranges::sort(values);
  return sample;
}

// One way in which cells differ: a value per cell, and whether they are numbers.
struct Dimension {
  std::string name;
  std::vector<std::string> values{};
  bool is_number = false;

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// The words of a cell as name and value, parameters among them. Limits and what is counted do not
// tell one law from another.
std::map<std::string, std::string> settings(const experiment::RunText& words) {
  std::map<std::string, std::string> result{{"fault", join_parts(words.faults, " ")},
                                            {"kind", words.kind},
                                            {"importance", join_parts(words.importance, " ")}};
  for (const auto& [option, value] : experiment::given_options(words)) {
    const std::size_t equals = value.find('=');
    if (option == "fault" || option == "importance" || option == "count-edges") continue;
    if (option.starts_with("max-") && words.kind.empty()) continue;  // the failure, if it is rare
    if (option != "param") {
      result[std::string(option)] = value;
    } else if (equals != std::string::npos) {
      result[value.substr(0, equals)] = value.substr(equals + 1);
    }
  }
  return result;
}

std::size_t distinct(const std::vector<std::string>& values) {
  return std::set<std::string>(values.begin(), values.end()).size();
}

// The parameters of a cell that its plan has as expressions, by name.
std::map<std::string, std::string> written_in(const experiment::RunText& words,
                                              const sweep::WrittenParams& plan) {
  std::map<std::string, std::string> result;
  for (const auto& [name, expression] : plan) {
    for (const std::string& each : words.params) {
      const bool is_it =
          each.starts_with(name + '=') &&
          sweep::has_value(expression, each.substr(name.size() + 1), words.n, words.params);
      if (is_it) result.try_emplace(name, expression);
    }
  }
  return result;
}

// A parameter that is in no law has the expression of the plan for its values.
std::vector<Dimension> dimensions(const RunSample& run, const std::set<std::string>& in_laws) {
  std::vector<std::map<std::string, std::string>> all;
  std::set<std::string> names;
  for (const CellSample& sample : run.cells) {
    all.push_back(settings(sample.cell.words));
    for (const auto& [name, expression] : sample.written) {
      if (!in_laws.contains(name)) all.back()[name] = expression;
    }
    for (const auto& [name, value] : all.back()) names.insert(name);
  }
  std::vector<Dimension> result;
  for (const std::string& name : names) {
    Dimension dimension{.name = name};
    for (auto& each : all) dimension.values.push_back(each[name]);
    dimension.is_number = std::ranges::all_of(
        dimension.values, [](const std::string& text) { return parse_real(text).value_or(0) > 0; });
    result.push_back(std::move(dimension));
  }
  return result;
}

// Whether the other's values determine this one's.
bool follows_from(const Dimension& dimension, const Dimension& other) {
  std::map<std::string, std::string> image;
  for (std::size_t i = 0; i < dimension.values.size(); ++i) {
    const auto [place, is_new] = image.emplace(other.values[i], dimension.values[i]);
    if (!is_new && place->second != dimension.values[i]) return false;
  }
  return true;
}

// The same as multiples of n, if that takes fewer values.
void write_as_multiples(Dimension& dimension, const Dimension& n) {
  std::vector<std::string> multiples;
  for (std::size_t i = 0; i < n.values.size(); ++i) {
    const double ratio = *parse_real(dimension.values[i]) / *parse_real(n.values[i]);
    multiples.push_back(ratio == 1  ? "n"
                        : ratio < 1 ? fmt::format("n/{}", short_number(1 / ratio))
                                    : fmt::format("{}n", short_number(ratio)));
  }
  if (distinct(multiples) < distinct(dimension.values)) dimension.values = std::move(multiples);
}

const Dimension* find(const std::vector<Dimension>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Dimension::name);
  return found == all.end() ? nullptr : &*found;
}

bool varies(const Dimension& dimension) { return distinct(dimension.values) > 1; }

// The axis that the protocol prefers, n, or the numeric parameter with the most values.
std::string x_axis(const std::vector<Dimension>& all, std::string_view preferred) {
  for (const std::string_view name : {preferred, std::string_view("n")}) {
    const Dimension* const found = find(all, name);
    if (found != nullptr && found->is_number && varies(*found)) return std::string(name);
  }
  const Dimension* best = nullptr;
  for (const Dimension& each : all) {
    if (!varies(each) || !each.is_number || each.name == "seed") continue;
    if (best == nullptr || distinct(each.values) > distinct(best->values)) best = &each;
  }
  return best == nullptr ? "" : best->name;
}

std::string common_setting(const std::vector<Dimension>& all) {
  std::vector<std::string> words;
  for (const Dimension& each : all) {
    const bool is_shown = !varies(each) && each.name != "seed" && !each.values.front().empty();
    if (is_shown) words.push_back(each.name + '=' + each.values.front());
  }
  return join_parts(words, " ");
}

// The variables in the laws that the protocol may follow.
std::set<std::string> variables_in_laws(const RunSample& run) {
  const bool by_messages = std::ranges::any_of(run.cells, &CellSample::by_messages);
  std::set<std::string> result;
  for (const Measure& measure : measures_of(run.protocol, by_messages)) {
    for (const Law& law : measure.laws) {
      for (const Factor& factor : law.factors) result.insert(factor.variable);
    }
  }
  return result;
}

// The settings of the cells of a run, apart from n.
std::set<std::map<std::string, std::string>> settings_but_n(const RunSample& run) {
  std::set<std::map<std::string, std::string>> result;
  for (const CellSample& sample : run.cells) {
    auto words = settings(sample.cell.words);
    words.erase("n");
    result.insert(std::move(words));
  }
  return result;
}

// A plan that gives large n fewer trials has several runs for one law.
std::vector<RunSample> merged(std::vector<RunSample> runs) {
  std::vector<RunSample> result;
  for (RunSample& run : runs) {
    const auto same = std::ranges::find_if(result, [&](const RunSample& other) {
      return other.protocol == run.protocol && settings_but_n(other) == settings_but_n(run);
    });
    if (same == result.end()) {
      result.push_back(std::move(run));
    } else {
      std::ranges::move(run.cells, std::back_inserter(same->cells));
    }
  }
  return result;
}

// Numbers before words, and in their order.
bool comes_before(const std::string& a, const std::string& b) {
  const auto left = parse_real(a);
  const auto right = parse_real(b);
  if (left && right) return *left < *right;
  return left || right ? left.has_value() : a < b;
}

}  // namespace

std::vector<RunSample> read_samples(const sweep::Results& results,
                                    const std::vector<std::string>& where) {
  const sweep::Filter filter(where, results);
  const std::vector<sweep::CellProgress> progress = sweep::progress_of(results);
  const std::vector<sweep::WrittenParams> written = sweep::written_params(results.meta("plan"));
  std::vector<RunSample> runs;
  for (const sweep::StoredCell& cell : results.cells()) {
    CellSample sample = read_cell(results, cell, filter);
    if (!where.empty() && sample.trials == 0) continue;
    if (runs.empty() || runs.back().run != cell.run ||
        runs.back().protocol != cell.words.protocol) {
      runs.push_back({.run = cell.run, .protocol = cell.words.protocol});
    }
    sample.progress = progress[cell.id];
    if (cell.run < written.size()) {
      sample.written = written_in(cell.words, written[cell.run]);
    }
    runs.back().cells.push_back(std::move(sample));
  }
  if (runs.empty() && !where.empty()) throw Error("no row satisfies all conditions");
  return merged(std::move(runs));
}

RunSample restricted(const RunSample& run, const sweep::Results& results,
                     const std::vector<std::string>& where) {
  const sweep::Filter filter(where, results);
  RunSample result{.run = run.run, .protocol = run.protocol};
  for (const CellSample& cell : run.cells) {
    CellSample sample = read_cell(results, cell.cell, filter);
    if (sample.trials == 0) continue;
    sample.progress = cell.progress;
    sample.written = cell.written;
    result.cells.push_back(std::move(sample));
  }
  return result;
}

std::vector<std::string> cases_of(const RunSample& run, const sweep::Results& results,
                                  const std::string& field) {
  constexpr std::size_t most_cases = 12;
  const std::string name = sweep::field_name(results, field);
  std::set<std::string, decltype(&comes_before)> values(&comes_before);
  for (const CellSample& cell : run.cells) {
    sweep::for_each_row_of_prefix(
        results, cell.cell.id, [&](std::uint64_t trial, const std::string& row) {
          const sweep::Fields fields = results.fields_of_row(cell.cell.id, trial, row);
          if (const auto value = sweep::field(fields, name)) values.emplace(*value);
        });
    if (values.size() > most_cases) {
      throw Error(fmt::format("--by {}: it has more than {} values, which are no cases", field,
                              most_cases));
    }
  }
  return {values.begin(), values.end()};
}

RunNames name_cells(const RunSample& run) {
  const std::set<std::string> in_laws = variables_in_laws(run);
  std::vector<Dimension> all = dimensions(run, in_laws);
  RunNames names{.x = x_axis(all, x_axis_of(run.protocol))};
  if (const Dimension* const found = find(all, names.x)) {
    const Dimension x = *found;
    std::erase(all, x);
    for (Dimension& each : all) {
      if (x.name == "n" && each.is_number && varies(each)) write_as_multiples(each, x);
    }
    std::erase_if(all,
                  [&](const Dimension& each) { return varies(each) && follows_from(each, x); });
  }
  names.setting = common_setting(all);
  for (const auto& [name, expression] : run.cells.front().written) {
    const Dimension* const found = find(all, name);
    if (found != nullptr && !varies(*found) && !found->is_number) {
      names.expressions +=
          fmt::format("{}{}={}", names.expressions.empty() ? "" : " ", name, found->values.front());
    }
  }
  std::erase_if(all, [](const Dimension& each) { return !varies(each); });
  const auto has_own_constants = [&](const Dimension& each) {
    return !each.is_number || (each.name != "seed" && !in_laws.contains(each.name));
  };
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    std::vector<std::string> words;
    std::vector<std::string> kind;
    for (const Dimension& each : all) {
      words.push_back(each.name + '=' + each.values[i]);
      if (has_own_constants(each)) kind.push_back(words.back());
    }
    CellName name{.series = join_parts(words, " "), .kind = join_parts(kind, " "), .label = {}};
    const Variables& variables = run.cells[i].variables;
    std::vector<std::string> full{"n=" + short_number(variables.at("n"))};
    if (!names.x.empty() && names.x != "n") {
      full.push_back(names.x + '=' + short_number(variables.at(names.x)));
    }
    for (const std::string& word : words) {
      if (!word.starts_with("n=")) full.push_back(word);
    }
    name.label = join_parts(full, " ");
    names.cells.push_back(std::move(name));
  }
  return names;
}

std::string quoted_for_shell(const std::string& word) {
  const bool is_plain =
      !word.empty() &&
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%^") ==
          std::string::npos;
  if (is_plain) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + '\'';
}

std::string command_of(const experiment::RunText& words, std::uint64_t trials) {
  const bool is_run = words.kind.empty();
  std::string text =
      fmt::format("conclave {} {}", is_run ? "run" : words.kind, quoted_for_shell(words.protocol));
  for (const auto& [option, value] : experiment::given_options(words)) {
    if (option == "seed")
      text += fmt::format(" --{} {}", is_run ? "trials" : "repetitions", trials);
    text += fmt::format(" --{}", option);
    if (!value.empty()) text += ' ' + quoted_for_shell(value);
  }
  return text;
}

namespace {

std::string escaped_for_address(std::string_view text) {
  constexpr std::string_view plain = "-_.~:=,@/";
  std::string result;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    if (is_letter || is_digit || plain.find(c) != plain.npos)
      result += c;
    else
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

std::string view_of(const experiment::RunText& words) {
  if (words.protocol.find_first_of("./") != std::string::npos) return {};
  std::string view = "run/" + escaped_for_address(words.protocol);
  char separator = '?';
  for (const auto& [option, value] : experiment::given_options(words)) {
    if (value.empty()) continue;  // --count-edges, which shows nothing
    view += fmt::format("{}{}={}", separator, option, escaped_for_address(value));
    separator = '&';
  }
  return view;
}

}  // namespace conclave::report
