// Numbers, flags and texts on the wire: unsigned, most significant byte first. A format is a
// function `fields(codec, value)` that names each field once; with a Writer it encodes, with a
// Reader it decodes, so that the two cannot differ.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace conclave::election::detail {

// A value that is read or written, const in the latter case.
template <class Value, class Plain>
concept Like = std::same_as<std::remove_const_t<Value>, Plain>;

// Appends to `out`, which must outlive it.
class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = sizeof(T); i-- > 0;)
      out_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void flag(bool value) { number(static_cast<std::uint8_t>(value)); }
  // An enumerator, in a byte.
  template <class Enum>
  void choice(Enum value, Enum /*last*/) {
    number(static_cast<std::uint8_t>(value));
  }
  // Up to 255 bytes, after their number.
  void text(std::string_view text) {
    number(static_cast<std::uint8_t>(text.size()));
    rest(text);
  }
  // Bytes up to the end.
  void rest(std::string_view text) { rest(std::as_bytes(std::span(text))); }
  void rest(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

 private:
  std::vector<std::byte>& out_;
};

// Reads what may come from an enemy: a field that is cut short or out of its range leaves its
// value as it was, and the whole counts as malformed.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  void number(T& value) {
    if (rest_.size() < sizeof(T)) return refuse();
    std::uint64_t wide = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      wide = wide << 8 | std::to_integer<std::uint64_t>(rest_[i]);
    rest_ = rest_.subspan(sizeof(T));
    value = static_cast<T>(wide);
  }
  void flag(bool& value) {
    std::uint8_t byte = 0;
    number(byte);
    if (byte > 1) return refuse();
    value = byte == 1;
  }
  template <class Enum>
  void choice(Enum& value, Enum last) {
    std::uint8_t byte = 0;
    number(byte);
    if (byte > static_cast<std::uint8_t>(last)) return refuse();
    value = static_cast<Enum>(byte);
  }
  void text(std::string& text) {
    std::uint8_t size = 0;
    number(size);
    if (size > rest_.size()) return refuse();
    set(text, rest_.first(size));
    rest_ = rest_.subspan(size);
  }
  void rest(std::string& text) {
    set(text, rest_);
    rest_ = {};
  }
  // A view of the bytes that are read.
  void rest(std::span<const std::byte>& bytes) {
    bytes = rest_;
    rest_ = {};
  }

  void refuse() { is_malformed_ = true; }
  bool has_more() const { return !is_malformed_ && !rest_.empty(); }
  // Whether all was as it must be, and nothing is left over.
  bool is_done() const { return !is_malformed_ && rest_.empty(); }

 private:
  static void set(std::string& text, std::span<const std::byte> bytes) {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  std::span<const std::byte> rest_;
  bool is_malformed_ = false;
};

}  // namespace conclave::election::detail
