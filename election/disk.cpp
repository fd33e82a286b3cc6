#include "election/disk.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/descriptor.hpp"
#include "conclave/base/error.hpp"
#include "election/agreement.hpp"

namespace conclave::election {
namespace {

[[noreturn]] void fail_with_errno(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

[[noreturn]] void refuse(const std::string& doing, const std::string& path) {
  throw Error(
      fmt::format("cannot {} '{}': {}", doing, path, std::generic_category().message(errno)));
}

// The first 64 bits of a name that the system gives, or 0 where there is none.
std::uint64_t system_name(const char* path) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 128> buffer{};
  const ssize_t size = file.is_open() ? ::read(file.number(), buffer.data(), buffer.size()) : 0;
  if (size < 16) return 0;
  return first_bits(sha256_hex({buffer.data(), static_cast<std::size_t>(size)}));
}

class PosixFile final : public OpenFile {
 public:
  PosixFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Born born() const override {
    struct statx about {};
    if (::statx(file_.number(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &about) != 0) return {};
    const bool has_birth = (about.stx_mask & STATX_BTIME) != 0;
    const auto seconds = static_cast<std::uint64_t>(about.stx_btime.tv_sec);
    return {(std::uint64_t{about.stx_dev_major} << 32) | about.stx_dev_minor, about.stx_ino,
            has_birth ? seconds * 1'000'000'000 + about.stx_btime.tv_nsec : 0};
  }

  std::string read(std::size_t most_bytes) override {
    std::string text(most_bytes, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
      const ssize_t part =
          ::pread(file_.number(), text.data() + size, text.size() - size, static_cast<off_t>(size));
      if (part < 0 && errno == EINTR) continue;
      if (part < 0) refuse("read", path_);
      if (part == 0) break;
      size += static_cast<std::size_t>(part);
    }
    text.resize(size);
    return text;
  }

  void append(std::string_view text) override {
    while (!text.empty()) {
      const ssize_t written = ::write(file_.number(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail_with_errno("write of '" + path_ + "'");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void overwrite(std::string_view text) override {
    if (::pwrite(file_.number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      fail_with_errno("write of '" + path_ + "'");
  }

  void sync() override {
    if (::fsync(file_.number()) != 0) fail_with_errno("fsync of '" + path_ + "'");
  }

 private:
  Descriptor file_;
  std::string path_;
};

class PosixDisk final : public Disk {
 public:
  std::unique_ptr<OpenFile> open(const std::string& path) override {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file.is_open() && errno == ENOENT) return nullptr;
    if (!file.is_open()) refuse("read", path);
    struct stat about {};
    if (::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode))
      throw Error(fmt::format("'{}' is not a plain file", path));
    return std::make_unique<PosixFile>(std::move(file), path);
  }

  std::unique_ptr<OpenFile> create(const std::string& path) override {
    ::unlink(path.c_str());
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open()) fail_with_errno("creation of '" + path + "'");
    return std::make_unique<PosixFile>(std::move(file), path);
  }

  std::unique_ptr<OpenFile> folder_of(const std::string& path) override {
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file.is_open()) refuse("open the folder", folder);
    return std::make_unique<PosixFile>(std::move(file), folder);
  }

  std::unique_ptr<OpenFile> lock(const std::string& path, const std::string& of) override {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) refuse("create", path);
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0)
      throw Error(fmt::format("another process uses '{}'", of));
    return std::make_unique<PosixFile>(std::move(file), path);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) fail_with_errno("renaming of '" + from + "'");
  }

  void remove(const std::string& path) noexcept override { ::unlink(path.c_str()); }

  std::uint64_t machine() const override { return system_name("/etc/machine-id"); }
  std::uint64_t boot() const override { return system_name("/proc/sys/kernel/random/boot_id"); }
};

}  // namespace

Disk& posix_disk() {
  static PosixDisk disk;
  return disk;
}

}  // namespace conclave::election
