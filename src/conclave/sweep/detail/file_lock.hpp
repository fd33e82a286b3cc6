// Keeps a second process from writing the same file of results. Two locks are taken. FILE.lock,
// beside the file, holds the number of the process, so that the error message of another process
// can name it. One byte of the file itself, far behind those that SQLite locks, is locked as well:
// it belongs to the file and not to its name, so a hard or symbolic link does not get past it. The
// system drops both with the process, however it ends.
#pragma once

#include <string>

namespace conclave::sweep::detail {

class FileLock {
 public:
  // Makes an empty file where there is none. Throws Error if another process has the lock, with its
  // number if it is known, and if FILE is no plain file. Must be destroyed after every SQLite
  // connection of this process to the file: closing a descriptor drops the locks that SQLite holds.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  void lock_content(const std::string& path);
  void release();

  std::string lock_path_;
  int descriptor_ = -1;  // of FILE.lock
  int content_ = -1;     // of FILE
};

}  // namespace conclave::sweep::detail
