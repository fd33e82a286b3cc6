#include "conclave/experiment/json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conclave/base/check.hpp"

namespace conclave::experiment {
namespace {

using Library = nlohmann::ordered_json;

// Rows nest three levels; more would only take time, for each leaf has its whole path.
constexpr std::size_t most_levels = 64;

std::string dumped(const Library& json, int indent, Json::Encoding encoding) {
  return json.dump(indent, ' ', encoding == Json::Encoding::ascii,
                   Library::error_handler_t::replace);
}

// Follows the parser and keeps the way to the value that it is at.
class LeafCollector : public nlohmann::json_sax<Library> {
 public:
  bool null() override { return add(""); }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add(fmt::format("{}", value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return add(text); }
  bool string(string_t& value) override { return add(value, true); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().name = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Library::exception&) override {
    return false;
  }

  std::vector<JsonLeaf> leaves;

 private:
  struct Level {
    bool is_array = false;
    std::string name{};
    std::size_t index = 0;
  };

  bool open(bool is_array) {
    if (levels_.size() == most_levels) return false;
    levels_.push_back({is_array});
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
  bool add(std::string value, bool is_string = false) {
    if (levels_.empty()) return false;
    std::string path;
    for (const Level& level : levels_) {
      if (!path.empty()) path += '.';
      path += level.is_array ? fmt::format("{}", level.index) : level.name;
    }
    leaves.push_back({std::move(path), std::move(value), is_string});
    next();
    return true;
  }

  std::vector<Level> levels_;
};

}  // namespace

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

Json& Json::operator[](std::string_view name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  auto& members = std::get<Object>(value_);
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  return found == members.end() ? members.emplace_back(name, Json()).value : found->value;
}

const Json& Json::operator[](std::string_view name) const {
  const auto& members = std::get<Object>(value_);
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  CONCLAVE_CHECK(found != members.end());
  return found->value;
}

bool Json::contains(std::string_view name) const {
  const auto& members = std::get<Object>(value_);
  return std::ranges::find(members, name, &JsonMember::name) != members.end();
}

void Json::push_back(Json item) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  std::get<Array>(value_).push_back(std::move(item));
}

Json& Json::operator[](std::size_t index) { return std::get<Array>(value_).at(index); }

const Json& Json::operator[](std::size_t index) const { return std::get<Array>(value_).at(index); }

std::size_t Json::size() const {
  if (const auto* const items = std::get_if<Array>(&value_)) return items->size();
  if (const auto* const members = std::get_if<Object>(&value_)) return members->size();
  return 0;
}

double Json::number() const {
  if (const auto* const whole = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<double>(*whole);
  }
  if (const auto* const negative = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*negative);
  }
  return std::get<double>(value_);
}

std::string Json::dump(int indent, Encoding encoding) const {
  return dumped(JsonPrinter::library_value(*this), indent, encoding);
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

std::string json_string(std::string_view text) { return dumped(text, -1, Json::Encoding::utf8); }

std::optional<std::vector<JsonLeaf>> json_leaves(std::string_view text) {
  LeafCollector collector;
  if (!Library::sax_parse(text, &collector)) return std::nullopt;
  return std::move(collector.leaves);
}

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

}  // namespace conclave::experiment
