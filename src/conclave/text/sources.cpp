#include "conclave/text/sources.hpp"

#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "conclave/text/source_files.hpp"

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

}  // namespace conclave::text
