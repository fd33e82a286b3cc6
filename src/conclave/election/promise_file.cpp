#include "conclave/election/promise_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::election {
namespace {

constexpr const char* first_word = "conclave-promise-1";

[[noreturn]] void fail(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

int locked(const std::string& path) {
  const std::string name = path + ".lock";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throw Error(fmt::format("cannot create '{}': {}", name, std::strerror(errno)));
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  ::close(file);
  throw Error(fmt::format("another process uses '{}'", path));
}

void write_all(int file, const std::string& text) {
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    fail("write of the promise");
  }
  if (::fsync(file) != 0) fail("fsync of the promise");
}

void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

PromiseFile::PromiseFile(std::string path, Identity owner)
    : path_(std::move(path)), owner_(std::move(owner)), lock_(locked(path_)) {
  std::ifstream file(path_);
  if (!file) {
    if (::access(path_.c_str(), F_OK) == 0) throw Error(fmt::format("cannot read '{}'", path_));
    return;
  }
  has_existed_ = true;
  std::string word;
  Identity found;
  std::string end;
  file >> word >> found.cluster >> found.member >> promise_.term >> promise_.to >> end;
  if (word != first_word || end != "end") {
    throw Error(fmt::format("'{}' is damaged; remove it only if this member has not run for longer "
                            "than a lease",
                            path_));
  }
  if (found != owner_) {
    throw Error(fmt::format("'{}' belongs to member {} of cluster '{}', not to member {} of '{}'",
                            path_, found.member, found.cluster, owner_.member, owner_.cluster));
  }
}

PromiseFile::~PromiseFile() { ::close(lock_); }

// A new file takes the place of the old one, so that a crash leaves one or the other.
void PromiseFile::store(const Promise& promise) {
  const std::string fresh = path_ + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail("creation of '" + fresh + "'");
  write_all(file, fmt::format("{} {} {} {} {} end\n", first_word, owner_.cluster, owner_.member,
                              promise.term, promise.to));
  ::close(file);
  if (::rename(fresh.c_str(), path_.c_str()) != 0) fail("renaming of '" + fresh + "'");
  sync_folder_of(path_);
  promise_ = promise;
}

}  // namespace conclave::election
