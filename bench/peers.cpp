#include "bench/peers.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"

namespace conclave::bench {
namespace {

constexpr std::size_t most_peers_bytes = std::size_t{1} << 20;
constexpr double most_peer_agents = 4.6e18;  // 2^62

[[noreturn]] void object_to(const std::string& path, const std::string& reason) {
  throw Error(fmt::format(
      "peers in '{}': {}; write {{\"agents\": {{\"1e4\": 1.9e8}}, \"counts\": {{\"majority\": "
      "{{\"1e6\": 8.9e8}}}}}}",
      path, reason));
}

}  // namespace

Peers::Peers(const std::string& path) : path_(path), machine_("a machine without a name") {
  const auto json = Json::parse(read_text(path, most_peers_bytes));
  if (!json) object_to(path, "the file is not JSON");
  for (const auto& [place, value] : json->leaves()) {
    if (place == "machine") machine_ = value;
    const std::size_t dot = place.rfind('.');
    const std::string work = place.substr(0, dot);
    if (dot == std::string::npos || (work != "agents" && !work.starts_with("counts."))) continue;
    const std::optional<double> n = parse_real(place.substr(dot + 1));
    const std::optional<double> rate = parse_real(value);
    if (!n || !rate || !(*n >= 2 && *n <= most_peer_agents && *rate > 0) || std::floor(*n) != *n) {
      object_to(path,
                fmt::format("{} = '{}' is no rate of a size", excerpt(place), excerpt(value)));
    }
    rates_[{work, static_cast<std::uint64_t>(*n)}] = *rate;
  }
  if (rates_.empty()) object_to(path, "no rate of subject agents or counts");
}

std::optional<double> Peers::rate(std::string_view work, std::uint64_t n) const {
  const auto found = rates_.find({std::string(work), n});
  return found == rates_.end() ? std::nullopt : std::optional(found->second);
}

std::string Peers::note() const {
  if (are_given()) {
    return fmt::format("peer: rates in {}, measured on {}\n", printable(path_), excerpt(machine_));
  }
  return "peer: constants, measured on another machine; --peers FILE takes those of this one\n";
}

}  // namespace conclave::bench
