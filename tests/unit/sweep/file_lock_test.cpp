#include "conclave/sweep/detail/file_lock.hpp"

#include <unistd.h>

#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

#include "tests/support/scratch_folder.hpp"

namespace conclave::sweep {
namespace {

using detail::FileLock;

class Lock : public testing_support::ScratchFolder {};
using testing_support::message_of;

TEST_F(Lock, IsHeldByOneAndGoneAfterwards) {
  {
    const FileLock first(path("a.db"));
    const std::string sentence = message_of<Error>([&] { FileLock second(path("a.db")); });
    EXPECT_NE(sentence.find("is being written by process " + std::to_string(getpid())),
              std::string::npos)
        << sentence;
  }
  EXPECT_FALSE(std::filesystem::exists(path("a.db.lock")));
  const FileLock again(path("a.db"));
}

TEST_F(Lock, BelongsToTheFileAndNotToItsName) {
  std::optional<FileLock> first(path("a.db"));
  std::filesystem::create_hard_link(path("a.db"), path("b.db"));
  std::filesystem::create_symlink("a.db", path("c.db"));
  for (const char* name : {"b.db", "c.db"}) {
    EXPECT_NE(message_of<Error>([&] { FileLock second(path(name)); }).find("under another name"),
              std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path(name) + ".lock"));
  }
  first.reset();
  const FileLock second(path("b.db"));
}

TEST_F(Lock, LeavesWhatLiesInItsPlace) {
  write("precious", "content");
  std::filesystem::create_hard_link(path("precious"), path("a.db.lock"));
  EXPECT_THROW(FileLock(path("a.db")), Error);
  std::filesystem::create_symlink("precious", path("b.db.lock"));
  EXPECT_THROW(FileLock(path("b.db")), Error);
  EXPECT_EQ(read("precious"), "content");
}

TEST_F(Lock, IsNotTakenOnFoldersAndDevices) {
  EXPECT_THROW(FileLock(folder().string()), Error);
  EXPECT_THROW(FileLock("/dev/null"), Error);
  EXPECT_FALSE(std::filesystem::exists("/dev/null.lock"));
}

}  // namespace
}  // namespace conclave::sweep
