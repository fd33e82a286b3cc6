#include "conclave/plot/space_time.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::plot {
namespace {

constexpr std::size_t most_nodes = 64;

// The part of a plot command that draws one set of rows; nothing where there are none.
void add_plot(std::vector<std::string>& plots, Script& script, const Script::Rows& rows,
              std::string_view style) {
  if (rows.empty()) return;
  plots.push_back(fmt::format("{} {}", script.add_data(rows), style));
}

// Appends what `more` has.
void append(std::vector<std::string>& all, std::vector<std::string> more) {
  for (std::string& each : more) all.push_back(std::move(each));
}

}  // namespace

SpaceTimeDiagram::SpaceTimeDiagram(const TraceTable& table) {
  const std::size_t trial = table.column("trial");
  const auto whole_or_zero = [&](std::size_t line, const char* name) {
    const std::size_t column = table.column(name);
    return table.real(line, column) ? table.whole(line, column) : 0;
  };
  for (std::size_t i = 0; i < table.lines(); ++i) {
    if (table.whole(i, trial) != table.whole(0, trial)) {
      throw Error("a space-time diagram shows one trial, but the trace holds more: use --trials 1");
    }
    Event event{.kind = table.name(i, table.column("event")),
                .time = table.real(i, table.column("time")).value_or(0),
                .node = table.whole(i, table.column("node")),
                .peer = whole_or_zero(i, "peer"),
                .message = table.name(i, table.column("message")),
                .sent = table.real(i, table.column("sent")).value_or(0),
                .phase = whole_or_zero(i, "phase")};
    const std::size_t largest = std::max(event.node, event.peer);
    if (largest >= most_nodes) {
      throw Error(fmt::format("a space-time diagram of more than {0} nodes cannot be read: at most "
                              "{0} are drawn",
                              most_nodes));
    }
    nodes_ = std::max(nodes_, largest + 1);
    end_ = std::max(end_, event.time);
    events_.push_back(std::move(event));
  }
}

PictureSize SpaceTimeDiagram::size() const {
  const double width = std::clamp(260 + end_ * 90, 900.0, 2400.0);
  return {.width = static_cast<int>(width), .height = 165 + static_cast<int>(nodes_) * 62};
}

Script SpaceTimeDiagram::script(const std::string& title) const {
  Script script;
  script.add("set border 0\nset tics nomirror scale 0\nset grid x lc rgb '#eeeeee'\n");
  script.add(fmt::format("set bmargin at screen {}\n", 125.0 / size().height));
  script.add("set key at screen 0.5, screen 0.02 center bottom horizontal maxrows 3 samplen 3\n");
  script.add("set xlabel 'time' offset 0,0.4\n");
  script.add(fmt::format("set xrange [{}:{}]\nset yrange [{}.6:-0.7]\n", -0.02 * end_, right_end(),
                         nodes_ - 1));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < nodes_; ++i) names.push_back(fmt::format("'node {0}' {0}", i));
  script.add(fmt::format("set ytics ({})\n", fmt::join(names, ", ")));
  if (!title.empty()) script.add(fmt::format("set title {} noenhanced\n", gnuplot_string(title)));
  std::vector<std::string> plots = lives(script);
  append(plots, messages(script));
  append(plots, marks(script));
  script.add(fmt::format("plot {}\n", fmt::join(plots, ", \\\n  ")));
  return script;
}

// A node's line is dotted while it sleeps, thick while it is a candidate, thickest as a leader.
std::vector<std::string> SpaceTimeDiagram::lives(Script& script) const {
  struct Stretch {
    std::string_view begins;
    std::string_view style;
    Script::Rows rows{};
  };
  std::array<Stretch, 4> stretches{
      Stretch{"sleep", "with lines dt 3 lw 1 lc rgb '#bbbbbb' notitle"},
      Stretch{"wake", "with lines lw 3.5 lc rgb '#555555' title 'candidate'"},
      Stretch{"retire", "with lines lw 1.2 lc rgb '#aaaaaa' title 'not elected'"},
      Stretch{"elect", "with lines lw 5 lc rgb '#e69f00' title 'elected'"}};
  for (std::size_t node = 0; node < nodes_; ++node) {
    std::string_view now = "sleep";
    double since = 0;
    const auto draw_until = [&](double time) {
      const auto y = static_cast<double>(node);
      auto& rows = std::ranges::find(stretches, now, &Stretch::begins)->rows;
      rows.insert(rows.end(), {{since, y}, {time, y}, {}});
      since = time;
    };
    for (const Event& event : events_) {
      const std::string_view begun = event.kind == "join" ? "retire" : std::string_view(event.kind);
      const auto* const begins = std::ranges::find(stretches, begun, &Stretch::begins);
      if (event.node != node || begins == stretches.end() || begun == now) continue;
      draw_until(event.time);
      now = begins->begins;
    }
    draw_until(right_end());
  }
  std::vector<std::string> plots;
  for (const Stretch& stretch : stretches) add_plot(plots, script, stretch.rows, stretch.style);
  return plots;
}

