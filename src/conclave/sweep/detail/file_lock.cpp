#include "conclave/sweep/detail/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::sweep {
namespace {

// Whoever held the lock before may have removed the file between our opening and our locking.
bool is_still_there(int descriptor, const std::string& path) {
  struct stat ours {};
  struct stat named {};
  return fstat(descriptor, &ours) == 0 && stat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

std::string owner_of(int descriptor) {
  std::array<char, 64> text{};
  const auto length = pread(descriptor, text.data(), text.size() - 1, 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "unknown";
}

}  // namespace

FileLock::FileLock(const std::string& path) : lock_path_(path + ".lock") {
  for (;;) {
    descriptor_ = open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      throw Error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const std::string owner = owner_of(descriptor_);
      close(descriptor_);
      throw Error(fmt::format("'{}' is being written by process {}: wait for it, or choose another "
                              "file with -o",
                              path, owner));
    }
    if (is_still_there(descriptor_, lock_path_)) break;
    close(descriptor_);
  }
  const std::string process = fmt::format("{}", getpid());
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, process.data(), process.size(), 0) < 0) {
    // Only the sentence for others is poorer: the lock itself holds.
  }
}

FileLock::~FileLock() {
  unlink(lock_path_.c_str());
  close(descriptor_);
}

}  // namespace conclave::sweep
