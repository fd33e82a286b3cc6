// From samples to what the page shows: tables, fitted laws, figures, sentences.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conclave/base/statistics.hpp"
#include "conclave/plot/figure.hpp"
#include "conclave/plot/gnuplot.hpp"
#include "conclave/report/laws.hpp"
#include "conclave/report/measures.hpp"
#include "conclave/report/sample.hpp"

namespace conclave::report {

using plot::Axis;
using plot::Figure;
using plot::Mark;
using plot::Series;
using plot::short_number;
using plot::Style;
// The numbers of one cell; the statistics are those of converged trials.
struct CellLine {
  std::string label;
  std::uint64_t trials = 0;
  std::uint64_t wanted = 0;
  std::uint64_t converged = 0;
  Interval success{};  // of the chance to converge
  std::optional<Summary> summary{};
  Interval mean{};
  double low_quantile = 0;  // 10 %
  double median = 0;
  double high_quantile = 0;  // 90 %
  std::string command;
  std::string view{};  // of the explorer, see view_of; empty: none
};

// The laws fitted to the cells that differ in their variables only: each start or adversary, and
// each value of a parameter that is in no law, has constants of its own.
struct KindFits {
  std::string kind;         // "init=random"; empty where there is only one
  std::vector<Fit> fits{};  // best first
  double noise = 0;         // typical relative standard error of the means
};

// The estimate of one way to fail by one importance function.
struct EstimateLine {
  std::string label;  // of the cell
  std::string function;
  std::uint64_t repetitions = 0;
  double ln = 0;  // of a time or a probability
  Interval interval{};
  std::string verdict{};  // confirmed or not, in the first line of a cell
};

// One measure of one run.
struct Part {
  Measure measure;
  std::vector<CellLine> lines{};
  std::vector<EstimateLine> estimates{};  // of rare failures, shown instead of the lines
  std::vector<KindFits> kinds{};
  std::string verdict{};  // in words, what the fits say
  std::vector<Figure> figures{};
};

// The mean of a number that the protocol reports beside its measures.
struct Observable {
  std::string name;
  std::vector<double> means{};  // one per cell; NaN where there is none
};

struct Section {
  std::string work{};  // the row of a paper's table that this is about; empty if none
  std::string id;
  std::string title;  // "pll, init=clean"
  std::string protocol;
  std::vector<std::string> labels{};  // of the cells
  std::vector<Part> parts{};
  std::vector<Observable> observables{};
  // Means over n of measures that other protocols have as well, by the title of their axis.
  std::map<std::string, Series> common{};
};

// A row of a paper's table: what it promises, and where this file of results measures it.
struct PromiseLine {
  std::string work;
  std::vector<std::string> promised;
  std::string protocol;   // empty: it cannot be run
  std::string source{};   // how the algorithm is known: read, second-hand, reconstructed
  std::string section{};  // the section that measures it; empty: none does
  std::string measured;   // in words; why not, where nothing was measured
};

// The table of a paper, where a plan of `conclave compare --table` measures it.
struct PromiseTable {
  std::string title;
  std::vector<std::string> headings;
  std::vector<PromiseLine> lines;
};

// One file of results.
struct Study {
  std::string file;
  std::string name;
  std::string plan;  // its text
  std::vector<std::string> versions{};
  std::uint64_t cells = 0;
  std::uint64_t trials = 0;
  std::uint64_t missing = 0;  // trials that an unfinished sweep has still to run
  std::vector<Section> sections{};
  std::optional<PromiseTable> promises{};
};

// Only rows that satisfy all conditions count, as in `conclave results --where`. With `by`, the
// name of a field, the first measure of every section is shown once more for each of its values,
// and what it is as a mixture of them is said in words. With `laws`, these are fitted instead of
// those that are usual for the protocol. Throws Error if the file cannot be read, no row satisfies
// the conditions, no row has the field or a law makes no sense.
Study study(const std::string& file, const std::vector<std::string>& where = {},
            const std::string& by = {}, const std::vector<std::string>& laws = {});

// The same measure of several protocols in one figure, where there are several.
std::vector<Figure> overview(const std::vector<Study>& studies);

// The report: one HTML page that needs nothing else, no network and no second file.
struct Report {
  std::string title;
  std::string version;     // of the program that writes it
  std::string explorer{};  // its address; empty: no links
  std::vector<Study> studies{};
  std::vector<Figure> overview{};
};

// Small, so that letters can be read where the picture is as wide as a phone.
inline constexpr plot::PictureSize page_picture{.width = 480, .height = 360};

using Pictures = std::map<std::string, std::string>;  // name of a figure -> its SVG

// All figures, those of the overview first.
std::vector<const Figure*> figures_of(const Report& report);

// The page with styles and script inside. Figures without a picture are left out.
std::string html(const Report& report, const Pictures& pictures);

}  // namespace conclave::report
