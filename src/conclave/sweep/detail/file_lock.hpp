// Keeps a second process from writing the same file. The system drops the lock with the process,
// however it ends.
#pragma once

#include <string>

namespace conclave::sweep {

class FileLock {
 public:
  // Locks FILE.lock beside the file: SQLite's own locks must not be disturbed, and readers need
  // none. Throws Error with the other's process id where somebody has it.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string lock_path_;
  int descriptor_ = -1;
};

}  // namespace conclave::sweep
