#include "conclave/report/study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/report/parts.hpp"
#include "conclave/sweep/selection.hpp"

namespace conclave::report {
namespace {

CellLine line_of(const CellSample& sample, const std::string& field, const std::string& label) {
  const std::uint64_t trials = sample.trials > 0 ? sample.trials : sample.cell.sampling.trials;
  const std::uint64_t wanted = sample.progress.missing > 0 ? sample.progress.wanted : sample.trials;
  CellLine line{.label = label,
                .trials = sample.trials,
                .wanted = wanted,
                .converged = sample.converged,
                .command = command_of(sample.cell.words, trials),
                .view = view_of(sample.cell.words)};
  if (sample.trials > 0) line.success = proportion_interval(sample.converged, sample.trials);
  const std::span<const double> values = numbers_of(sample, field);
  if (values.empty()) return line;
  line.summary = summarize(values);
  line.mean = values.size() < 2 ? Interval{NAN, NAN} : nonnegative_mean_interval(*line.summary);
  line.low_quantile = quantile(values, 0.1);
  line.median = quantile(values, 0.5);
  line.high_quantile = quantile(values, 0.9);
  return line;
}

// Where more trials had a value than its bound explains. There are many values to look at, so a
// single one must be improbable indeed.
std::string chance_verdict(const RunSample& run, const RunNames& names, const Measure& measure) {
  constexpr double improbable = 1e-3;
  std::vector<std::string> above;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    const std::span<const double> values = numbers_of(run.cells[i], measure.field);
    for (const Mark& mark : chances(values)) {
      if (mark.x < 2) continue;
      ++compared;
      const auto count =
          static_cast<std::size_t>(std::lround(mark.y * static_cast<double>(values.size())));
      const double bound = measure.bound->value({{"i", mark.x}});
      if (binomial_tail(count, values.size(), bound) >= improbable) continue;
      above.push_back(fmt::format("i={} at {}", mark.x, names.cells[i].label));
    }
  }
  if (compared == 0) return "No value above 1 was seen.";
  if (above.empty()) {
    return fmt::format("Of {} probabilities seen, none is above {} (binomial tests at 0.1 %).",
                       compared, measure.bound->name);
  }
  return fmt::format("Of {} probabilities seen, these are above {} (binomial tests at 0.1 %): {}.",
                     compared, measure.bound->name, join_parts(above, ", "));
}

bool has_failures(const RunSample& run) {
  return std::ranges::any_of(run.cells,
                             [](const CellSample& cell) { return cell.converged < cell.trials; });
}

bool is_unfinished(const RunSample& run) {
  return std::ranges::any_of(run.cells,
                             [](const CellSample& cell) { return cell.progress.missing > 0; });
}

Part part_of(const RunSample& run, const RunNames& names, Measure measure) {
  Part part{.measure = std::move(measure)};
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    part.lines.push_back(line_of(run.cells[i], part.measure.field, names.cells[i].label));
  }
  if (part.measure.kind == Measure::Kind::chance) {
    part.verdict = chance_verdict(run, names, part.measure);
    return part;
  }
  part.kinds = fit_kinds(run, names, part.measure, part.lines);
  part.verdict = growth_verdict(run, names, part);
  if (is_unfinished(run)) {
    part.verdict +=
        "\nThe sweep is unfinished: this is said of the trials before the first missing "
        "one of each cell.";
  }
  if (has_failures(run)) {
    part.verdict +=
        " Statistics are of trials that converged; where others did not, the true mean is larger.";
  }
  return part;
}

// Times to recover from faults, one measure per fault.
std::vector<Measure> recoveries(const RunSample& run) {
  std::set<std::string> fields;
  for (const CellSample& cell : run.cells) {
    for (const auto& [field, values] : cell.values) {
      if (field.starts_with("faults.")) fields.insert(field);
    }
  }
  std::vector<Measure> result;
  for (const std::string& field : fields) {
    const std::size_t number = std::stoul(field.substr(7)) + 1;
    result.push_back({.field = field,
                      .title = fmt::format("interactions to recover from fault {}", number),
                      .laws = measures_of("", false).front().laws});
  }
  return result;
}

std::vector<Observable> observables_of(const RunSample& run, const std::vector<Part>& parts) {
  std::set<std::string> fields;
  for (const CellSample& cell : run.cells) {
    for (const auto& [field, values] : cell.values) {
      if (field.starts_with("observables.")) fields.insert(field);
    }
  }
  for (const Part& part : parts) fields.erase(part.measure.field);
  std::vector<Observable> result;
  for (const std::string& field : fields) {
    Observable observable{.name = field.substr(12)};
    for (const CellSample& cell : run.cells) {
      const std::span<const double> values = numbers_of(cell, field);
      observable.means.push_back(values.empty() ? NAN : summarize(values).mean);
    }
    result.push_back(std::move(observable));
  }
  return result;
}

