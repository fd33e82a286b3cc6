// Rates of other simulators. Those that stand in the program were measured on another machine; a
// user who has measured them here gives a file, whose figures take their place:
//
//   {"machine": "our workstation",
//    "agents": {"1e4": 1.9e8, "1e6": 1.5e8},
//    "counts": {"majority": {"1e6": 8.9e8}}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace conclave::bench {

// Interactions per CPU second, by subject (and workload) and n. Empty: none were given.
class Peers {
 public:
  Peers() = default;
  // Throws Error where the file cannot be read or has no rate of subject agents or counts.
  explicit Peers(const std::string& path);

  bool are_given() const { return !rates_.empty(); }
  // `work` is "agents", or "counts." and a workload.
  std::optional<double> rate(std::string_view work, std::uint64_t n) const;
  // The sentence that a table prints about its peers.
  std::string note() const;

 private:
  std::string path_, machine_;
  std::map<std::pair<std::string, std::uint64_t>, double> rates_;
};

}  // namespace conclave::bench
