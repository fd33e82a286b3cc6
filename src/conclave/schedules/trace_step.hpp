// One step of a counterexample: in words for people, and as events for programs and pictures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conclave::schedules {

// An event at a node in a step. The views look into constants of the program.
struct TraceEvent {
  enum class Kind : std::uint8_t { wake, receive, send, become, timeout };
  Kind kind = Kind::wake;
  std::size_t node = 0;
  std::size_t peer = 0;        // receive, send: the other end
  std::string_view message{};  // its kind
  std::vector<std::pair<std::string_view, std::uint64_t>> payload{};  // its fields that are not 0
  std::string_view standing{};  // become: what the node is now
  std::uint64_t phase = 0;      // ... and in which phase
};

struct TraceStep {
  std::string title;                   // what happens, in one line
  std::vector<std::string> details{};  // what follows from it, such as messages sent
  std::vector<TraceEvent> events{};    // the same, in this order: who wakes, gets or times out,
                                       // becomes and sends what
};

}  // namespace conclave::schedules
