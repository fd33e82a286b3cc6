// The report as HTML. The file is long because every part of the page has its piece of it here.
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/report/assets.hpp"
#include "conclave/report/study.hpp"

namespace conclave::report {
namespace {

std::string_view style_name(Style style) {
  switch (style) {
    case Style::marks:
      return "marks";
    case Style::joined:
      return "joined";
    case Style::curve:
      return "curve";
    case Style::bound:
      return "bound";
    case Style::stairs:
    case Style::steps:
      return "stairs";
    case Style::band:
      return "joined";
  }
  return {};
}

std::string axis_json(const Axis& axis) {
  return fmt::format(R"({{"title":{},"log":{}}})", json_string(axis.title), axis.logarithmic);
}

std::string numbers(const Series& series, double Mark::*value) {
  std::string text;
  for (const Mark& mark : series.points) {
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ",", mark.*value);
  }
  return text;
}

std::string series_json(const Series& series) {
  std::string text = fmt::format(R"({{"name":{},"style":"{}","look":{},"x":[{}],"y":[{}])",
                                 json_string(series.name), style_name(series.style), series.look,
                                 numbers(series, &Mark::x), numbers(series, &Mark::y));
  const bool has_intervals = series.style == Style::marks || series.style == Style::joined;
  if (has_intervals) {
    text += fmt::format(R"(,"low":[{}],"high":[{}])", numbers(series, &Mark::low),
                        numbers(series, &Mark::high));
  }
  return text + '}';
}

// The numbers of a figure as the page's script reads them, to draw it when a reader wants to zoom:
// one object with axes and series; low and high stand beside y where there are intervals.
std::string json(const Figure& figure) {
  std::string series;
  for (const Series& each : figure.series) {
    if (!series.empty()) series += ',';
    series += series_json(each);
  }
  return fmt::format(R"({{"x":{},"y":{},"series":[{}]}})", axis_json(figure.x), axis_json(figure.y),
                     series);
}

std::string replaced(std::string_view text, const std::map<char, std::string_view>& replacements) {
  std::string result;
  for (const char c : text) {
    const auto found = replacements.find(c);
    if (found == replacements.end())
      result += c;
    else
      result += found->second;
  }
  return result;
}

std::string escaped(std::string_view text) {
  return replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

// As a part of an address.
std::string percent_encoded(std::string_view text) {
  return replaced(text, {{'%', "%25"},
                         {'#', "%23"},
                         {'"', "%22"},
                         {'&', "%26"},
                         {'<', "%3C"},
                         {'>', "%3E"},
                         {'\n', "%0A"},
                         {'\t', "%09"}});
}

// An SVG as the address of an image, so that pictures do not share names with one another.
std::string data_address(std::string_view svg) {
  return "data:image/svg+xml," + percent_encoded(svg);
}

std::string rounded_percent(double fraction) { return fmt::format("{:.3g} %", 100 * fraction); }

std::string figure_html(const Figure& figure, const Pictures& pictures) {
  const auto picture = pictures.find(figure.name);
  if (picture == pictures.end()) return {};
  return fmt::format(
      "<figure id=\"{0}\" data-chart>\n<div class=\"picture\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{1}\">\n<img alt=\"{1}. {2}\" width=\"{7}\" height=\"{8}\" src=\"{3}\">\n"
      "</div>\n<figcaption>{2}<br>Again: <code>{4}</code><br>"
      "<a download=\"{0}.csv\" href=\"{6}\">Data (CSV)</a></figcaption>\n"
      "<script type=\"application/json\">{5}</script>\n</figure>\n",
      figure.name, escaped(figure.title), escaped(figure.caption), data_address(picture->second),
      escaped(figure.command), replaced(json(figure), {{'<', "\\u003c"}}),
      "data:text/csv;charset=utf-8," + percent_encoded(plot::csv(figure)), page_picture.width,
      page_picture.height);
}

// Figures side by side, and what belongs beside them.
std::string figures_html(const std::vector<Figure>& figures, const Pictures& pictures,
                         const std::string& beside = {}) {
  if (figures.empty()) return beside;
  std::string text = "<div class=\"figures\">\n";
  for (const Figure& figure : figures) text += figure_html(figure, pictures);
  return text + beside + "</div>\n";
}

// A table that scrolls by itself where the page is narrow; keyboards reach it.
std::string table(const std::string& caption, const std::string& head, const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table>\n"
      "<caption>{0}</caption>\n<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody>\n</table>\n"
      "</div>\n",
      escaped(caption), head, body);
}

std::string heads(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    text += fmt::format("<th scope=\"col\">{}</th>", escaped(name));
  }
  return text;
}

