#include "conclave/sweep/fields.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conclave/base/numbers.hpp"

namespace conclave::sweep {
namespace {

using experiment::RunWords;
using Json = nlohmann::ordered_json;

// Collects what the parser meets. Numbers that are no 64-bit integers come with their own text, so
// that nothing is lost.
class Collector : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(""); }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add(fmt::format("{}", value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return add(text); }
  bool string(string_t& value) override { return add(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().name = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

  Fields fields;

 private:
  struct Level {
    bool is_list = false;
    std::string name{};
    std::size_t index = 0;
  };

  bool open(bool is_list) {
    levels_.push_back({is_list});
    return true;
  }
  bool close() {
    levels_.pop_back();
    next();
    return true;
  }
  void next() {
    if (!levels_.empty()) ++levels_.back().index;
  }
  bool add(std::string value) {
    if (levels_.empty()) return false;
    std::string path;
    for (const Level& level : levels_) {
      if (!path.empty()) path += '.';
      path += level.is_list ? fmt::format("{}", level.index) : level.name;
    }
    fields.emplace_back(std::move(path), std::move(value));
    next();
    return true;
  }

  std::vector<Level> levels_;
};

constexpr std::array<std::pair<const char*, std::string RunWords::*>, 11> texts{
    {{"protocol", &RunWords::protocol},
     {"n", &RunWords::n},
     {"seed", &RunWords::seed},
     {"init", &RunWords::init},
     {"engine", &RunWords::engine},
     {"graph", &RunWords::graph},
     {"max_parallel_time", &RunWords::max_parallel_time},
     {"max_interactions", &RunWords::max_interactions},
     {"delay", &RunWords::delay},
     {"wakeup", &RunWords::wakeup},
     {"ids", &RunWords::ids}}};

Json parsed(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  throw std::runtime_error(fmt::format("'{}' is no JSON object", text));
}

}  // namespace

Fields fields_of(std::string_view json) {
  Collector collector;
  if (nlohmann::json::sax_parse(json, &collector)) return std::move(collector.fields);
  throw std::runtime_error(fmt::format("'{}' is no row of results", json.substr(0, 80)));
}

std::optional<std::string> field(const Fields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Fields::value_type::first);
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

std::optional<double> number_field(const Fields& fields, std::string_view name) {
  const auto text = field(fields, name);
  return text ? parse_real(*text) : std::nullopt;
}

std::string json_of(const RunWords& words) {
  Json json;
  for (const auto& [name, member] : texts) {
    if (!(words.*member).empty()) json[name] = words.*member;
  }
  if (!words.params.empty()) json["params"] = words.params;
  if (!words.faults.empty()) json["faults"] = words.faults;
  if (words.count_edges) json["count_edges"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunWords words_of(std::string_view text) {
  const Json json = parsed(text);
  RunWords words;
  for (const auto& [name, member] : texts) words.*member = json.value(name, std::string());
  words.params = json.value("params", std::vector<std::string>());
  words.faults = json.value("faults", std::vector<std::string>());
  words.count_edges = json.value("count_edges", false);
  return words;
}

std::string json_of(const Sampling& sampling) {
  Json json{{"trials", sampling.trials}};
  if (sampling.precision > 0) {
    json["precision"] = sampling.precision;
    json["batch"] = sampling.batch;
    json["measure"] = sampling.measure;
  }
  return json.dump();
}

Sampling sampling_of(std::string_view text) {
  const Json json = parsed(text);
  return {.trials = json.value("trials", std::uint64_t{1}),
          .precision = json.value("precision", 0.0),
          .batch = json.value("batch", std::uint64_t{100}),
          .measure = json.value("measure", std::string())};
}

}  // namespace conclave::sweep
