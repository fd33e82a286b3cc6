#include "election/config_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/base/toml.hpp"
#include "election/configuration.hpp"

namespace conclave::election {
namespace {

constexpr std::array<std::string_view, 19> keys{
    "cluster",  "member", "members", "listen",   "authority", "certificate", "key",
    "insecure", "state",  "wake",    "stay",     "status",    "give_up_s",   "timing",
    "revoked",  "via",    "elastic", "identity", "recover"};
constexpr std::array<std::string_view, 6> timing_keys{"lease_ms",  "renewal_ms",  "patience_ms",
                                                      "answer_ms", "election_ms", "clock_drift"};

// One table of the file, and where it stands, for error messages.
class Table {
 public:
  Table(const toml::table& table, std::string path) : table_(table), path_(std::move(path)) {}

  [[noreturn]] void refuse(std::string_view key, std::string_view sentence) const {
    const toml::node* node = table_.get(key);
    const auto line = node != nullptr ? node->source().begin.line : table_.source().begin.line;
    throw Error(fmt::format("{}:{}: {} {}", path_, line, key, sentence));
  }

  void allow_only(std::span<const std::string_view> known) const {
    for (const auto& [key, node] : table_) {
      const std::string_view name = key.str();
      if (std::ranges::find(known, name) != known.end()) continue;
      throw Error(fmt::format("{}:{}: {}", path_, node.source().begin.line,
                              unknown_name("key", name, known)));
    }
  }

  bool has(std::string_view key) const { return table_.contains(key); }

  std::string text(std::string_view key) const {
    if (!has(key)) return {};
    const auto value = table_[key].value_exact<std::string>();
    if (!value || value->empty()) refuse(key, "must be a string that is not empty");
    return *value;
  }
  std::string required_text(std::string_view key) const {
    if (!has(key)) refuse(key, "is missing");
    return text(key);
  }

  bool flag(std::string_view key, bool fallback) const {
    if (!has(key)) return fallback;
    const auto value = table_[key].value_exact<bool>();
    if (!value) refuse(key, "must be true or false");
    return *value;
  }

  std::int64_t number(std::string_view key, std::int64_t low, std::int64_t high) const {
    if (!has(key)) refuse(key, "is missing");
    const auto value = table_[key].value_exact<std::int64_t>();
    if (!value || *value < low || *value > high) {
      refuse(key, fmt::format("must be a whole number from {} to {}", low, high));
    }
    return *value;
  }

  void set_time(std::string_view key, milliseconds& time) const {
    if (has(key)) time = milliseconds(number(key, 1, 86'400'000));
  }

  double real(std::string_view key, double fallback) const {
    if (!has(key)) return fallback;
    const auto value = table_[key].value<double>();
    if (!value) refuse(key, "must be a number");
    return *value;
  }

  // The value as this function makes it; what is wrong with it is said with its place.
  template <class Make>
  auto made(std::string_view key, Make make) const {
    try {
      return make();
    } catch (const Error& error) {
      refuse(key, fmt::format("is wrong: {}", error.what()));
    }
  }

  // A list of texts, each as this function makes it; `kind` says what they must be.
  template <class Make>
  auto list(std::string_view key, std::string_view kind, Make make) const {
    const std::string sentence = fmt::format("must be a list of {}", kind);
    const toml::array* list = table_[key].as_array();
    if (list == nullptr) refuse(key, sentence);
    std::vector<decltype(make(std::string()))> result;
    for (const toml::node& node : *list) {
      const auto value = node.value_exact<std::string>();
      if (!value) refuse(key, sentence);
      result.push_back(made(key, [&] { return make(*value); }));
    }
    return result;
  }

  // The path of a file, relative to this one.
  std::string file(std::string_view key) const {
    const std::string name = text(key);
    if (name.empty()) return {};
    return (std::filesystem::path(path_).parent_path() / name).string();
  }

  const toml::table& raw() const { return table_; }
  const std::string& path() const { return path_; }

 private:
  const toml::table& table_;
  std::string path_;
};

constexpr std::size_t most_bytes = std::size_t{1} << 24;

Timing read_timing(const Table& file) {
  Timing timing;
  if (!file.has("timing")) return timing;
  const toml::table* raw = file.raw()["timing"].as_table();
  if (raw == nullptr) file.refuse("timing", "must be a table, [timing]");
  const Table table(*raw, file.path());
  table.allow_only(timing_keys);
  if (table.has("lease_ms"))
    timing = timing_for(milliseconds(table.number("lease_ms", 30, 3'600'000)));
  table.set_time("renewal_ms", timing.renewal);
  table.set_time("patience_ms", timing.patience);
  table.set_time("answer_ms", timing.answer);
  table.set_time("election_ms", timing.election);
  timing.clock_drift = table.real("clock_drift", timing.clock_drift);
  file.made("timing", [&] {
    check_timing(timing);
    return 0;
  });
  return timing;
}

// A table of addresses by the numbers of members, for example 2 = "10.0.0.1:9002".
std::map<MemberIndex, Endpoint> read_by_number(const Table& file, std::string_view key) {
  const toml::table* raw = file.raw()[key].as_table();
  if (raw == nullptr) file.refuse(key, fmt::format("must be a table, [{}]", key));
  const Table table(*raw, file.path());
  std::map<MemberIndex, Endpoint> result;
  for (const auto& [word, node] : *raw) {
    const std::string_view name = word.str();
    MemberIndex member = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), member);
    if (error != std::errc{} || end != name.data() + name.size() || member >= most_member_numbers)
      table.refuse(name, fmt::format("is no number of a member, 0 to {}", most_member_numbers - 1));
    result[member] = table.made(name, [&] { return parse_endpoint(table.required_text(name)); });
  }
  return result;
}

