#include "conclave/text/source_files.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "conclave/base/read_text.hpp"
#include "conclave/text/folders.hpp"

namespace conclave::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr std::size_t most_module_bytes = std::size_t{1} << 20;

std::optional<FoundSource> found_below(const fs::path& folder, const std::string& path) {
  std::error_code problem;
  const fs::path root = fs::canonical(folder, problem);
  if (problem) return std::nullopt;
  const fs::path file = fs::canonical(root / path, problem);
  if (problem || !fs::is_regular_file(file, problem)) return std::nullopt;
  const auto [end, other] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end != root.end()) return std::nullopt;
  if (fs::file_size(file, problem) > most_module_bytes || problem) return std::nullopt;
  return FoundSource{read_text(file.string(), most_module_bytes, Limit::fixed), file.string()};
}

}  // namespace

bool is_plain_file(const std::string& path) {
  std::error_code problem;
  return fs::is_regular_file(path, problem);
}

SourceFile read_source(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return {read_text(path, most_bytes), folder.empty() ? "." : folder.string()};
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
