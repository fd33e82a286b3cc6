// Lines of a log that repeat: of those that differ in numbers only (ports, members, terms) so many
// are written within a while, and the rest is counted, so that whoever opens connections cannot
// fill a disk. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "election/member.hpp"

namespace conclave::election {

class LogLimit {
 public:
  // The lines to write when this one comes: this one unless there were too many, after those that
  // say how many have been left out.
  std::vector<std::string> take(Instant now, std::string_view line);

 private:
  struct Kind {
    Instant since{};
    std::uint32_t written = 0;
    std::uint64_t left_out = 0;
    std::string last{};
  };

  std::map<std::string, Kind> kinds_;  // by the line without its numbers
};

}  // namespace conclave::election