// A list, or where the list may change also a table, since numbers have gaps then.
std::vector<Endpoint> read_members(const Table& file, bool is_elastic) {
  if (!file.has("members")) file.refuse("members", "is missing");
  std::vector<Endpoint> result;
  if (!is_elastic || file.raw()["members"].is_array()) {
    result = file.list("members", "\"host:port\"", parse_endpoint);
    if (result.empty()) file.refuse("members", "must be a list of \"host:port\"");
    return result;
  }
  for (const auto& [member, endpoint] : read_by_number(file, "members")) {
    result.resize(member + 1);
    result.back() = endpoint;
  }
  if (result.empty()) file.refuse("members", "must name at least one");
  return result;
}

void read_security(const Table& file, NodeConfig& config) {
  TransportOptions& transport = config.service.transport;
  const std::array<std::string_view, 3> parts{"authority", "certificate", "key"};
  if (file.flag("insecure", false)) {
    if (file.has("revoked")) file.refuse("revoked", "makes no sense together with insecure = true");
    for (const std::string_view part : parts) {
      if (file.has(part)) file.refuse(part, "makes no sense together with insecure = true");
    }
    return;
  }
  for (const std::string_view part : parts) {
    if (!file.has(part)) {
      file.refuse(part, "is missing (insecure = true does without, on loopback addresses)");
    }
  }
  const CredentialFiles files{file.file("authority"), file.file("certificate"), file.file("key")};
  config.credential_files = files;
  transport.credentials = file.made("certificate", [&] {
    return load_credentials(files, {transport.cluster, transport.self});
  });
  if (file.has("revoked")) {
    transport.revoked = file.list("revoked", "serial numbers, in hexadecimal", plain_serial);
  }
}

// 16 hexadecimal digits, as cluster init and cluster restore write them; without: 0.
std::uint64_t read_identity(const Table& file) {
  if (!file.has("identity")) return 0;
  const std::string text = file.text("identity");
  const std::optional<std::uint64_t> identity = parse_identity(text);
  if (!identity) file.refuse("identity", "must be 16 hexadecimal digits");
  return *identity;
}

bool read_recover(const Table& file) {
  if (!file.has("recover")) return false;
  const std::string text = file.text("recover");
  if (text != "moved" && text != "always") file.refuse("recover", R"(must be "moved" or "always")");
  if (file.file("state").empty())
    file.refuse("recover", "needs a state file, and state is missing");
  return text == "always";
}

}  // namespace

std::optional<std::uint64_t> parse_identity(std::string_view text) {
  std::uint64_t identity = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), identity, 16);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (!is_number || text.size() != 16) return {};
  return identity;
}

NodeConfig read_config(const std::string& path) {
  check_owner(path);
  const toml::table parsed = parse_toml(read_text(path, most_bytes, Limit::fixed), path);
  const Table file(parsed, path);
  file.allow_only(keys);
  NodeConfig config;
  TransportOptions& transport = config.service.transport;
  transport.cluster = file.required_text("cluster");
  file.made("cluster", [&] {
    check_cluster_name(transport.cluster);
    return 0;
  });
  config.service.is_elastic = file.flag("elastic", false);
  transport.members = read_members(file, config.service.is_elastic);
  const auto last = static_cast<std::int64_t>(transport.members.size()) - 1;
  transport.self = static_cast<MemberIndex>(file.number("member", 0, last));
  if (file.has("listen")) {
    transport.listen = file.made("listen", [&] { return parse_endpoint(file.text("listen")); });
  }
  if (transport.members[transport.self].host.empty())
    file.refuse("member", "is none of the members");
  if (file.has("via")) transport.via = read_by_number(file, "via");
  read_security(file, config);
  config.service.timing = read_timing(file);
  config.service.state_file = file.file("state");
  if (config.service.is_elastic && config.service.state_file.empty())
    file.refuse("state", "is missing, and elastic = true needs it");
  if (transport.credentials && config.service.state_file.empty())
    file.refuse("state", "is missing (only insecure = true does without)");
  config.service.identity = read_identity(file);
  config.service.always_recovers = read_recover(file);
  if (transport.credentials) config.authority_file = file.text("authority");
  config.wakes = file.flag("wake", true);
  config.stays = file.flag("stay", false);
  config.status_socket = file.file("status");
  if (file.has("give_up_s")) {
    config.give_up = std::chrono::seconds(file.number("give_up_s", 1, 86'400));
  }
  return config;
}

}  // namespace conclave::election
