// Which laws the cells of a run follow, and what that says in words.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "conclave/report/parts.hpp"

namespace conclave::report {
namespace {

// The means of the cells that have one, as points for the fits.
std::vector<Point> points_of(const RunSample& run, const std::vector<CellLine>& lines,
                             const std::vector<std::size_t>& cells) {
  std::vector<Point> points;
  for (const std::size_t i : cells) {
    if (!lines[i].summary || !(lines[i].summary->mean > 0)) continue;
    points.push_back({.variables = run.cells[i].variables, .mean = lines[i].summary->mean});
  }
  return points;
}

double noise_of(const std::vector<CellLine>& lines, const std::vector<std::size_t>& cells) {
  double squares = 0;
  double count = 0;
  for (const std::size_t i : cells) {
    const CellLine& line = lines[i];
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
  if (places.size() < 3 || !measure.is_fitted) return {};
  std::vector<Fit> fits = compare_laws(distinct_laws(measure.laws, points), points);
  if (auto power = fit_free(Fit::Form::power, x, points)) fits.push_back(std::move(*power));
  if (measure.may_be_exponential) {
    if (auto grown = fit_free(Fit::Form::exponential, x, points)) fits.push_back(std::move(*grown));
  }
  std::ranges::stable_sort(fits, {}, &Fit::left_out_error);
  return fits;
}

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.2g} %", 100 * fraction) : "an unknown error";
}

// Which law the paper promises, among the fits.
const Fit* promised(const Measure& measure, const std::vector<Fit>& fits) {
  if (measure.laws.empty() || measure.promise.empty()) return nullptr;
  const auto found = std::ranges::find_if(fits, [&](const Fit& fit) {
    return fit.form == Fit::Form::scaled && !fit.law.with_offset &&
           fit.law.name == measure.laws.front().name;
  });
  return found == fits.end() ? nullptr : &*found;
}

// An upper bound is kept by what grows more slowly. Both ends of the range are noisy.
std::string pace(const Fit& paper, double noise) {
  const double sure = 3 * std::sqrt(2.0) * noise;
  if (paper.rise < 1 - sure) return "measurements grow more slowly than it";
  if (paper.rise > 1 + sure) return "measurements grow faster than it over this range";
  return "measurements keep pace with it";
}

// The laws that predict a size left out as well as the best one does, up to the noise of the means.
std::vector<const Fit*> rivals_of_best(const KindFits& kind) {
  std::vector<const Fit*> result;
  for (const Fit& fit : kind.fits) {
    const bool is_close = fit.left_out_error <= kind.fits.front().left_out_error + kind.noise;
    if (is_close && &fit != &kind.fits.front()) result.push_back(&fit);
  }
  return result;
}

// "24.8 n^0.140 (rate within 0.09 to 0.19)"
std::string text_with_rate(const Fit& fit) {
  if (fit.form == Fit::Form::scaled) return fit.text();
  return fmt::format("{} (rate within {:.3g} to {:.3g})", fit.text(), fit.rate_interval.low,
                     fit.rate_interval.high);
}

// One law fits best only if no other predicts as well.
std::string winner(const KindFits& kind) {
  const Fit& best = kind.fits.front();
  const std::vector<const Fit*> rivals = rivals_of_best(kind);
  if (kind.fits.size() == 1) {
    return fmt::format("{} fits (sizes left out are predicted to {}", text_with_rate(best),
                       percent(best.left_out_error));
  }
  if (rivals.empty()) {
    return fmt::format("of {} laws, {} fits best (sizes left out are predicted to {}",
                       kind.fits.size(), text_with_rate(best), percent(best.left_out_error));
  }
  std::string text = fmt::format("of {} laws, none can be called the best: {}", kind.fits.size(),
                                 text_with_rate(best));
  for (const Fit* rival : rivals) text += " and " + text_with_rate(*rival);
  return text +
         fmt::format(" predict sizes left out equally well (to {}", percent(best.left_out_error));
}

// A sentence about the cells of one kind: "init=random: of 5 laws, ...", or, where there is only
// one kind, with a capital letter instead of its name.
std::string about_kind(const std::string& kind, std::string sentence) {
  if (!kind.empty()) return kind + ": " + sentence;
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') {
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  }
  return sentence;
}

// The laws of a user that are not among the fits.
std::string unfitted(const Measure& measure, const KindFits& kind) {
  std::string text;
  for (const Law& law : measure.laws) {
    const bool is_fitted = std::ranges::any_of(kind.fits, [&](const Fit& fit) {
      return fit.form == Fit::Form::scaled && fit.law.name == law.name;
    });
    if (law.own == nullptr || is_fitted) continue;
    text += fmt::format("; {} is not fitted: it has no value at some size, too few sizes for its "
                        "constants, or the values of another law",
                        law.name);
  }
  return text;
}

