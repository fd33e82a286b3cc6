#include "conclave/sweep/detail/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::sweep::detail {
namespace {

// The process that held the lock before may have removed the file between our opening and our
// locking.
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

// A lock that leads elsewhere, or is another file's second name, was not made by us, and writing
// our number would destroy what it is.
bool is_own_file(int descriptor) {
  struct stat found {};
  return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink <= 1;
}

void check_plain(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return;
  throw Error(fmt::format("cannot write '{}': it is {}", path,
                          S_ISDIR(found.st_mode) ? "a folder" : "no plain file"));
}

// Far behind the bytes that SQLite locks (from 2^30 on).
constexpr off_t locked_byte = off_t{1} << 62;

}  // namespace

FileLock::FileLock(const std::string& path) : lock_path_(path + ".lock") {
  check_plain(path);
  for (;;) {
    descriptor_ = open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) {
      throw Error(
          fmt::format("cannot write '{}': {}", path, std::generic_category().message(errno)));
    }
    if (!is_own_file(descriptor_)) {
      close(descriptor_);
      throw Error(
          fmt::format("cannot write '{}': '{}' is something else than a lock", path, lock_path_));
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
  try {
    lock_content(path);
  } catch (...) {
    release();
    throw;
  }
}

void FileLock::lock_content(const std::string& path) {
  content_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (content_ < 0)
    throw Error(fmt::format("cannot write '{}': {}", path, std::generic_category().message(errno)));
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = locked_byte;
  range.l_len = 1;
  const bool is_locked = fcntl(content_, F_OFD_SETLK, &range) == 0;
  const bool is_taken = !is_locked && (errno == EAGAIN || errno == EACCES);
  if (!is_taken) return;  // a file system without such locks leaves us the one on FILE.lock
  throw Error(fmt::format("'{}' is being written by another process under another name: wait for "
                          "it, or choose another file with -o",
                          path));
}

void FileLock::release() {
  unlink(lock_path_.c_str());
  close(descriptor_);
  if (content_ >= 0) close(content_);
}

FileLock::~FileLock() { release(); }

}  // namespace conclave::sweep::detail