// Networks of reactions have a time of their own, in the units of their rates.
bool has_own_time(const RunSample& run) {
  return std::ranges::any_of(run.cells, [](const CellSample& cell) {
    return !cell.by_messages && cell.values.contains("time");
  });
}

// The first series of the run, for the figure in which all protocols stand together.
std::map<std::string, Series> common_series(const RunSample& run, const RunNames& names) {
  std::map<std::string, Series> result;
  if (names.x != "n") return result;
  constexpr std::array<std::pair<const char*, const char*>, 4> measures{
      {{"parallel_time", "parallel time"},
       {"messages", "messages"},
       {"time", "time (longest delay = 1)"},
       {"rounds", "rounds"}}};
  for (const auto& [field, title] : measures) {
    Series series = measured_series(run, names, names.cells.front().series, field);
    series.name = names.cells.front().series.empty()
                      ? run.protocol
                      : run.protocol + ' ' + names.cells.front().series;
    std::erase_if(series.points, [](const Mark& mark) { return !(mark.y > 0); });
    if (series.points.size() > 1) result.emplace(title, std::move(series));
  }
  // Rounds say the same again, and a network of reactions has other units.
  if (result.contains("rounds") || has_own_time(run)) result.erase("time (longest delay = 1)");
  return result;
}

std::string slug(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_plain || is_capital)
      result += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  constexpr std::size_t longest = 100;  // it becomes the name of a file
  result.resize(std::min(result.size(), longest));
  while (result.ends_with('-')) result.pop_back();
  return result;
}

// Whether there is something to see: a start in a safe configuration converges at time 0.
bool is_shown(const RunSample& run, const Measure& measure) {
  return std::ranges::any_of(run.cells, [&](const CellSample& cell) {
    const std::span<const double> values = numbers_of(cell, measure.field);
    return !values.empty() && values.back() > 0;
  });
}

// Those that the rows tell something about; the first where none does.
std::vector<Measure> shown_measures(const RunSample& run) {
  const bool by_messages = std::ranges::any_of(run.cells, &CellSample::by_messages);
  std::vector<Measure> measures = measures_of(run.protocol, by_messages);
  if (has_own_time(run)) {
    measures.front().field = "time";
    measures.front().title = "time (units of the rates)";
  }
  for (Measure& each : recoveries(run)) measures.push_back(std::move(each));
  const Measure first = measures.front();
  std::erase_if(measures, [&](const Measure& each) { return !is_shown(run, each); });
  if (measures.empty()) measures.push_back(first);
  return measures;
}

// "electleader over n, r=n/4"
std::string title_of(const RunSample& run, const RunNames& names) {
  std::string title = run.protocol;
  if (!names.x.empty()) title += " over " + names.x;
  if (!names.setting.empty()) title += ", " + names.setting;
  return title;
}

// The names of the cells that a case still has; they keep those that they have in the whole run.
RunNames names_of_case(const RunSample& run, const RunNames& names, const RunSample& part) {
  RunNames result{.x = names.x, .setting = names.setting};
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    const std::size_t id = run.cells[i].cell.id;
    const bool is_there = std::ranges::any_of(
        part.cells, [id](const CellSample& cell) { return cell.cell.id == id; });
    if (is_there) result.cells.push_back(names.cells[i]);
  }
  return result;
}

// The laws that a user proposes, for a run with these variables.
std::vector<Law> own_laws(const RunSample& run, const std::vector<std::string>& texts) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : run.cells.front().variables) variables.push_back(name);
  std::vector<Law> laws;
  for (const std::string& text : texts) {
    laws.push_back({.name = text, .own = std::make_shared<const OwnLaw>(text, variables)});
  }
  return laws;
}

// A run taken apart by the values of a field, and the file it is from.
struct Division {
  const sweep::Results* results;
  const std::vector<sweep::CellEstimate>* estimates;
  std::vector<std::string> where;
  std::string by;
  std::vector<std::string> laws;  // instead of the usual ones
};

