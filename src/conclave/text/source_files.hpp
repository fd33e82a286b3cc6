// Reads protocol files, where there is a file system.
#pragma once

#include <optional>
#include <string>

namespace conclave::text {

struct SourceFile {
  std::string content;
  std::string folder;  // "." where the path names none
};

// Whether there is such a file, and it is no folder or pipe.
bool is_plain_file(const std::string& path);

// Throws Error if the file cannot be read.
SourceFile read_source(const std::string& path);

struct FoundSource {
  std::string content;
  std::string file;  // where it was found
};

// The file at this path in a folder or below, or else among the files that are shipped; nothing
// where there is none. Refuses what lies outside, also behind links.
std::optional<FoundSource> find_source(const std::string& folder, const std::string& path);

}  // namespace conclave::text
