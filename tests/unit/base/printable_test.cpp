#include "conclave/base/printable.hpp"

#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/read_text.hpp"

#include "tests/support/scratch_folder.hpp"

namespace conclave {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "plain", "ümläut \u2264 \U0001f600", "'\"`$\\"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text));
  }
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(printable("a\x1b[2J\n\t\x7f"), R"(a\x1b[2J\n\t\x7f)");
  EXPECT_EQ(printable("\xc2\x9b"), R"(\x9b)");        // a control character of two bytes
  EXPECT_EQ(printable("\u202eabc"), R"(\u202eabc)");  // writes from right to left
  EXPECT_EQ(printable(std::string("a\0b", 3)), R"(a\x00b)");
  EXPECT_FALSE(is_printable("\u2028"));
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(printable("\xff\xc3"), R"(\xff\xc3)");
  EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)");                  // too long for a slash
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");          // half a pair of UTF-16
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");  // beyond Unicode
}

TEST(Printable, KeepsJsonTheSameJson) {
  EXPECT_EQ(printable_json("{\"a\":\"\xc2\x9b\"}"), R"({"a":"\u009b"})");
  EXPECT_EQ(printable_json(R"({"a":"ü"})"), R"({"a":"ü"})");
}

TEST(Excerpt, CutsBetweenCharacters) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(1000, 'x')), std::string(80, 'x') + "...");
  EXPECT_EQ(excerpt("aüb", 2), "a...");
}

class ReadText : public testing_support::ScratchFolder {};
using testing_support::message_of;

TEST_F(ReadText, GivesTheWholeContent) {
  const std::string content(200'000, 'x');
  EXPECT_EQ(read_text(write("file", content), 200'000), content);
  EXPECT_EQ(read_text(write("empty", ""), 0), "");
}

TEST_F(ReadText, RefusesWhatIsTooLargeOrEndlessOrNoText) {
  write("file", "12345");
  EXPECT_EQ(message_of<Error>([&] { read_text(path("file"), 4); }),
            "cannot read '" + path("file") +
                "': it is larger than 4 bytes (--max-file-size allows more)");
  EXPECT_THROW(read_text("/dev/zero", 1 << 30), Error);
  EXPECT_THROW(read_text(path("none"), 10), Error);
  EXPECT_EQ(message_of<Error>([&] { read_text(folder().string(), 10); }),
            "cannot read '" + folder().string() + "': it is a folder");
}

}  // namespace
}  // namespace conclave
