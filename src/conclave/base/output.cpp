#include "conclave/base/output.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"

namespace conclave {
namespace {

// The number behind /dev/stdout, /dev/stderr or /dev/fd/3. Opening such a name anew would write
// over what a plain file behind it holds already.
std::optional<int> named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const auto number = parse_count(path.substr(folder.size()));
    if (number && *number <= Interactions(std::uint64_t{INT_MAX})) {
      return static_cast<int>(*number->as_uint64());
    }
  }
  return std::nullopt;
}

std::string reason_of(int error) { return std::generic_category().message(error); }

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// As Linux itself judges links in /tmp (fs.protected_symlinks).
bool is_planted(const std::string& path, const struct stat& link) {
  struct stat folder {};
  if (stat(folder_of(path).c_str(), &folder) != 0) return true;
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return is_shared && link.st_uid != geteuid() && link.st_uid != folder.st_uid;
}

std::optional<std::string> real_path(const std::string& path) {
  struct Free {
    void operator()(char* text) const { std::free(text); }  // NOLINT: realpath allocates so
  };
  const std::unique_ptr<char, Free> text(realpath(path.c_str(), nullptr));
  if (text == nullptr) return std::nullopt;
  return std::string(text.get());
}

std::uint64_t unguessable() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    throw std::system_error(errno, std::generic_category(), "no random bits for a file name");
  }
  return bits;
}

}  // namespace

Output::Output(std::string path) : path_(std::move(path)) {
  if (path_.empty()) {
    file_ = stdout;
    return;
  }
  if (const auto descriptor = named_descriptor(path_)) {
    open_descriptor(*descriptor);
    return;
  }
  std::string target = path_;
  struct stat found {};
  if (lstat(path_.c_str(), &found) == 0 && S_ISLNK(found.st_mode)) {
    if (is_planted(path_, found)) {
      refuse("it is a link that somebody else has put into a folder that all may write");
    }
    const auto followed = real_path(path_);
    if (!followed) refuse(errno == ENOENT ? "it is a link to nothing" : reason_of(errno));
    target = *followed;
  }
  const bool exists = stat(target.c_str(), &found) == 0;
  if (!exists && errno != ENOENT) refuse(reason_of(errno));
  if (exists && S_ISDIR(found.st_mode)) refuse("it is a folder");
  if (exists && S_ISBLK(found.st_mode)) refuse("it is a disk");
  if (exists && S_ISSOCK(found.st_mode)) refuse("it is a socket");
  if (exists && !S_ISREG(found.st_mode))
    open_stream(target);
  else
    open_fresh(target, exists ? &found.st_mode : nullptr);
}

void Output::open_descriptor(int descriptor) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (copy >= 0) file_ = fdopen(copy, "wb");
  if (file_ == nullptr) refuse(reason_of(errno));
}

void Output::open_stream(const std::string& target) {
  const int descriptor = open(target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor >= 0) file_ = fdopen(descriptor, "wb");
  if (file_ == nullptr) refuse(reason_of(errno));
}

void Output::open_fresh(const std::string& target, const mode_t* replaced_mode) {
  name_ = std::filesystem::path(target).filename().string();
  if (name_.empty()) refuse("it is a folder");
  folder_ = open(folder_of(target).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) refuse(reason_of(errno));
  const bool may_write =
      replaced_mode == nullptr || faccessat(folder_, name_.c_str(), W_OK, AT_EACCESS) == 0;
  partial_name_ = fmt::format(".{}.{:016x}.partial", name_.substr(0, 200), unguessable());
  const int descriptor = may_write ? openat(folder_, partial_name_.c_str(),
                                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                   : -1;
  if (descriptor >= 0) file_ = fdopen(descriptor, "wb");
  if (file_ == nullptr) {
    const int reason = errno;
    close(std::exchange(folder_, -1));
    refuse(reason_of(reason));
  }
  if (replaced_mode != nullptr) check(fchmod(descriptor, *replaced_mode & 0777) == 0);
}

Output::~Output() {
  if (!path_.empty() && file_ != nullptr) std::fclose(file_);
  if (folder_ < 0) return;
  if (!partial_name_.empty()) unlinkat(folder_, partial_name_.c_str(), 0);
  close(folder_);
}

void Output::refuse(const std::string& reason) const {
  throw Error(fmt::format("cannot write '{}': {}", path_, reason));
}

void Output::check(bool succeeded) const {
  if (succeeded) return;
  throw std::system_error(
      errno, std::generic_category(),
      fmt::format("cannot write {}", path_.empty() ? "standard output" : "'" + path_ + "'"));
}

void Output::write(std::string_view text) {
  check(std::fwrite(text.data(), 1, text.size(), file_) == text.size());
}

void Output::finish() {
  check(std::fflush(file_) == 0);
  if (path_.empty()) return;
  if (folder_ >= 0) check(fsync(fileno(file_)) == 0);
  check(std::fclose(std::exchange(file_, nullptr)) == 0);
  if (folder_ >= 0) place();
}

// The name may have become something else in the meantime.
void Output::place() {
  struct stat found {};
  const bool exists = fstatat(folder_, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(found.st_mode)) refuse("it is no plain file any more");
  check(renameat(folder_, partial_name_.c_str(), folder_, name_.c_str()) == 0);
  partial_name_.clear();
  const int readable = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (readable < 0) return;  // a folder that may be written but not read
  const bool is_synced = fsync(readable) == 0 || errno == EINVAL;
  close(readable);
  check(is_synced);
}

void write_file(const std::string& path, std::string_view text) {
  Output output(path);
  output.write(text);
  output.finish();
}

bool is_same_output(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code problem;
  const bool a_is_other =
      std::filesystem::exists(a, problem) && !std::filesystem::is_regular_file(a, problem);
  if (a_is_other) return false;  // a device takes the text of both
  if (std::filesystem::equivalent(a, b, problem)) return true;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, problem), problem);
  };
  return place(a) == place(b);
}

void check_can_be_written(const std::string& path) {
  struct stat found {};
  const bool exists = stat(path.c_str(), &found) == 0;
  if (path.empty() || (exists && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))) return;
  const Output tried(path);
}

void check_output_is_not_read(const std::string& output, const std::string& input) {
  if (!is_same_output(output, input)) return;
  throw Error(
      fmt::format("'{}' is read, and would be replaced: give the output another name", output));
}

void check_output_is_not_read(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) check_output_is_not_read(output, input);
}

}  // namespace conclave
