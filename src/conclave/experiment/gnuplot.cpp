#include "conclave/experiment/gnuplot.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/experiment/output.hpp"

namespace conclave::experiment {
namespace {

Table::Line split(const std::string& text) {
  Table::Line fields(1);
  for (const char c : text) {
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

}  // namespace

bool Table::has(const std::string& name) const {
  return std::ranges::find(header, name) != header.end();
}

std::size_t Table::column(const std::string& name) const {
  const auto found = std::ranges::find(header, name);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  throw Error(
      unknown_name("column", name, std::vector<std::string_view>(header.begin(), header.end())));
}

Table read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("cannot read '{}'", path));
  Table table;
  std::string text;
  if (std::getline(file, text)) table.header = split(text);
  while (std::getline(file, text)) {
    table.lines.push_back(split(text));
    if (table.lines.back().size() == table.header.size()) continue;
    throw Error(fmt::format("'{}' is not a trace: line {} has {} fields, the first has {}", path,
                            table.lines.size() + 1, table.lines.back().size(),
                            table.header.size()));
  }
  if (table.lines.empty()) throw Error(fmt::format("'{}' holds no trace", path));
  return table;
}

std::string terminal_of(const std::string& picture, const PictureSize& size) {
  const std::map<std::string_view, std::string> terminals{
      {".svg", fmt::format("svg size {},{} enhanced font 'sans-serif,14' background '#ffffff'",
                           size.width, size.height)},
      {".pdf", fmt::format("pdfcairo size {}cm,{}cm enhanced font 'sans,11'", size.width / 50,
                           size.height / 50)},
      {".png",
       fmt::format("pngcairo size {},{} enhanced font 'sans,12'", size.width, size.height)}};
  const std::size_t dot = picture.rfind('.');
  const auto found = dot == std::string::npos
                         ? terminals.end()
                         : terminals.find(std::string_view(picture).substr(dot));
  if (found == terminals.end()) {
    throw Error(fmt::format("'{}': a picture ends in .svg, .pdf or .png", picture));
  }
  return found->second;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

void draw(const std::string& picture, const PictureSize& size, const std::string& script) {
  const std::string target = picture + ".partial";
  const std::string text = fmt::format("set terminal {}\nset output {}\n{}",
                                       terminal_of(picture, size), quoted(target), script);
  { const Output writable(picture); }  // objects if it cannot be written
  std::FILE* const gnuplot = popen("gnuplot 2>&1", "w");
  if (gnuplot == nullptr) throw Error("cannot start gnuplot");
  std::fwrite(text.data(), 1, text.size(), gnuplot);
  const int status = pclose(gnuplot);
  if (status != 0) {
    std::remove(target.c_str());
    throw Error("gnuplot could not draw the picture; is the package gnuplot-nox installed?");
  }
  std::rename(target.c_str(), picture.c_str());
}

}  // namespace conclave::experiment
