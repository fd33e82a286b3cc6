// Promises on disk: what is stored is read again, and whatever else is refused with a sentence; a
// promise that may not be on the disk is not taken for stored, and no failure leaks a descriptor.
#include "election/promise_file.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "election/agreement.hpp"

#include "tests/support/temporary_folder.hpp"

namespace {
// Before one fails; negative: all are good.
int good_fsyncs = -1;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): fsync's own
}  // namespace

// Takes the place of the library's, so that a disk can fail.
extern "C" int fsync(int file) {
  if (good_fsyncs-- == 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace conclave::election {
namespace {

using namespace std::chrono_literals;
using conclave::testing::error_of;
using conclave::testing::Folder;

const PromiseOwner owner{{"a", 1}, "3 members, 0123456789abcdef"};
const Promise promise{.term = 7, .to = 3, .lease = 3000ms};
const MemberState state{.promise = promise};

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::size_t open_descriptors() {
  const auto folder = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

TEST(PromiseFiles, KeepThePromiseForTheirOwnerAlone) {
  const Folder folder;
  const std::string path = folder.file("state");
  {
    PromiseFile file(path, owner);
    EXPECT_FALSE(file.has_existed());
    file.store(state);
    EXPECT_NE(error_of([&] { PromiseFile(path, owner); }).find("another process uses"),
              std::string::npos);
  }
  {
    const PromiseFile file(path, owner);
    EXPECT_TRUE(file.has_existed());
    EXPECT_EQ(file.state().promise, promise);
  }
  EXPECT_NE(error_of([&] {
              PromiseFile(path, {{"a", 2}, owner.list});
            }).find("belongs to member 1"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              PromiseFile(path, {owner.member, "4 members, 0123456789abcdef"});
            }).find("another list of members (3 members, 0123456789abcdef, not 4 members, "),
            std::string::npos);
}

TEST(PromiseFiles, AreReadableByTheirOwnerAloneWhateverTheUmask) {
  const Folder folder;
  const mode_t before = ::umask(0);
  PromiseFile(folder.file("state"), owner).store(state);
  ::umask(before);
  struct stat about {};
  ASSERT_EQ(::stat(folder.file("state").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777u, 0600u);
}

TEST(PromiseFiles, HoldWhatAnOperatorCanRead) {
  const std::string text = promise_text(state, owner);
  EXPECT_TRUE(
      text.starts_with("conclave-promise 3\ncluster a\nidentity 0000000000000000\nmember 1\n"
                       "list 3 members, 0123456789abcdef\nplace none\ncount 0\nterm 7\n"
                       "promised-to 3\nlease-ms 3000\nincarnation 0 0000000000000000\n"
                       "sha256 "))
      << text;
  EXPECT_NE(promise_text({.promise = {5, nobody, 30ms}}, owner).find("promised-to nobody\n"),
            std::string::npos);
  EXPECT_EQ(
      parse_promise(promise_text({.promise = {5, nobody, 30ms}}, owner), owner, "f").state.promise,
      (Promise{5, nobody, 30ms}));
}

Configuration list_of_three() {
  Configuration list = founded_by({{"10.0.0.7", 7000}, {"10.0.0.8", 7000}, {"10.0.0.9", 7000}});
  list.stamp.term = 6;
  list.stamp.version = 2;
  return list;
}
const PromiseOwner elastic_owner{{"a", 1}, std::string(elastic_list)};

TEST(PromiseFiles, KeepTheListWhereItMayChange) {
  const Folder folder;
  const std::string path = folder.file("state");
  PromiseFile(path, elastic_owner).store({.promise = promise, .configuration = list_of_three()});
  const PromiseFile file(path, elastic_owner);
  EXPECT_EQ(file.state().configuration, list_of_three());
  EXPECT_NE(content(path).find("configuration 6 2 3\nseat 0 10.0.0.7:7000\n"), std::string::npos);
}

TEST(PromiseFiles, NameSeatsInOneWayOnly) {
  for (const std::string address :
       {"[[a]]:1", "[10.0.0.7]:7000", "10.0.0.7:07000", "a b:1", "a\x1b:1"}) {
    Configuration list = list_of_three();
    list.seats[0].endpoint = {"place", 1};
    std::string text = promise_text({.promise = promise, .configuration = list}, elastic_owner);
    text.replace(text.find("place:1"), 7, address);
    text.resize(text.find("sha256"));
    text += "sha256 " + sha256_hex(text) + "\n";
    EXPECT_NE(parse_promise(text, elastic_owner, "f").trouble, "") << address;
  }
}

TEST(PromiseFiles, WithAListOfATermBeyondThePromiseAreRefused) {
  Configuration list = list_of_three();
  const auto trouble = [&] {
    return parse_promise(promise_text({.promise = promise, .configuration = list}, elastic_owner),
                         elastic_owner, "f")
        .trouble;
  };
  EXPECT_EQ(trouble(), "");
  list.stamp.term = promise.term + 1;
  EXPECT_NE(trouble().find("its list is of term 8, and the newest promise of term 7"),
            std::string::npos);
  list.stamp.term = UINT64_MAX;
  EXPECT_NE(trouble(), "");
}

TEST(PromiseFiles, AreRefusedIfAnyByteIsChangedOrMissing) {
  const std::string good = promise_text(state, owner);
  ASSERT_EQ(parse_promise(good, owner, "f").trouble, "");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {1, 2, 16, 128}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      EXPECT_NE(parse_promise(bad, owner, "f").trouble, "") << bad;
    }
    EXPECT_NE(parse_promise(good.substr(0, i), owner, "f").trouble, "") << i;
  }
  EXPECT_NE(parse_promise(good + "\n", owner, "f").trouble, "");
}

TEST(PromiseFiles, ThatSayWhatCannotBeAreRefusedWithASentence) {
  const auto trouble = [](const Promise& what) {
    return parse_promise(promise_text({.promise = what}, owner), owner, "f").trouble;
  };
  EXPECT_NE(trouble({UINT64_MAX - 1, 3, 3000ms}).find("'f' says term 18446744073709551614"),
            std::string::npos);
  EXPECT_NE(trouble({most_term + 1, 3, 3000ms}).find("no election can reach"), std::string::npos);
  EXPECT_EQ(trouble({most_term, 3, 3000ms}), "");
  EXPECT_NE(trouble({7, 3, 0ms}).find("lease of 0 ms"), std::string::npos);
  EXPECT_NE(trouble({7, 3, -1ms}).find("lease"), std::string::npos);
  EXPECT_NE(trouble({7, 3, 25h}).find("lease of 90000000 ms"), std::string::npos);
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "does not begin"},
      {"conclave-promise-1 a 1 7 3 end\n", "format 1"},
      {"conclave-promise 2\ncluster a\nmember 1\nlist x\nterm -1\npromised-to 3\nlease-ms "
       "3\nsha256 0\n",
       "lines"},
      {std::string(5000, 'x'), "does not begin"}};
  for (const auto& [text, sentence] : cases) {
    const std::string path = folder.write("bad", text);
    const std::string error = error_of([&] { PromiseFile(path, owner); });
    EXPECT_NE(error.find(sentence), std::string::npos) << error;
    EXPECT_EQ(content(path), text) << "a file that is refused stays as it is";
  }
}

TEST(PromiseFiles, AreNeitherLinksNorFoldersNorPipes) {
  const Folder folder;
  folder.write("other", promise_text(state, owner));
  std::filesystem::create_symlink(folder.file("other"), folder.file("link"));
  std::filesystem::create_directory(folder.file("folder"));
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const std::string name : {"link", "folder", "pipe"}) {
    EXPECT_NE(error_of([&] { PromiseFile(folder.file(name), owner); }), "no error") << name;
  }
}

