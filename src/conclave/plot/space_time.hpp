// A picture of one run of a message-passing protocol: a horizontal line per node, an arrow per
// message coloured by its type, and marks where a candidate enters a phase, retires or is elected.
// All of it is put together as parts first, which become a picture, a table or a drawing for LaTeX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/plot/gnuplot.hpp"
#include "conclave/plot/trace_table.hpp"

namespace conclave::plot {

// The colour of a type of messages, such as "#0072b2": the same wherever the type appears. The page
// of the explorer has the same ones (web/src/palette.ts).
std::string_view message_colour(std::string_view type);

// A line of life per node over time, and an arrow per message.
class SpaceTimeDiagram {
 public:
  // The table is a trace of message passing, one line per event (exploring-schedules.md).
  // Throws Error if it holds more than one trial, or more than can be read in a picture.
  explicit SpaceTimeDiagram(const TraceTable& table);

  // A size in which nodes and messages can be told apart.
  PictureSize size() const;
  // The diagram for gnuplot; an empty title is none.
  Script script(const std::string& title) const;

  // The drawing as data, one line per stretch of a node's life, message or mark:
  // series,time,node,to_time,to_node,phase; empty where it does not apply.
  std::string csv() const;
  // A tikzpicture with its data inside, for \usepackage{pgfplots} with compat=1.16 or newer.
  std::string pgfplots(const std::string& title, const PictureSize& size) const;

 private:
  // Lines have the rows of a broken line, arrows (time, node, and how far they go), marks (time,
  // node, phase).
  enum class Shape : std::uint8_t { line, arrow, mark };
  struct Part {
    std::string name;
    Shape shape;
    std::string style;      // for gnuplot, behind the data
    std::string tex_style;  // for pgfplots
    Script::Rows rows{};
  };
  struct Event {
    std::string kind;  // wake, deliver, phase, retire, elect, ...
    double time = 0;
    std::size_t node = 0;
    std::size_t peer = 0;   // of a message: its sender
    std::string message{};  // its type
    double sent = 0;        // when it was sent
    std::size_t phase = 0;
  };

  double right_end() const { return end_ * 1.02 + 0.05; }
  std::vector<Part> parts() const;
  void add_lives(std::vector<Part>& parts) const;
  void add_messages(std::vector<Part>& parts) const;
  void add_marks(std::vector<Part>& parts) const;
  Script::Rows arrows(const std::string& type) const;
  Script::Rows points(const std::string& kind) const;

  std::vector<Event> events_;
  std::size_t nodes_ = 0;
  double end_ = 0;  // the time of the last event
};

}  // namespace conclave::plot
