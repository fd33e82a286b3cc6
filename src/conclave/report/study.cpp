#include "conclave/report/study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

#include "conclave/report/drawings.hpp"

namespace conclave::report {
namespace {

CellLine line_of(const CellSample& sample, const std::string& field, const std::string& label) {
  const std::uint64_t trials = sample.trials > 0 ? sample.trials : sample.cell.sampling.trials;
  CellLine line{.label = label,
                .trials = sample.trials,
                .wanted = sample.cell.sampling.trials,
                .converged = sample.converged,
                .command = command_of(sample.cell.words, trials)};
  if (sample.trials > 0) line.success = proportion_interval(sample.converged, sample.trials);
  const std::span<const double> values = numbers_of(sample, field);
  if (values.empty()) return line;
  line.summary = summarize(values);
  line.mean = values.size() < 2 ? Interval{NAN, NAN} : mean_interval(*line.summary);
  line.low_quantile = quantile(values, 0.1);
  line.median = quantile(values, 0.5);
  line.high_quantile = quantile(values, 0.9);
  return line;
}

// The means of the cells that have one, as points for the fits.
std::vector<Point> points_of(const RunSample& run, const std::vector<CellLine>& lines) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].summary || !(lines[i].summary->mean > 0)) continue;
    points.push_back({.variables = run.cells[i].variables, .mean = lines[i].summary->mean});
  }
  return points;
}

