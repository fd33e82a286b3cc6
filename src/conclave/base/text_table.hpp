// A table for people to read: columns as wide as their longest entry, lines no longer than the
// terminal. A table that is too wide first breaks the entries of columns that allow it; if that is
// not enough, the columns that are left over follow below, beside the first column again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conclave {

// The width of tables where no terminal says otherwise.
inline constexpr std::size_t table_width = 100;

class TextTable {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
    bool may_break = false;  // entries may be broken at spaces, never inside a name
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One entry per column, in UTF-8, without line breaks.
  void add(std::vector<std::string> entries);

  // The table with its titles, unless all of them are empty; every line ends with a line break.
  // No line is longer than `width` characters, except where two columns alone are. O(size of the
  // text) for each character that is to be saved.
  std::string text(std::size_t width = table_width) const;

  // The same line by line, for tables that are printed while their rows are computed: the widths of
  // the columns of text(), and with them the titles and any row, in the table or not. All columns
  // stand side by side.
  using Widths = std::vector<std::size_t>;
  Widths widths_within(std::size_t width) const;
  std::string titles(const Widths& widths) const { return row(titles(), widths); }
  std::string row(const std::vector<std::string>& entries, const Widths& widths) const;

 private:
  Widths natural_widths() const;
  std::size_t height(const Widths& widths) const;
  std::size_t least_width(std::size_t column) const;
  std::vector<std::string> titles() const;
  TextTable part(const std::vector<std::size_t>& panel) const;  // these columns alone
  std::string side_by_side(const Widths& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// How many characters a text in UTF-8 has.
std::size_t character_count(std::string_view text);

// The text if it has at most `width` characters, else its beginning and "...". `width` >= 3.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace conclave
