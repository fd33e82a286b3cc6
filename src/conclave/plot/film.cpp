// A history as bars that move.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/plot/detail/subprocess.hpp"
#include "conclave/plot/gnuplot.hpp"
#include "conclave/plot/plot.hpp"
#include "conclave/plot/trace_table.hpp"

namespace conclave::plot {
namespace {

constexpr std::size_t most_frames = 300;
constexpr std::size_t most_states = 20;
constexpr std::size_t side_by_side = 9;

struct Frame {
  double time = 0;
  std::vector<double> counts{};  // by state
};

struct Film {
  std::vector<std::string> states{};
  std::vector<Frame> frames{};
  double largest = 1;
};

// Evenly spread numbers of all those below `size`, the first and the last among them.
std::vector<std::size_t> some_of(std::size_t size, std::size_t most) {
  std::vector<std::size_t> result;
  const std::size_t count = std::min(size, most);
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(count == 1 ? 0 : i * (size - 1) / (count - 1));
  }
  return result;
}

// The columns of a history with the largest counts, in the order of the table.
std::vector<std::string> shown_states(const TraceTable& table, std::size_t lines) {
  std::vector<std::pair<double, std::size_t>> sizes;
  for (std::size_t i = 2; i < table.names().size(); ++i) {
    double largest = 0;
    for (std::size_t line = 0; line < lines; ++line) {
      largest = std::max(largest, table.real(line, i).value_or(0));
    }
    sizes.emplace_back(-largest, i);
  }
  std::ranges::sort(sizes);
  sizes.resize(std::min(sizes.size(), most_states));
  std::ranges::sort(sizes, {}, &std::pair<double, std::size_t>::second);
  std::vector<std::string> states;
  for (const auto& each : sizes) states.push_back(table.names()[each.second]);
  return states;
}

Film film_of(const FilmOptions& options) {
  const TraceTable table(options.history);
  const std::vector<std::string>& names = table.names();
  if (names.size() < 3 || names[0] != "trial" || names[1] != "time" || table.has("count")) {
    throw Error(
        fmt::format("'{}' is no wide history: its first line must be trial,time and states, "
                    "as `conclave run --history FILE` writes it",
                    options.history));
  }
  std::size_t lines = 1;
  while (lines < table.lines() && table.whole(lines, 0) == table.whole(0, 0)) ++lines;
  Film film{.states = shown_states(table, lines)};
  for (const std::size_t line : some_of(lines, most_frames)) {
    Frame frame{table.real(line, 1).value_or(0), {}};
    for (const std::string& state : film.states) {
      frame.counts.push_back(table.real(line, table.column(state)).value_or(0));
      film.largest = std::max(film.largest, frame.counts.back());
    }
    film.frames.push_back(std::move(frame));
  }
  return film;
}

std::string axes(const Film& film) {
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < film.states.size(); ++i) {
    tics.push_back(fmt::format("{} {}", gnuplot_string(film.states[i]), i));
  }
  return fmt::format(
      "unset key\nset border 3 lc rgb '#444444'\nset grid y lc rgb '#dddddd'\n"
      "set style fill solid\nset boxwidth 0.8\nset tics nomirror\nset yrange [0:{}]\n"
      "set xrange [-0.6:{}.6]\nset xtics noenhanced rotate by -30 ({})\n",
      film.largest, film.states.size() - 1, join_parts(tics, ", "));
}

std::string plot_command(Script& script, const Frame& frame, const std::string& title) {
  Script::Rows rows;
  for (std::size_t i = 0; i < frame.counts.size(); ++i) {
    rows.push_back({static_cast<double>(i), frame.counts[i]});
  }
  const std::string text = fmt::format("{}{}time {}", title, title.empty() ? "" : ", ", frame.time);
  return fmt::format("set title {} noenhanced\nplot {} using 1:2 with boxes lc rgb '{}'\n",
                     gnuplot_string(text), script.add_data(rows), palette[0]);
}

std::string gif(const Film& film, const std::string& title) {
  Script script;
  script.add("set terminal gif animate delay 10 loop 0 size 900,560\n" + axes(film));
  for (const Frame& frame : film.frames) script.add(plot_command(script, frame, title));
  return detail::run_gnuplot(script, script.commands(), detail::ScratchFolder());
}

// Empty where ffmpeg cannot be started.
std::string mp4(const Film& film, const std::string& title) {
  const detail::ScratchFolder folder;
  Script script;
  script.add("set terminal pngcairo size 900,560 enhanced font 'sans,12'\n" + axes(film));
  for (std::size_t i = 0; i < film.frames.size(); ++i) {
    script.add(fmt::format("set output 'frame{:04}.png'\n", i));
    script.add(plot_command(script, film.frames[i], title));
  }
  detail::run_gnuplot(script, script.commands(), folder);
  detail::ProcessResult made = detail::run_process(
      {"ffmpeg", "-v", "error", "-nostdin", "-framerate", "10", "-i", "frame%04d.png", "-pix_fmt",
       "yuv420p", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "pipe:1"},
      folder.path());
  if (!made.has_started) return {};
  if (made.status == 0) return std::move(made.output);
  throw Error(fmt::format("ffmpeg could not make the film{}{}", made.errors.empty() ? "" : ": ",
                          excerpt(made.errors, 200)));
}

std::string small_multiples(const Film& film, const std::string& title) {
  Script script;
  script.add(axes(film) + "set multiplot layout 3,3\n");
  for (const std::size_t i : some_of(film.frames.size(), side_by_side)) {
    script.add(plot_command(script, film.frames[i], title));
  }
  script.add("unset multiplot\n");
  return draw(script, PictureFormat::svg, {.width = 1200, .height = 900});
}

}  // namespace

std::string animate(const FilmOptions& options) {
  const bool is_gif = options.film.ends_with(".gif");
  if (!is_gif && !options.film.ends_with(".mp4")) {
    throw Error(fmt::format("'{}': a film ends in .mp4 or .gif", options.film));
  }
  const Film film = film_of(options);
  std::string bytes = is_gif ? gif(film, options.title) : mp4(film, options.title);
  std::string file = options.film;
  if (bytes.empty()) {
    file.replace(file.size() - 4, 4, ".svg");
    bytes = small_multiples(film, options.title);
  }
  write_file(file, bytes);
  return file;
}

}  // namespace conclave::plot
