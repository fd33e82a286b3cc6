#include "conclave/plot/space_time.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/plot/figure.hpp"

namespace conclave::plot {
namespace {

constexpr std::size_t most_nodes = 64;

// The table of an \addplot.
std::string tex_rows(const Script::Rows& rows) {
  std::string text;
  for (const std::vector<double>& row : rows) {
    text += row.empty() ? "nan nan nan nan" : join_parts(row, " ");
    text += "\\\\\n";
  }
  return text;
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
  script.add(fmt::format("set ytics ({})\n", join_parts(names, ", ")));
  if (!title.empty()) script.add(fmt::format("set title {} noenhanced\n", gnuplot_string(title)));
  std::vector<std::string> plots;
  for (const Part& part : parts()) {
    plots.push_back(fmt::format("{} {}", script.add_data(part.rows), part.style));
  }
  script.add(fmt::format("plot {}\n", join_parts(plots, ", \\\n  ")));
  return script;
}

std::vector<SpaceTimeDiagram::Part> SpaceTimeDiagram::parts() const {
  std::vector<Part> all;
  add_lives(all);
  add_messages(all);
  add_marks(all);
  std::erase_if(all, [](const Part& part) { return part.rows.empty(); });
  return all;
}

std::string SpaceTimeDiagram::csv() const {
  std::string text = "series,time,node,to_time,to_node,phase\n";
  for (const Part& part : parts()) {
    if (part.name.empty()) continue;  // drawn twice
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const std::vector<double>& row = part.rows[i];
      if (row.empty()) continue;
      text += fmt::format("{},{},{},", part.name, row[0], row[1]);
      if (part.shape == Shape::line) {
        const std::vector<double>& end = part.rows[++i];
        text += fmt::format("{},{},\n", end[0], end[1]);
      } else if (part.shape == Shape::arrow) {
        text += fmt::format("{},{},\n", row[0] + row[2], row[1] + row[3]);
      } else {
        text += part.name == "phase" ? fmt::format(",,{}\n", row[2]) : ",,\n";
      }
    }
  }
  return text;
}

std::string SpaceTimeDiagram::pgfplots(const std::string& title, const PictureSize& size) const {
  std::string text = fmt::format(
      "% \\usepackage{{pgfplots}} \\pgfplotsset{{compat=1.16}}\n\\begin{{tikzpicture}}\n"
      "\\begin{{axis}}[xlabel={{time}}, y dir=reverse, ytick={{0,...,{}}}, ylabel={{node}}, "
      "width={:.2f}cm, height={:.2f}cm, unbounded coords=jump, legend style={{at={{(0.5,-0.2)}}, "
      "anchor=north, legend columns=4}}{}]\n",
      nodes_ - 1, size.width / 50.0, size.height / 50.0,
      title.empty() ? "" : fmt::format(", title={{{}}}", tex_escaped(title)));
  for (const Part& part : parts()) {
    if (part.name.empty()) continue;
    text += fmt::format("\\addplot[{}] table[row sep=\\\\{}] {{\n{}}};\n\\addlegendentry{{{}}}\n",
                        part.tex_style, part.shape == Shape::arrow ? ", x index=0, y index=1" : "",
                        tex_rows(part.rows), tex_escaped(part.name));
  }
  return text + "\\end{axis}\n\\end{tikzpicture}\n";
}

// A node's line is dotted while it sleeps, thick while it is a candidate, thickest as a leader.
void SpaceTimeDiagram::add_lives(std::vector<Part>& parts) const {
  struct Stretch {
    std::string_view begins;
    std::string_view name;
    std::string_view style;
    std::string_view tex_style;
    Script::Rows rows{};
  };
  std::array<Stretch, 4> stretches{
      Stretch{"sleep", "asleep", "with lines dt 3 lw 1 lc rgb '#bbbbbb' notitle",
              "black!30, dotted"},
      Stretch{"wake", "candidate", "with lines lw 3.5 lc rgb '#555555' title 'candidate'",
              "black!70, line width=2pt"},
      Stretch{"retire", "not elected", "with lines lw 1.2 lc rgb '#aaaaaa' title 'not elected'",
              "black!35"},
      Stretch{"elect", "elected", "with lines lw 5 lc rgb '#e69f00' title 'elected'",
              "orange, line width=3pt"}};
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
      const std::string_view begun = event.kind == "join"    ? "retire"
                                     : event.kind == "stand" ? "wake"
                                                             : std::string_view(event.kind);
      const auto* const begins = std::ranges::find(stretches, begun, &Stretch::begins);
      if (event.node != node || begins == stretches.end() || begun == now) continue;
      draw_until(event.time);
      now = begins->begins;
    }
    draw_until(right_end());
  }
  for (Stretch& each : stretches) {
    parts.push_back({std::string(each.name), Shape::line, std::string(each.style),
                     std::string(each.tex_style), std::move(each.rows)});
  }
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
    TypeColour{"REQUEST", 0}, TypeColour{"APPROVED", 1},   TypeColour{"DECLINED", 2},
    TypeColour{"DECIDE", 3},  TypeColour{"WINS", 4},       TypeColour{"LOSES", 5},
    TypeColour{"LEADER", 7},  TypeColour{"REPLY", 1},      TypeColour{"WINNER", 7},
    TypeColour{"CAPTURE", 0}, TypeColour{"CONTEST", 2},    TypeColour{"RELEASE", 3},
    TypeColour{"ACCEPT", 1},  TypeColour{"IDENTIFIER", 0}, TypeColour{"REQUESTVOTE", 0},
    TypeColour{"VOTE", 1},    TypeColour{"REFUSAL", 2},    TypeColour{"HEARTBEAT", 7}};