TEST(PromiseFiles, DoNotFollowALinkInThePlaceOfTheFreshFile) {
  const Folder folder;
  folder.write("victim", "untouched");
  std::filesystem::create_symlink(folder.file("victim"), folder.file("state.new"));
  PromiseFile(folder.file("state"), owner).store(state);
  EXPECT_EQ(content(folder.file("victim")), "untouched");
  EXPECT_EQ(PromiseFile(folder.file("state"), owner).state().promise, promise);
}

// The file's own sync, then that of the folder.
TEST(PromiseFiles, TakeNoPromiseForStoredThatMayNotBeOnTheDisk) {
  for (const int good : {0, 1}) {
    const Folder folder;
    PromiseFile file(folder.file("state"), owner);
    file.store(state);
    const std::size_t descriptors = open_descriptors();
    const std::size_t files = folder.files();
    good_fsyncs = good;
    EXPECT_THROW(file.store({.promise = {8, 2, 3000ms}}), std::system_error) << good;
    good_fsyncs = -1;
    EXPECT_EQ(file.state().promise, promise);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(folder.files(), files) << "no half written file is left";
  }
}

TEST(PromiseFiles, ThatCannotTakeTheirNameLeaveNoFreshFileBehind) {
  const Folder folder;
  PromiseFile file(folder.file("state"), owner);
  file.store(state);
  std::filesystem::remove(folder.file("state"));
  std::filesystem::create_directory(folder.file("state"));  // which no file can replace
  EXPECT_THROW(file.store({.promise = {8, 2, 3000ms}}), std::system_error);
  EXPECT_FALSE(std::filesystem::exists(folder.file("state.new")));
  EXPECT_EQ(file.state().promise, promise);
}

