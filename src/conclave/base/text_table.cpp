#include "conclave/base/text_table.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <type_traits>

#include "conclave/base/check.hpp"

namespace conclave {
namespace {

constexpr std::size_t gap = 2;  // between columns

// The words, which stay whole, each with the space that ends it.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

// Lines of at most `width` characters where the words allow it; at least one.
std::vector<std::string> broken(std::string_view entry, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : words_of(entry)) {
    const std::size_t length =
        character_count(lines.back()) + character_count(without_spaces(word));
    if (!lines.back().empty() && length > width) lines.emplace_back();
    lines.back() += word;
  }
  for (std::string& line : lines) line.resize(without_spaces(line).size());
  return lines;
}

std::string padded(const std::string& text, std::size_t width, TextTable::Align align) {
  const std::string blanks(width - std::min(width, character_count(text)), ' ');
  return align == TextTable::Align::left ? text + blanks : blanks + text;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

// The columns that stand side by side: all of them, or some with the first one.
std::vector<std::vector<std::size_t>> panels_of(const std::vector<std::size_t>& widths,
                                                std::size_t width) {
  std::vector<std::vector<std::size_t>> panels{{0}};
  std::size_t used = widths[0];
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (used + gap + widths[i] > width && panels.back().size() > 1) {
      panels.push_back({0});
      used = widths[0];
    }
    panels.back().push_back(i);
    used += gap + widths[i];
  }
  return panels;
}

}  // namespace

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string shortened(std::string_view text, std::size_t width) {
  if (character_count(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && ++shown > width - 3) break;
  }
  return std::string(text.substr(0, end)) + "...";
}

void TextTable::add(std::vector<std::string> entries) {
  CONCLAVE_CHECK(entries.size() == columns_.size());
  rows_.push_back(std::move(entries));
}

TextTable::Widths TextTable::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = character_count(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, character_count(row[i]));
    widths.push_back(widest);
  }
  return widths;
}

std::size_t TextTable::least_width(std::size_t column) const {
  std::size_t widest = 0;
  const auto look_at = [&](std::string_view entry) {
    for (const std::string_view word : words_of(entry)) {
      widest = std::max(widest, character_count(without_spaces(word)));
    }
  };
  look_at(columns_[column].title);
  for (const auto& row : rows_) look_at(row[column]);
  return widest;
}

std::size_t TextTable::height(const Widths& widths) const {
  std::size_t lines = 0;
  for (const auto& row : rows_) {
    std::size_t highest = 1;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (!columns_[i].may_break) continue;
      highest = std::max(highest, broken(row[i], widths[i]).size());
    }
    lines += highest;
  }
  return lines;
}

// Narrows one column by one character at a time: of those that may break, the one that adds the
// fewest lines, and of several such columns the widest.
TextTable::Widths TextTable::widths_within(std::size_t width) const {
  std::vector<std::size_t> widths = natural_widths();
  std::vector<std::size_t> least = widths;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (columns_[i].may_break) least[i] = least_width(i);
  }
  for (std::size_t excess = std::max(total(widths), width) - width; excess > 0; --excess) {
    std::optional<std::size_t> best;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == least[i]) continue;
      std::vector<std::size_t> narrower = widths;
      --narrower[i];
      const std::size_t lines = height(narrower);
      if (best && (lines > fewest || (lines == fewest && widths[i] <= widths[*best]))) continue;
      best = i;
      fewest = lines;
    }
    if (!best) break;
    --widths[*best];
  }
  return widths;
}

std::string TextTable::row(const std::vector<std::string>& entries, const Widths& widths) const {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    cells.push_back(columns_[i].may_break ? broken(entries[i], widths[i])
                                          : std::vector{entries[i]});
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string shown;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string entry = line < cells[i].size() ? cells[i][line] : "";
      shown += (i == 0 ? "" : std::string(gap, ' ')) + padded(entry, widths[i], columns_[i].align);
    }
    text += std::string(without_spaces(shown)) + '\n';
  }
  return text;
}

std::vector<std::string> TextTable::titles() const {
  std::vector<std::string> result;
  for (const Column& column : columns_) result.push_back(column.title);
  return result;
}

TextTable TextTable::part(const std::vector<std::size_t>& panel) const {
  const auto chosen = [&panel](const auto& all) {
    auto some = std::decay_t<decltype(all)>();
    for (const std::size_t i : panel) some.push_back(all[i]);
    return some;
  };
  TextTable result(chosen(columns_));
  for (const auto& row : rows_) result.add(chosen(row));
  return result;
}

std::string TextTable::side_by_side(const Widths& widths) const {
  const bool has_titles =
      std::ranges::any_of(columns_, [](const Column& column) { return !column.title.empty(); });
  std::string text = has_titles ? titles(widths) : "";
  for (const auto& each : rows_) text += row(each, widths);
  return text;
}

// Each panel is broken anew, no more than it must be by itself.
std::string TextTable::text(std::size_t width) const {
  std::string text;
  for (const std::vector<std::size_t>& panel : panels_of(widths_within(width), width)) {
    const TextTable shown = part(panel);
    if (!text.empty()) text += '\n';
    text += shown.side_by_side(shown.widths_within(width));
  }
  return text;
}

}  // namespace conclave
