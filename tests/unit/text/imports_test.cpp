// Texts made of several files.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/text/compiled.hpp"
#include "conclave/text/protocol_text.hpp"

#include "tests/support/texts.hpp"

namespace conclave::tests {
namespace {

namespace fs = std::filesystem;
using text::Compiled;
using text::ProtocolText;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("conclave_imports_" + std::to_string(::getpid()))) {
    fs::create_directories(path_ / "sub");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }
  std::string message(const std::string& name, std::string_view content) const {
    try {
      Compiled::make(ProtocolText::read(write(name, content)), {}, 10);
      return "";
    } catch (const Error& error) {
      return sentence_of(error.what());
    }
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr std::string_view clock_text =
    "param q = 5 in 2..100\nfields digit: 0..q-1\nstart s: all of {digit = 0}\n"
    "fun after(digit) = (digit + 1) mod q\n"
    "u + v when u.digit == v.digit -> u.digit = after(u.digit)\n";

TEST(Imports, BringNamesAndRulesAsAStep) {
  const Folder folder;
  folder.write("clock.pp", clock_text);
  const std::string path =
      folder.write("my.pp", "import \"clock.pp\"\nfields on: bool\nstart s: all of {on = true}\n"
                            "u + v do { clock  v.on = u.digit == 0 }\n");
  const auto protocol = Compiled::make(ProtocolText::read(path), {{"q", "3"}}, 10);
  EXPECT_EQ(protocol->space().size(), 6u);
  EXPECT_EQ(protocol->parameters()[0].first, "q");
  // {digit = 2, on = true} twice: 5 and 5 become {0, true} and {2, true}.
  EXPECT_EQ(protocol->reaction(5, 5).outcomes.at(0).u, 1u);
  EXPECT_EQ(protocol->reaction(5, 5).outcomes.at(0).v, 5u);
}

TEST(Imports, CanBeRenamedSoThatOneTextServesTwice) {
  const Folder folder;
  folder.write("sub/clock.pp", clock_text);
  const std::string path =
      folder.write("my.pp", "import \"sub/clock.pp\" as hours\n"
                            "import \"sub/clock.pp\" as minutes with q as sixty\n"
                            "start s: all of {hours_digit = 1}\n"
                            "u + v do { minutes  if u.minutes_digit == 0 { hours } }\n");
  const auto protocol = Compiled::make(ProtocolText::read(path), {{"sixty", "4"}}, 10);
  EXPECT_EQ(protocol->space().size(), 20u);
  EXPECT_EQ(protocol->space().name(0), "{hours_digit = 0, minutes_digit = 0}");
  EXPECT_EQ(protocol->reaction(3, 3).outcomes.at(0).u, 4u);  // 0:03 becomes 1:00
}

TEST(Imports, AreKeptInOneContentThatMakesTheSameProtocol) {
  const Folder folder;
  folder.write("sub/tick.pp",
               "import \"clock.pp\" as c\nstart s: all of {c_digit = 0}\nstep tick { c }\n");
  folder.write("sub/clock.pp", clock_text);
  const auto read = ProtocolText::read(folder.write(
      "my.pp", "import \"sub/tick.pp\"\nstart s: all of {c_digit = 1}\nu + v do { tick }"));
  const ProtocolText kept("my.pp", read->content());
  EXPECT_EQ(kept.hash(), read->hash());
  EXPECT_EQ(kept.content(), read->content());
  folder.write("sub/clock.pp", std::string(clock_text) + "# changed\n");
  EXPECT_NE(ProtocolText::read((folder.path() / "my.pp").string())->hash(), read->hash());
}

TEST(Imports, FindTheTextsThatAreShipped) {
  const Folder folder;
  EXPECT_EQ(folder.message("my.pp", "import \"synthetic_coin.pp\"\nstart s: all of {coin = true}\n"
                                    "u + v do { flip }\n"),
            "");
}

TEST(Imports, StayInTheirFolderAndEnd) {
  const Folder folder;
  const std::string rest = "states A\nstart s: all of A\n";
  for (const std::string path : {"/etc/passwd.pp", "../my.pp", "sub/../my.pp", ".hidden.pp", "",
                                 "sub//x.pp", "clock.txt", "a\\\\b.pp"}) {
    EXPECT_EQ(
        folder.message("my.pp", fmt::format("import \"{}\"\n{}", path, rest)),
        fmt::format("my.pp:1:8: '{}' is no path to a .pp file in this folder or below", path));
  }
  EXPECT_EQ(folder.message("my.pp", "import \"nothing.pp\"\n" + rest),
            "my.pp:1:8: cannot read 'nothing.pp': no file of at most 1 MiB beside this one, nor "
            "among the shipped files");
  folder.write("a.pp", "import \"b.pp\"\n" + rest);
  folder.write("b.pp", "import \"a.pp\"\n");
  EXPECT_EQ(folder.message("my.pp", "import \"a.pp\"\n" + rest),
            "b.pp:1:8: a.pp imports itself: a.pp -> b.pp -> a.pp");
  const fs::path outside = folder.path().string() + "_outside.pp";
  std::ofstream(outside) << rest;
  fs::create_symlink(outside, folder.path() / "link.pp");
  EXPECT_EQ(folder.message("my.pp", "import \"link.pp\"\n").substr(0, 36),
            "my.pp:1:8: cannot read 'link.pp': no");
  fs::remove(outside);
  for (int i = 0; i < 12; ++i) {
    folder.write("deep" + std::to_string(i) + ".pp",
                 "import \"deep" + std::to_string(i + 1) + ".pp\"\n");
  }
  EXPECT_NE(folder.message("my.pp", "import \"deep0.pp\"\n" + rest).find("more than 8 deep"),
            std::string::npos);
}

// A mistake in a text that is imported is shown in its own line.
TEST(Imports, ShowTheLineOfAMistake) {
  const Folder folder;
  folder.write("bad.pp", "fields x: 0..3\nstep up { u.x = u.y }\n");
  const std::string path =
      folder.write("my.pp", "import \"bad.pp\"\nstart s: all of {x = 0}\nu + v do { up }\n");
  try {
    Compiled::make(ProtocolText::read(path), {}, 10);
    FAIL() << "y is no field";
  } catch (const Error& error) {
    EXPECT_TRUE(
        std::string(error.what()).ends_with("\n  step up { u.x = u.y }\n                  ^"))
        << error.what();
  }
}

TEST(Imports, AreToldInWhichFileTheMistakeIs) {
  const Folder folder;
  folder.write("bad.pp", "fields x: 0..3\nstep up { u.x = u.y }\n");
  const std::string rest = "start s: all of {x = 0}\n";
  EXPECT_EQ(folder.message("my.pp", "import \"bad.pp\"\n" + rest).substr(0, 28),
            "bad.pp:2:17: unknown name 'y");
  folder.write("clock.pp", clock_text);
  EXPECT_EQ(folder.message("my.pp", "import \"clock.pp\" with p as x\n" + rest).substr(0, 49),
            "my.pp:1:24: unknown name of clock.pp 'p' (did you");
  EXPECT_EQ(folder.message("my.pp", "import \"clock.pp\"\nparam q = 3\n" + rest),
            "my.pp:2:7: the parameter 'q' is called like something else");
  folder.write("duel.pp", "states L, F\nstart s: all of L\nL + L -> L + F\n");
  EXPECT_EQ(folder.message("my.pp", "import \"duel.pp\" as d\n" + rest).substr(0, 53),
            "my.pp:1:8: duel.pp has a list of states, which keeps ");
}

}  // namespace
}  // namespace conclave::tests
