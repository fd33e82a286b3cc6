#include "conclave/rare/subject.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/real_functions.hpp"

namespace conclave::rare {
namespace {

using experiment::json_leaves;
using experiment::json_number;
using experiment::json_string;
using experiment::JsonLeaf;

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
    ways.push_back(json);
  }
  return ways;
}

// The values of a JSON text by path.
class Leaves {
 public:
  explicit Leaves(std::string_view text) : text_(text) {
    auto leaves = json_leaves(text);
    if (!leaves) refuse();
    leaves_ = std::move(*leaves);
    for (const JsonLeaf& each : leaves_) by_path_.emplace(each.path, &each);
  }
  Leaves(const Leaves&) = delete;  // by_path_ points into leaves_
  Leaves& operator=(const Leaves&) = delete;

  const std::vector<JsonLeaf>& all() const { return leaves_; }

  const JsonLeaf* find(std::string_view path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }
  const std::string& text(std::string_view path) const {
    const JsonLeaf* const leaf = find(path);
    if (leaf == nullptr || !leaf->is_string) refuse();
    return leaf->value;
  }
  std::uint64_t count(std::string_view path) const {
    const JsonLeaf* const leaf = find(path);
    const auto count = leaf == nullptr || leaf->is_string ? std::nullopt : parse_count(leaf->value);
    const auto small = count ? count->as_uint64() : std::nullopt;
    if (!small) refuse();
    return *small;
  }
  // `null` where JSON has no number for the value.
  double real(const JsonLeaf& leaf, double null) const {
    if (leaf.value.empty() && !leaf.is_string) return null;
    const auto value = parse_real(leaf.value);
    if (!value || leaf.is_string) refuse();
    return *value;
  }
  std::vector<double> reals(std::string_view path) const {
    std::vector<double> values;
    std::string_view rest = text(path);
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      const auto value = parse_real(rest.substr(0, space));
      if (!value) refuse();
      values.push_back(*value);
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    return values;
  }

  [[noreturn]] void refuse() const {
    throw std::runtime_error(
        fmt::format("'{}' is no estimate of rare failures", excerpt(std::string(text_))));
  }

 private:
  std::string_view text_;
  std::vector<JsonLeaf> leaves_;
  std::map<std::string_view, const JsonLeaf*> by_path_;  // of a stranger's text there may be many
};

Subject::Parameter parameter_of(const Leaves& leaves, const JsonLeaf& leaf, std::string name) {
  if (leaf.is_string) return {std::move(name), leaf.value};
  const bool is_whole = leaf.value.find_first_not_of("0123456789") == std::string::npos;
  const auto count = is_whole ? parse_count(leaf.value) : std::nullopt;
  if (count && count->as_uint64()) return {std::move(name), *count->as_uint64()};
  return {std::move(name), leaves.real(leaf, NAN)};
}

void read_ways(Subject& subject, const Leaves& leaves) {
  for (std::size_t way = 0;; ++way) {
    const std::string path = fmt::format("ways.{}", way);
    if (leaves.find(path + ".way") == nullptr) break;
    subject.ways.push_back({.name = leaves.text(path + ".way")});
    if (const JsonLeaf* const bound = leaves.find(path + ".ln_union_bound")) {
      subject.ways.back().ln_bound = leaves.real(*bound, std::numeric_limits<double>::infinity());
    }
    std::size_t functions = 0;
    const auto place = [&] { return fmt::format("{}.importance.{}", path, functions); };
    for (; leaves.find(place()) != nullptr; ++functions) {
      subject.functions.push_back({way, leaves.text(place())});
    }
    if (functions == 0) leaves.refuse();
  }
  if (subject.ways.empty()) leaves.refuse();
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
  const Leaves leaves(head);
  Subject subject{.protocol = leaves.text("protocol"),
                  .n = leaves.count("n"),
                  .start = leaves.text("init"),
                  .seed = leaves.count("seed"),
                  .particles = leaves.count("particles")};
  constexpr std::string_view params = "params.";
  for (const JsonLeaf& leaf : leaves.all()) {
    if (!leaf.path.starts_with(params)) continue;
    subject.parameters.push_back(parameter_of(leaves, leaf, leaf.path.substr(params.size())));
  }
  if (leaves.find("source_hash") != nullptr) subject.source_hash = leaves.text("source_hash");
  if (leaves.find("max_interactions") != nullptr) {
    subject.attempt_limit = leaves.count("max_interactions");
  }
  read_ways(subject, leaves);
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
  const Leaves leaves(row);
  std::vector<RareRepetition> results;
  for (std::size_t i = 0; i < subject.functions.size(); ++i) {
    const std::string path = fmt::format("rates.{}", i);
    const JsonLeaf* const rate = leaves.find(path + ".ln_rate");
    if (rate == nullptr) leaves.refuse();
    results.push_back({.ln_rate = leaves.real(*rate, minus_infinity),
                       .factors = leaves.reals(path + ".factors"),
                       .ancestors = leaves.count(path + ".ancestors")});
  }
  return results;
}

}  // namespace conclave::rare
