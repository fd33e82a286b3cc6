// The promise of a member on disk, so that it survives a restart. The file is text, so that an
// operator can read it:
//
//     conclave-promise 2
//     cluster demo
//     member 1
//     list 3 members, 0f1e2d3c4b5a6978
//     term 7
//     promised-to 3
//     lease-ms 3000
//     sha256 5b...
//
// Where the list of members may change, the third line says `list elastic`, and before the checksum
// stand the configuration, with its term, version and next number, and its seats:
//
//     configuration 6 2 4
//     seat 0 10.0.0.7:7000
//     seat 3 10.0.0.9:7000
//
// The last line is the checksum of those before it: it detects damage, not attacks. A new file
// takes the place of the old one by a rename, so that a crash leaves one or the other. Only one
// process at a time may use a file (`FILE.lock`).
#pragma once

#include <string>
#include <string_view>

#include "conclave/base/descriptor.hpp"
#include "election/certificates.hpp"
#include "election/member.hpp"

namespace conclave::election {

// Whose promises a file holds. Promises are worth something among the members of one list only, so
// a file made with another list is refused; `elastic_list` where the file itself names the list.
inline constexpr std::string_view elastic_list = "elastic";
struct PromiseOwner {
  Identity member;
  std::string list;  // as list_name() gives it

  friend bool operator==(const PromiseOwner&, const PromiseOwner&) = default;
};

// The contents of a promise file. `trouble` is a sentence about what is wrong with it, empty where
// it is sound or missing; `promise` is what could be read all the same, and must not be trusted
// then.
struct PromiseRecord {
  bool is_there = false;
  Promise promise{};
  Configuration configuration{};  // without seats where the list is fixed
  std::string trouble{};
  bool is_intact = false;   // its checksum fits: it is as a member has written it
  bool is_foreign = false;  // another member's, and otherwise sound
};

// The record that a text holds, and the text of a file with this promise; pure, and inverse to each
// other. `name` stands for the file in sentences. The text may be anything.
PromiseRecord parse_promise(const std::string& text, const PromiseOwner& owner,
                            const std::string& name);
std::string promise_text(const Promise& promise, const PromiseOwner& owner,
                         const Configuration& configuration = {});

// Reads without a lock, so also while a process uses the file: stores replace it as a whole. Throws
// Error if the file is there and cannot be read.
PromiseRecord read_promise(const std::string& path, const PromiseOwner& owner);

class PromiseFile {
 public:
  // Creates the file at the first store(). Throws Error: it is another member's, it is damaged or
  // says what cannot be, it cannot be read, or another process uses it.
  PromiseFile(std::string path, PromiseOwner owner);
  // Not thread-safe; not to be copied, because it holds the lock.
  PromiseFile(const PromiseFile&) = delete;
  PromiseFile& operator=(const PromiseFile&) = delete;

  // Puts a new promise in the place of a file that cannot be used, which is kept as `FILE.damaged`;
  // remove() leaves nothing in its place. The configuration is without seats where the list is
  // fixed. Throw Error if a process uses it, std::system_error if it cannot be written.
  static void replace(const std::string& path, const PromiseOwner& owner, const Promise& promise,
                      const Configuration& configuration = {});
  static void remove(const std::string& path, const PromiseOwner& owner);

  bool has_existed() const { return has_existed_; }  // when it was opened
  const Promise& promise() const { return promise_; }
  const Configuration& configuration() const { return configuration_; }
  // Returns when the promise is on the disk: the file and its place in the folder are synced.
  // Throws std::system_error; then the promise may or may not be on the disk, and must not be
  // announced.
  void store(const Promise& promise, const Configuration& configuration = {});

 private:
  struct Locked {};
  PromiseFile(Locked, std::string path, PromiseOwner owner);
  void set_aside();

  std::string path_;
  PromiseOwner owner_;
  Descriptor lock_;
  Descriptor folder_;  // kept open, so that syncing it needs no new descriptor
  bool has_existed_ = false;
  Promise promise_;
  Configuration configuration_;
};

}  // namespace conclave::election