std::string kind_verdict(const Measure& measure, const KindFits& kind) {
  std::string text = about_kind(kind.kind, winner(kind));
  if (kind.noise > 0) text += fmt::format("; the means are known to {}", percent(kind.noise));
  text += ')';
  const Fit* const paper = promised(measure, kind.fits);
  if (paper != nullptr) {
    text += paper == &kind.fits.front()
                ? "; the first is the law promised"
                : fmt::format("; the law promised, {}, predicts to {}", paper->text(),
                              percent(paper->left_out_error));
    text += ", and " + pace(*paper, kind.noise);
  }
  return text + unfitted(measure, kind) + ".\n";
}

// A case within the cells of one kind: how often it comes, and its best law.
struct Ingredient {
  double share = 0;
  const Fit* law = nullptr;
};

const Fit* best_law(const Part& part, const std::string& kind) {
  const auto found = std::ranges::find(part.kinds, kind, &KindFits::kind);
  return found == part.kinds.end() || found->fits.empty() ? nullptr : &found->fits.front();
}

std::optional<double> mixed_at(const std::vector<Ingredient>& mixture, const Variables& variables) {
  double sum = 0;
  for (const Ingredient& each : mixture) {
    const auto value = each.law->at(variables);
    if (!value) return std::nullopt;
    sum += each.share * *value;
  }
  return sum;
}

// The root of the mean square of its relative errors at the cells of a kind.
double mixture_error(const std::vector<Ingredient>& mixture, std::span<const Point> points) {
  double squares = 0;
  for (const Point& point : points) {
    const auto value = mixed_at(mixture, point.variables);
    if (!value || !(*value > 0)) return INFINITY;
    squares += (point.mean / *value - 1) * (point.mean / *value - 1);
  }
  return std::sqrt(squares / static_cast<double>(points.size()));
}

std::vector<std::size_t> cells_of_kind(const RunNames& names, const std::string& kind) {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < names.cells.size(); ++i) {
    if (names.cells[i].kind == kind) cells.push_back(i);
  }
  return cells;
}

double rows_of_kind(const RunSample& run, const RunNames& names, const std::string& kind) {
  double rows = 0;
  for (const std::size_t i : cells_of_kind(names, kind)) {
    rows += static_cast<double>(run.cells[i].converged);
  }
  return rows;
}

std::string kind_mixture(const RunSample& run, const RunNames& names, const Part& whole,
                         const std::string& kind, const std::vector<Case>& cases) {
  std::string text;
  std::string separator = "a mixture of ";
  std::vector<Ingredient> mixture;
  const double all = rows_of_kind(run, names, kind);
  for (const Case& each : cases) {
    const double rows = rows_of_kind(each.run, each.names, kind);
    if (!(rows > 0)) continue;
    mixture.push_back({.share = rows / all, .law = best_law(each.part, kind)});
    text +=
        fmt::format("{}{} of the trials with {}", separator, percent(rows / all), each.condition);
    text += mixture.back().law == nullptr ? ", in fewer than three sizes"
                                          : fmt::format(", {}", mixture.back().law->text());
    separator = "; ";
  }
  const bool is_known =
      std::ranges::all_of(mixture, [](const Ingredient& each) { return each.law != nullptr; });
  text = about_kind(kind, text);
  if (mixture.empty() || !is_known) return text + ".";
  const double error =
      mixture_error(mixture, points_of(run, whole.lines, cells_of_kind(names, kind)));
  return text + fmt::format(". The sum of these laws, each times its share, gives the means to {}.",
                            percent(error));
}

}  // namespace

std::string mixture_verdict(const RunSample& run, const RunNames& names, const Part& whole,
                            const std::vector<Case>& cases) {
  std::string text;
  for (const KindFits& kind : whole.kinds) {
    text += '\n' + kind_mixture(run, names, whole, kind.kind, cases);
  }
  return text;
}

std::vector<KindFits> fit_kinds(const RunSample& run, const RunNames& names, const Measure& measure,
                                const std::vector<CellLine>& lines) {
  std::vector<KindFits> result;
  for (const CellName& name : names.cells) {
    if (std::ranges::find(result, name.kind, &KindFits::kind) != result.end()) continue;
    const std::vector<std::size_t> cells = cells_of_kind(names, name.kind);
    result.push_back({.kind = name.kind,
                      .fits = fits_of(measure, names.x, points_of(run, lines, cells)),
                      .noise = noise_of(lines, cells)});
  }
  return result;
}

std::string growth_verdict(const RunSample& run, const RunNames& names, const Part& part) {
  std::string text;
  for (const KindFits& kind : part.kinds) {
    if (!kind.fits.empty()) text += kind_verdict(part.measure, kind);
  }
  if (!part.measure.is_fitted) return "No law is fitted.";
  if (text.empty()) return "Fewer than three sizes: no law is fitted.";
  double low = INFINITY;
  double high = 0;
  for (const CellSample& cell : run.cells) {
    const auto found = cell.variables.find(names.x);
    if (found == cell.variables.end()) continue;
    low = std::min(low, found->second);
    high = std::max(high, found->second);
  }
  return text + fmt::format("Seen for {} from {} to {} only.", names.x, short_number(low),
                            short_number(high));
}

}  // namespace conclave::report