std::vector<Case> read_cases(const RunSample& run, const RunNames& names, const Measure& measure,
                             const Division& division) {
  std::vector<Case> cases;
  for (const std::string& value : cases_of(run, *division.results, division.by)) {
    std::vector<std::string> where = division.where;
    where.push_back(fmt::format("{}={}", division.by, value));
    Case each{.condition = where.back(), .run = restricted(run, *division.results, where)};
    if (each.run.cells.empty()) continue;
    for (CellSample& cell : each.run.cells) cell.variables.merge(assumed_of(run.protocol));
    each.names = names_of_case(run, names, each.run);
    Measure conditional = measure;
    conditional.title += " where " + each.condition;
    conditional.promise.clear();  // it is about all trials
    conditional.bound.reset();
    each.part = part_of(each.run, each.names, std::move(conditional));
    each.part.figures = draw_part(each.run, each.names, each.part);
    cases.push_back(std::move(each));
  }
  return cases;
}

// The first part once more for each case, and in words what it is as their mixture.
void divide(Section& section, const RunSample& run, const RunNames& names,
            const Division& division) {
  if (division.by.empty() || is_rare(run) ||
      section.parts.front().measure.kind != Measure::Kind::growth)
    return;
  Part& whole = section.parts.front();
  std::vector<Case> cases = read_cases(run, names, whole.measure, division);
  if (cases.size() < 2) return;
  whole.verdict += mixture_verdict(run, names, whole, cases);
  for (Case& each : cases) section.parts.push_back(std::move(each.part));
}

std::vector<Part> measured_parts(const RunSample& run, const RunNames& names,
                                 const std::vector<std::string>& texts) {
  const std::vector<Law> laws = own_laws(run, texts);
  std::vector<Part> parts;
  for (Measure& measure : shown_measures(run)) {
    if (!laws.empty()) measure.laws = laws;
    Part part = part_of(run, names, std::move(measure));
    part.figures = draw_part(run, names, part);
    parts.push_back(std::move(part));
  }
  return parts;
}

Section section_of(const RunSample& run, const std::string& study_name, const Division& division) {
  const RunNames names = name_cells(run);
  Section section{.id = slug(fmt::format("{} {} {}", study_name, run.run + 1, run.protocol)),
                  .title = title_of(run, names),
                  .protocol = run.protocol};
  for (const CellName& name : names.cells) section.labels.push_back(name.label);
  section.parts = is_rare(run) ? rare_parts(run, names, *division.estimates)
                               : measured_parts(run, names, division.laws);
  divide(section, run, names, division);
  for (Part& part : section.parts) {
    for (Figure& figure : part.figures) {
      figure.name = fmt::format("{}-{}-{}", section.id, slug(part.measure.title), figure.name);
    }
  }
  section.observables = observables_of(run, section.parts);
  section.common = common_series(run, names);
  return section;
}

}  // namespace

// Fields that rows, heads and words of a cell should have in common are looked up by name; a file
// in which they differ was not written by a sweep.
Study study(const std::string& file, const std::vector<std::string>& where, const std::string& by,
            const std::vector<std::string>& laws) try {
  const sweep::Results results(file);
  Study result{.file = file,
               .name = results.meta("name"),
               .plan = results.meta("plan"),
               .versions = results.code_versions()};
  const std::vector<sweep::CellEstimate> estimates =
      sweep::estimates_of(results, sweep::Filter(where, results));
  for (RunSample& run : read_samples(results, where)) {
    for (CellSample& cell : run.cells) {
      cell.variables.merge(assumed_of(run.protocol));
      ++result.cells;
      result.trials += cell.trials;
      result.missing += cell.progress.missing;
    }
    result.sections.push_back(section_of(
        run, result.name,
        {.results = &results, .estimates = &estimates, .where = where, .by = by, .laws = laws}));
  }
  result.promises = promises_of(result.name, result.sections);
  return result;
} catch (const std::logic_error&) {
  throw Error(fmt::format("'{}' is damaged: rows and words of its cells are not of one run", file));
}

std::vector<Figure> overview(const std::vector<Study>& studies) {
  // By title and protocol; in a table each row is one of its own.
  std::map<std::string, std::map<std::string, Series>> together;
  for (const Study& each : studies) {
    for (const Section& section : each.sections) {
      for (const auto& [title, series] : section.common) {
        const bool is_row = !section.work.empty();
        Series& longest = together[title][is_row ? section.work : section.protocol];
        if (series.points.size() <= longest.points.size()) continue;
        longest = series;
        if (is_row) longest.name = section.work;
      }
    }
  }
  std::vector<Figure> figures;
  for (const auto& [title, by_protocol] : together) {
    if (by_protocol.size() < 2) continue;
    std::vector<Series> series;
    for (const auto& [protocol, each] : by_protocol) series.push_back(each);
    figures.push_back(draw_together(title, std::move(series)));
    figures.back().name = slug("overview " + title);
  }
  return figures;
}

}  // namespace conclave::report
