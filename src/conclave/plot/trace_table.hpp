// A trace as `conclave run --trace` writes it, read from a file of unknown origin. Every
// field becomes a number or a name here, so nothing else of the file reaches a picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace conclave::plot {

// Comma-separated values (RFC 4180) whose first line names the columns. The states of a history are
// columns, too: braces and commas are left out of their names, {a = 1, b = 2} is a = 1 b = 2.
class TraceTable {
 public:
  // Throws Error if the file cannot be read, is larger than 1 GiB, holds no line, one of another
  // length than the first, or a column whose name is none.
  explicit TraceTable(const std::string& path);

  std::size_t lines() const { return lines_.size(); }
  const std::vector<std::string>& names() const { return header_; }  // of the columns
  bool has(const std::string& column) const;
  // Whether every field of the column is a number or empty, and some field is not.
  bool holds_numbers(const std::string& name) const;
  std::size_t column(const std::string& name) const;  // throws Error with the nearest name

  // The field of a line, counted from 0. Throw Error with the place if it is nothing of the kind.
  std::optional<double> real(std::size_t line,
                             std::size_t column) const;  // nothing: an empty field
  std::uint64_t whole(std::size_t line, std::size_t column) const;
  const std::string& name(std::size_t line, std::size_t column) const;  // "" where it is empty

 private:
  const std::string& field(std::size_t line, std::size_t column) const;
  [[noreturn]] void refuse(std::size_t line, std::size_t column, const char* expected) const;

  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> lines_;
};

// Letters, digits, `_`, `-` and `.`, beginning with a letter or `_`, at most 100 of them.
bool is_name(const std::string& text);

// The same for the name of a column, which may begin with a digit or `-` and hold spaces and `=`,
// at most 300 characters.
bool is_column(const std::string& text);

}  // namespace conclave::plot
