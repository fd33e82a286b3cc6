// The report as one HTML page that needs nothing else: no network, no second file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conclave/plot/gnuplot.hpp"
#include "conclave/report/study.hpp"

namespace conclave::report {

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
