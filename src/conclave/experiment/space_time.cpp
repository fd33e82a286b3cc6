#include "conclave/experiment/space_time.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"

namespace conclave::experiment {
namespace {

constexpr std::size_t most_nodes = 64;

struct Happening {
  std::string event;
  double time = 0;
  std::size_t node = 0;
  std::size_t peer = 0;   // of a message: its sender
  std::string message{};  // its type
  double sent = 0;
  std::string phase{};
};

double number(const std::string& text) { return parse_real(text).value_or(0); }
std::size_t whole(const std::string& text) { return static_cast<std::size_t>(number(text)); }

std::vector<Happening> happenings(const Table& table) {
  const std::size_t trial = table.column("trial");
  std::vector<Happening> all;
  for (const Table::Line& line : table.lines) {
    if (line[trial] != table.lines.front()[trial]) {
      throw Error("a space-time diagram shows one trial, but the trace holds more: use --trials 1");
    }
    all.push_back({.event = line[table.column("event")],
                   .time = number(line[table.column("time")]),
                   .node = whole(line[table.column("node")]),
                   .peer = whole(line[table.column("peer")]),
                   .message = line[table.column("message")],
                   .sent = number(line[table.column("sent")]),
                   .phase = line[table.column("phase")]});
  }
  return all;
}

// What is drawn: gnuplot's data blocks, and the words of its `plot` that refer to them.
class Picture {
 public:
  explicit Picture(std::vector<Happening> all) : all_(std::move(all)) {
    for (const Happening& h : all_) {
      nodes_ = std::max({nodes_, h.node + 1, h.peer + 1});
      end_ = std::max(end_, h.time);
    }
    if (nodes_ <= most_nodes) return;
    throw Error(fmt::format("a space-time diagram of {} nodes cannot be read: at most {} are drawn",
                            nodes_, most_nodes));
  }

  PictureSize size() const {
    const int width = 260 + static_cast<int>(end_ * 90);
    return {.width = std::clamp(width, 900, 2400), .height = 165 + static_cast<int>(nodes_) * 62};
  }

  std::string script(const std::string& title) {
    add_lives();
    add_messages();
    add_marks();
    std::string text = blocks_;
    text += "set border 0\nset tics nomirror scale 0\nset grid x lc rgb '#eeeeee'\n";
    text += fmt::format("set bmargin at screen {}\n", 125.0 / size().height);
    text += "set key at screen 0.5, screen 0.02 center bottom horizontal maxrows 3 samplen 3\n";
    text += "set xlabel 'time' offset 0,0.4\n";
    text += fmt::format("set xrange [{}:{}]\nset yrange [{}.6:-0.7]\n", -0.02 * end_, right_end(),
                        nodes_ - 1);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < nodes_; ++i) names.push_back(fmt::format("'node {0}' {0}", i));
    text += fmt::format("set ytics ({})\n", fmt::join(names, ", "));
    if (!title.empty()) text += fmt::format("set title {} noenhanced\n", quoted(title));
    return text + "plot " + fmt::format("{}", fmt::join(plots_, ", \\\n  ")) + '\n';
  }

 private:
  double right_end() const { return end_ * 1.02 + 0.05; }

  void add(std::string_view lines, std::string_view style) {
    if (lines.empty()) return;
    const std::string name = fmt::format("$part{}", plots_.size());
    blocks_ += fmt::format("{} << EOD\n{}EOD\n", name, lines);
    plots_.push_back(fmt::format("{} {}", name, style));
  }

  // A node's line is dotted while it sleeps, thick while it is a candidate, thickest as a leader.
  void add_lives() {
    struct Stretch {
      std::string_view begins;
      std::string_view style;
      std::string lines{};
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
        auto& lines = std::ranges::find(stretches, now, &Stretch::begins)->lines;
        lines += fmt::format("{} {}\n{} {}\n\n\n", since, node, time, node);
        since = time;
      };
      for (const Happening& h : all_) {
        const std::string_view begun = h.event == "join" ? "retire" : std::string_view(h.event);
        const bool begins =
            std::ranges::find(stretches, begun, &Stretch::begins) != stretches.end();
        if (h.node != node || !begins || begun == now) continue;
        draw_until(h.time);
        now = std::ranges::find(stretches, begun, &Stretch::begins)->begins;
      }
      draw_until(right_end());
    }
    for (const Stretch& stretch : stretches) add(stretch.lines, stretch.style);
  }

  // One colour per type, in the order in which the types appear (Okabe and Ito's, readable to
  // colour-blind readers, then grey).
  void add_messages() {
    constexpr std::array<std::string_view, 8> colours{"#0072b2", "#009e73", "#d55e00", "#cc79a7",
                                                      "#56b4e9", "#8b6d00", "#999999", "#000000"};
    std::vector<std::string> types;
    for (const Happening& h : all_) {
      const bool is_known = std::ranges::find(types, h.message) != types.end();
      if (h.event == "deliver" && !is_known) types.push_back(h.message);
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      add(arrows(types[i]),
          fmt::format("with vectors head filled size screen 0.007,16 lw 1.1 lc rgb '{}' title {}",
                      colours[std::min(i, colours.size() - 1)], quoted(types[i])));
    }
  }

  std::string arrows(const std::string& type) const {
    std::string lines;
    for (const Happening& h : all_) {
      if (h.event != "deliver" || h.message != type) continue;
      lines += fmt::format("{} {} {} {}\n", h.sent, h.peer, h.time - h.sent,
                           static_cast<double>(h.node) - static_cast<double>(h.peer));
    }
    return lines;
  }

  // The number of a phase stands in a disc on the node's line.
  void add_marks() {
    add(points("wake"), "with points pt 6 ps 2.1 lw 1.5 lc rgb '#222222' title 'woken'");
    add(points("phase"), "with points pt 7 ps 1.5 lc rgb '#222222' title 'phase'");
    add(points("phase"),
        "using 1:2:3 with labels center font ',10' textcolor rgb '#ffffff' notitle");
    add(points("retire"), "with points pt 2 ps 1.1 lw 2.5 lc rgb '#d00000' title 'retires'");
    add(points("elect"), "with points pt 9 ps 2 lc rgb '#e69f00' title 'is elected'");
  }

  std::string points(std::string_view event) const {
    std::string lines;
    for (const Happening& h : all_) {
      if (h.event == event) lines += fmt::format("{} {} {}\n", h.time, h.node, h.phase);
    }
    return lines;
  }

  std::vector<Happening> all_;
  std::size_t nodes_ = 0;
  double end_ = 0;
  std::string blocks_;
  std::vector<std::string> plots_;
};

}  // namespace

void draw_space_time(const Table& table, const std::string& picture, const std::string& title) {
  Picture drawn(happenings(table));
  draw(picture, drawn.size(), drawn.script(title));
}

}  // namespace conclave::experiment