std::string left_out(const Fit& fit) {
  return std::isfinite(fit.left_out_error) ? rounded_percent(fit.left_out_error) : "-";
}

std::string law_html(const KindFits& kind, const Fit& fit) {
  const bool is_best = &fit == &kind.fits.front();
  const std::string name =
      kind.kind.empty() ? fit.text() : fmt::format("{}: {}", kind.kind, fit.text());
  return fmt::format("<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                     is_best ? " class=\"best\"" : "", escaped(name), left_out(fit),
                     rounded_percent(fit.typical_error), rounded_percent(fit.worst_error));
}

std::string laws_table(const Part& part) {
  std::string body;
  for (const KindFits& kind : part.kinds) {
    for (const Fit& fit : kind.fits) body += law_html(kind, fit);
  }
  if (body.empty()) return {};
  return table("Laws fitted to the mean " + part.measure.title +
                   ", by least squares in relative error; those come first that predict best "
                   "the size that is left out; typical errors per degree of freedom",
               heads({"law", "left out", "typical error", "worst error"}), body);
}

std::string trials_text(const CellLine& line) {
  return line.trials < line.wanted ? fmt::format("{} of {}", line.trials, line.wanted)
                                   : fmt::format("{}", line.trials);
}

// The label of a cell, linked to its first trial where the explorer's address is known.
std::string label_html(const CellLine& line, const std::string& explorer) {
  if (explorer.empty() || line.view.empty()) return escaped(line.label);
  return fmt::format(R"(<a href="{}#{}" title="Watch the first trial">{}</a>)", escaped(explorer),
                     escaped(line.view), escaped(line.label));
}

std::string cell_html(const CellLine& line, const std::string& explorer) {
  std::string text = fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>",
                                 label_html(line, explorer), trials_text(line));
  if (line.trials == 0) {
    text += "<td>-</td>";
  } else {
    const double rate = static_cast<double>(line.converged) / static_cast<double>(line.trials);
    text += fmt::format("<td>{} ({} to {})</td>", rounded_percent(rate),
                        rounded_percent(line.success.low), rounded_percent(line.success.high));
  }
  if (!line.summary)
    return text + "<td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td></tr>\n";
  const std::string interval =
      std::isnan(line.mean.low)
          ? "-"
          : fmt::format("{} to {}", short_number(line.mean.low), short_number(line.mean.high));
  return text + fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                            "</tr>\n",
                            short_number(line.summary->mean), interval,
                            short_number(line.low_quantile), short_number(line.median),
                            short_number(line.high_quantile), short_number(line.summary->maximum));
}

std::string cells_table(const Section& section, const Part& part, const std::string& explorer) {
  std::string body;
  for (const CellLine& line : part.lines) body += cell_html(line, explorer);
  return table(fmt::format("{}: {}", section.protocol, part.measure.title),
               heads({"cell", "trials", "converged (95 % interval)", "mean", "95 % interval",
                      "10 %", "median", "90 %", "maximum"}),
               body);
}

std::string number_or_dash(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-";
}

std::string interval_or_dash(const Interval& interval) {
  if (!std::isfinite(interval.low) && !std::isfinite(interval.high)) return "-";
  return number_or_dash(interval.low) + " to " + number_or_dash(interval.high);
}