// Two hexadecimal digits of a colour.
int byte_of(std::string_view colour, std::size_t at) {
  return std::stoi(std::string(colour.substr(at, 2)), nullptr, 16);
}

}  // namespace

// The letters of its name decide for types without a colour.
std::string_view message_colour(std::string_view type) {
  const auto* const found = std::ranges::find(type_colours, type, &TypeColour::type);
  if (found != type_colours.end()) return colours[found->colour];
  std::size_t sum = 0;
  for (const char c : type) sum = 31 * sum + static_cast<unsigned char>(c);
  return colours[sum % colours.size()];
}

void SpaceTimeDiagram::add_messages(std::vector<Part>& parts) const {
  std::vector<std::string> types;
  for (const Event& event : events_) {
    const bool is_known = std::ranges::find(types, event.message) != types.end();
    if (event.kind == "deliver" && !is_known) types.push_back(event.message);
  }
  std::ranges::sort(types);
  for (const std::string& type : types) {
    const std::string_view colour = message_colour(type);
    parts.push_back(
        {type, Shape::arrow,
         fmt::format("with vectors head filled size screen 0.007,16 lw 1.1 lc rgb '{}' title {} "
                     "noenhanced",
                     colour, gnuplot_string(type)),
         fmt::format(
             "-stealth, color={{rgb,255:red,{};green,{};blue,{}}}, quiver={{u=\\thisrowno{{2}}, "
             "v=\\thisrowno{{3}}}}",
             byte_of(colour, 1), byte_of(colour, 3), byte_of(colour, 5)),
         arrows(type)});
  }
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
void SpaceTimeDiagram::add_marks(std::vector<Part>& parts) const {
  const auto add = [&](const char* name, const char* kind, const char* style, const char* tex) {
    parts.push_back({name, Shape::mark, style, fmt::format("only marks, {}", tex), points(kind)});
  };
  add("woken", "wake", "with points pt 6 ps 2.1 lw 1.5 lc rgb '#222222' title 'woken'", "mark=o");
  add("timer runs out", "timeout",
      "with points pt 4 ps 2 lw 1.5 lc rgb '#0072b2' title 'timer runs out'", "blue, mark=square");
  add("phase", "phase", "with points pt 7 ps 1.5 lc rgb '#222222' title 'phase'", "mark=*");
  add("", "phase", "using 1:2:3 with labels center font ',10' textcolor rgb '#ffffff' notitle", "");
  add("retires", "retire", "with points pt 2 ps 1.1 lw 2.5 lc rgb '#d00000' title 'retires'",
      "red, mark=x");
  add("is elected", "elect", "with points pt 9 ps 2 lc rgb '#e69f00' title 'is elected'",
      "orange, mark=triangle*");
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
