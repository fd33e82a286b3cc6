#include "conclave/experiment/configuration_file.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/checksum.hpp"
#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"

namespace conclave::experiment {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 28;

// The lines of a file after its header.
class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : path_(path), text_(text) {
    const std::vector<std::string> header = take_csv_line(text_);
    has_trials_ = !header.empty() && header.front() == "trial";
    std::vector<std::string> wanted{"state", "count"};
    if (has_trials_) wanted.insert(wanted.begin(), "trial");
    if (header != wanted) refuse("the first line must be state,count");
  }

  std::vector<NamedCount> agents() {
    std::vector<NamedCount> result;
    std::string trial;
    while (!text_.empty()) {
      ++line_;
      std::vector<std::string> fields = take_csv_line(text_);
      if (fields.size() != (has_trials_ ? 3u : 2u)) refuse("it has another number of fields");
      if (has_trials_ && !trial.empty() && fields[0] != trial) {
        refuse("another trial begins; keep the lines of one");
      }
      if (has_trials_) trial = fields[0];
      const auto count = parse_count(fields.back());
      const auto agents = count ? count->as_uint64() : std::nullopt;
      if (!agents || *agents == 0 || *agents > catalog::most_agents) {
        refuse(fmt::format("'{}' is no number of agents", excerpt(fields.back())));
      }
      result.push_back({std::move(fields[fields.size() - 2]), *agents});
    }
    if (result.empty()) refuse("no agents follow");
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(fmt::format("'{}' is not a configuration: line {}: {}", path_, line_, what));
  }

  const std::string& path_;
  std::string_view text_;
  bool has_trials_ = false;
  std::size_t line_ = 1;
};

}  // namespace

std::string configuration_header(bool has_trials) {
  return has_trials ? "trial,state,count\n" : "state,count\n";
}

std::string configuration_lines(std::uint64_t trial, bool has_trials,
                                const std::vector<NamedCount>& agents) {
  std::string text;
  for (const NamedCount& each : agents) {
    if (has_trials) text += fmt::format("{},", trial);
    text += fmt::format("{},{}\n", csv_field(each.name), each.count);
  }
  return text;
}

std::shared_ptr<const catalog::GivenStart> read_configuration(const std::string& path) {
  const std::string text = read_text(path, most_bytes);
  return std::make_shared<const catalog::GivenStart>(
      catalog::GivenStart{.agents = Reader(path, text).agents(),
                          .label = fmt::format("given:{:016x}", checksum_of(text))});
}

Interactions agents_in(const catalog::GivenStart& start) {
  Interactions agents;
  for (const NamedCount& each : start.agents) agents += each.count;
  return agents;
}

}  // namespace conclave::experiment