TEST(PromiseFiles, OnAFullDiskKeepTheOldPromise) {
  const Folder folder;
  const std::string path = folder.file("state");
  PromiseFile file(path, owner);
  file.store(state);
  const std::size_t descriptors = open_descriptors();
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_THROW(file.store({.promise = {8, 2, 3000ms}}), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(read_promise(path, owner).state.promise, promise);
  EXPECT_EQ(folder.files(), 2u) << "the file and its lock";
}

TEST(PromiseFiles, AreReplacedWhereTheyCannotBeUsed) {
  const Folder folder;
  const std::string path = folder.write("state", "nonsense");
  PromiseFile::replace(path, owner, {.promise = {9, nobody, 3000ms}});
  EXPECT_EQ(PromiseFile(path, owner).state().promise, (Promise{9, nobody, 3000ms}));
  EXPECT_EQ(content(path + ".damaged"), "nonsense");
  const PromiseFile user(path, owner);
  EXPECT_NE(
      error_of([&] { PromiseFile::replace(path, owner, state); }).find("another process uses"),
      std::string::npos);
}

TEST(PromiseFiles, AreReplacedWithTheirListOrPutAside) {
  const Folder folder;
  const std::string path = folder.write("state", "nonsense");
  PromiseFile::replace(path, elastic_owner, {.promise = promise, .configuration = list_of_three()});
  const std::string text_before = content(path);
  EXPECT_EQ(PromiseFile(path, elastic_owner).state().configuration, list_of_three());
  PromiseFile::remove(path, elastic_owner);
  EXPECT_FALSE(PromiseFile(path, elastic_owner).has_existed());
  EXPECT_EQ(content(path + ".damaged"), text_before);
  PromiseFile::remove(path, elastic_owner);  // nothing is there any more
}

// The table of incarnations, and all of it is there again; one that is 0 0 is not written.
TEST(PromiseFiles, KeepTheTableOfIncarnations) {
  MemberState known = state;
  known.table.raise(0, {2, 0x77aa});
  known.table.raise(1, {4, 0x8f1e2d3c4b5a6978});
  known.table.raise(7, {1, 1});
  const std::string text = promise_text(known, owner);
  EXPECT_NE(text.find("incarnation 4 8f1e2d3c4b5a6978\nknown 0 2 00000000000077aa\nknown 7 1 "),
            std::string::npos)
      << text;
  EXPECT_EQ(parse_promise(text, owner, "f").state, known);
}

// Files of format 2 have no incarnations, and prove nothing.
TEST(PromiseFiles, OfFormatTwoAreRead) {
  const Folder folder;
  std::string text = "conclave-promise 2\ncluster a\nmember 1\nlist " + owner.list +
                     "\nterm 7\npromised-to 3\nlease-ms 3000\n";
  text += "sha256 " + sha256_hex(text) + "\n";
  const PromiseFile file(folder.write("state", text), owner);
  EXPECT_EQ(file.state(), state);
  EXPECT_FALSE(file.was_in_place());
}

TEST(PromiseFiles, OfAnotherIdentityAreRefused) {
  const Folder folder;
  const std::string path = folder.file("state");
  PromiseFile(path, owner).store(state);
  PromiseOwner other = owner;
  other.identity = 5;
  EXPECT_NE(error_of([&] { PromiseFile(path, other); }).find("before a restore"),
            std::string::npos);
}

class Places : public ::testing::Test {
 protected:
  bool is_trusted() const { return PromiseFile(path_, owner).was_in_place(); }
  void store(Term term) const { PromiseFile(path_, owner).store({.promise = {term, 3, 3000ms}}); }
  void SetUp() override {
    store(7);
    if (!is_trusted()) GTEST_SKIP() << "this file system tells no times of birth";
  }

  Folder folder_;
  std::string path_ = folder_.file("state");
};

TEST_F(Places, OfFilesThatAProcessHasLeftAreTrusted) {
  EXPECT_TRUE(is_trusted());
  store(8);
  EXPECT_TRUE(is_trusted());
}

TEST_F(Places, OfCopiesAreNot) {
  std::filesystem::copy_file(path_, folder_.file("copy"));
  EXPECT_FALSE(PromiseFile(folder_.file("copy"), owner).was_in_place()) << "another lock file";
  store(8);
  std::filesystem::copy_file(folder_.file("copy"), path_,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(is_trusted());
}

// The very inode, kept by a second name or by a rename, while others took its place.
TEST_F(Places, OfFilesThatWerePutBackAreNot) {
  std::filesystem::create_hard_link(path_, folder_.file("kept"));
  store(8);
  std::filesystem::rename(folder_.file("kept"), path_);
  EXPECT_FALSE(is_trusted());
}

TEST_F(Places, WithoutTheLockFileAreNotTrusted) {
  std::filesystem::remove(path_ + ".lock");
  EXPECT_FALSE(is_trusted());
}

TEST_F(Places, OfFilesThatAWaitingProcessHasWrittenAreNotTrusted) {
  PromiseFile(path_, owner).store(state, false);
  EXPECT_FALSE(is_trusted());
}

TEST_F(Places, OfFilesThatAnOperatorVouchesForAreTrusted) {
  PromiseFile::replace(path_, owner, state);
  EXPECT_FALSE(is_trusted());
  PromiseFile::replace(path_, owner, state, true);
  EXPECT_TRUE(is_trusted());
}

TEST(PromisePlaces, AreEqualInAllThatTellsCopiesApart) {
  const FilePlace place{.machine = 1,
                        .boot = 2,
                        .device = 3,
                        .inode = 4,
                        .birth = 5,
                        .lock_inode = 6,
                        .lock_birth = 7};
  EXPECT_TRUE(is_in_place(place, 9, place, 9));
  EXPECT_TRUE(is_in_place(place, 10, place, 9)) << "the count was not written before a crash";
  EXPECT_FALSE(is_in_place(place, 8, place, 9)) << "an older file";
  EXPECT_FALSE(is_in_place(place, 9, place, 0)) << "a new lock file with the inode of the old one";
  EXPECT_FALSE(is_in_place({}, 9, {}, 9)) << "no place";
  for (auto part : {&FilePlace::device, &FilePlace::inode, &FilePlace::birth,
                    &FilePlace::lock_inode, &FilePlace::lock_birth}) {
    FilePlace other = place;
    other.*part = 77;
    EXPECT_FALSE(is_in_place(place, 9, other, 9));
  }
  FilePlace moved = place;
  moved.boot = 77;
  EXPECT_TRUE(is_in_place(place, 9, moved, 9)) << "the same machine, started again";
  moved.machine = 77;
  EXPECT_FALSE(is_in_place(place, 9, moved, 9)) << "another machine";
  FilePlace nameless = place;
  nameless.machine = 0;
  moved.machine = 0;
  EXPECT_FALSE(is_in_place(nameless, 9, moved, 9)) << "perhaps another machine";
  EXPECT_TRUE(is_in_place(nameless, 9, nameless, 9)) << "the same run of one kernel";
}

}  // namespace
}  // namespace conclave::election