std::string estimates_table(const Section& section, const Part& part) {
  std::string body;
  for (const EstimateLine& line : part.estimates) {
    body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>"
                        "<td>{}</td><td>{}</td></tr>\n",
                        escaped(line.label), escaped(line.function), line.repetitions,
                        number_or_dash(line.ln), interval_or_dash(line.interval), line.verdict);
  }
  return table(fmt::format("{}: {}", section.protocol, part.measure.title),
               heads({"cell", "importance function", "repetitions", "ln", "95 % interval", ""}),
               body);
}

std::string views_html(const Section& section) {
  std::string lines;
  for (const CellLine& line : section.parts.front().lines) {
    if (!line.view.empty()) {
      lines += escaped("conclave explorer --open " + quoted_for_shell(line.view)) + '\n';
    }
  }
  if (lines.empty()) return {};
  return "<details><summary>Watch the first trial of a cell in a browser</summary>\n<pre>" + lines +
         "</pre></details>\n";
}

std::string commands_html(const Section& section) {
  if (section.parts.empty()) return {};
  std::string text = "<details><summary>Commands that repeat the cells</summary>\n<pre>";
  for (const CellLine& line : section.parts.front().lines) text += escaped(line.command) + '\n';
  return text + "</pre></details>\n" + views_html(section);
}

std::string observables_html(const Section& section) {
  if (section.observables.empty()) return {};
  std::string head = heads({"cell"});
  for (const Observable& each : section.observables) {
    head += fmt::format("<th scope=\"col\">{}</th>", escaped(each.name));
  }
  std::string body;
  for (std::size_t i = 0; i < section.labels.size(); ++i) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(section.labels[i]));
    for (const Observable& each : section.observables) {
      body += fmt::format("<td>{}</td>", short_number(each.means[i]));
    }
    body += "</tr>\n";
  }
  return "<details><summary>What else was observed</summary>\n" +
         table(section.protocol + ": means of observables over converged trials", head, body) +
         "</details>\n";
}

std::string part_html(const Section& section, const Part& part, const Report& report,
                      const Pictures& pictures) {
  std::string text = fmt::format("<h3>{}</h3>\n", escaped(part.measure.title));
  if (!part.measure.promise.empty() || !part.verdict.empty()) {
    text += "<dl class=\"findings\">\n";
    if (!part.measure.promise.empty()) {
      text += fmt::format("<dt>Promised</dt><dd>{}</dd>\n", escaped(part.measure.promise));
    }
    if (!part.verdict.empty()) {
      text += fmt::format("<dt>Measured</dt><dd>{}</dd>\n",
                          replaced(escaped(part.verdict), {{'\n', "<br>"}}));
    }
    text += "</dl>\n";
  }
  return text + figures_html(part.figures, pictures, laws_table(part)) +
         (part.estimates.empty() ? cells_table(section, part, report.explorer)
                                 : estimates_table(section, part));
}

std::string section_html(const Section& section, const Report& report, const Pictures& pictures) {
  std::string text = fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
                                 "<h2 id=\"{0}-title\">{1}</h2>\n",
                                 section.id, escaped(section.title));
  for (const Part& part : section.parts) text += part_html(section, part, report, pictures);
  return text + observables_html(section) + commands_html(section) + "</section>\n";
}

std::string promise_html(const PromiseLine& line) {
  std::string text = fmt::format("<tr><th scope=\"row\">{}</th>", escaped(line.work));
  for (const std::string& promised : line.promised) {
    text += fmt::format("<td>{}</td>", escaped(promised));
  }
  const std::string protocol =
      line.section.empty()
          ? escaped(line.protocol)
          : fmt::format("<a href=\"#{}\">{}</a>", line.section, escaped(line.protocol));
  return text + fmt::format("<td>{}</td><td>{}</td><td>{}</td></tr>\n", protocol,
                            escaped(line.source), escaped(line.measured));
}

// Only plans with the names of a paper's tables have promises.
std::string promises_id(const Study& study) { return study.name + "-promises"; }

// The promises of the paper, each with its measurement.
std::string promises_html(const Study& study) {
  if (!study.promises) return {};
  std::string head = heads({"work"});
  for (const std::string& heading : study.promises->headings) head += heads({heading});
  head += heads({"protocol", "source", "measured"});
  std::string body;
  for (const PromiseLine& line : study.promises->lines) body += promise_html(line);
  const std::string id = promises_id(study);
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
                     "<h2 id=\"{0}-title\">Promised and measured</h2>\n{1}</section>\n",
                     id, table(study.promises->title, head, body));
}

