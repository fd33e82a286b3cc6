// The memory of a member, on disk, so that it survives a restart. The file is text, so that an
// operator can read it:
//
//     conclave-promise 3
//     cluster demo
//     identity 77aa01f2c3d4e5f6
//     member 1
//     list 3 members, 0f1e2d3c4b5a6978
//     place 3d1219c7c4c5404a c64efd840b0346be 65024 1234 1791480000598126792 1230
//     1791470000100200300 count 17 term 7 promised-to 3 lease-ms 3000 incarnation 4
//     8f1e2d3c4b5a6978 known 0 2 0102030405060708 sha256 5b...
//
// `identity` is that of the cluster (configuration key `identity`), `incarnation` and `known` are
// the table of incarnations (incarnation.hpp). Where the list of members may change, the line
// `list` says `elastic`, and before the checksum stand the configuration, with its term, version
// and next number, and its seats:
//
//     configuration 6 2 4
//     seat 0 10.0.0.7:7000
//     seat 3 10.0.0.9:7000
//
// The last line is the checksum of those before it: it detects damage, not attacks. A new file
// takes the place of the old one by a rename, so that a crash leaves one or the other. Only one
// process at a time may use a file (`FILE.lock`).
//
// `place` proves at the next start that the file is the one that the last process of this member
// left, and that this process has ended: it names the machine, the boot of its kernel, device,
// inode and time of birth of this very file, and inode and time of birth of its lock file, which in
// turn holds the `count` of the newest file. A copy has another inode or time of birth, a file that
// was put aside and put back has a smaller count, a lock file that was removed and made again has
// no count, and another machine another name. A file with `place none`, or of format 2, proves
// nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "election/certificates.hpp"
#include "election/disk.hpp"
#include "election/incarnation.hpp"
#include "election/member.hpp"

namespace conclave::election {

// Whose promises a file holds. Promises are worth something among the members of one list only, so
// a file made with another list is refused; `elastic_list` where the file itself names the list.
inline constexpr std::string_view elastic_list = "elastic";
// A member of a fixed list that has never run: addresses may still be edited. The first process
// names the list.
inline constexpr std::string_view founding_list = "founding";
struct PromiseOwner {
  Identity member;
  std::string list;            // as list_name() gives it
  std::uint64_t identity = 0;  // of the cluster

  friend bool operator==(const PromiseOwner&, const PromiseOwner&) = default;
};

// All that a member must remember.
struct MemberState {
  Promise promise{};
  Configuration configuration{};  // without seats where the list is fixed
  IncarnationTable table{};

  friend bool operator==(const MemberState&, const MemberState&) = default;
};

// Where a file lies, and which of those that have lain there it is. All 0: nowhere.
struct FilePlace {
  std::uint64_t machine = 0;  // of /etc/machine-id; 0: there is none
  std::uint64_t boot = 0;     // of this run of the kernel
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t birth = 0;  // in nanoseconds; 0: the file system does not tell
  std::uint64_t lock_inode = 0;
  std::uint64_t lock_birth = 0;

  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};

// Whether a file that says it was written in place `written`, as number `count`, and is found in
// place `found`, is the newest that a process has left there, and that process has ended. The
// caller holds its lock, in which the number `newest` stands. Pure.
bool is_in_place(const FilePlace& written, std::uint64_t count, const FilePlace& found,
                 std::uint64_t newest);

// The contents of a promise file. `trouble` is a sentence about what is wrong with it, empty where
// it is sound or missing; `state` is what could be read all the same, and must not be trusted
// then.
struct PromiseRecord {
  bool is_there = false;
  MemberState state{};
  FilePlace place{};
  std::uint64_t count = 0;
  std::string trouble{};
  bool is_intact = false;   // its checksum fits: it is as a member has written it
  bool is_foreign = false;  // another member's, and otherwise sound
};

// The record that a text holds, and the text of a file with this state; pure, and inverse to each
// other. `name` stands for the file in sentences. The text may be anything.
PromiseRecord parse_promise(const std::string& text, const PromiseOwner& owner,
                            const std::string& name);
std::string promise_text(const MemberState& state, const PromiseOwner& owner,
                         const FilePlace& place = {}, std::uint64_t count = 0);

// Reads without a lock, so also while a process uses the file: stores replace it as a whole. Throws
// Error if the file is there and cannot be read.
PromiseRecord read_promise(const std::string& path, const PromiseOwner& owner,
                           Disk& disk = posix_disk());

class PromiseFile {
 public:
  // Creates the file at the first store(). Throws Error: it is another member's, it is damaged or
  // says what cannot be, it cannot be read, or another process uses it.
  PromiseFile(std::string path, PromiseOwner owner, Disk& disk = posix_disk());
  // Not thread-safe; not to be copied, because it holds the lock.
  PromiseFile(const PromiseFile&) = delete;
  PromiseFile& operator=(const PromiseFile&) = delete;

  // Puts a new promise in the place of a file that cannot be used, which is kept as `FILE.damaged`;
  // remove() leaves nothing in its place. The configuration is without seats where the list is
  // fixed. Throw Error if a process uses it, std::system_error if it cannot be written.
  // The new file proves nothing, unless `is_vouched`: then it is as if a process had left it.
  static void replace(const std::string& path, const PromiseOwner& owner, const MemberState& state,
                      bool is_vouched = false);
  static void remove(const std::string& path, const PromiseOwner& owner);

  bool has_existed() const { return has_existed_; }  // when it was opened
  // Whether it was then provably the newest file of this member, and no other process of it ran.
  bool was_in_place() const { return was_in_place_; }
  const MemberState& state() const { return state_; }
  // Returns when the state is on the disk: the file and its place in the folder are synced.
  // Throws std::system_error; then it may or may not be on the disk, and must not be announced.
  // `is_proof`: the next start may take it for the newest file of this member. Not so while this
  // process does not know that itself, or knows of another process.
  void store(const MemberState& state, bool is_proof = true);
  bool is_proof() const { return is_proof_; }  // the file as it is now

 private:
  struct Locked {};
  PromiseFile(Locked, std::string path, PromiseOwner owner, Disk& disk);
  void set_aside();
  FilePlace place_of(const OpenFile& file) const;

  Disk* disk_;
  std::string path_;
  PromiseOwner owner_;
  std::unique_ptr<OpenFile> lock_;
  std::unique_ptr<OpenFile> folder_;  // kept open, so that syncing it needs no new descriptor
  bool has_existed_ = false;
  bool was_in_place_ = false;
  bool is_proof_ = false;
  std::uint64_t count_ = 0;
  MemberState state_;
};

}  // namespace conclave::election
