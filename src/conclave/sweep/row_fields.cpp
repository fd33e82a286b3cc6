#include "conclave/sweep/row_fields.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/json.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/run_options.hpp"

namespace conclave::sweep {
namespace {

using experiment::Option;
using experiment::RunText;

[[noreturn]] void refuse(std::string_view text) {
  throw std::runtime_error(fmt::format("'{}' was not stored by a sweep", excerpt(text)));
}

Json stored_object(std::string_view text) {
  auto json = Json::parse(text);
  if (!json || !json->is_object()) refuse(text);
  return std::move(*json);
}

std::string string_of(const Json* member, std::string_view text) {
  if (member == nullptr) return {};
  if (!member->is_string()) refuse(text);
  return member->text();
}

// The fields of a request have an order of their own, which seeds depend on.
std::vector<const Option<RunText>*> stored_options() {
  std::vector<const Option<RunText>*> options;
  for (const Option<RunText>& option : experiment::run_options()) {
    if (option.stored > 0) options.push_back(&option);
  }
  std::ranges::sort(options, {}, [](const auto* option) { return option->stored; });
  return options;
}

// Puts a member of a request into the words; one that is missing is empty.
class MemberReader {
 public:
  MemberReader(const Json* member, std::string_view text, RunText& words)
      : member_(member), text_(text), words_(words) {}

  void operator()(std::string RunText::*value) const { words_.*value = string_of(member_, text_); }
  void operator()(bool RunText::*value) const {
    const auto flag = member_ != nullptr ? member_->flag() : false;
    if (!flag) refuse(text_);
    words_.*value = *flag;
  }
  void operator()(std::vector<std::string> RunText::*value) const {
    if (member_ == nullptr) return;
    if (!member_->is_array()) refuse(text_);
    for (const Json& item : member_->items()) (words_.*value).push_back(string_of(&item, text_));
  }

 private:
  const Json* member_;
  std::string_view text_;
  RunText& words_;
};

}  // namespace

void check_field_count(std::string_view json) {
  // Each field but the last is followed by a comma.
  if (std::ranges::count(json, ',') >= most_fields) {
    throw std::runtime_error(fmt::format("it has more than {} fields", most_fields));
  }
}

Fields fields_of(std::string_view json) {
  check_field_count(json);
  const auto parsed = Json::parse(json);
  if (!parsed || (!parsed->is_object() && !parsed->is_array())) {
    throw std::runtime_error(fmt::format("'{}' is no row of results", excerpt(json)));
  }
  return parsed->leaves();
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
  Json json = Json::object();
  for (const Option<RunText>* const option : stored_options()) {
    std::visit(
        [&](auto value) {
          if (words.*value != std::remove_cvref_t<decltype(words.*value)>())
            json[option->plan_key()] = words.*value;
        },
        option->value);
  }
  return json.dump();
}

RunText words_of(std::string_view text) {
  const Json json = stored_object(text);
  RunText words;
  for (const Option<RunText>& option : experiment::run_options()) {
    std::visit(MemberReader(json.find(option.plan_key()), text, words), option.value);
  }
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
  const Json json = stored_object(text);
  const auto number = [&](std::string_view name, auto fallback, auto read) {
    const Json* const member = json.find(name);
    const auto value = member != nullptr ? (member->*read)() : fallback;
    if (!value) refuse(text);
    return *value;
  };
  return {.trials = number("trials", std::optional<std::uint64_t>(1), &Json::count),
          .precision = number("precision", std::optional<double>(0), &Json::real),
          .batch = number("batch", std::optional<std::uint64_t>(100), &Json::count),
          .measure = string_of(json.find("measure"), text)};
}

}  // namespace conclave::sweep
