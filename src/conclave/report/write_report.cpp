#include "conclave/report/write_report.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/output.hpp"
#include "conclave/report/own_law.hpp"
#include "conclave/report/sample.hpp"
#include "conclave/report/study.hpp"

namespace conclave::report {
namespace {

// The command with which a reader draws one figure again from the file of results.
void name_commands(Report& report, const std::string& files, const std::string& where) {
  const auto name = [&](Figure& figure, const std::string& from) {
    figure.command =
        fmt::format("conclave report {}{} --figures figures --only {}", from, where, figure.name);
  };
  for (Figure& figure : report.overview) name(figure, files);
  for (Study& study : report.studies) {
    for (Section& section : study.sections) {
      for (Part& part : section.parts) {
        for (Figure& figure : part.figures) name(figure, quoted_for_shell(study.file));
      }
    }
  }
}

Report read_report(const ReportOptions& options) {
  Report report{.title = options.title, .version = options.version, .explorer = options.explorer};
  std::vector<std::string> names;
  std::vector<std::string> files;
  for (const std::string& file : options.files) {
    report.studies.push_back(study(file, options.where, options.by, options.laws));
    files.push_back(quoted_for_shell(file));
    names.push_back(report.studies.back().name);
  }
  if (report.title.empty()) report.title = join_parts(names, ", ");
  if (!options.where.empty()) {
    report.title += fmt::format(", rows with {}", join_parts(options.where, " and "));
  }
  report.overview = overview(report.studies);
  std::string where;
  for (const std::string& each : options.where) where += " --where " + quoted_for_shell(each);
  if (!options.by.empty()) where += " --by " + quoted_for_shell(options.by);
  name_commands(report, join_parts(files, " "), where);
  return report;
}

bool is_wanted(const ReportOptions& options, const std::string& name) {
  return options.only.empty() || std::ranges::find(options.only, name) != options.only.end();
}

void check_names(const ReportOptions& options, const std::vector<const Figure*>& figures) {
  std::vector<std::string_view> names;
  for (const Figure* const figure : figures) names.push_back(figure->name);
  for (const std::string& name : options.only) {
    if (std::ranges::find(names, name) == names.end())
      throw Error(unknown_name("figure", name, names));
  }
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code unknown;
  if (std::filesystem::is_directory(folder, unknown)) return;
  if (!error) error = std::make_error_code(std::errc::not_a_directory);  // but another file
  throw Error(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
}

void check_page(const std::string& page) {
  const std::string ending = std::filesystem::path(page).extension().string();
  if (ending.empty() || ending == ".html" || ending == ".htm") return;
  throw Error(fmt::format("'{}': the page is HTML, so its name ends in .html; figures become .svg, "
                          ".pdf, .png, .csv or .tex with --figures FOLDER --kinds pdf",
                          page));
}

// A page links to pages only: an address that runs a script when it is clicked is none.
void check_explorer(const std::string& address) {
  const std::size_t colon = address.find(':');
  if (address.find_first_of("/?#") < colon || colon == std::string::npos) return;
  const std::string scheme = address.substr(0, colon);
  if (scheme == "http" || scheme == "https" || scheme == "file") return;
  throw Error(fmt::format("--explorer '{}': an address begins with http:, https: or file:, or is a "
                          "path relative to the page",
                          address));
}

void write_figures(const ReportOptions& options, const std::vector<const Figure*>& figures) {
  make_folder(options.figures);
  std::vector<std::string> kinds = options.kinds;
  if (kinds.empty()) kinds = {"svg"};
  for (const Figure* const figure : figures) {
    if (!is_wanted(options, figure->name)) continue;
    for (const std::string& kind : kinds) {
      const auto path =
          std::filesystem::path(options.figures) / fmt::format("{}.{}", figure->name, kind);
      write_file(path.string(), draw(*figure, plot::kind_named(kind), options.looks));
    }
  }
}

}  // namespace

void write_report(const ReportOptions& options) {
  if (options.page.empty() && options.figures.empty()) {
    throw Error("nothing to write: give -o FILE for the page, --figures FOLDER, or both");
  }
  check_page(options.page);
  check_explorer(options.explorer);
  for (const std::string& kind : options.kinds) plot::kind_named(kind);
  const Report report = read_report(options);
  const std::vector<const Figure*> figures = figures_of(report);
  check_names(options, figures);
  std::optional<Output> page;  // opened before the long work, so that it objects at once
  if (!options.page.empty()) page.emplace(options.page);
  if (!options.figures.empty()) write_figures(options, figures);
  if (!page) return;
  Pictures pictures;
  for (const Figure* const figure : figures) {
    if (is_wanted(options, figure->name)) {
      pictures.emplace(figure->name,
                       draw(*figure, plot::FileKind::svg, options.looks, page_picture));
    }
  }
  page->write(html(report, pictures));
  page->finish();
}

void check_laws(const sweep::Plan& plan, const std::vector<std::string>& laws) {
  std::set<std::string> checked;
  for (const sweep::Cell& cell : plan.cells) {
    const std::string& protocol = cell.words.protocol;
    if (laws.empty() || !checked.insert(protocol).second) continue;
    std::vector<std::string> variables{"n"};
    for (const auto& each : sweep::entry_of(protocol, plan.texts).parameters) {
      variables.emplace_back(each.name);
    }
    for (const std::string& law : laws) OwnLaw(law, variables);
  }
}

std::string draw_growth(const std::string& results, const std::string& picture,
                        const std::vector<std::string>& laws, const plot::Looks& looks) {
  const Study all = study(results, {}, {}, laws);
  if (all.sections.empty() || all.sections.front().parts.front().figures.empty()) {
    throw Error(
        fmt::format("'{}' has no trial that has converged: there is nothing to draw", results));
  }
  const Part& part = all.sections.front().parts.front();
  if (!picture.empty()) {
    write_file(picture, draw(part.figures.front(), plot::kind_of(picture), looks));
  }
  return part.verdict;
}

}  // namespace conclave::report