std::string provenance_html(const Study& study) {
  return fmt::format(
      "<h3>{}</h3>\n<p>File <code>{}</code>: {} cells, {} trials, computed by conclave {}. The "
      "plan "
      "holds the seed; <code>conclave sweep plan.toml -o results.db</code> computes the same rows "
      "again, byte for byte.</p>\n<details><summary>The plan</summary>\n<pre>{}</pre></details>\n",
      escaped(study.name), escaped(study.file), study.cells, study.trials,
      escaped(join_parts(study.versions, ", ")), escaped(study.plan));
}

std::string link_html(const std::string& id, const std::string& title) {
  return fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, escaped(title));
}

// The sections in their order on the page; those of each of several studies in a line.
std::string navigation(const Report& report) {
  const bool has_lines = report.studies.size() > 1;
  std::string items;
  for (const Study& study : report.studies) {
    if (study.promises) items += link_html(promises_id(study), "Promised and measured");
  }
  if (!report.overview.empty()) items += link_html("together", "All together");
  for (const Study& study : report.studies) {
    if (has_lines && !items.empty()) items += "</ul>\n<ul>\n";
    if (has_lines) items += fmt::format("<li>{}</li>\n", escaped(study.name));
    for (const Section& section : study.sections) items += link_html(section.id, section.title);
  }
  if (has_lines) items += "</ul>\n<ul>\n";
  items += link_html("provenance", "Where it comes from");
  return fmt::format("<nav aria-label=\"Contents\">\n<ul>\n{}</ul></nav>\n", items);
}

std::string lead(const Report& report) {
  std::uint64_t cells = 0;
  std::uint64_t trials = 0;
  std::uint64_t missing = 0;
  for (const Study& study : report.studies) {
    cells += study.cells;
    trials += study.trials;
    missing += study.missing;
  }
  const std::string warning =
      missing == 0
          ? ""
          : fmt::format("<p class=\"lead\"><strong>Unfinished: {} trials are missing.</strong> "
                        "Of each cell only the trials before the first missing one are "
                        "used.</p>\n",
                        missing);
  return fmt::format("<p class=\"lead\">{} trials in {} cells.{}</p>\n{}", trials, cells,
                     trials == 0 ? " There are no results yet." : "", warning);
}

}  // namespace

std::vector<const Figure*> figures_of(const Report& report) {
  std::vector<const Figure*> result;
  for (const Figure& figure : report.overview) result.push_back(&figure);
  for (const Study& study : report.studies) {
    for (const Section& section : study.sections) {
      for (const Part& part : section.parts) {
        for (const Figure& figure : part.figures) result.push_back(&figure);
      }
    }
  }
  return result;
}

std::string html(const Report& report, const Pictures& pictures) {
  std::string text =
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n"
                  "<header>\n<h1>{0}</h1>\n",
                  escaped(report.title), uplot_css, page_css);
  text += lead(report) + navigation(report) + "</header>\n<main>\n";
  for (const Study& study : report.studies) text += promises_html(study);
  if (!report.overview.empty()) {
    text += "<section id=\"together\" aria-labelledby=\"together-title\">\n"
            "<h2 id=\"together-title\">All together</h2>\n" +
            figures_html(report.overview, pictures) + "</section>\n";
  }
  for (const Study& study : report.studies) {
    for (const Section& section : study.sections) text += section_html(section, report, pictures);
  }
  text += "<section id=\"provenance\" aria-labelledby=\"provenance-title\">\n"
          "<h2 id=\"provenance-title\">Where it comes from</h2>\n";
  for (const Study& study : report.studies) text += provenance_html(study);
  text += fmt::format("</section>\n</main>\n<footer>Written by conclave {}.</footer>\n"
                      "<script>\n{}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
                      escaped(report.version), uplot_js, page_js);
  return text;
}

}  // namespace conclave::report
