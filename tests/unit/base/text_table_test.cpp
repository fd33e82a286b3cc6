#include "conclave/base/text_table.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace conclave {
namespace {

using enum TextTable::Align;

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    longest = std::max(longest, character_count(line));
  }
  return longest;
}

TextTable protocols() {
  TextTable table({{"NAME", left}, {"N"}, {"WHAT IT DOES", left, true}});
  table.add({"pll", "1000", "a lottery, a tournament, and a backup"});
  table.add({"fratricide", "7", "two leaders meet, one resigns"});
  return table;
}

TEST(TextTable, HasColumnsAsWideAsTheirEntries) {
  EXPECT_EQ(protocols().text(), "NAME           N  WHAT IT DOES\n"
                                "pll         1000  a lottery, a tournament, and a backup\n"
                                "fratricide     7  two leaders meet, one resigns\n");
}

TEST(TextTable, BreaksEntriesWhereItIsTooWide) {
  EXPECT_EQ(protocols().text(40), "NAME           N  WHAT IT DOES\n"
                                  "pll         1000  a lottery, a\n"
                                  "                  tournament, and a\n"
                                  "                  backup\n"
                                  "fratricide     7  two leaders meet, one\n"
                                  "                  resigns\n");
}

TEST(TextTable, NeverExceedsAWidthThatItsWordsAllow) {
  for (std::size_t width = 29; width < 80; ++width) {
    EXPECT_LE(longest_line(protocols().text(width)), width) << width;
  }
}

TEST(TextTable, KeepsNamesWholeAndMovesColumnsBelowInstead) {
  TextTable table({{"", left, true}, {"mean"}, {"maximum"}});
  table.add({"messages per node", "1", "2"});
  table.add({"leaders_after_quick_elimination", "1", "2"});
  EXPECT_EQ(table.text(40), "                                 mean\n"
                            "messages per node                   1\n"
                            "leaders_after_quick_elimination     1\n"
                            "\n"
                            "                                 maximum\n"
                            "messages per node                      2\n"
                            "leaders_after_quick_elimination        2\n");
}

TEST(TextTable, BreaksAListOfSettingsBetweenThem) {
  TextTable table({{"SETTING", left, true}, {"MEAN"}});
  table.add({"t_max=40 t_emit=40", "1"});
  EXPECT_EQ(table.text(14), "SETTING    MEAN\nt_max=40      1\nt_emit=40\n");
}

TEST(TextTable, RepeatsTheFirstColumnBesideColumnsThatAreLeftOver) {
  TextTable table({{"", left}, {"mean"}, {"median"}, {"maximum"}});
  table.add({"time", "1.5", "1", "4"});
  EXPECT_EQ(table.text(18),
            "      mean  median\ntime   1.5       1\n\n      maximum\ntime        4\n");
}

TEST(TextTable, BreaksEntriesNoMoreThanAPartOfItsColumnsNeeds) {
  TextTable table({{"WORK", left, true}, {"TIME"}, {"CONVERGED"}});
  table.add({"Fischer, Jiang 2006", "124.6", "5/5"});
  EXPECT_EQ(table.text(23), "WORK               TIME\n"
                            "Fischer, Jiang    124.6\n"
                            "2006\n"
                            "\n"
                            "WORK          CONVERGED\n"
                            "Fischer,            5/5\n"
                            "Jiang 2006\n");
}

TEST(TextTable, GivesRowsOneByOne) {
  const TextTable table = protocols();
  const TextTable::Widths widths = table.widths_within(100);
  EXPECT_EQ(table.titles(widths) + table.row({"ppl", "12", "for long"}, widths),
            "NAME           N  WHAT IT DOES\nppl           12  for long\n");
}

TEST(TextTable, CountsCharactersAndNotBytes) {
  EXPECT_EQ(character_count("\u00fcber"), 4U);
  EXPECT_EQ(shortened("\u00fc\u00fc\u00fc\u00fc\u00fc", 5), "\u00fc\u00fc\u00fc\u00fc\u00fc");
  EXPECT_EQ(shortened("\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc", 5), "\u00fc\u00fc...");
}

}  // namespace
}  // namespace conclave
