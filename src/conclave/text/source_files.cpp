#include "conclave/text/source_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/text/folders.hpp"

namespace conclave::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr std::uintmax_t most_module_bytes = std::uintmax_t{1} << 20;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::string> content_below(const fs::path& folder, const std::string& path) {
  std::error_code problem;
  const fs::path root = fs::canonical(folder, problem);
  if (problem) return std::nullopt;
  const fs::path file = fs::canonical(root / path, problem);
  if (problem || !fs::is_regular_file(file, problem)) return std::nullopt;
  const auto [end, other] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end != root.end()) return std::nullopt;
  if (fs::file_size(file, problem) > most_module_bytes || problem) return std::nullopt;
  return content_of(file.string());
}

}  // namespace

SourceFile read_source(const std::string& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    throw Error(fmt::format("cannot read '{}': it is a folder", path));
  }
  if (!std::ifstream(path, std::ios::binary)) {
    throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
  }
  if (fs::file_size(path, problem) > file_limit(most_bytes) || problem) {
    throw Error(fmt::format("cannot read '{}': it is no file, or larger than {} MiB "
                            "(--max-file-size allows more)",
                            path, file_limit(most_bytes) >> 20));
  }
  const fs::path folder = fs::path(path).parent_path();
  return {content_of(path), folder.empty() ? "." : folder.string()};
}

std::optional<std::string> find_source(const std::string& folder, const std::string& path) {
  std::optional<std::string> content = content_below(folder, path);
  for (const char* const shipped : shipped_folders) {
    if (!content) content = content_below(shipped, path);
  }
  return content;
}

}  // namespace conclave::text
