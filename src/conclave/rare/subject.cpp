#include "conclave/rare/subject.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/real_functions.hpp"

namespace conclave::rare {
namespace {

Json ways_json(const Subject& subject) {
  Json ways = Json::array();
  for (std::size_t way = 0; way < subject.ways.size(); ++way) {
    Json json{{"way", subject.ways[way].name}};
    Json functions = Json::array();
    for (const Subject::Function& each : subject.functions) {
      if (each.way == way) functions.push_back(each.name);
    }
    json["importance"] = functions;
    if (subject.ways[way].ln_bound) json["ln_union_bound"] = *subject.ways[way].ln_bound;
    if (functions.items().empty()) {
      json["ln_floor"] = *subject.ways[way].ln_floor;
      json["no_estimate"] = subject.ways[way].refusal;
    }
    ways.push_back(json);
  }
  return ways;
}

// A part of a stored JSON text, by name. Throws std::runtime_error where it is not as head() and
// repetition_json() write it.
class Stored {
 public:
  Stored(std::string_view text, const Json& json) : text_(text), json_(&json) {}

  bool has(std::string_view name) const { return json_->contains(name); }
  Stored part(std::string_view name) const {
    const Json* const found = json_->find(name);
    if (found == nullptr) refuse();
    return {text_, *found};
  }
  std::vector<Stored> parts(std::string_view name) const {
    std::vector<Stored> result;
    for (const Json& item : part(name).json_->items()) result.emplace_back(text_, item);
    if (result.empty()) refuse();
    return result;
  }
  const std::string& string() const {
    if (!json_->is_string()) refuse();
    return json_->text();
  }
  std::uint64_t count() const {
    const auto count = json_->count();
    if (!count) refuse();
    return *count;
  }
  // `null` where JSON has no number for the value.
  double real(double null) const {
    const auto value = json_->is_null() ? null : json_->real();
    if (!value) refuse();
    return *value;
  }
  // Numbers in a string, with spaces between them.
  std::vector<double> reals() const {
    std::vector<double> values;
    if (string().empty()) return values;
    for (const std::string_view part : split_parts(string(), ' ')) {
      const auto value = parse_real(part);
      if (!value) refuse();
      values.push_back(*value);
    }
    return values;
  }
  const Json& json() const { return *json_; }

  [[noreturn]] void refuse() const {
    throw std::runtime_error(
        fmt::format("'{}' is no estimate of rare failures", excerpt(std::string(text_))));
  }

 private:
  std::string_view text_;
  const Json* json_;
};

Json parsed(std::string_view text) {
  auto json = Json::parse(text);
  if (!json) Stored(text, Json()).refuse();
  return std::move(*json);
}

Subject::Parameter parameter_of(const Stored& stored, std::string name) {
  if (stored.json().is_string()) return {std::move(name), stored.string()};
  const auto count = stored.json().is_number_float() ? std::nullopt : stored.json().count();
  if (count) return {std::move(name), *count};
  return {std::move(name), stored.real(NAN)};
}

void read_ways(Subject& subject, const Stored& head) {
  for (const Stored& way : head.parts("ways")) {
    Subject::Way& read = subject.ways.emplace_back(Subject::Way{way.part("way").string()});
    constexpr double null = std::numeric_limits<double>::infinity();
    if (way.has("ln_union_bound")) read.ln_bound = way.part("ln_union_bound").real(null);
    if (way.has("no_estimate")) {
      read.ln_floor = way.part("ln_floor").real(null);
      read.refusal = way.part("no_estimate").string();
      continue;
    }
    for (const Stored& function : way.parts("importance")) {
      subject.functions.push_back({subject.ways.size() - 1, function.string()});
    }
  }
}

std::string factors_text(const std::vector<double>& factors) { return join_parts(factors, " "); }

}  // namespace

Json Subject::json() const {
  Json json{{"protocol", protocol}, {"n", n}};
  Json params = Json::object();
  for (const Parameter& each : parameters) {
    std::visit([&](const auto& value) { params[each.name] = value; }, each.value);
  }
  json["params"] = params;
  if (!source_hash.empty()) json["source_hash"] = source_hash;
  json["init"] = start;
  json["seed"] = seed;
  json["particles"] = particles;
  if (attempt_limit) json["max_interactions"] = attempt_limit->as_uint64().value_or(0);
  return json;
}

std::string Subject::head() const {
  Json whole = json();
  whole["kind"] = "rare";
  whole["ways"] = ways_json(*this);
  return whole.dump();
}

Subject subject_of_head(std::string_view head) {
  const Json json = parsed(head);
  const Stored stored(head, json);
  Subject subject{.protocol = stored.part("protocol").string(),
                  .n = stored.part("n").count(),
                  .start = stored.part("init").string(),
                  .seed = stored.part("seed").count(),
                  .particles = stored.part("particles").count()};
  for (const JsonMember& each : stored.part("params").json().members()) {
    subject.parameters.push_back(parameter_of({head, each.value}, each.name));
  }
  if (stored.has("source_hash")) subject.source_hash = stored.part("source_hash").string();
  if (stored.has("max_interactions")) {
    subject.attempt_limit = stored.part("max_interactions").count();
  }
  read_ways(subject, stored);
  return subject;
}

std::string repetition_json(const Subject& subject, const std::string& head,
                            std::uint64_t repetition, std::span<const RareRepetition> results) {
  CONCLAVE_CHECK(results.size() == subject.functions.size());
  std::vector<std::string> rates;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Subject::Function& function = subject.functions[i];
    rates.push_back(fmt::format(
        R"({{"way":{},"importance":{},"ln_rate":{},"ancestors":{},"factors":"{}"}})",
        json_string(subject.ways[function.way].name), json_string(function.name),
        json_number(results[i].ln_rate), results[i].ancestors, factors_text(results[i].factors)));
  }
  return fmt::format(R"({},"trial":{},"rates":[{}]}})",
                     std::string_view(head).substr(0, head.size() - 1), repetition,
                     join_parts(rates, ","));
}

std::vector<RareRepetition> repetitions_of_row(const Subject& subject, std::string_view row) {
  const Json json = parsed(row);
  const Stored stored(row, json);
  std::vector<RareRepetition> results;
  for (const Stored& rate : stored.parts("rates")) {
    results.push_back({.ln_rate = rate.part("ln_rate").real(minus_infinity),
                       .factors = rate.part("factors").reals(),
                       .ancestors = rate.part("ancestors").count()});
  }
  if (results.size() < subject.functions.size()) stored.refuse();
  results.resize(subject.functions.size());
  return results;
}

}  // namespace conclave::rare
