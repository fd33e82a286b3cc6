// JSON as commands print it and as the store keeps it. A value is a plain tree, cheap to include;
// json.cpp alone knows the library that escapes strings, prints numbers and parses texts
// (nlohmann/json, which takes seconds to compile wherever it is included). The names are the
// library's:
//
//   Json row{{"protocol", "pll"}, {"n", 1000}};
//   row["times"] = std::vector<double>{1.5, 2};
//   row.dump();  // {"protocol":"pll","n":1000,"times":[1.5,2.0]}
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace conclave::experiment {

struct JsonMember;

// Null, a truth value, a number, a string, an array, or an object whose members keep the order in
// which they were added. Numbers are kept as they were given: integers with 64 bits, others as
// doubles.
class Json {
 public:
  Json() = default;
  Json(bool value);
  Json(double value);
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Json(Integer value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  template <class Item>
  Json(const std::vector<Item>& items);
  Json(std::initializer_list<JsonMember> members);

  static Json array();
  static Json object();

  // The member of that name, added as null where there is none; null becomes an object. Linear in
  // the number of members.
  Json& operator[](std::string_view name);
  // The member of that name, which must be there.
  const Json& operator[](std::string_view name) const;
  bool contains(std::string_view name) const;

  // Appends to an array; null becomes one.
  void push_back(Json item);
  // An item of an array that has more than `index` items.
  Json& operator[](std::size_t index);
  const Json& operator[](std::size_t index) const;
  // How many items or members there are; 0 for other values.
  std::size_t size() const;

  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_number_float() const { return std::holds_alternative<double>(value_); }
  // A string's text and a number's value, for values that are one.
  const std::string& text() const { return std::get<std::string>(value_); }
  double number() const;

  // The value as text: in one line, or with each level indented by this many more spaces. Strings
  // may hold any bytes; those that are not UTF-8 are replaced by U+FFFD. Numbers that are not
  // finite become null.
  enum class Encoding : std::uint8_t { utf8, ascii };  // ascii: others are escaped
  std::string dump(int indent = -1, Encoding encoding = Encoding::utf8) const;

  friend bool operator==(const Json&, const Json&);

 private:
  friend struct JsonPrinter;
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

struct JsonMember {
  JsonMember(std::string_view member, Json content) : name(member), value(std::move(content)) {}
  friend bool operator==(const JsonMember&, const JsonMember&) = default;

  std::string name;
  Json value;
};

// Here, because Clang wants members to be complete where a value is made.
inline Json::Json(bool value) : value_(value) {}
inline Json::Json(double value) : value_(value) {}
inline Json::Json(std::string value) : value_(std::move(value)) {}
inline Json::Json(std::string_view value) : value_(std::string(value)) {}
inline Json::Json(const char* value) : value_(std::string(value)) {}
template <std::integral Integer>
  requires(!std::same_as<Integer, bool>)
Json::Json(Integer value) {
  if (value < Integer{0}) {
    value_ = static_cast<std::int64_t>(value);
  } else {
    value_ = static_cast<std::uint64_t>(value);
  }
}
template <class Item>
Json::Json(const std::vector<Item>& items) : value_(Array(items.begin(), items.end())) {}

// A string with quotes and escapes; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

// The shortest decimal that reads back as the same double; "null" for infinities and NaN, which
// JSON lacks.
std::string json_number(double value);

// A value inside a JSON text, with the way to it.
struct JsonLeaf {
  std::string path;   // such as faults.0.agents
  std::string value;  // a string's content, a number as it stands in the text, empty for null
  bool is_string = false;
};

// All values inside the objects and arrays of a JSON text, in their order; nothing where the text
// is not JSON, is a single value or nests deeper than 64 levels.
std::optional<std::vector<JsonLeaf>> json_leaves(std::string_view text);

}  // namespace conclave::experiment
