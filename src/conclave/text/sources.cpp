#include "conclave/text/sources.hpp"

#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/read_text.hpp"
#include "conclave/text/folders.hpp"

// With POSIX instead of std::filesystem, which the page's library lacks; there, no file is found.

namespace conclave::text {
namespace {

constexpr std::string_view header = "#:module \"";

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
  SourceFile file = read_source(path);
  Sources sources(file.content);
  sources.folder_ = std::move(file.folder);
  sources.files_read_.push_back(path);
  return sources;
}

std::optional<std::string> Sources::find(const std::string& path) {
  if (const auto known = modules_.find(path); known != modules_.end()) return known->second;
  if (!folder_) return std::nullopt;
  std::optional<FoundSource> found = find_source(*folder_, path);
  if (!found) return std::nullopt;
  files_read_.push_back(std::move(found->file));
  return modules_[path] = std::move(found->content);
}

std::string Sources::bundle() const {
  std::string all = main_;
  for (const auto& [name, content] : modules_) {
    if (!all.ends_with('\n')) all += '\n';
    all += fmt::format("{}{}\" {}\n{}", header, name, content.size(), content);
  }
  return all;
}

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
