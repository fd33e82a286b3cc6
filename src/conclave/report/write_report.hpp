// `conclave report`: files of results become one page, and its figures files of their own.
#pragma once

#include <string>
#include <vector>

#include "conclave/plot/figure.hpp"
#include "conclave/sweep/plan.hpp"

namespace conclave::report {

struct ReportOptions {
  std::vector<std::string> files;    // of results
  std::string page;                  // the HTML file; empty: none
  std::string figures;               // a folder for the figures; empty: none
  std::vector<std::string> kinds{};  // of their files: svg, pdf, png, csv, tex; empty: svg
  plot::Looks looks{};               // of the figures
  std::vector<std::string> only{};   // names of figures; empty: all
  std::vector<std::string> where{};  // conditions that rows must satisfy
  std::string by{};  // a field of rows, whose values are cases of a mixture; empty: none
  std::vector<std::string> laws{};  // of a user, instead of the usual ones
  std::string title{};
  std::string version{};
  // The address of the explorer, to which cells link: http, https, file, or relative to the page.
  // Empty: the commands that open their views are listed instead.
  std::string explorer{};
};

// Throws Error if a file, a figure or gnuplot is missing, or something cannot be written.
void write_report(const ReportOptions& options);

// Throws Error where a law has other variables than n and the parameters of each protocol of the
// plan: before a sweep, which would otherwise run for nothing.
void check_laws(const sweep::Plan& plan, const std::vector<std::string>& laws);

// The first figure of a file of results, its growth over n where it has several sizes, into a file
// whose ending says its kind. Returns what is to be said of its law. Throws Error as above.
std::string draw_growth(const std::string& results, const std::string& picture,
                        const std::vector<std::string>& laws, const plot::Looks& looks);

}  // namespace conclave::report
