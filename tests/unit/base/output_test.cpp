#include "conclave/base/output.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

#include "tests/support/scratch_folder.hpp"

namespace conclave {
namespace {

class OutputFile : public testing_support::ScratchFolder {};
using testing_support::message_of;

TEST_F(OutputFile, AppearsOnlyWhenFinished) {
  {
    Output output(path("rows"));
    output.write("half");
    EXPECT_FALSE(std::filesystem::exists(path("rows")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
  write_file(path("rows"), "whole\n");
  EXPECT_EQ(read("rows"), "whole\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);
}

TEST_F(OutputFile, KeepsWhatWasThereUntilItIsFinished) {
  write("rows", "old");
  { Output(path("rows")).write("new"); }
  EXPECT_EQ(read("rows"), "old");
  write_file(path("rows"), "new");
  EXPECT_EQ(read("rows"), "new");
}

TEST_F(OutputFile, ThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(Output(path("no") + "/deeper"), Error);
  EXPECT_EQ(message_of<Error>([&] { Output output(folder().string()); }),
            "cannot write '" + folder().string() + "': it is a folder");
}

TEST_F(OutputFile, FollowsALinkAndLeavesIt) {
  write("target", "old");
  std::filesystem::create_symlink("target", path("link"));
  write_file(path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(read("target"), "new");
}

TEST_F(OutputFile, RefusesALinkToNothing) {
  std::filesystem::create_symlink("nothing", path("link"));
  EXPECT_THROW(Output(path("link")), Error);
  EXPECT_FALSE(std::filesystem::exists(path("nothing")));
}

TEST_F(OutputFile, KeepsThePermissionsOfTheOneItReplaces) {
  write("rows", "old");
  std::filesystem::permissions(path("rows"), std::filesystem::perms(0640));
  write_file(path("rows"), "new");
  EXPECT_EQ(std::filesystem::status(path("rows")).permissions(), std::filesystem::perms(0640));
}

TEST_F(OutputFile, DoesNotReplaceWhatBecameAFolderMeanwhile) {
  Output output(path("rows"));
  output.write("new");
  std::filesystem::create_directory(path("rows"));
  EXPECT_THROW(output.finish(), Error);
}

TEST_F(OutputFile, StreamsIntoADevice) {
  Output output("/dev/full");
  output.write("x");
  EXPECT_THROW(output.finish(), std::system_error);
}

TEST_F(OutputFile, TwoAreTheSameByWhateverName) {
  write("rows", "");
  std::filesystem::create_hard_link(path("rows"), path("other"));
  EXPECT_TRUE(is_same_output(path("rows"), path("other")));
  EXPECT_TRUE(is_same_output(path("new"), path("./new")));
  EXPECT_FALSE(is_same_output(path("new"), path("newer")));
  EXPECT_FALSE(is_same_output("", ""));
  EXPECT_FALSE(is_same_output("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace conclave
