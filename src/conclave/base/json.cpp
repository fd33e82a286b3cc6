#include "conclave/base/json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conclave/base/check.hpp"
#include "conclave/base/numbers.hpp"

namespace conclave {
namespace {

using Library = nlohmann::ordered_json;

// Rows nest three levels; deep trees would exhaust the stack.
constexpr std::size_t most_levels = 64;

std::string dumped(const Library& json, int indent, Json::Encoding encoding) {
  return json.dump(indent, ' ', encoding == Json::Encoding::ascii,
                   Library::error_handler_t::replace);
}

}  // namespace

// Builds our tree while the library parses.
class JsonBuilder : public nlohmann::json_sax<Library> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t, const string_t& text) override {
    Json number;
    number.value_ = Json::Digits{text};
    return add(std::move(number));
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    names_.back() = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Library::exception&) override {
    return false;
  }

  Json result;

 private:
  bool open(Json container) {
    if (open_.size() == most_levels) return false;
    open_.push_back(std::move(container));
    names_.emplace_back();
    return true;
  }
  bool close() {
    Json closed = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return add(std::move(closed));
  }
  bool add(Json value) {
    if (open_.empty()) {
      result = std::move(value);
    } else if (auto* const members = std::get_if<Json::Object>(&open_.back().value_)) {
      members->emplace_back(names_.back(), std::move(value));
    } else {
      open_.back().push_back(std::move(value));
    }
    return true;
  }

  std::vector<Json> open_;          // the containers around the next value
  std::vector<std::string> names_;  // of the next member of each
};

// From our tree to the library's.
struct JsonPrinter {
  static Library library_value(const Json& json) {
    return std::visit([](const auto& value) { return converted(value); }, json.value_);
  }

  template <class Value>
  static Library converted(const Value& value) {
    return value;
  }
  static Library converted(std::monostate) { return nullptr; }
  static Library converted(const Json::Digits& digits) {
    return parse_real(digits.text).value_or(NAN);
  }
  static Library converted(const Json::Array& items) {
    Library array = Library::array();
    for (const Json& item : items) array.push_back(library_value(item));
    return array;
  }
  static Library converted(const Json::Object& members) {
    Library object = Library::object();
    for (const JsonMember& member : members) object[member.name] = library_value(member.value);
    return object;
  }
};

Json::Json(std::initializer_list<JsonMember> members) : value_(Object(members)) {}

Json Json::array() { return std::vector<Json>(); }

Json Json::object() { return std::initializer_list<JsonMember>(); }

std::optional<Json> Json::parse(std::string_view text) {
  JsonBuilder builder;
  if (!Library::sax_parse(text, &builder)) return std::nullopt;
  return std::move(builder.result);
}

Json& Json::operator[](std::string_view name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  auto& members = std::get<Object>(value_);
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  return found == members.end() ? members.emplace_back(name, Json()).value : found->value;
}

const Json& Json::operator[](std::string_view name) const {
  const Json* const found = find(name);
  CONCLAVE_CHECK(found != nullptr);
  return *found;
}

const Json* Json::find(std::string_view name) const {
  const auto all = members();
  const auto found = std::ranges::find(all, name, &JsonMember::name);
  return found == all.end() ? nullptr : &found->value;
}

void Json::push_back(Json item) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  std::get<Array>(value_).push_back(std::move(item));
}

Json& Json::operator[](std::size_t index) { return std::get<Array>(value_).at(index); }

const Json& Json::operator[](std::size_t index) const { return std::get<Array>(value_).at(index); }

std::span<const Json> Json::items() const {
  const auto* const array = std::get_if<Array>(&value_);
  return array != nullptr ? std::span<const Json>(*array) : std::span<const Json>();
}

std::span<const JsonMember> Json::members() const {
  const auto* const object = std::get_if<Object>(&value_);
  return object != nullptr ? std::span<const JsonMember>(*object) : std::span<const JsonMember>();
}

bool Json::is_number_float() const {
  return std::holds_alternative<double>(value_) || std::holds_alternative<Digits>(value_);
}

std::optional<bool> Json::flag() const {
  const auto* const flag = std::get_if<bool>(&value_);
  return flag != nullptr ? std::optional(*flag) : std::nullopt;
}

std::optional<std::uint64_t> Json::count() const {
  if (const auto* const whole = std::get_if<std::uint64_t>(&value_)) return *whole;
  const auto* const digits = std::get_if<Digits>(&value_);
  const auto count = digits != nullptr ? parse_count(digits->text) : std::nullopt;
  return count ? count->as_uint64() : std::nullopt;
}

std::optional<double> Json::real() const {
  if (const auto* const whole = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<double>(*whole);
  }
  if (const auto* const negative = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*negative);
  }
  if (const auto* const digits = std::get_if<Digits>(&value_)) return parse_real(digits->text);
  const auto* const number = std::get_if<double>(&value_);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::string Json::plain() const {
  if (is_null()) return {};
  if (is_string()) return text();
  // The usual values without the library's tree: exports ask for every value of every row.
  if (const auto* const digits = std::get_if<Digits>(&value_)) return digits->text;
  if (const auto* const whole = std::get_if<std::uint64_t>(&value_)) {
    return fmt::format_int(*whole).str();
  }
  if (const auto* const flag = std::get_if<bool>(&value_)) return *flag ? "true" : "false";
  return dump();
}

std::vector<std::pair<std::string, std::string>> Json::leaves() const {
  std::vector<std::pair<std::string, std::string>> result;
  add_leaves({}, result);
  return result;
}

void Json::add_leaves(const std::string& path,
                      std::vector<std::pair<std::string, std::string>>& into) const {
  const auto add = [&](std::string_view name, const Json& value) {
    std::string place = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    if (value.is_array() || value.is_object()) {
      value.add_leaves(place, into);
    } else {
      into.emplace_back(std::move(place), value.plain());
    }
  };
  std::size_t index = 0;
  for (const Json& item : items()) add(fmt::format_int(index++).c_str(), item);
  for (const JsonMember& member : members()) add(member.name, member.value);
}

std::string Json::dump(int indent, Encoding encoding) const {
  return dumped(JsonPrinter::library_value(*this), indent, encoding);
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

std::string json_string(std::string_view text) { return dumped(text, -1, Json::Encoding::utf8); }

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

}  // namespace conclave
