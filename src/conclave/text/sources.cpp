#include "conclave/text/sources.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/read_text.hpp"

namespace conclave::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{256} << 20;
constexpr std::uintmax_t most_module_bytes = std::uintmax_t{1} << 20;
constexpr std::string_view header = "#:module \"";

// Where the texts that come with the program lie, in the source tree and where it is installed.
constexpr std::array<const char*, 2> shipped_folders{CONCLAVE_SOURCE_TEXTS,
                                                     CONCLAVE_INSTALLED_TEXTS};

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

// One file of a bundle: its name, its content and what follows it.
struct Section {
  std::string name;
  std::string_view content;
  std::string_view rest;
};

// Nothing unless the text begins with a header that makes sense.
std::optional<Section> section_of(std::string_view text) {
  if (!text.starts_with(header)) return std::nullopt;
  text.remove_prefix(header.size());
  const std::size_t quote = text.find("\" ");
  const std::size_t line = text.find('\n');
  if (line == text.npos || quote >= line) return std::nullopt;
  std::size_t bytes = 0;
  const char* const end = text.data() + line;
  const auto [stop, problem] = std::from_chars(text.data() + quote + 2, end, bytes);
  const std::string_view body = text.substr(line + 1);
  if (problem != std::errc() || stop != end || bytes > body.size()) return std::nullopt;
  return Section{std::string(text.substr(0, quote)), body.substr(0, bytes), body.substr(bytes)};
}

}  // namespace

Sources::Sources(std::string_view bundle) : main_(bundle) {
  for (std::size_t at = bundle.find(header); at != bundle.npos; at = bundle.find(header, at + 1)) {
    if (at == 0 || bundle[at - 1] != '\n') continue;
    std::optional<Section> section = section_of(bundle.substr(at));
    if (!section) continue;
    main_ = bundle.substr(0, at);
    for (; section; section = section_of(section->rest)) {
      modules_[section->name] = section->content;
    }
    return;
  }
}

Sources Sources::in_folder_of(const std::string& path) {
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
  Sources sources(content_of(path));
  const fs::path folder = fs::path(path).parent_path();
  sources.folder_ = folder.empty() ? "." : folder.string();
  return sources;
}

std::optional<std::string> Sources::find(const std::string& path) {
  if (const auto known = modules_.find(path); known != modules_.end()) return known->second;
  if (!folder_) return std::nullopt;
  std::optional<std::string> content = content_below(*folder_, path);
  for (const char* const folder : shipped_folders) {
    if (!content) content = content_below(folder, path);
  }
  if (content) modules_[path] = *content;
  return content;
}

std::string Sources::bundle() const {
  std::string all = main_;
  for (const auto& [name, content] : modules_) {
    if (!all.ends_with('\n')) all += '\n';
    all += fmt::format("{}{}\" {}\n{}", header, name, content.size(), content);
  }
  return all;
}

}  // namespace conclave::text
