#include "conclave/sweep/fields.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/json.hpp"

namespace conclave::sweep {
namespace {

using experiment::Json;
using experiment::JsonLeaf;
using experiment::RunText;

constexpr std::array<std::pair<const char*, std::string RunText::*>, 16> texts{
    {{"protocol", &RunText::protocol},
     {"n", &RunText::n},
     {"seed", &RunText::seed},
     {"init", &RunText::init},
     {"engine", &RunText::engine},
     {"graph", &RunText::graph},
     {"max_parallel_time", &RunText::max_parallel_time},
     {"max_interactions", &RunText::max_interactions},
     {"until", &RunText::until},
     {"delay", &RunText::delay},
     {"wakeup", &RunText::wakeup},
     {"ids", &RunText::ids},
     {"kind", &RunText::kind},
     {"way", &RunText::way},
     {"particles", &RunText::particles},
     {"most_levels", &RunText::most_levels}}};

// The members of a JSON object that json_of made.
class Stored {
 public:
  explicit Stored(std::string_view text) : text_(text) {
    auto leaves = experiment::json_leaves(text);
    if (!leaves || !text.starts_with('{')) refuse();
    leaves_ = std::move(*leaves);
  }

  std::string text(std::string_view name) const {
    const auto found = std::ranges::find(leaves_, name, &JsonLeaf::path);
    if (found == leaves_.end()) return {};
    if (!found->is_string) refuse();
    return found->value;
  }

  std::vector<std::string> list(std::string_view name) const {
    std::vector<std::string> items;
    const auto path = [&] { return fmt::format("{}.{}", name, items.size()); };
    while (std::ranges::find(leaves_, path(), &JsonLeaf::path) != leaves_.end()) {
      items.push_back(text(path()));
    }
    return items;
  }

  bool flag(std::string_view name) const {
    const auto found = std::ranges::find(leaves_, name, &JsonLeaf::path);
    return found != leaves_.end() && found->value == "true";
  }

  double real(std::string_view name, double fallback) const {
    return number(name, fallback, [](const std::string& text) { return parse_real(text); });
  }

  std::uint64_t count(std::string_view name, std::uint64_t fallback) const {
    return number(name, fallback, [](const std::string& text) -> std::optional<std::uint64_t> {
      const auto count = parse_count(text);
      return count ? count->as_uint64() : std::nullopt;
    });
  }

 private:
  template <class Number, class Parse>
  Number number(std::string_view name, Number fallback, Parse parse) const {
    const auto found = std::ranges::find(leaves_, name, &JsonLeaf::path);
    if (found == leaves_.end()) return fallback;
    const std::optional<Number> value = parse(found->value);
    if (!value || found->is_string) refuse();
    return *value;
  }

  [[noreturn]] void refuse() const {
    throw std::runtime_error(fmt::format("'{}' was not stored by a sweep", excerpt(text_)));
  }

  std::string_view text_;
  std::vector<JsonLeaf> leaves_;
};

}  // namespace

Fields fields_of(std::string_view json) {
  auto leaves = experiment::json_leaves(json);
  if (!leaves) {
    throw std::runtime_error(fmt::format("'{}' is no row of results", excerpt(json)));
  }
  Fields fields;
  fields.reserve(leaves->size());
  for (JsonLeaf& leaf : *leaves) {
    fields.emplace_back(std::move(leaf.path), std::move(leaf.value));
  }
  return fields;
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

std::string json_of(const RunText& words) {
  Json json;
  for (const auto& [name, member] : texts) {
    if (!(words.*member).empty()) json[name] = words.*member;
  }
  if (!words.params.empty()) json["params"] = words.params;
  if (!words.faults.empty()) json["faults"] = words.faults;
  if (!words.importance.empty()) json["importance"] = words.importance;
  if (words.count_edges) json["count_edges"] = true;
  return json.dump();
}

RunText words_of(std::string_view text) {
  const Stored stored(text);
  RunText words;
  for (const auto& [name, member] : texts) words.*member = stored.text(name);
  words.params = stored.list("params");
  words.faults = stored.list("faults");
  words.importance = stored.list("importance");
  words.count_edges = stored.flag("count_edges");
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
  const Stored stored(text);
  return {.trials = stored.count("trials", 1),
          .precision = stored.real("precision", 0),
          .batch = stored.count("batch", 100),
          .measure = stored.text("measure")};
}

}  // namespace conclave::sweep
