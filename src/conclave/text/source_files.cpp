#include "conclave/text/source_files.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "conclave/base/read_text.hpp"
#include "conclave/text/folders.hpp"

// With POSIX instead of std::filesystem, which the page's library lacks; there, no file is found.
namespace conclave::text {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr std::size_t most_module_bytes = std::size_t{1} << 20;

// The path without links, `.` and `..`; empty if there is no such file, as always on the page.
std::string canonical([[maybe_unused]] const std::string& path) {
#ifdef __wasi__
  return {};
#else
  struct Free {
    void operator()(char* text) const { std::free(text); }  // NOLINT(cppcoreguidelines-no-malloc)
  };
  const std::unique_ptr<char, Free> found(realpath(path.c_str(), nullptr));
  return found == nullptr ? "" : found.get();
#endif
}

std::optional<FoundSource> found_below(const std::string& folder, const std::string& path) {
  const std::string root = canonical(folder);
  if (root.empty()) return std::nullopt;
  const std::string file = canonical(path.starts_with('/') ? path : root + '/' + path);
  if (!file.starts_with(root == "/" ? root : root + '/') || !is_plain_file(file)) {
    return std::nullopt;
  }
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  if (static_cast<std::size_t>(status.st_size) > most_module_bytes) return std::nullopt;
  return FoundSource{read_text(file, most_module_bytes, Limit::fixed), file};
}

}  // namespace

bool is_plain_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

SourceFile read_source(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  return {read_text(path, most_bytes), slash == std::string::npos ? "." : folder};
}

std::optional<FoundSource> find_source(const std::string& folder, const std::string& path) {
  std::optional<FoundSource> found = found_below(folder, path);
  if (found) return found;
  for (const std::string& shipped : shipped_folders()) {
    if ((found = found_below(shipped, path))) break;
  }
  return found;
}

}  // namespace conclave::text
