// The files that a protocol is made of: the one that is named, and those that it imports.
//
// A protocol is read from a folder, or from a bundle: its content followed by the files it imports,
// each behind a line `#:module "clock.pp" 1234` with its name and its size in bytes. A store keeps
// bundles, so that results can be continued where the files are not at hand.
//
// `import "clock.pp"` brings the parameters, definitions, functions, fields and steps of another
// text, as if they stood before all others here; its rules become one step, called like the file.
// Starts, outputs, observables and conditions stay behind, so that a module can be run by itself.
// `import "clock.pp" as slow` puts slow_ before all its names, and calls the step of its rules
// slow; `with digit as hour` renames one. What was imported once under the same names is not
// imported again.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/syntax.hpp"

namespace conclave::text {

struct NamedText {
  std::string name;
  std::string content;
};

class Sources {
 public:
  // A protocol whose imports are all in its own content.
  explicit Sources(std::string_view bundle);
  // The file at this path; its imports are looked for in its folder and below, and then among the
  // files that are shipped. Throws Error if it cannot be read.
  static Sources in_folder_of(const std::string& path);

  const std::string& main() const { return main_; }

  // The content of an imported file by its path from the folder of the main one, with '/' between
  // names; nothing where there is none. Refuses what lies outside, also behind links.
  std::optional<std::string> find(const std::string& path);

  // The main content, and all files that were found.
  std::string bundle() const;

  // The files that were read so far, the main one first; none for a bundle.
  const std::vector<std::string>& files_read() const { return files_read_; }

 private:
  Sources() = default;

  std::string main_;
  std::optional<std::string> folder_;
  std::map<std::string, std::string> modules_;
  std::vector<std::string> files_read_;
};

// The document of the first of `files` with everything it imports. What is imported is added to
// `files`, whose numbers stand in the places of the syntax. Throws Mistake for what
// cannot be read or lies outside the folder, for cycles, for names that a module does not have, and
// for more than 64 files or 8 levels.
Document joined_with_imports(Dialect dialect, Sources& sources, std::vector<NamedText>& files);

// Reads protocol files, where there is a file system.
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