double noise_of(const std::vector<CellLine>& lines) {
  double squares = 0;
  double count = 0;
  for (const CellLine& line : lines) {
    if (!line.summary || line.summary->count < 2 || !(line.summary->mean > 0)) continue;
    const auto size = static_cast<double>(line.summary->count);
    squares += line.summary->variance / size / (line.summary->mean * line.summary->mean);
    ++count;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

bool are_proportional(const Law& a, const Law& b, std::span<const Point> points) {
  if (a.with_offset != b.with_offset) return false;
  std::optional<double> first;
  for (const Point& point : points) {
    const auto above = shape(a, point.variables);
    const auto below = shape(b, point.variables);
    if (!above || !below) return false;
    if (!first) first = *above / *below;
    if (std::abs(*above / *below / *first - 1) > 1e-9) return false;
  }
  return true;
}

// Laws that these points can tell apart; where they cannot, the first stands for all. Without a
// variable that varies there is nothing to fit, except that nothing grows.
std::vector<Law> distinct_laws(const std::vector<Law>& laws, std::span<const Point> points) {
  std::vector<Law> result;
  const Law nothing_grows{.name = "1"};
  for (const Law& law : laws) {
    const bool is_known = std::ranges::any_of(
        result, [&](const Law& other) { return are_proportional(law, other, points); });
    const bool is_flat =
        !law.factors.empty() &&
        are_proportional({.name = law.name, .factors = law.factors}, nothing_grows, points);
    if (!is_known && !is_flat) result.push_back(law);
  }
  return result;
}

std::vector<Fit> fits_of(const Measure& measure, const std::string& x,
                         std::span<const Point> points) {
  std::set<double> places;
  for (const Point& point : points) {
    if (const auto found = point.variables.find(x); found != point.variables.end())
      places.insert(found->second);
  }
  if (places.size() < 3) return {};
  std::vector<Fit> fits = compare_laws(distinct_laws(measure.laws, points), points);
  if (auto power = fit_free(Fit::Form::power, x, points)) fits.push_back(std::move(*power));
  if (measure.may_be_exponential) {
    if (auto grown = fit_free(Fit::Form::exponential, x, points)) fits.push_back(std::move(*grown));
  }
  std::ranges::stable_sort(fits, {}, &Fit::typical_error);
  return fits;
}

std::string percent(double fraction) { return fmt::format("{:.2g} %", 100 * fraction); }

// Which law the paper promises, among the fits.
const Fit* promised(const Part& part) {
  if (part.measure.laws.empty()) return nullptr;
  const auto found = std::ranges::find_if(part.fits, [&](const Fit& fit) {
    return fit.form == Fit::Form::scaled && !fit.law.with_offset &&
           fit.law.name == part.measure.laws.front().name;
  });
  return found == part.fits.end() ? nullptr : &*found;
}

std::string verdict_of(const Part& part, std::span<const Point> points, const std::string& x) {
  if (part.fits.empty()) return "Fewer than three sizes: no law is fitted.";
  const Fit& best = part.fits.front();
  std::string text = fmt::format("Of {} laws, {} fits best (typical error {}).", part.fits.size(),
                                 best.text(), percent(best.typical_error));
  const Fit* const paper = promised(part);
  if (paper != nullptr && paper != &best && !part.measure.promise.empty()) {
    text +=
        fmt::format(" The law promised, {}, has {}.", paper->text(), percent(paper->typical_error));
  }
  if (part.noise > 0) {
    text += fmt::format(" The means themselves are uncertain by {}", percent(part.noise));
    text += part.fits.size() > 1 && part.fits[1].typical_error < best.typical_error + part.noise
                ? fmt::format(", so {} cannot be ruled out.", part.fits[1].text())
                : std::string(".");
  }
  double low = INFINITY;
  double high = 0;
  for (const Point& point : points) {
    const auto found = point.variables.find(x);
    if (found == point.variables.end()) continue;
    low = std::min(low, found->second);
    high = std::max(high, found->second);
  }
  return text +
         fmt::format(" Seen for {} from {} to {} only.", x, short_number(low), short_number(high));
}

bool has_failures(const RunSample& run) {
  return std::ranges::any_of(run.cells,
                             [](const CellSample& cell) { return cell.converged < cell.trials; });
}

Part part_of(const RunSample& run, const RunNames& names, Measure measure) {
  Part part{.measure = std::move(measure)};
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    part.lines.push_back(line_of(run.cells[i], part.measure.field, names.cells[i].label));
  }
  if (part.measure.kind == Measure::Kind::chance) return part;
  const std::vector<Point> points = points_of(run, part.lines);
  part.noise = noise_of(part.lines);
  if (!names.x.empty()) part.fits = fits_of(part.measure, names.x, points);
  part.verdict = verdict_of(part, points, names.x);
  if (has_failures(run)) {
    part.verdict += " Statistics are of trials that converged; where others did not, the true "
                    "mean is larger.";
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
    if (series.points.size() > 1) result.emplace(title, std::move(series));
  }
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
  while (result.ends_with('-')) result.pop_back();
  return result;
}

bool is_present(const RunSample& run, const Measure& measure) {
  return std::ranges::any_of(run.cells, [&](const CellSample& cell) {
    return cell.trials == 0 || cell.values.contains(measure.field);
  });
}

Section section_of(const RunSample& run, const std::string& study_name) {
  const RunNames names = name_cells(run);
  Section section{.id = slug(fmt::format("{} {} {}", study_name, run.run + 1, run.protocol)),
                  .title = run.protocol,
                  .protocol = run.protocol};
  for (const CellName& name : names.cells) section.labels.push_back(name.label);
  const bool by_messages = std::ranges::any_of(run.cells, &CellSample::by_messages);
  std::vector<Measure> measures = measures_of(run.protocol, by_messages);
  for (Measure& each : recoveries(run)) measures.push_back(std::move(each));
  for (Measure& measure : measures) {
    const bool is_main = section.parts.empty();
    if (!is_main && !is_present(run, measure)) continue;
    Part part = part_of(run, names, std::move(measure));
    part.figures = draw_part(run, names, part);
    for (Figure& figure : part.figures) {
      figure.name = fmt::format("{}-{}-{}", section.id, slug(part.measure.title), figure.name);
    }
    section.parts.push_back(std::move(part));
  }
  section.observables = observables_of(run, section.parts);
  section.common = common_series(run, names);
  return section;
}

}  // namespace

Study study(const std::string& file) {
  const sweep::Results results(file);
  Study result{.file = file,
               .name = results.meta("name"),
               .plan = results.meta("plan"),
               .versions = results.code_versions()};
  for (const RunSample& run : read_samples(results)) {
    for (const CellSample& cell : run.cells) {
      ++result.cells;
      result.trials += cell.trials;
    }
    result.sections.push_back(section_of(run, result.name));
  }
  return result;
}

std::vector<Figure> overview(const std::vector<Study>& studies) {
  std::map<std::string, std::vector<Series>> together;
  for (const Study& each : studies) {
    for (const Section& section : each.sections) {
      for (const auto& [title, series] : section.common) together[title].push_back(series);
    }
  }
  std::vector<Figure> figures;
  for (auto& [title, series] : together) {
    if (series.size() < 2) continue;
    figures.push_back(draw_together(title, series));
    figures.back().name = slug("overview " + title);
  }
  return figures;
}

}  // namespace conclave::report