namespace {

// Okabe and Ito's colours, which colour-blind readers can tell apart, then grey and black.
constexpr std::array<std::string_view, 8> colours{"#0072b2", "#009e73", "#d55e00", "#cc79a7",
                                                  "#56b4e9", "#8b6d00", "#999999", "#000000"};

// The types of messages of the catalog's protocols: each has its colour wherever it appears, and
// types of one protocol differ.
struct TypeColour {
  std::string_view type;
  std::size_t colour;
};
constexpr std::array type_colours{
    TypeColour{"REQUEST", 0}, TypeColour{"APPROVED", 1},  TypeColour{"DECLINED", 2},
    TypeColour{"DECIDE", 3},  TypeColour{"WINS", 4},      TypeColour{"LOSES", 5},
    TypeColour{"LEADER", 7},  TypeColour{"REPLY", 1},     TypeColour{"WINNER", 7},
    TypeColour{"CAPTURE", 0}, TypeColour{"CONTEST", 2},   TypeColour{"RELEASE", 3},
    TypeColour{"ACCEPT", 1},  TypeColour{"IDENTIFIER", 0}};

// Of any other type the letters decide.
std::string_view colour_of(const std::string& type) {
  const auto* const found = std::ranges::find(type_colours, type, &TypeColour::type);
  if (found != type_colours.end()) return colours[found->colour];
  std::size_t sum = 0;
  for (const char c : type) sum = 31 * sum + static_cast<unsigned char>(c);
  return colours[sum % colours.size()];
}

}  // namespace

std::vector<std::string> SpaceTimeDiagram::messages(Script& script) const {
  std::vector<std::string> types;
  for (const Event& event : events_) {
    const bool is_known = std::ranges::find(types, event.message) != types.end();
    if (event.kind == "deliver" && !is_known) types.push_back(event.message);
  }
  std::ranges::sort(types);
  std::vector<std::string> plots;
  for (const std::string& type : types) {
    add_plot(plots, script, arrows(type),
             fmt::format("with vectors head filled size screen 0.007,16 lw 1.1 lc rgb '{}' title "
                         "{} noenhanced",
                         colour_of(type), gnuplot_string(type)));
  }
  return plots;
}

Script::Rows SpaceTimeDiagram::arrows(const std::string& type) const {
  Script::Rows rows;
  for (const Event& event : events_) {
    if (event.kind != "deliver" || event.message != type) continue;
    const auto from = static_cast<double>(event.peer);
    rows.push_back(
        {event.sent, from, event.time - event.sent, static_cast<double>(event.node) - from});
  }
  return rows;
}

// The number of a phase stands in a disc on the node's line.
std::vector<std::string> SpaceTimeDiagram::marks(Script& script) const {
  std::vector<std::string> plots;
  add_plot(plots, script, points("wake"),
           "with points pt 6 ps 2.1 lw 1.5 lc rgb '#222222' title 'woken'");
  add_plot(plots, script, points("phase"),
           "with points pt 7 ps 1.5 lc rgb '#222222' title 'phase'");
  add_plot(plots, script, points("phase"),
           "using 1:2:3 with labels center font ',10' textcolor rgb '#ffffff' notitle");
  add_plot(plots, script, points("retire"),
           "with points pt 2 ps 1.1 lw 2.5 lc rgb '#d00000' title 'retires'");
  add_plot(plots, script, points("elect"),
           "with points pt 9 ps 2 lc rgb '#e69f00' title 'is elected'");
  return plots;
}

Script::Rows SpaceTimeDiagram::points(const std::string& kind) const {
  Script::Rows rows;
  for (const Event& event : events_) {
    if (event.kind != kind) continue;
    rows.push_back({event.time, static_cast<double>(event.node), static_cast<double>(event.phase)});
  }
  return rows;
}

}  // namespace conclave::plot
