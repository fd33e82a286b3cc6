// A picture of one run of a message-passing protocol: a horizontal line per node, an arrow per
// message coloured by its type, and marks where a candidate enters a phase, retires or is elected.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conclave/plot/gnuplot.hpp"
#include "conclave/plot/trace_table.hpp"

namespace conclave::plot {

class SpaceTimeDiagram {
 public:
  // The table is a trace of message passing, one line per event (docs/exploring-schedules.md).
  // Throws Error where it holds more than one trial, or more than can be read in a picture.
  explicit SpaceTimeDiagram(const TraceTable& table);

  PictureSize size() const;
  Script script(const std::string& title) const;

 private:
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
  std::vector<std::string> lives(Script& script) const;
  std::vector<std::string> messages(Script& script) const;
  std::vector<std::string> marks(Script& script) const;
  Script::Rows arrows(const std::string& type) const;
  Script::Rows points(const std::string& kind) const;

  std::vector<Event> events_;
  std::size_t nodes_ = 0;
  double end_ = 0;  // the time of the last event
};

}  // namespace conclave::plot
