// JSON as commands print it and as stored results contain it. A value is a plain tree, cheap to
// include; json.cpp alone includes the library that escapes strings, prints numbers and parses
// (nlohmann/json, which takes seconds to compile). The names are the library's:
//
//   Json row{{"protocol", "pll"}, {"n", 1000}};
//   row["times"] = std::vector<double>{1.5, 2};
//   row.dump();                               // {"protocol":"pll","n":1000,"times":[1.5,2.0]}
//   Json::parse(R"({"n":5})")->find("n")->count();  // 5
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace conclave {

struct JsonMember;

// Null, a truth value, a number, a string, an array, or an object whose members keep the order in
// which they were added. Numbers are stored as they were given: integers with 64 bits, others as
// doubles or, where they were parsed, with the digits of the text.
class Json {
 public:
  Json() = default;
  // Not explicit, so that lists of values read like JSON.
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

  // Without items and without members, but not null.
  static Json array();
  static Json object();
  // The value that a text contains; nothing if the text is not JSON or nests deeper than 64 levels,
  // so that untrusted input is harmless. Of members with one name, all are kept, and the first is
  // found. Linear in the length of the text.
  static std::optional<Json> parse(std::string_view text);

  // The member of that name, added as null where there is none; null becomes an object. Linear in
  // the number of members.
  Json& operator[](std::string_view name);
  // The member of that name, which must be there.
  const Json& operator[](std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // Appends to an array; null becomes one.
  void push_back(Json item);
  // An item of an array that has more than `index` items.
  Json& operator[](std::size_t index);
  const Json& operator[](std::size_t index) const;
  // How many items or members there are; 0 for other values.
  std::size_t size() const;

  // The member of that name; null if this is not an object or has no such member. Linear in the
  // number of members.
  const Json* find(std::string_view name) const;
  // The items of an array and the members of an object; none for other values.
  std::span<const Json> items() const;
  std::span<const JsonMember> members() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_number_float() const;
  // The content of a string, which this must be.
  const std::string& text() const { return std::get<std::string>(value_); }
  // The value of a number, which this must be, rounded to the nearest double.
  double number() const { return real().value(); }
  // Nothing for values of another type, and for numbers that the result cannot represent; `real`
  // rounds to the nearest double.
  std::optional<bool> flag() const;
  std::optional<std::uint64_t> count() const;
  std::optional<double> real() const;
  // A string without quotes, a number with the digits that it was parsed from, true or false, and
  // nothing for null: a value as tables show it.
  std::string plain() const;

  // The plain values inside this object or array, each with its path, such as faults.0.agents, in
  // their order.
  std::vector<std::pair<std::string, std::string>> leaves() const;

  // The value as text: in one line, or with each level indented by this many more spaces. Strings
  // may hold any bytes; those that are not UTF-8 are replaced by U+FFFD. Numbers that are not
  // finite become null.
  enum class Encoding : std::uint8_t { utf8, ascii };  // ascii: others are escaped
  std::string dump(int indent = -1, Encoding encoding = Encoding::utf8) const;

  friend bool operator==(const Json&, const Json&);

 private:
  friend struct JsonPrinter;
  friend class JsonBuilder;
  void add_leaves(const std::string& path,
                  std::vector<std::pair<std::string, std::string>>& into) const;

  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  struct Digits {  // of a parsed number that is not an integer of 64 bits
    std::string text;
    friend bool operator==(const Digits&, const Digits&) = default;
  };

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Digits, std::string,
               Array, Object>
      value_;
};

// A name and its value; of an object, members stay in the order in which they were added.
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

inline std::size_t Json::size() const { return items().size() + members().size(); }

// A string with quotes and escapes; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

// The shortest decimal that reads back as the same double; "null" for infinities and NaN, which
// JSON lacks.
std::string json_number(double value);

}  // namespace conclave
