// The disk under a state file: what PromiseFile does with files, and nothing more, so that a test
// can put a disk in its place that loses power, is full or slow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace conclave::election {

// Tells one file from all others that have lain in its place. All 0: not known.
struct Born {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t time = 0;  // in nanoseconds; 0: the file system does not tell
};

// A file or folder that is open, and closed when this goes.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  // Differs from that of every other file, as far as the file system knows.
  virtual Born born() const = 0;
  virtual std::string read(std::size_t most_bytes) = 0;  // from its beginning
  // At its end.
  virtual void append(std::string_view text) = 0;
  virtual void overwrite(std::string_view text) = 0;  // its beginning
  virtual void sync() = 0;  // returns when it is on the disk; of a folder: the names in it
};

// Failures are std::system_error, or Error with a sentence where the caller names no file itself.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual std::unique_ptr<OpenFile> open(const std::string& path) = 0;    // null: there is none
  virtual std::unique_ptr<OpenFile> create(const std::string& path) = 0;  // in the place of any
  // The folder in which this file is or would be.
  virtual std::unique_ptr<OpenFile> folder_of(const std::string& path) = 0;
  // Creates the file where there is none. Throws Error where another process has locked it.
  virtual std::unique_ptr<OpenFile> lock(const std::string& path, const std::string& of) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  virtual void remove(const std::string& path) noexcept = 0;
  // Names of the machine and of this run of its kernel; 0: there is none.
  virtual std::uint64_t machine() const = 0;
  virtual std::uint64_t boot() const = 0;
};

Disk& posix_disk();  // of this process; thread-safe

}  // namespace conclave::election
